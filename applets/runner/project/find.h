/* SPDX-License-Identifier: MIT */
/* find.h - which codspeed.yml belongs to the current directory */
#ifndef PROJECT_FIND_H
#define PROJECT_FIND_H

/*
 * The first of codspeed.yaml, codspeed.yml, .codspeed.yaml and .codspeed.yml that is a plain file, in
 * the current directory; inside a git repository also in each directory above it, up to its root.
 * The path is relative to the current directory, for people; NULL: none. Caller frees.
 */
char *project_find(void);

#endif

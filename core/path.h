/* SPDX-License-Identifier: MIT */
/* path.h - paths: names, look-up on PATH, folders made and removed */
#ifndef CORE_PATH_H
#define CORE_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What execvp() searches where there is no PATH (musl's choice). */
#define PATH_DEFAULT "/usr/local/bin:/bin:/usr/bin"

/* What follows the last slash; borrowed from `path`. */
const char *path_base(const char *path);

/* The path made absolute against the current directory (not resolved). Caller frees; NULL and a
 * frame when the current directory cannot be told. */
char *path_absolute(const char *path);

/* The file behind this process, resolved; caller frees. NULL and a frame where /proc is missing. */
char *path_of_self(void);

/*
 * Where execvp() would find `name` with this PATH (NULL: the default one). 0 and the path in
 * `*found` (caller frees); -ENOENT: nowhere; -EACCES: only files that may not be executed. Without
 * a frame: the caller knows what the name means.
 */
int path_find_program(const char *name, const char *search, char **found);

/* A directory and its missing parents. 0 or -errno with a frame. */
int path_make_folder(const char *path, mode_t mode);

/* Remove a directory with everything in it, following no link. 0 or -errno with a frame. */
int path_remove_tree(const char *path);

/*
 * The name is PREFIX, a number, or two with a dot in between, and SUFFIX: `valgrind.7.log`, `7.1.out`.
 * The first number in *number, which may be NULL.
 */
bool path_is_numbered(const char *name, const char *prefix, const char *suffix, uint64_t *number);

#endif

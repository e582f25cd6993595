/* SPDX-License-Identifier: MIT */
/* naming.h - what makes a benchmark's name differ from one checkout to the next */
#ifndef RUNNER_NAMING_H
#define RUNNER_NAMING_H

/*
 * Warn where a word of the command is a path inside `directory` (absolute): the command is the
 * benchmark's name and identity, and in another checkout it would be another. `where` ("" or
 * "FILE:LINE:COLUMN: ") stands in front, `remedy` is how to give a name.
 */
void naming_warn(char *const *words, const char *directory, const char *where, const char *remedy);

#endif

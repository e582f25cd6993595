/* SPDX-License-Identifier: MIT */
/* real_program.h - what stands behind a wrapper on PATH */
#ifndef CORE_REAL_PROGRAM_H
#define CORE_REAL_PROGRAM_H

/*
 * The path of the first program of this name that stands behind this very binary on PATH; caller
 * frees. Behind, not beside: another copy of the wrapper looks behind itself in turn, so that two of
 * them do not call each other for ever. NULL: there is none, or no PATH.
 */
char *real_program_find(const char *name);

/* Become it, with these words; does not return. The caller's clean-up is done first. */
void __attribute__((noreturn)) real_program_exec(const char *path, char *const *words);

#endif

/* SPDX-License-Identifier: MIT */
/* memtrack_program.h - which file to start as memtrack: this very binary, or its capable copy */
#ifndef MEMORY_MEMTRACK_PROGRAM_H
#define MEMORY_MEMTRACK_PROGRAM_H

#include <stdbool.h>

struct memtrack_program {
	char *path; /* to execute */
	char *harness; /* to execute as exec-harness, from memtrack */
	int copy;   /* descriptor of the capable copy, which `path` goes through; -1: this very binary */
};

#define MEMTRACK_PROGRAM_INIT {.copy = -1}

/*
 * 0; or -errno with a frame that says what is missing and how to get it. To be released in any
 * case.
 */
int memtrack_program_find(struct memtrack_program *p);
void memtrack_program_release(struct memtrack_program *p);

/*
 * The capabilities that this kernel asks for, as a word of setcap-helper: before 6.6 each probe is a
 * perf event, which takes more.
 */
const char *memtrack_program_caps(void);

/* What root has to run for this user to have memory mode. Caller frees. */
char *memtrack_program_remedy_dup(void);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * progress.h - signs of life on standard error: a spinner on a terminal, a line every 30 seconds
 * in a log.
 */
#ifndef RUNNER_PROGRESS_H
#define RUNNER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct progress {
	const char *what; /* what runs, borrowed; shown escaped */
	pid_t root;       /* whose descendants' time is told */
	uint64_t started; /* clock_now() */
	uint64_t interval_ns; /* between two ticks; 0: none wanted */
	bool spinner;
	unsigned frame;
	bool drawn; /* the spinner's line is on the terminal */
};

void progress_init(struct progress *p, const char *what);
void progress_tick(struct progress *p);

/* Take the spinner off the terminal: something else is about to be written there. */
void progress_hide(struct progress *p);

/* The last call: nothing refers to `p` any more. */
void progress_end(struct progress *p);

/* CPU time, in ns, that `root` and its live descendants have used, and how many they are. */
uint64_t process_tree_cpu_ns(pid_t root, size_t *processes);

#endif

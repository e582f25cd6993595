/* SPDX-License-Identifier: MIT */
/*
 * profiler.h - samples of where benchmarks spend their time, taken from outside. What takes them is
 * a back end: perf where it is installed and works, else a sampler of our own on the same kernel
 * interface. Both follow a process and all that it starts after that; no setting of the system is
 * changed.
 */
#ifndef WALLTIME_PROFILER_H
#define WALLTIME_PROFILER_H

#include <sys/types.h>

#include "applets/runner/session.h"
#include "applets/runner/walltime/stacks.h"

/* Hz; primes, to keep out of step with periodic work. */
enum {
	PROFILER_FREQUENCY = 997,
	PROFILER_FAST = 9973, /* for processes that live shorter than a sample of the other would take */
};

struct profiler_target {
	pid_t pid;
	unsigned frequency;
	bool without_itself; /* only what it starts is wanted */
	int ready;           /* an epoll set that gets what drain() is to be called for */
};

/* All return 0 or -errno with a frame. */
struct profiler_backend {
	const char *name;
	/* Whether it works here, tried on a process of our own. */
	int (*try)(void);
	/* Follow a process; it does not sample yet. */
	int (*attach)(const struct profiler_target *target);
	int (*enable)(void);
	int (*disable)(void);
	/* Wait until what detach() began is over; NULL where nothing is to wait for. */
	void (*settle)(void);
	/* Follow it no longer; what was sampled is kept, and another attach may come. */
	int (*detach)(void);
	/* All that was sampled, as folded stacks. */
	int (*collect)(struct stacks *to);
	/* There may be something to read; NULL where it reads for itself. */
	void (*drain)(void);
	void (*release)(void);
};

extern const struct profiler_backend perf_backend, sampler_backend;

/* NULL where none works, which is told once. */
const struct profiler_backend *profiler_choose(enum profiler_choice wanted);

#endif

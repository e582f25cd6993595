/* SPDX-License-Identifier: MIT */
/*
 * trace.h - what a sampler recorded: addresses, and what was mapped where in which process at which
 * time; afterwards turned into stacks of function names.
 */
#ifndef WALLTIME_TRACE_H
#define WALLTIME_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/intern.h"
#include "core/vec.h"

#include "applets/runner/walltime/stacks.h"

struct trace_sample {
	uint64_t time;
	pid_t pid;
	size_t first; /* in `addresses`, innermost first */
	uint32_t count;
};

enum trace_change {
	TRACE_MAP,  /* a file's code was mapped */
	TRACE_EXEC, /* another program: all that was mapped is gone. `text` is its name */
	TRACE_FORK, /* by `parent`, whose mappings and name it has */
};

/* A change of a process's address space. */
struct trace_event {
	uint64_t time;
	pid_t pid, parent;
	enum trace_change change;
	uint64_t start, end, offset; /* addresses, and the file offset of the first */
	uint32_t text;               /* of `texts`: path or program name */
};

struct trace {
	VEC(struct trace_sample) samples;
	VEC(uint64_t) addresses;
	VEC(struct trace_event) events;
	struct intern texts;
	uint64_t dropped; /* samples for which there was no room */
};

void trace_init(struct trace *t);
void trace_release(struct trace *t);

/* In any order: processors report each for itself. */
void trace_add_sample(struct trace *t, uint64_t time, pid_t pid, const uint64_t *addresses,
		      size_t count);
void trace_add_event(struct trace *t, const struct trace_event *event, const char *text);

/* Append each sample's stack; places in no known function are told by their file's name. */
void trace_resolve(struct trace *t, struct stacks *to);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * stacks.h - samples with the functions they were in, and files of them: one folded line a stack,
 * "program;outer;inner COUNT", which every flame graph tool reads.
 */
#ifndef WALLTIME_STACKS_H
#define WALLTIME_STACKS_H

#include <stdint.h>

#include "core/execution_timestamps.h"
#include "core/intern.h"
#include "core/vec.h"

#include "applets/runner/results/result.h"

struct stack_sample {
	uint64_t time;  /* CLOCK_MONOTONIC, ns */
	uint32_t stack; /* of `texts` */
};

struct stacks {
	struct intern texts; /* folded: "sh;main;f" */
	VEC(struct stack_sample) samples;
};

void stacks_init(struct stacks *s);
void stacks_release(struct stacks *s);

/* `folded` is copied. */
void stacks_add(struct stacks *s, uint64_t time, const char *folded, size_t len);

/* A frame on its way into a folded line: ';' and line ends would break it. */
void stacks_add_frame(struct buf *line, const char *name, size_t len);

/*
 * Write `profile-<n>.folded` into `folder` for each benchmark of `r` in whose windows there are
 * samples, and note its name with the benchmark; n is the benchmark's place, from 1. Returns how
 * many were written, or -errno with a frame.
 */
int stacks_write(const struct stacks *s, const struct execution_timestamps *t, struct result *r,
		 const char *folder);

#endif

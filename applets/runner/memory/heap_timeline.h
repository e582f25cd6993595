/* SPDX-License-Identifier: MIT */
/* heap_timeline.h - a level over time in a fixed number of steps, whose width adapts */
#ifndef MEMORY_HEAP_TIMELINE_H
#define MEMORY_HEAP_TIMELINE_H

#include "applets/runner/memory/heap.h"

struct heap_timeline_step {
	uint64_t most, last; /* level during the step, and at its end */
	bool known;          /* something happened in it */
};

struct heap_timeline {
	unsigned shift; /* a step is 2^shift ns wide */
	struct heap_timeline_step steps[HEAP_TIMELINE_POINTS];
};

void heap_timeline_init(struct heap_timeline *t);

/* At time `ns` the level went from `before` to `after`. */
void heap_timeline_note(struct heap_timeline *t, uint64_t ns, uint64_t before, uint64_t after);

/* Append the points to the benchmark's. */
void heap_timeline_points(const struct heap_timeline *t, struct heap_benchmark *to);

#endif

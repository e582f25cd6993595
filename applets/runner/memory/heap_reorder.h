/* SPDX-License-Identifier: MIT */
/*
 * heap_reorder.h - events that come nearly in the order of time, put in order. The buffer holds
 * the last HEAP_REORDER_EVENTS; events of one time keep their order.
 */
#ifndef MEMORY_HEAP_REORDER_H
#define MEMORY_HEAP_REORDER_H

#include "applets/runner/memory/heap.h"

struct heap_reorder {
	struct heap_event events[HEAP_REORDER_EVENTS];
	uint16_t order[HEAP_REORDER_EVENTS]; /* a ring of indices of events, oldest first */
	size_t first, count;
};

static inline bool heap_reorder_full(const struct heap_reorder *r)
{
	return r->count == HEAP_REORDER_EVENTS;
}

/* Not when it is full. */
void heap_reorder_put(struct heap_reorder *r, const struct heap_event *e);

/* The oldest one, which is good until the next put; not when there is none. */
const struct heap_event *heap_reorder_take(struct heap_reorder *r);

#endif

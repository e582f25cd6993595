/* SPDX-License-Identifier: MIT */
/* heap_reorder.c - events put in the order of time */
#include "applets/runner/memory/heap_reorder.h"
#include "core/base.h"

enum { MASK = HEAP_REORDER_EVENTS - 1 };

_Static_assert((HEAP_REORDER_EVENTS & MASK) == 0, "a ring of a power of two");

static inline uint16_t *index_at(struct heap_reorder *r, size_t place)
{
	return &r->order[(r->first + place) & MASK];
}

static inline uint64_t time_at(struct heap_reorder *r, size_t place)
{
	return r->events[*index_at(r, place)].timestamp;
}

/* How many events are not after this time. */
static size_t place_of(struct heap_reorder *r, uint64_t timestamp)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (time_at(r, middle) <= timestamp)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Indices that are not in use stand right behind those that are, as a permutation, so the next one
 * is where the ring goes on. Only indices move, never events.
 */
void heap_reorder_put(struct heap_reorder *r, const struct heap_event *e)
{
	uint16_t index = *index_at(r, r->count);
	size_t place = r->count;

	r->events[index] = *e;
	if (place && time_at(r, place - 1) > e->timestamp) {
		size_t to = place_of(r, e->timestamp);

		for (; place > to; place--)
			*index_at(r, place) = *index_at(r, place - 1);
		*index_at(r, place) = index;
	}
	r->count++;
}

const struct heap_event *heap_reorder_take(struct heap_reorder *r)
{
	const struct heap_event *e = &r->events[*index_at(r, 0)];

	r->first = (r->first + 1) & MASK;
	r->count--;
	return e;
}

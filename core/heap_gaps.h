/* SPDX-License-Identifier: MIT */
/*
 * heap_gaps.h - what of the heap calls nobody could see, and why: found by memtrack, handed on in
 * its supplement, told with the benchmarks that it concerns.
 */
#ifndef CORE_HEAP_GAPS_H
#define CORE_HEAP_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "core/vec.h"

struct heap_gap {
	uint64_t from; /* CLOCK_MONOTONIC, ns: what was over before is whole; 0: not known */
	bool remark;   /* no heap call is missing, but it is worth knowing */
	char *text;    /* one line for people; owned */
};

struct heap_gaps {
	VEC(struct heap_gap) list;
};

#define HEAP_GAPS_INIT {0}

/* Append; the text is made printable (text.h). */
void heap_gaps_add(struct heap_gaps *g, uint64_t from, bool remark, const char *text);

/* Append what was found now, and warn of it. */
void heap_gaps_tell(struct heap_gaps *g, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The same for a remark, which is no reason for a warning. */
void heap_gaps_remark(struct heap_gaps *g, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Append all of `from`, which is empty afterwards. */
void heap_gaps_move(struct heap_gaps *g, struct heap_gaps *from);

void heap_gaps_release(struct heap_gaps *g);

#endif

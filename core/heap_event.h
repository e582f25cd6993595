/* SPDX-License-Identifier: MIT */
/*
 * heap_event.h - what one call of an allocator did, as memtrack records it, the artifact stores it
 * and the runner replays it; and the ends of processes, which the artifact has no place for
 * (memtrack_supplement.h). Userspace only: what BPF programs write has a record of its own.
 */
#ifndef CORE_HEAP_EVENT_H
#define CORE_HEAP_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* In an artifact a kind is its name, so these numbers may change. */
enum heap_event_kind {
	HEAP_MALLOC,
	HEAP_FREE,
	HEAP_CALLOC,
	HEAP_REALLOC,
	HEAP_ALIGNED_ALLOC,
	HEAP_MMAP, /* this one and the next two are only read, never recorded */
	HEAP_MUNMAP,
	HEAP_BRK,
	HEAP_EVENT_KINDS, /* how many an artifact can hold */

	/* No heap calls: with its address space every block of the process is gone. */
	HEAP_EXEC, /* it executes another program */
	HEAP_EXIT, /* its last thread has ended */
};

struct heap_event {
	uint64_t timestamp; /* CLOCK_MONOTONIC, ns; of the return, of a free and munmap the entry */
	uint64_t addr;      /* the block: returned, or freed; of brk the new program break */
	uint64_t old_addr;  /* realloc: the block before, 0 for realloc(NULL) */
	uint64_t size;      /* bytes asked for; 0 for free and brk */
	int32_t pid;        /* process (thread group) */
	int32_t tid;
	uint8_t kind;       /* enum heap_event_kind */
	bool old_known;     /* false where a producer of old left old_addr out */
};

_Static_assert(sizeof(struct heap_event) == 48, "events are kept by the million");

static inline bool heap_event_is_end(const struct heap_event *e)
{
	return e->kind > HEAP_EVENT_KINDS;
}

/* The end of a process, or of the program in it: an event of the two last kinds, kept. */
struct heap_life {
	uint64_t timestamp;
	int32_t pid;
};

#endif

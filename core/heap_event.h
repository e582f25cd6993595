/* SPDX-License-Identifier: MIT */
/*
 * heap_event.h - what one call of an allocator did, as memtrack records it, the artifact stores it
 * and the runner replays it. Userspace only: what BPF programs write has a record of its own.
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
	HEAP_EVENT_KINDS,
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

#endif

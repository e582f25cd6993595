/* SPDX-License-Identifier: MIT */
/*
 * heap.h - the heap model: events of allocators replayed into figures for each benchmark.
 *
 *	struct heap *h = heap_new(windows, window_count, benchmark_count);
 *	heap_add(h, events, count);        // as they come from the artifact, as often as needed
 *	heap_finish(h);
 *	heap_benchmark(h, 0)->peak_bytes ...
 *	heap_free(h);
 *
 * Memory is proportional to the blocks that are live at once, and to the threads.
 *
 * What is counted. A benchmark's figures are those of its windows: of blocks that were allocated
 * in a window, until it ends. So what a program held before does not matter, nor what it frees of
 * that.
 *
 * - A realloc that succeeds is an allocation of the new size, and a free of the old block if there
 *   was one.
 * - An allocation at an address that is live replaces the block. Right after an allocation of the
 *   same block by the same thread it is the same allocation, told twice (operator new and malloc
 *   by old memtracks), and counts once, with the later size. So does a free told twice.
 * - Temporary is a block that is freed by the next event of the thread that allocated it (as
 *   heaptrack defines it, there whatever the thread; heaptrack_interpret.cpp, `lastPtr`). A realloc
 *   counts as free and allocation here too.
 * - Blocks belong to a process. The events do not show a fork: a child starts without blocks, and
 *   its free of a block that it inherited is a free of a block that nobody knows (`foreign`): it is
 *   counted among the frees, changes nothing else, and is no error. The peak is the peak of the
 *   sum over all processes, of what each allocated itself.
 * - The events do not show exec and exit either. Where these are known (heap_set_lives()), all
 *   blocks of a process are gone with it: they are no part of the live bytes any more, so that the
 *   peak of children that run one after the other is that of one, not their sum. They were never
 *   freed, and count as leaked, as massif's and heaptrack's users expect of a block that is live at
 *   the exit of its program. An exec is such an end, too. Without, blocks stay to the window's end.
 * - mmap, munmap and brk are no heap events; they are only counted.
 */
#ifndef MEMORY_HEAP_H
#define MEMORY_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "core/heap_event.h"
#include "core/vec.h"

enum {
	HEAP_REORDER_EVENTS = 4096, /* an event may come so many others too late */
	HEAP_TIMELINE_POINTS = 256,
	HEAP_SIZE_CLASSES = 65,     /* 0, then 2^0 to 2^63 */
};

/* A time during which a benchmark runs; both ends belong to it. */
struct heap_window {
	uint64_t start, end;
	uint32_t benchmark; /* index below `benchmark_count` */
};

struct heap_size_class {
	uint64_t allocations, bytes;
};

struct heap_point {
	uint64_t ns;         /* since the window's start; windows of one benchmark follow each other */
	uint64_t live_bytes; /* the most from there to the next point */
};

struct heap_benchmark {
	uint64_t windows; /* that had at least one event, or have passed */
	uint64_t peak_bytes;
	uint64_t total_bytes;
	uint64_t allocations;
	uint64_t frees;        /* `foreign` ones included */
	uint64_t foreign_frees;
	uint64_t leaked_bytes; /* live at the window's end, or at the end of their process */
	uint64_t leaked_blocks;
	uint64_t temporary_allocations;
	uint64_t mmaps; /* mmap, munmap and brk */
	struct heap_size_class classes[HEAP_SIZE_CLASSES];
	VEC(struct heap_point) timeline; /* points without a change are left out */
};

/* What is worth telling about the events as a whole. */
struct heap_summary {
	uint64_t events;
	uint64_t outside; /* of no window */
	uint64_t late;    /* later than the reorder window allows; taken where they came */
	uint64_t twice;   /* told twice, as above */
	uint64_t replaced; /* allocations of a thread at the address of a block of its own, of the same
	                      window (between windows no free is seen): a free was missed, or an exec */
	uint64_t unknown_old; /* reallocs that do not tell the block before, which thus stays */
	size_t processes;
};

/* The smallest power of two that holds so many bytes; 0 for none. Index of heap_benchmark.classes */
static inline unsigned heap_size_class(uint64_t size)
{
	unsigned bits = size > 1 ? 64 - (unsigned)__builtin_clzll(size - 1) : 0;

	return size ? (bits < HEAP_SIZE_CLASSES - 1 ? bits + 1 : HEAP_SIZE_CLASSES - 1) : 0;
}

/* The number that names a class in results. */
static inline uint64_t heap_class_bytes(unsigned index)
{
	return index ? 1ull << (index - 1) : 0;
}

struct heap;

/*
 * `windows` are copied and may come in any order; where two overlap, the one that started earlier
 * ends when the other starts.
 */
struct heap *heap_new(const struct heap_window *windows, size_t window_count,
		      size_t benchmark_count);

/* All execs and exits; copied. To be called before the first event. */
void heap_set_lives(struct heap *h, const struct heap_life *lives, size_t count);

/* Events in the order of the artifact, which is that of time but for a little. */
void heap_add(struct heap *h, const struct heap_event *events, size_t count);

/* All events are there: closes the windows. What follows may be asked only then. */
void heap_finish(struct heap *h);

/* Borrowed from the heap. */
const struct heap_benchmark *heap_benchmark(const struct heap *h, size_t index);
struct heap_summary heap_summary(const struct heap *h);

void heap_free(struct heap *h); /* NULL is fine */

#endif

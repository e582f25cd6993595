/* SPDX-License-Identifier: MIT */
/* heap_model.h - inside heap*.c: the state of a replay */
#ifndef MEMORY_HEAP_MODEL_H
#define MEMORY_HEAP_MODEL_H

#include "applets/runner/memory/heap.h"
#include "applets/runner/memory/heap_blocks.h"
#include "applets/runner/memory/heap_reorder.h"
#include "applets/runner/memory/heap_timeline.h"

struct process {
	int32_t pid;
	struct heap_blocks blocks;
	struct heap_blocks threads; /* what each did last: addr is the key, size the address */
};

struct heap {
	VEC(struct heap_window) windows; /* by start, without overlap */
	VEC(struct heap_life) lives;     /* by time */
	size_t next_window, next_life;
	struct heap_benchmark *benchmarks;
	struct heap_timeline **timelines; /* of benchmarks; NULL before the first window */
	uint64_t *elapsed;                /* of the windows of each that are over */
	size_t benchmark_count;

	VEC(struct process) processes;
	struct heap_blocks by_pid; /* addr is the pid's key, size the index */
	size_t latest;             /* process of the last event */

	uint64_t now;
	uint32_t window;                /* number of the open one, 0 for none */
	struct heap_benchmark *current; /* of the open window, else `nobody` */
	struct heap_benchmark nobody;
	uint64_t window_bytes, window_blocks; /* live ones that were allocated in it */

	struct heap_summary summary;
	struct heap_reorder reorder;
};

/* heap_time.c: bring windows and ends of processes up to this time. Time never goes back. */
void heap_pass_time(struct heap *h, uint64_t to);

/* heap_time.c: no events come any more. */
void heap_end_windows(struct heap *h);

/* heap_time.c: the live bytes of the window change now. */
void heap_set_bytes(struct heap *h, uint64_t bytes);

/* Id of a process or thread as the key of a table. */
static inline uint64_t heap_key(int32_t id)
{
	return (uint64_t)(uint32_t)id + 1;
}

/* heap_time.c: the process, made when it is new. Good until the next call. */
struct process *heap_process(struct heap *h, int32_t pid);

/* heap_replay.c */
void heap_replay(struct heap *h, const struct heap_event *e);

#endif

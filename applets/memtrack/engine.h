/* SPDX-License-Identifier: MIT */
/*
 * engine.h - where heap events come from. What lies behind it (probes, rings, namespaces) is an
 * engine's own affair; the rest of memtrack takes batches of events.
 *
 * One thread calls these; an engine may have threads of its own.
 */
#ifndef MEMTRACK_ENGINE_H
#define MEMTRACK_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/heap_event.h"
#include "core/heap_gaps.h"

/* What did not reach the events; any of it makes the run incomplete. */
struct engine_losses {
	uint64_t events;
	uint64_t processes; /* that could not be followed */
	uint64_t addresses; /* of blocks, which stood in memory that this kernel lets nobody read */
	uint64_t files;     /* mapped while memtrack was not told: their allocator may be missed */
};

struct engine {
	const struct engine_ops *ops;
	pid_t helper; /* a child of this process that is the engine's own; 0: none */
};

struct engine_ops {
	/*
	 * Begin to follow `root`, a child that has not executed its program yet, and everything it
	 * will start. 0 or -errno with a frame.
	 */
	int (*follow)(struct engine *e, pid_t root);

	/* Events are produced from now on, or no more. */
	void (*track)(struct engine *e, bool on);

	/*
	 * Up to `max` events that are there already, without waiting; their number. The ends of
	 * processes are among them, also while no events are produced. When there are no more,
	 * -errno with a frame if the engine cannot go on: an allocator that cannot be probed, a file
	 * that cannot be read. The tree is to be ended then.
	 */
	ssize_t (*next)(struct engine *e, struct heap_event *to, size_t max);

	/* Processes and threads of the tree that have not ended. */
	uint64_t (*alive)(struct engine *e);
	struct engine_losses (*losses)(struct engine *e);

	/*
	 * Let go of everything: no probe is left, no process stays stopped. Appends whose heap calls
	 * could not be seen: each was told when it was found.
	 */
	void (*free)(struct engine *e, struct heap_gaps *gaps);
};

#endif

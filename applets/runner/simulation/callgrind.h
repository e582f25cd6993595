/* SPDX-License-Identifier: MIT */
/*
 * callgrind.h - reads callgrind output files as a stream: the file is never held in memory, only
 * its distinct function names are.
 *
 * The caller gets each part (one dump of the process) twice: when its header is read, to choose
 * where its functions are added up, and when it is complete and checked. A part that is cut off
 * or damaged adds nothing anywhere.
 */
#ifndef SIMULATION_CALLGRIND_H
#define SIMULATION_CALLGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "applets/runner/simulation/function_costs.h"

/* The events we know, found by their names in the `events:` line, in whatever order. */
enum callgrind_event {
	CG_IR,
	CG_DR,
	CG_DW,
	CG_I1MR,
	CG_D1MR,
	CG_D1MW,
	CG_ILMR,
	CG_DLMR,
	CG_DLMW,
	CG_EVENT_COUNT,
};

/* The name in the file ("Ir", "I1mr", ...). */
const char *callgrind_event_name(enum callgrind_event event);

/* The lines on top of the file; "" or 0 for what the file does not say. */
struct callgrind_header {
	const char *creator; /* "callgrind-3.19.0" */
	const char *cmd;     /* executable and arguments, newline and backslash escaped */
	uint64_t pid;
};

/*
 * One dump. All pointers are good during the callback only.
 *
 * What main() has cost is the cost of the calls to `main`, and to exit() after it, or when the
 * program has no such symbol, of the calls out of the C start-up code that valgrind names
 * `(below main)`. The rest of the total is start-up, loading above all.
 */
struct callgrind_part {
	const struct callgrind_header *file;
	uint64_t number;         /* counts from 1 in each file; 0 if the file does not say */
	const char *trigger;     /* why it was written: text after "Trigger: ", or "" */
	const uint64_t *spawned; /* pids of the "Spawned pid:" lines (CodSpeed's valgrind only) */
	size_t spawned_count;
	bool has_event[CG_EVENT_COUNT];

	/* The rest is 0 in part_begin(). Missing events are 0. */
	uint64_t costs[CG_EVENT_COUNT]; /* of the part, from its `totals:` */
	bool below_main_seen;           /* start-up code was recognised: the next is meaningful */
	uint64_t main_inclusive;        /* instructions of main() and all below it, see above */
};

struct callgrind_ops {
	/*
	 * The header of a part is read. Returns the table that the part's functions are to be added
	 * to once it is complete, or NULL for none: that is faster. May be NULL itself.
	 */
	struct function_costs *(*part_begin)(void *ctx, const struct callgrind_part *part);

	/*
	 * The part is complete, its total is the sum of its lines, its functions are in the table.
	 * Any value but 0 ends the reading and is what callgrind_read() returns. May be NULL.
	 */
	int (*part_end)(void *ctx, const struct callgrind_part *part);
};

enum callgrind_result {
	CALLGRIND_COMPLETE = 0,
	CALLGRIND_TRUNCATED = 1, /* the file ends inside a part, or before the first one */
	CALLGRIND_EMPTY = 2,     /* 0 bytes: what a killed process leaves behind */
};

/*
 * Read a whole file. Returns an enum callgrind_result without a frame, or a negative errno value
 * with a frame that names the file, the line and what is wrong: -EBADMSG for a file that is not
 * callgrind's or is damaged. Parts before the damage or the end were delivered in every case.
 *
 * A function's inclusive cost is its own cost and that of its calls at the outermost level of
 * recursion, at most the part's total. It counts calls that were running at the dump, too:
 * callgrind writes what they have cost in the part (with a count of 0).
 */
int callgrind_read(const char *path, const struct callgrind_ops *ops, void *ctx);

/* The same from a descriptor (read to its end, not closed); `name` stands in messages. */
int callgrind_read_fd(int fd, const char *name, const struct callgrind_ops *ops, void *ctx);

/* The same from memory. */
int callgrind_read_bytes(const void *data, size_t len, const char *name,
			 const struct callgrind_ops *ops, void *ctx);

#endif

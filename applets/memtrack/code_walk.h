/* SPDX-License-Identifier: MIT */
/*
 * code_walk.h - every way through a piece of code, from one address on: where it ends, and what
 * was passed before. Direct jumps are followed, calls are stepped over, and stubs of the linkage
 * table are seen through.
 */
#ifndef MEMTRACK_CODE_WALK_H
#define MEMTRACK_CODE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/elf.h"
#include "core/vec.h"

/* Where a call or jump leads. */
struct code_target {
	uint64_t address; /* in this file; 0: elsewhere */
	const char *name; /* of the symbol where a stub told it, else NULL; lives with the file */
};

/* What lies behind on a way through the code. */
enum code_path {
	CODE_WORKED = 1u << 0, /* memory other than the stack may have been written, or a call made */
	CODE_GOAL = 1u << 1,   /* a goal was called */
};

enum code_exit_type {
	CODE_RETURN,
	CODE_JUMP,    /* to `target`, outside of the range; the goal bit covers the target too */
	CODE_UNKNOWN, /* a jump through a register, or no instruction that is known */
};

struct code_exit {
	enum code_exit_type type;
	unsigned path;
	uint64_t at;
	struct code_target target;
};

struct code_call {
	uint64_t at;
	struct code_target target;
};

struct code_walk {
	VEC(struct code_exit) exits; /* one place may come once for each `path` */
	VEC(struct code_call) calls;
	bool complete; /* false: it was cut short, there is more than what is told */
};

/* What to walk through. */
struct code_range {
	uint64_t from, to; /* jumps to elsewhere are exits */

	/*
	 * Where functions start, in order. A way that runs on into one of them has passed a call
	 * that does not return. None: that is known only of calls of abort() and the like.
	 */
	const uint64_t *starts;
	size_t start_count;
};

/*
 * Walk from `start`. `is_goal` (or NULL) says whether a target counts as a goal. Release the
 * result with code_walk_release().
 */
void code_walk(struct code_walk *w, struct elf_file *f, uint64_t start, struct code_range range,
	       bool (*is_goal)(void *ctx, const struct code_target *t), void *ctx);
void code_walk_release(struct code_walk *w);

#endif

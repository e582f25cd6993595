/* SPDX-License-Identifier: MIT */
/*
 * placement.h - at which instruction of a function an entry probe goes. The kernel emulates some
 * instructions at a probe (push, nop, jumps, calls) and single-steps the rest, which costs ten
 * times as much, so a probe moves on to the first emulated one where that changes nothing:
 *
 * - every call gets there, and once: no branch is skipped, and no jump in the function leads back
 *   to it;
 * - the arguments are there: no skipped instruction overwrites them, or they have been copied to
 *   another register before (then `registers` says to which);
 * - the stack pointer is as at the entry, so that a return probe may stand at the same place.
 *
 * Where that cannot be shown, the place is the function's start. A 5-byte nop is never moved to:
 * newer kernels write below the stack pointer there.
 *
 * That is of x86-64. On AArch64 the place is always the function's start.
 */
#ifndef MEMTRACK_PLACEMENT_H
#define MEMTRACK_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACEMENT_ARGUMENTS = 4 }; /* the first ones; more are never asked for */

/* How a place may be chosen. */
enum placement_flags {
	PLACEMENT_MOVED = 1u << 0,   /* arguments may be in other registers than at the entry */
	PLACEMENT_NOT_NULL = 1u << 1, /* calls with a null first argument may be passed by */
};

struct placement {
	uint32_t offset;  /* from the function's start */
	bool emulated;    /* what stands there is cheap to probe */
	uint8_t registers[PLACEMENT_ARGUMENTS]; /* the processor's number of each argument's; only
						   what was asked for means something */
};

/*
 * `code` are the function's `len` bytes, all of them as far as known. `arguments` are those that
 * the probe reads, bit 0 for the first one.
 */
struct placement placement_choose(const uint8_t *code, size_t len, unsigned arguments,
				  unsigned flags);

#endif

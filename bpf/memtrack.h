/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * memtrack.h - what the kernel side and memtrack share: fixed-width data only, no padding left to a
 * compiler.
 */
#ifndef BPF_MEMTRACK_H
#define BPF_MEMTRACK_H

#include <linux/types.h>

enum track_kind {
	TRACK_MALLOC = 1,
	TRACK_FREE = 2,
	TRACK_CALLOC = 3,
	TRACK_REALLOC = 4,
	TRACK_ALIGNED_ALLOC = 5,
	TRACK_EXEC = 6, /* these two have neither address nor size */
	TRACK_EXIT = 7,
};

/*
 * A record of the event ring; `kind_addr` has the kind in its top byte, user addresses leave it
 * free. Free, Exec and Exit end after `tid`, Realloc alone has `old`: every byte of the ring counts
 * at a million records a second.
 */
struct track_event {
	__u64 time; /* CLOCK_MONOTONIC, ns */
	__u64 kind_addr;
	__u32 pid;
	__u32 tid;
	__u64 size;
	__u64 old;
};

#define TRACK_FREE_BYTES 24
#define TRACK_ALLOC_BYTES 32
#define TRACK_REALLOC_BYTES 40
#define TRACK_KIND_SHIFT 56

_Static_assert(sizeof(struct track_event) == TRACK_REALLOC_BYTES, "as laid out above");

/*
 * A process was stopped: at an exec or a mapping of a file not seen before, or because the ring
 * fills up. It waits for memtrack to let it go on.
 */
enum track_reason { TRACK_STOP_FILE = 1, TRACK_STOP_FULL = 2 };

struct track_file {
	__u64 inode;
	__u32 device; /* major << 20 | minor */
	__u32 zero;
};

struct track_stop {
	__u32 pid;
	__u32 tid;
	__u32 reason;
	__u32 number; /* counted from 1 on */
	struct track_file file; /* all 0: one that the kernel side could not make out */
	__u64 changed;          /* when its content or its inode was, ns since 1970 (ctime) */
};

_Static_assert(sizeof(struct track_file) == 16, "as laid out above");
_Static_assert(sizeof(struct track_stop) == 40, "as laid out above");

/* How many of the last stopped processes are remembered: all that can be asking at once. */
#define TRACK_HELD 8192

/*
 * The cookie of a probe says what its function does and in which registers its arguments are there,
 * so that one program serves all functions: 8 bits kind, 4 bits each for the size, a factor of the
 * size and the block (the old one, the one freed, or the place of the result), then flags. Registers
 * have the processor's numbers (rax 0, rcx 1, rdx 2, rbx 3, rbp 5, rsi 6, rdi 7, r8 8 ...).
 */
#define TRACK_NO_ARG 4u /* the stack pointer's number; on AArch64 no argument is as far as that */
#define TRACK_COOKIE(kind, size, factor, block, flags)                                          \
	((__u64)(kind) | (__u64)(size) << 8 | (__u64)(factor) << 12 | (__u64)(block) << 16 |    \
	 (__u64)(flags) << 20)
#define TRACK_COOKIE_KIND(c) ((c) & 0xff)
#define TRACK_COOKIE_SIZE(c) ((c) >> 8 & 15)
#define TRACK_COOKIE_FACTOR(c) ((c) >> 12 & 15)
#define TRACK_COOKIE_BLOCK(c) ((c) >> 16 & 15)
#define TRACK_COOKIE_FLAGS(c) ((c) >> 20)

/* The result is written through the block argument, the function returns 0 (posix_memalign). */
#define TRACK_INDIRECT 1u
/* A realloc that frees the old block when it fails (reallocf). */
#define TRACK_FREES_ON_FAILURE 2u
/* A free that may hand the block on to another probed one. */
#define TRACK_PASSES_ON 4u
/* It may be left by an exception. */
#define TRACK_THROWS 8u
/* Where the return address comes in a register: it is kept in a frame record. */
#define TRACK_KEEPS_FRAMES 16u

/* Functions whose blocks cannot be seen: the place of each in `unseen` is its cookie. */
#define TRACK_UNSEEN_MAX 256

#endif

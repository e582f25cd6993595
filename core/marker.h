/* SPDX-License-Identifier: MIT */
/* marker.h - the moments of a benchmark, as the FIFO carries them and files keep them */
#ifndef CORE_MARKER_H
#define CORE_MARKER_H

#include <stdint.h>

/* Fixed for ever: these are the numbers on the wire. */
enum marker_type {
	MARKER_SAMPLE_START, /* a window in which a benchmark is measured */
	MARKER_SAMPLE_END,
	MARKER_ROUND_START,  /* one repetition inside the window */
	MARKER_ROUND_END,
	MARKER_TYPE_COUNT,
};

struct marker {
	enum marker_type type;
	uint64_t time; /* CLOCK_MONOTONIC, nanoseconds */
};

#endif

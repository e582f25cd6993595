/* SPDX-License-Identifier: MIT */
/*
 * execution_timestamps.h - when which benchmark ran: ExecutionTimestamps.msgpack in the profile
 * folder. Also what the runner collects while it serves the FIFOs.
 */
#ifndef CORE_EXECUTION_TIMESTAMPS_H
#define CORE_EXECUTION_TIMESTAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/marker.h"
#include "core/vec.h"

#define EXECUTION_TIMESTAMPS_FILE "ExecutionTimestamps.msgpack"

struct execution_uri {
	uint64_t time; /* CLOCK_MONOTONIC, nanoseconds */
	char *uri;     /* UTF-8 */
	size_t len;
	int32_t pid;   /* who reported it; not part of the file: 0 when read from one */
};

struct execution_timestamps {
	VEC(struct execution_uri) uris; /* as they arrived */
	VEC(struct marker) markers;     /* as they arrived */
};

#define EXECUTION_TIMESTAMPS_INIT {0}

void execution_timestamps_release(struct execution_timestamps *t);
void execution_timestamps_add(struct execution_timestamps *t, uint64_t time, const char *uri,
			      size_t len, int32_t pid);

/* The bytes of the file, appended. */
void execution_timestamps_encode(const struct execution_timestamps *t, struct buf *to);

/*
 * Read such bytes, also the positional form and the old marker names. Unknown keys are ignored, and
 * so is what a later writer may append to an entry. 0, or -EBADMSG with a frame "NAME: at byte N:
 * reason"; `t` is then empty.
 */
int execution_timestamps_decode(struct execution_timestamps *t, const char *name,
				const void *bytes, size_t len);

/* The file, written in one step and read. 0 or -errno with a frame. */
int execution_timestamps_write(const struct execution_timestamps *t, const char *path);
int execution_timestamps_read(struct execution_timestamps *t, const char *path);

/* A benchmark's window, from SampleStart to SampleEnd. */
#define EXECUTION_NO_URI SIZE_MAX

struct execution_window {
	uint64_t start;
	uint64_t end;   /* UINT64_MAX: there is no SampleEnd */
	size_t uri;     /* index into `uris`, or EXECUTION_NO_URI: nobody said whose it is */
};

struct execution_windows {
	VEC(struct execution_window) list;
};

/*
 * The windows in order of time, and whose they are: a URI belongs to the nearest window that ended
 * before it and has none, else to the next one that starts after it. A start inside a window and an
 * end outside one mean nothing.
 */
void execution_windows_find(const struct execution_timestamps *t, struct execution_windows *w);
void execution_windows_release(struct execution_windows *w);

#endif

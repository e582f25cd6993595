/* SPDX-License-Identifier: MIT */
/*
 * tracker.h - the kernel side of memtrack seen from user space: load it the way this kernel can,
 * attach probes, read what it tells. The only file that knows libbpf is tracker.c.
 *
 * tracker_attach(), files and stops belong to one thread (the watcher), tracker_read() to another.
 */
#ifndef MEMTRACK_TRACKER_H
#define MEMTRACK_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/memtrack.h"
#include "core/heap_event.h"

/* Best first. A session is entry and return in one program; perf is for kernels before 6.6. */
enum uprobe_flavour { UPROBE_SESSION, UPROBE_MULTI, UPROBE_PERF, UPROBE_FLAVOURS };

const char *uprobe_flavour_name(enum uprobe_flavour flavour);

enum probe_place {
	PLACE_CALL,   /* entry and return of an allocating function */
	PLACE_ENTRY,  /* entry of an allocating function that may throw: its returns are PLACE_RET */
	PLACE_RET,    /* a `ret` instruction of such a function */
	PLACE_FREE,   /* entry of a freeing function */
	PLACE_SIZE,   /* entry of a wrapper that knows the size */
	PLACE_THROW,  /* entry of the function that makes exceptions; its cookie is of no interest */
	PLACE_UNSEEN, /* entry of a function whose blocks are not seen; its cookie is a place in
	                 tracker_unseen() */
	PLACES,
};

struct probe {
	enum probe_place place;
	uint64_t offset; /* in the file */
	uint64_t cookie; /* TRACK_COOKIE(), but for PLACE_UNSEEN */
};

struct tracker;

struct tracker_options {
	int flavour;       /* enum uprobe_flavour, or -1: the best that attaches */
	size_t ring_bytes; /* rounded up to a power of two */
};

/*
 * Load and attach what follows the tree. 0, or -errno with a frame: -EPERM and
 * -EACCES mean missing rights, -ENOMEM too large a ring, anything else that this kernel cannot.
 */
int tracker_new(struct tracker **to, const struct tracker_options *options);
void tracker_free(struct tracker *t); /* every probe is gone when it returns */

/* Follow this process from now on. 0 or -errno with a frame. */
int tracker_follow(struct tracker *t, pid_t pid);
void tracker_track(struct tracker *t, bool on);

/*
 * Probe these places of a file, given by a descriptor; `group`, from 1 on, is what tracker_detach()
 * takes them away by. 0 or -errno with a frame.
 */
int tracker_attach(struct tracker *t, int fd, unsigned group, const struct probe *probes,
		   size_t count);
void tracker_detach(struct tracker *t, unsigned group);

/* Up to `max` events that are in the ring, without waiting. */
size_t tracker_read(struct tracker *t, struct heap_event *to, size_t max);

/* Bytes in the ring that were not read yet, and from how many on a producer is held. */
size_t tracker_unread(struct tracker *t);
size_t tracker_high(const struct tracker *t);

/* Up to `max` stops that were asked for, without waiting; `tracker_stops_fd` can be read then. */
size_t tracker_take_stops(struct tracker *t, struct track_stop *to, size_t max);

/* To be said before the process is let go on: else what it does from then on is taken for missed. */
void tracker_answered(struct tracker *t, const struct track_stop *stop);
int tracker_stops_fd(const struct tracker *t);

/* From now on nobody is stopped: there will be no one to let them go. */
void tracker_end_stops(struct tracker *t);

/*
 * The file was looked at: nobody is stopped for it any more, until it is changed (ns since 1970) or
 * all are forgotten: what comes again is looked at once more. 0 or -errno with a frame.
 */
int tracker_know_file(struct tracker *t, struct track_file file, uint64_t changed);
void tracker_forget_files(struct tracker *t);

struct tracker_counts {
	uint64_t lost_events, lost_stops, lost_tasks, lost_addresses, alive;
	uint64_t strangers; /* left alone: of other users, or with rights of their own */
	uint64_t first_stranger; /* CLOCK_MONOTONIC, ns */
	uint64_t escaped; /* stops that somebody else has ended, before the probes stood */
};
struct tracker_counts tracker_counts(struct tracker *t);

/*
 * The last processes that were stopped, in memory shared with forked children, and their number:
 * for whoever has to let them go when memtrack is killed.
 */
const volatile uint32_t *tracker_held(const struct tracker *t, size_t *count);

/* Whether the function with this place was called. */
bool tracker_unseen(const struct tracker *t, size_t place);

#endif

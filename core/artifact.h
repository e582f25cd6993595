/* SPDX-License-Identifier: MIT */
/*
 * artifact.h - memtrack's file of heap events, `<pid>.MemtrackArtifact.msgpack`: in spite of its
 * name zstd frames, whose content is one msgpack map an event (written here byte by byte as
 * upstream's memtrack does).
 *
 *	struct artifact_writer *w;
 *	artifact_create(&w, folder, pid, 2);
 *	artifact_add(w, events, count);         // as often as there are events
 *	artifact_finish(w) or artifact_abandon(w);
 *
 *	struct artifact_reader *r;
 *	artifact_open(&r, path);
 *	while ((n = artifact_read(r, events, ARRAY_SIZE(events))) > 0)
 *		use(events, n);
 *	artifact_close(r);
 */
#ifndef CORE_ARTIFACT_H
#define CORE_ARTIFACT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/heap_event.h"

#define ARTIFACT_SUFFIX ".MemtrackArtifact.msgpack"
#define ARTIFACT_INCOMPLETE ".incomplete" /* after the suffix */

enum {
	ARTIFACT_FRAME_EVENTS = 65536,
	ARTIFACT_WORKERS_MAX = 8,
	ARTIFACT_EVENT_MAX = 128, /* bytes of an encoded event, at most */
};

/* ---- Writing ---- */

struct artifact_writer;

/*
 * Start the file of the process `pid` in `folder`. Until artifact_finish() it has the name of an
 * incomplete one, so that whoever is killed leaves no file that looks whole. A file of that name
 * is replaced, a link never followed.
 *
 * `workers` threads encode and compress (at most ARTIFACT_WORKERS_MAX; 0: the caller does it in
 * artifact_add()). They block all signals. A worker and its part of the queue take 6 MB, and 6 MB
 * come on top.
 *
 * 0 or -errno with a frame. One thread at a time may use a writer.
 */
int artifact_create(struct artifact_writer **to, const char *folder, pid_t pid, unsigned workers);

/*
 * Append events, which are copied. Waits when the workers are behind. 0, or -errno with a frame
 * when writing has failed; then nothing more is written and every later call fails too.
 */
int artifact_add(struct artifact_writer *w, const struct heap_event *events, size_t count);

/* Events so far. */
uint64_t artifact_count(const struct artifact_writer *w);

/*
 * Write what is left, close, and give the file its name. 0 or -errno with a frame: the file is
 * then left under the incomplete name. The writer is freed in any case.
 */
int artifact_finish(struct artifact_writer *w);

/* The same without the last step: the events are not all there. NULL is fine. */
int artifact_abandon(struct artifact_writer *w);

/* The same for a command that never ran: no file is left. */
void artifact_discard(struct artifact_writer *w);

/* Append the bytes of one event to `to`, where ARTIFACT_EVENT_MAX are free; returns their number. */
size_t artifact_encode(const struct heap_event *e, unsigned char *to);

/* ---- Reading ---- */

struct artifact_reader;

/*
 * Open a file of any layout; the events are then read as a stream, in 1 MB of memory. 0 or -errno
 * with a frame; -ENODATA for an empty file, which no memtrack has ever written.
 */
int artifact_open(struct artifact_reader **to, const char *path);

/* The same from a descriptor, which stays the caller's; `name` is for messages. */
int artifact_open_fd(struct artifact_reader **to, int fd, const char *name);

/*
 * Fill `events` with the next ones, at most `max` (not 0). How many; 0 at the end of a whole file.
 * -errno with a frame that names file, offset and number of events where the file is damaged or
 * ends too early; all events before the damage have been handed out by then, and every later call
 * fails too.
 */
ssize_t artifact_read(struct artifact_reader *r, struct heap_event *events, size_t max);

void artifact_close(struct artifact_reader *r); /* NULL is fine */

#endif

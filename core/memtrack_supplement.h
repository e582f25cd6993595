/* SPDX-License-Identifier: MIT */
/*
 * memtrack_supplement.h - what memtrack knows and the artifact, whose bytes are upstream's, has no
 * place for: `<pid>.MemtrackSupplement.txt` beside it. Lines of text:
 *
 *	memtrack supplement 1
 *	exec PID TIME        the process executed another program; all its blocks are gone
 *	exit PID TIME        it ended, the same
 *	gap TIME TEXT        from then on heap calls may be missing, and why; TIME 0: not known
 *	remark TIME TEXT     nothing is missing, but it is worth knowing
 *	end                  the last line: what has none was cut off
 *
 * TIME is in nanoseconds of CLOCK_MONOTONIC, as in the artifact. Lines that begin with another word
 * are of a later version, and passed over. Readers do without the file: older memtracks and
 * upstream's write none.
 *
 *	struct supplement_writer *w;
 *	supplement_create(&w, folder, pid);
 *	supplement_add_end(w, &event);
 *	supplement_finish(w, &gaps) or supplement_abandon(w);
 */
#ifndef CORE_MEMTRACK_SUPPLEMENT_H
#define CORE_MEMTRACK_SUPPLEMENT_H

#include <sys/types.h>

#include "core/buf.h"
#include "core/heap_event.h"
#include "core/heap_gaps.h"
#include "core/vec.h"

#define SUPPLEMENT_SUFFIX ".MemtrackSupplement.txt"
#define SUPPLEMENT_BEGINNING "memtrack supplement 1\n"

/* ---- Writing ---- */

struct supplement_writer;

/*
 * Start the file of the process `pid` in `folder`. One of that name is replaced, a link never
 * followed. 0 or -errno with a frame.
 */
int supplement_create(struct supplement_writer **to, const char *folder, pid_t pid);

/* Append the end of a process (heap_event_is_end()). A failure to write shows in _finish(). */
void supplement_add_end(struct supplement_writer *w, const struct heap_event *e);

/*
 * Write what is left, the gaps and the last line, and close. 0 or -errno with a frame; freed in any
 * case.
 */
int supplement_finish(struct supplement_writer *w, const struct heap_gaps *gaps);

/* The same without the last line: not everything was told. NULL is fine. */
void supplement_abandon(struct supplement_writer *w);

/* The same for a command that never ran: no file is left. */
void supplement_discard(struct supplement_writer *w);

/* ---- Reading ---- */

struct supplement {
	VEC(struct heap_life) lives; /* as they were told, nearly in the order of time */
	struct heap_gaps gaps;
};

#define SUPPLEMENT_INIT {0}

/*
 * Read such bytes and append what they say. 0, or -EBADMSG with a frame "NAME: line N: reason";
 * what stands before that line has been taken.
 */
int supplement_decode(struct supplement *s, const char *name, const char *bytes, size_t len);

void supplement_release(struct supplement *s);

#endif

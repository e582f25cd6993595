/* SPDX-License-Identifier: MIT */
/*
 * artifacts.h - all artifacts of a folder as one stream of events, and what their supplements say.
 * There is one as a rule; of several, which each are nearly in the order of time, the events are
 * merged by time.
 *
 *	artifacts_open(&a, folder);
 *	while ((n = artifacts_next(&a, &events)))
 *		heap_add(h, events, n);
 *	... a.flaws
 *	artifacts_release(&a);
 */
#ifndef MEMORY_ARTIFACTS_H
#define MEMORY_ARTIFACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/heap_event.h"
#include "core/memtrack_supplement.h"
#include "core/strvec.h"
#include "core/vec.h"

struct artifact_stream;

struct artifacts {
	size_t count;      /* files */
	size_t incomplete; /* of these, called so by memtrack */
	size_t damaged;    /* of the others, cut off or not what memtrack writes; once read */
	size_t alone;      /* without a supplement: an old memtrack's, or upstream's */
	struct supplement supplement; /* of all */
	struct strvec flaws; /* why events are missing, for people: all of the above */
	VEC(struct artifact_stream *) streams;
};

/* There are such files in `<folder>/results`, complete or not. */
bool artifacts_exist(const char *folder);

/*
 * Find and open the files in `<folder>/results`, where there may be none. A file that cannot be read
 * is a flaw. 0 or -errno with a frame for a folder that cannot be read; nothing is to be released
 * then.
 */
int artifacts_open(struct artifacts *a, const char *folder);

/* The next events, at least one, good until the next call; returns 0 when there are no more. */
size_t artifacts_next(struct artifacts *a, const struct heap_event **events);

void artifacts_release(struct artifacts *a);

#endif

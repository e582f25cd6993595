/* SPDX-License-Identifier: MIT */
/*
 * suggest.h - the names nearest to a mistyped word.
 *
 *	struct suggest near = suggest_for(word);
 *
 *	for (...)
 *		suggest_add(&near, name);
 *	suggest_text(&near, ", ", "", &line);
 */
#ifndef CORE_SUGGEST_H
#define CORE_SUGGEST_H

#include <stddef.h>

#include "core/buf.h"

enum { SUGGEST_MAX = 3 };

/* The best candidates so far, nearest first; of equals the first one added. Names are borrowed. */
struct suggest {
	const char *word;
	size_t len;
	const char *names[SUGGEST_MAX];
	unsigned distances[SUGGEST_MAX];
};

struct suggest suggest_for(const char *word);

/* Keeps `name` if it is at most two edits away, or one is the beginning of the other. */
void suggest_add(struct suggest *s, const char *name);

/*
 * Appends "did you mean 'a' or 'b'?" after `lead`, or nothing at all where no name is near.
 * `prefix` ("--") stands before each name.
 */
void suggest_text(const struct suggest *s, const char *lead, const char *prefix, struct buf *out);

/* Insertions, deletions, replacements and swaps of neighbours that make `b` of `a`. */
unsigned edit_distance(const char *a, const char *b);

#endif

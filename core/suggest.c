/* SPDX-License-Identifier: MIT */
/* suggest.c - the names nearest to a mistyped word */
#include "core/base.h"
#include "core/suggest.h"

enum {
	LENGTH_MAX = 63, /* longer words are no typing mistakes of ours */
	DISTANCE_MAX = 2,
};

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Optimal string alignment, three rows of the table at a time. */
unsigned edit_distance(const char *a, const char *b)
{
	unsigned rows[3][LENGTH_MAX + 1];
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > LENGTH_MAX || b_len > LENGTH_MAX)
		return LENGTH_MAX;
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned *now = rows[i % 3], *last = rows[(i - 1) % 3];
		const unsigned *before = rows[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			now[j] = min3(last[j] + 1, now[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
	}
	return rows[a_len % 3][b_len];
}

/* What to sort by; past DISTANCE_MAX + 1 the name is no candidate. */
static unsigned distance_of(const char *word, const char *name)
{
	unsigned distance = edit_distance(word, name);
	size_t shorter = strlen(word) < strlen(name) ? strlen(word) : strlen(name);

	/* A distance that replaces the whole word says nothing: "x" is not like "-m". */
	if (distance <= DISTANCE_MAX && distance < shorter)
		return distance;
	if (shorter >= 2 && strncmp(word, name, shorter) == 0)
		return DISTANCE_MAX + 1;
	return DISTANCE_MAX + 2;
}

struct suggest suggest_for(const char *word)
{
	return (struct suggest){.word = word};
}

void suggest_add(struct suggest *s, const char *name)
{
	unsigned distance = distance_of(s->word, name);
	size_t at = s->len;

	if (distance > DISTANCE_MAX + 1)
		return;
	while (at > 0 && s->distances[at - 1] > distance)
		at--;
	if (at == SUGGEST_MAX)
		return;
	if (s->len < SUGGEST_MAX)
		s->len++;
	for (size_t i = s->len - 1; i > at; i--) {
		s->names[i] = s->names[i - 1];
		s->distances[i] = s->distances[i - 1];
	}
	s->names[at] = name;
	s->distances[at] = distance;
}

void suggest_text(const struct suggest *s, const char *lead, const char *prefix, struct buf *out)
{
	if (!s->len)
		return;
	buf_printf(out, "%sdid you mean ", lead);
	for (size_t i = 0; i < s->len; i++)
		buf_printf(out, "%s'%s%s'", i == 0 ? "" : i + 1 < s->len ? ", " : " or ", prefix,
			   s->names[i]);
	buf_addch(out, '?');
}

/* SPDX-License-Identifier: MIT */
/*
 * intern.h - each distinct byte string once, known by a small number.
 *
 *	struct intern names;
 *	intern_init(&names);
 *	uint32_t id = intern_add(&names, "main", 4);    // the same text gives the same id
 *	puts(intern_text(&names, id));
 *	intern_release(&names);
 *
 * Ids count from 0 in the order of first sight. Texts may hold NUL bytes; they stay where they are
 * until intern_release(), so pointers from intern_text() outlive later additions.
 */
#ifndef CORE_INTERN_H
#define CORE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "core/vec.h"

struct intern_entry {
	const char *text; /* NUL-terminated, in one of the blocks */
	size_t len;
	uint32_t hash;
};

struct intern {
	VEC(struct intern_entry) entries; /* by id */
	uint32_t *slots;                  /* id + 1, 0 = free; open addressing */
	size_t slot_count;                /* a power of two, or 0 before the first addition */
	VEC(char *) blocks;               /* the bytes; only the last one has room */
	size_t block_used;
	size_t block_size;
};

void intern_init(struct intern *t);
void intern_release(struct intern *t); /* frees the contents; the table is as new */

/* The id of these bytes, which are copied when they are new. */
uint32_t intern_add(struct intern *t, const void *data, size_t len);

static inline const char *intern_text(const struct intern *t, uint32_t id)
{
	return t->entries.items[id].text;
}

static inline size_t intern_len(const struct intern *t, uint32_t id)
{
	return t->entries.items[id].len;
}

/* How many distinct texts there are: the ids are 0 .. count - 1. */
static inline size_t intern_count(const struct intern *t)
{
	return t->entries.len;
}

#endif

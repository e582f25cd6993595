/* SPDX-License-Identifier: MIT */
/* entry_points.h - the functions of the allocators: a name, and what is known of it */
#ifndef MEMTRACK_ENTRY_POINTS_H
#define MEMTRACK_ENTRY_POINTS_H

#include "applets/memtrack/allocators.h"

enum entry_flags {
	ENTRY_THROWS = 1u << 0,
	ENTRY_WRAPS = 1u << 1,       /* no site where it calls another entry point */
	ENTRY_FREES_FAILED = 1u << 2,
	ENTRY_ALIGNED_NEW = 1u << 3, /* may ask for more than it was asked for */
	ENTRY_CXX = 1u << 4,
};

struct entry_point {
	const char *name;          /* without prefix */
	uint8_t class;             /* enum probe_class */
	uint8_t kind;              /* enum heap_event_kind */
	uint8_t size, count, block; /* number of the argument, from 1; 0: none */
	uint8_t flags;
};

struct entry_match {
	const struct entry_point *entry;
	unsigned shift; /* 1 where a heap comes before the arguments */
	unsigned rank;  /* the better of two names for one function has the smaller one */
	bool plain;     /* a name that anybody may use, not one with an allocator's prefix */
};

/*
 * What a symbol is, by its name. `families` are those of the file: some names mean something only
 * with one of them. `jemalloc` is the prefix of a jemalloc's names if it is an uncommon one, else
 * NULL. False for any other name.
 */

bool entry_point_find(const char *name, unsigned families, const char *jemalloc,
		      struct entry_match *to);

/* The place of an entry in the tables, those with the most common names first. */
unsigned entry_point_order(const struct entry_point *entry);

/* Bits of the families that the definition of `name` proves. */
unsigned entry_point_families(const char *name);

#endif

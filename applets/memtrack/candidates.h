/* SPDX-License-Identifier: MIT */
/* candidates.h - inside allocators.c and candidate*.c: functions that may become sites */
#ifndef MEMTRACK_CANDIDATES_H
#define MEMTRACK_CANDIDATES_H

#include "applets/memtrack/allocators.h"
#include "applets/memtrack/entry_points.h"

enum candidate_state {
	CANDIDATE_NEW,
	CANDIDATE_BUSY,    /* being looked at */
	CANDIDATE_SITE,
	CANDIDATE_COVERED, /* all its calls are seen at other sites */
};

/* No allocator has so many names; each is looked for among all of them. */
enum { CANDIDATES_MOST = 4096 };

struct candidate {
	char *name; /* goes to the list with its site */
	struct entry_match match;
	unsigned order;   /* place of the entry in the tables */
	uint64_t address, size, offset;
	bool local;       /* under all of its names */
	bool throws;      /* under one of them */
	enum candidate_state state;
	bool passes_on;   /* see struct probe_site */
	bool size_site;   /* covered, but it alone knows the size */
	bool unseen;      /* a site that can only tell that it was called */
	uint32_t first_return, return_count;
};

struct candidates {
	struct elf_file *file;
	unsigned families;
	bool moved;
	VEC(struct candidate) all; /* one for each address */
	VEC(uint64_t) starts;      /* of all functions, in order, once they were needed */
	bool too_many;             /* and the rest was left out */
	unsigned depth;            /* how many wait for the one that is being looked at */
};

static inline bool candidate_frees(const struct candidate *c)
{
	return c->match.entry->class == PROBE_FREE;
}

struct candidate *candidate_at(const struct candidates *c, uint64_t address);

/* candidates.c: set `state` and what belongs to it; returns go to the list. */
void candidates_decide(struct candidates *c, struct probe_list *list);

/* candidate_sites.c: decide which become sites, and fill the list. */
void candidates_to_sites(struct candidates *c, struct probe_list *list);
void candidates_release(struct candidates *c);

#endif

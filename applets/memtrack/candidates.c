/* SPDX-License-Identifier: MIT */
/*
 * candidates.c - which entry points become sites: what a function does with other entry points is
 * read from its code
 */
#include "applets/memtrack/candidates.h"
#include "applets/memtrack/code_walk.h"
#include "core/base.h"

enum {
	RETURNS_MAX = 64,          /* of one function that may throw */
	LONGEST_STUB = 64,         /* bytes of a function that only jumps on to another one */
	LONGEST_CALLED = 4 * 1024, /* bytes of a function in between, whose end is not known */
	MAX_DEPTH = 32,            /* entry points that call one another, looked at at once */
	DEEPEST = 3,               /* calls that a wrapper may be away from what it wraps */
};

static void decide(struct candidates *c, struct candidate *one, struct probe_list *list);

struct candidate *candidate_at(const struct candidates *c, uint64_t address)
{
	for (size_t i = 0; i < c->all.len; i++)
		if (c->all.items[i].address == address)
			return &c->all.items[i];
	return NULL;
}

void candidates_release(struct candidates *c)
{
	for (size_t i = 0; i < c->all.len; i++)
		free(c->all.items[i].name);
	vec_release(&c->all);
	vec_release(&c->starts);
}

/* The allocators but libc bring an operator new that is their own down to the memory. */
static bool has_own_new(const struct candidates *c)
{
	return c->families & ~(1u << ALLOCATOR_LIBC | 1u << ALLOCATOR_CXX);
}

/* ---- What a call of another function means ---- */

/* Looks for calls of entry points that free, or of all others. */
struct question {
	struct candidates *candidates;
	struct probe_list *list;
	const struct candidate *asker;
	bool frees;
	const struct candidate *found; /* the last one in this file */
};

static bool is_of_blocks(const struct entry_point *entry)
{
	return entry->class != PROBE_UNSEEN && entry->class != PROBE_THROW;
}

static bool is_goal(void *ctx, const struct code_target *t)
{
	struct question *q = ctx;
	struct candidate *c = t->address ? candidate_at(q->candidates, t->address) : NULL;
	struct entry_match match;

	if (c && c != q->asker && candidate_frees(c) == q->frees &&
	    c->match.entry->class != PROBE_THROW) {
		decide(q->candidates, c, q->list);
		q->found = c;
		return true;
	}
	/* Elsewhere is another file, whose site it will be. */
	return !t->address && t->name && entry_point_find(t->name, UINT32_MAX, NULL, &match) &&
	       (match.entry->class == PROBE_FREE) == q->frees && is_of_blocks(match.entry);
}

static struct code_range range_of(const struct candidate *one)
{
	return (struct code_range){.from = one->address,
				   .to = one->address + (one->size ? one->size : 1)};
}

static bool calls_goal(const struct code_walk *w)
{
	for (size_t i = 0; i < w->exits.len; i++)
		if (w->exits.items[i].path & CODE_GOAL)
			return true;
	return false;
}

/* Whether the functions that it calls, or those that they call, come to a goal. */
static bool calls_goal_below(struct question *q, const struct code_walk *w, int depth)
{
	for (size_t i = 0; i < w->calls.len; i++) {
		uint64_t to = w->calls.items[i].target.address;
		struct code_walk below;
		bool found;

		if (!to || candidate_at(q->candidates, to))
			continue;
		code_walk(&below, q->candidates->file, to,
			  (struct code_range){.from = to, .to = to + LONGEST_CALLED},
			  is_goal, q);
		found = calls_goal(&below) || (depth > 1 && calls_goal_below(q, &below, depth - 1));
		code_walk_release(&below);
		if (found)
			return true;
	}
	return false;
}

/* ---- Functions that free ---- */

/* To a place that only the running program knows: an interposer and the free behind it. */
static bool calls_unknown(const struct code_walk *w)
{
	for (size_t i = 0; i < w->calls.len; i++)
		if (!w->calls.items[i].target.address && !w->calls.items[i].target.name)
			return true;
	for (size_t i = 0; i < w->exits.len; i++)
		if (w->exits.items[i].type == CODE_UNKNOWN)
			return true;
	return false;
}

static void decide_free(struct question *q, struct candidate *one)
{
	bool covered = true, any = false;
	struct code_walk w;

	q->frees = true;
	code_walk(&w, q->candidates->file, one->address, range_of(one), is_goal, q);
	for (size_t i = 0; i < w.exits.len; i++) {
		any |= (w.exits.items[i].path & CODE_GOAL) != 0;
		covered &= w.exits.items[i].path & CODE_GOAL ||
			   (w.exits.items[i].type == CODE_RETURN &&
			    !(w.exits.items[i].path & CODE_WORKED));
	}
	one->passes_on = any || calls_unknown(&w);
	covered &= any && w.complete;
	code_walk_release(&w);
	one->state = covered ? CANDIDATE_COVERED : CANDIDATE_SITE;
}

/* ---- Functions that allocate ---- */

static void note_start(void *ctx, const struct elf_symbol *symbol)
{
	struct candidates *c = ctx;

	if (symbol->code)
		vec_push(&c->starts, symbol->address);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct code_range whole_file(struct candidates *c)
{
	if (!c->starts.len) {
		elf_file_symbols(c->file, note_start, c);
		qsort(c->starts.items, c->starts.len, sizeof(c->starts.items[0]), by_value);
	}
	return (struct code_range){.from = 1, .to = UINT64_MAX, .starts = c->starts.items,
				   .start_count = c->starts.len};
}

/*
 * The returns of a function that may throw, with those of the functions that it ends in by a
 * jump: those jump targets need not have a symbol.
 */
static bool find_returns(struct candidates *c, struct candidate *one, struct probe_list *list)
{
	struct code_walk w;
	bool complete;

	code_walk(&w, c->file, one->address, whole_file(c), NULL, NULL);
	complete = w.complete;
	one->first_return = (uint32_t)list->returns.len;
	for (size_t i = 0; i < w.exits.len && complete; i++) {
		const struct code_exit *e = &w.exits.items[i];
		uint64_t offset;
		bool twice = false;

		complete = e->type == CODE_RETURN && elf_file_code_offset(c->file, e->at, &offset);
		for (size_t r = one->first_return; complete && r < list->returns.len; r++)
			twice |= list->returns.items[r] == offset;
		if (complete && !twice)
			vec_push(&list->returns, offset);
	}
	code_walk_release(&w);
	one->return_count = (uint32_t)list->returns.len - one->first_return;
	complete &= one->return_count && one->return_count <= RETURNS_MAX;
	if (!complete) {
		list->returns.len = one->first_return;
		one->return_count = 0;
	}
	return complete;
}

/* Nothing but a jump to an entry point that does the same. */
static bool is_alias(struct question *q, struct candidate *one)
{
	const struct entry_point *entry = one->match.entry, *other;
	struct code_walk w;
	bool alias;

	if (!one->size || one->size > LONGEST_STUB)
		return false;
	code_walk(&w, q->candidates->file, one->address, range_of(one), is_goal, q);
	alias = w.complete && w.exits.len == 1 && w.calls.len == 0 &&
		w.exits.items[0].type == CODE_JUMP && w.exits.items[0].path & CODE_GOAL;
	code_walk_release(&w);
	if (!alias || !q->found)
		return false;
	other = q->found->match.entry;
	return other->class == entry->class && other->kind == entry->kind;
}

static bool wraps(struct question *q, struct candidate *one)
{
	struct code_walk w;
	bool found;

	if (!(one->match.entry->flags & ENTRY_WRAPS))
		return false;
	code_walk(&w, q->candidates->file, one->address, range_of(one), is_goal, q);
	found = calls_goal(&w);
	/*
	 * The allocators' own operator new comes to malloc only when memory has run out. Other
	 * programs' may have functions in between.
	 */
	if (!found && one->match.entry->flags & ENTRY_CXX && !has_own_new(q->candidates))
		found = calls_goal_below(q, &w, DEEPEST);
	code_walk_release(&w);
	return found;
}

static void decide_alloc(struct question *q, struct candidate *one)
{
	const struct entry_point *entry = one->match.entry;

	if (entry->class == PROBE_THROW) {
		one->state = CANDIDATE_SITE;
		return;
	}
	one->state = CANDIDATE_COVERED;
	if (wraps(q, one)) {
		/* One note is enough: an operator that calls another one leaves it to that. */
		one->size_site = entry->flags & ENTRY_ALIGNED_NEW && !has_own_new(q->candidates) &&
				 !(q->found && q->found->match.entry->flags & ENTRY_CXX);
		return;
	}
	if (is_alias(q, one))
		return;
	one->state = CANDIDATE_SITE;
	one->unseen = entry->class == PROBE_UNSEEN ||
		      (one->throws && !find_returns(q->candidates, one, q->list));
}

static void decide(struct candidates *c, struct candidate *one, struct probe_list *list)
{
	struct question q = {.candidates = c, .list = list, .asker = one};

	/* A long chain gets its turn later: a crafted file must not exhaust the stack. */
	if (one->state != CANDIDATE_NEW || c->depth == MAX_DEPTH)
		return;
	c->depth++;
	one->state = CANDIDATE_BUSY;
	if (candidate_frees(one))
		decide_free(&q, one);
	else
		decide_alloc(&q, one);
	c->depth--;
}

/*
 * An operator delete in a program without an allocator of its own calls free somewhere, unless the
 * program's operator new does not call malloc either.
 */
static void drop_deletes(struct candidates *c)
{
	bool own = has_own_new(c);

	for (size_t i = 0; i < c->all.len; i++)
		own |= c->all.items[i].match.entry->flags & ENTRY_CXX &&
		       !candidate_frees(&c->all.items[i]) && c->all.items[i].state == CANDIDATE_SITE;
	for (size_t i = 0; i < c->all.len && !own; i++)
		if (c->all.items[i].match.entry->flags & ENTRY_CXX &&
		    candidate_frees(&c->all.items[i]))
			c->all.items[i].state = CANDIDATE_COVERED;
}

void candidates_decide(struct candidates *c, struct probe_list *list)
{
	for (size_t i = 0; i < c->all.len; i++)
		decide(c, &c->all.items[i], list);
	drop_deletes(c);
}

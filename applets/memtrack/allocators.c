/* SPDX-License-Identifier: MIT */
/* allocators.c - from the symbols of a file to the functions that are entry points */
#include "applets/memtrack/candidates.h"
#include "core/base.h"

#define HAS(families, family) ((families) & 1u << (family))

const char *const probe_core_names[PROBE_MISSING_CORE] = {"malloc", "calloc", "realloc", "free"};

const char *allocator_family_name(enum allocator_family family)
{
	static const char *const names[ALLOCATOR_FAMILIES] = {
		[ALLOCATOR_LIBC] = "libc", [ALLOCATOR_CXX] = "operator new",
		[ALLOCATOR_JEMALLOC] = "jemalloc", [ALLOCATOR_TCMALLOC] = "tcmalloc",
		[ALLOCATOR_MIMALLOC] = "mimalloc",
	};

	return names[family];
}

enum allocator_family probe_list_family(const struct probe_list *list)
{
	static const enum allocator_family order[] = {
		ALLOCATOR_JEMALLOC, ALLOCATOR_MIMALLOC, ALLOCATOR_TCMALLOC, ALLOCATOR_CXX,
	};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (HAS(list->families, order[i]))
			return order[i];
	return ALLOCATOR_LIBC;
}

/* ---- First look: who is here ---- */

/* A jemalloc is known by the functions that only it has, whatever stands before their names. */
struct jemalloc_prefix {
	char *text;
	unsigned found; /* bits of jemalloc_marks */
};

static const char *const jemalloc_marks[] = {"mallocx", "rallocx", "sdallocx", "sallocx", "nallocx"};

enum { MARKS_NEEDED = 0x1f, LONGEST_PREFIX = 32, PREFIXES_MOST = 64, ALL_OF_CORE = 0x0f };

struct survey {
	unsigned families;
	unsigned core;        /* bits of probe_core_names that are defined */
	unsigned global_core; /* and not only as local symbols */
	bool libc_start;
	VEC(struct jemalloc_prefix) prefixes;
};

static void note_prefix(struct survey *s, const char *name, size_t len, unsigned mark)
{
	for (size_t i = 0; i < s->prefixes.len; i++) {
		struct jemalloc_prefix *p = &s->prefixes.items[i];

		if (strlen(p->text) == len && !memcmp(p->text, name, len)) {
			p->found |= 1u << mark;
			return;
		}
	}
	if (s->prefixes.len < PREFIXES_MOST)
		vec_push(&s->prefixes, (struct jemalloc_prefix){xstrndup(name, len), 1u << mark});
}

static void note_marks(struct survey *s, const char *name)
{
	size_t len = strlen(name);

	if (len < 7 || !str_eq(name + len - 6, "allocx"))
		return;
	for (unsigned m = 0; m < ARRAY_SIZE(jemalloc_marks); m++) {
		size_t mark = strlen(jemalloc_marks[m]);

		if (len > mark && len - mark <= LONGEST_PREFIX &&
		    str_eq(name + len - mark, jemalloc_marks[m]))
			note_prefix(s, name, len - mark, m);
	}
}

static void look(void *ctx, const struct elf_symbol *symbol)
{
	struct survey *s = ctx;

	s->libc_start |= str_eq(symbol->name, "__libc_start_main");
	if (!symbol->code)
		return;
	note_marks(s, symbol->name);
	for (unsigned i = 0; i < PROBE_MISSING_CORE; i++)
		if (str_eq(symbol->name, probe_core_names[i])) {
			s->core |= 1u << i;
			s->global_core |= symbol->local ? 0 : 1u << i;
		}
	s->families |= entry_point_families(symbol->name);
}

/* A local symbol proves a libc only with all the others (see drop_locals()). */
static void check_libc(struct survey *s)
{
	if (!s->global_core && s->core != ALL_OF_CORE)
		s->families &= ~(1u << ALLOCATOR_LIBC);
}

static const char *custom_prefix(struct survey *s)
{
	for (size_t i = 0; i < s->prefixes.len; i++) {
		const struct jemalloc_prefix *p = &s->prefixes.items[i];

		if (p->found == MARKS_NEEDED && !str_eq(p->text, "je_") && !str_eq(p->text, "_rjem_")) {
			s->families |= 1u << ALLOCATOR_JEMALLOC;
			return p->text;
		}
	}
	return NULL;
}

static void survey_release(struct survey *s)
{
	for (size_t i = 0; i < s->prefixes.len; i++)
		free(s->prefixes.items[i].text);
	vec_release(&s->prefixes);
}

/* ---- Second look: the functions ---- */

struct collector {
	struct candidates *to;
	const char *prefix;
	unsigned families;
};

/* The same function under another name: the better name stays, and what either name says. */
static void merge(struct candidate *c, const struct candidate *other)
{
	unsigned throws = (c->match.entry->flags | other->match.entry->flags) & ENTRY_THROWS;

	if (other->match.rank < c->match.rank ||
	    (other->match.rank == c->match.rank && other->order < c->order)) {
		char *old = c->name;

		c->match = other->match;
		c->order = other->order;
		c->name = other->name;
		free(old);
	} else {
		free(other->name);
	}
	c->size = c->size ? c->size : other->size;
	c->throws |= throws != 0;
	c->local &= other->local;
}

static void collect(void *ctx, const struct elf_symbol *symbol)
{
	struct collector *collector = ctx;
	struct candidate c = {.address = symbol->address, .size = symbol->size,
			      .offset = symbol->offset};
	struct candidate *known;

	if (!symbol->code ||
	    !entry_point_find(symbol->name, collector->families, collector->prefix, &c.match))
		return;
	c.local = symbol->local;
	c.name = xstrdup(symbol->name);
	c.order = entry_point_order(c.match.entry);
	c.throws = c.match.entry->flags & ENTRY_THROWS;
	known = candidate_at(collector->to, c.address);
	if (known)
		merge(known, &c);
	else if (collector->to->all.len < CANDIDATES_MOST)
		vec_push(&collector->to->all, c);
	else {
		collector->to->too_many = true;
		free(c.name);
	}
}

/*
 * A program may have a static function `free` of its own, which is another matter. But names are
 * hidden by version scripts, and in static position-independent programs malloc itself is a local
 * symbol, so a local one counts where the four of the core are there and no global one has its
 * name.
 */
static void drop_locals(struct candidates *all, const struct survey *s)
{
	for (size_t i = all->all.len; i-- > 0;) {
		struct candidate *c = &all->all.items[i];
		bool drop = c->local && c->match.plain && s->core != ALL_OF_CORE;

		for (size_t o = 0; o < all->all.len && c->local && c->match.plain; o++)
			drop |= !all->all.items[o].local &&
				all->all.items[o].match.entry == c->match.entry;
		if (drop) {
			free(c->name);
			*c = all->all.items[--all->all.len];
		}
	}
}

/* An interposer that is or serves a library of coroutines. */
static bool switches_stacks(struct elf_file *f, const struct survey *s)
{
	return s->families == 1u << ALLOCATOR_LIBC && !s->libc_start &&
	       elf_file_imports(f, "swapcontext");
}

static void avoid_return_probes(struct candidates *all)
{
	for (size_t i = 0; i < all->all.len; i++)
		all->all.items[i].throws = true;
}

void probe_list_find(struct probe_list *list, struct elf_file *f, bool moved)
{
	struct survey survey = {0};
	struct candidates all = {.file = f, .moved = moved};
	struct collector collector = {.to = &all};

	*list = (struct probe_list){0};
	elf_file_symbols(f, look, &survey);
	check_libc(&survey);
	collector.prefix = custom_prefix(&survey);
	collector.families = all.families = list->families = survey.families;
	if (list->families) {
		elf_file_symbols(f, collect, &collector);
		drop_locals(&all, &survey);
		list->missing = ALL_OF_CORE & ~survey.core;
		list->is_libc = survey.libc_start;
		list->switches_stacks = switches_stacks(f, &survey);
		if (list->switches_stacks)
			avoid_return_probes(&all);
		list->too_many = all.too_many;
		candidates_to_sites(&all, list);
	}
	candidates_release(&all);
	survey_release(&survey);
}

void probe_list_release(struct probe_list *list)
{
	for (size_t i = 0; i < list->names.len; i++)
		free(list->names.items[i]);
	vec_release(&list->names);
	vec_release(&list->sites);
	vec_release(&list->returns);
}

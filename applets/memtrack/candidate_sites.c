/* SPDX-License-Identifier: MIT */
/* candidate_sites.c - from entry points to probe sites: places, registers, returns */
#include "applets/memtrack/candidates.h"
#include "applets/memtrack/instruction.h"
#include "applets/memtrack/placement.h"
#include "core/base.h"

enum {
	LONGEST_FUNCTION = 64 * 1024, /* of more the end is not looked at */
	UNKNOWN_FUNCTION = 256,       /* bytes taken for one of unknown size */
	HOPS = 3,                     /* from one function to another by nothing but a jump */
};

static unsigned bit_of(unsigned number)
{
	return number ? 1u << (number - 1) : 0;
}

static uint8_t register_of(const struct placement *p, unsigned number)
{
	return number ? p->registers[number - 1] : PROBE_NO_REGISTER;
}

/* The code of a function; `size` 0: not known. The caller frees it. */
static uint8_t *read_function(struct candidates *c, uint64_t address, uint64_t size, size_t *got)
{
	size_t len = size ? (size_t)size : UNKNOWN_FUNCTION;
	uint8_t *code;

	if (len > LONGEST_FUNCTION)
		len = LONGEST_FUNCTION;
	code = xmalloc(len);
	*got = 0;
	while (*got < len) {
		size_t n = elf_file_code(c->file, address + *got, code + *got, len - *got);

		if (!n)
			break;
		*got += n;
	}
	return code;
}

static struct placement place(struct candidates *c, const struct candidate *one, unsigned arguments)
{
	unsigned flags = (c->moved ? PLACEMENT_MOVED : 0) |
			 (candidate_frees(one) ? PLACEMENT_NOT_NULL : 0);
	size_t len;
	uint8_t *code = read_function(c, one->address, one->size, &len);
	struct placement p = placement_choose(code, len, arguments, flags);

	free(code);
	return p;
}

/* Of one that does nothing but jump to another function it is that one's frames. */
static bool keeps_frames(struct candidates *c, const struct candidate *one)
{
	uint64_t address = one->address, size = one->size;
	struct instruction first = {.flow = FLOW_JUMP};
	bool keeps = false;

	for (int hop = 0; hop < HOPS && first.flow == FLOW_JUMP; hop++) {
		size_t len;
		uint8_t *code = read_function(c, address, size, &len);

		if (!instruction_decode(code, len, &first))
			first.flow = FLOW_STOP;
		keeps = instruction_keeps_frames(code, len);
		address += (uint64_t)first.target;
		size = 0;
		free(code);
	}
	return keeps;
}

static void add_site(struct candidates *c, struct candidate *one, struct probe_list *list)
{
	const struct entry_point *entry = one->match.entry;
	unsigned shift = one->match.shift;
	unsigned size = entry->size ? entry->size + shift : 0;
	unsigned count = entry->count ? entry->count + shift : 0;
	unsigned block = entry->block ? entry->block + shift : 0;
	struct probe_site site = {
		.name = one->name,
		.class = one->unseen      ? PROBE_UNSEEN
			 : one->size_site ? PROBE_SIZE
					  : (enum probe_class)entry->class,
		.kind = (enum heap_event_kind)entry->kind,
		.function = one->offset,
		.frees_on_failure = entry->flags & ENTRY_FREES_FAILED,
		.passes_on = one->passes_on,
		.first_return = one->first_return,
		.return_count = one->return_count,
	};
	struct placement p;

	site.may_throw = one->throws && site.class < PROBE_FREE;
	if (site.class == PROBE_UNSEEN)
		size = count = block = 0;
	p = place(c, one, bit_of(size) | bit_of(count) | bit_of(block));
	site.offset = one->offset + p.offset;
	site.emulated = p.emulated;
	site.keeps_frames = keeps_frames(c, one);
	site.at = (struct probe_arguments){register_of(&p, size), register_of(&p, count),
					   register_of(&p, block)};
	vec_push(&list->names, one->name);
	vec_push(&list->sites, site);
	one->name = NULL;
}

static int by_function(const void *a, const void *b)
{
	const struct probe_site *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

void candidates_to_sites(struct candidates *c, struct probe_list *list)
{
	candidates_decide(c, list);
	for (size_t i = 0; i < c->all.len; i++) {
		struct candidate *one = &c->all.items[i];

		list->covered += one->state == CANDIDATE_COVERED;
		if (one->state == CANDIDATE_SITE || one->size_site)
			add_site(c, one, list);
	}
	if (list->sites.len)
		qsort(list->sites.items, list->sites.len, sizeof(list->sites.items[0]), by_function);
}

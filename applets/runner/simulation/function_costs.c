/* SPDX-License-Identifier: MIT */
/* function_costs.c - instructions by function and object */
#include "core/base.h"
#include "applets/runner/simulation/call_graph.h"
#include "applets/runner/simulation/function_costs.h"

enum { FIRST_SLOTS = 64 };

void function_costs_init(struct function_costs *t)
{
	memset(t, 0, sizeof(*t));
	intern_init(&t->texts);
}

void function_costs_release(struct function_costs *t)
{
	call_graph_free(t->graph);
	intern_release(&t->texts);
	vec_release(&t->rows);
	free(t->slots);
	function_costs_init(t);
}

static size_t first_slot(const struct function_costs *t, uint32_t name, uint32_t object)
{
	uint64_t h = ((uint64_t)object << 32 | name) * 0x9e3779b97f4a7c15ULL;

	return (size_t)(h >> 32) & (t->slot_count - 1);
}

static void grow_slots(struct function_costs *t)
{
	t->slot_count = t->slot_count ? t->slot_count * 2 : FIRST_SLOTS;
	free(t->slots);
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	for (size_t row = 0; row < t->rows.len; row++) {
		size_t i = first_slot(t, t->rows.items[row].name, t->rows.items[row].object);

		while (t->slots[i])
			i = (i + 1) & (t->slot_count - 1);
		t->slots[i] = (uint32_t)row + 1;
	}
}

uint32_t function_costs_row(struct function_costs *t, uint32_t name, uint32_t object)
{
	size_t i;

	if (t->rows.len * 2 >= t->slot_count)
		grow_slots(t);
	i = first_slot(t, name, object);
	for (; t->slots[i]; i = (i + 1) & (t->slot_count - 1)) {
		const struct function_cost *row = &t->rows.items[t->slots[i] - 1];

		if (row->name == name && row->object == object)
			return t->slots[i] - 1;
	}
	vec_push(&t->rows, (struct function_cost){.name = name, .object = object});
	t->slots[i] = (uint32_t)t->rows.len;
	return t->slots[i] - 1;
}

static uint32_t add_costs(struct function_costs *t, uint32_t name, uint32_t object, uint64_t self,
			  uint64_t inclusive)
{
	uint32_t i = function_costs_row(t, name, object); /* may move the rows */
	struct function_cost *row = &t->rows.items[i];

	row->self = add_capped(row->self, self);
	row->inclusive = add_capped(row->inclusive, inclusive);
	return i;
}

uint32_t function_costs_add(struct function_costs *t, const char *name, const char *object,
			    uint64_t self, uint64_t inclusive)
{
	uint32_t name_id = intern_add(&t->texts, name, strlen(name));
	uint32_t object_id = intern_add(&t->texts, object, strlen(object));

	return add_costs(t, name_id, object_id, self, inclusive);
}

uint32_t function_costs_add_row(struct function_costs *to, const struct function_costs *from,
				const struct function_cost *row)
{
	uint32_t name, object;

	name = intern_add(&to->texts, intern_text(&from->texts, row->name),
			  intern_len(&from->texts, row->name));
	object = intern_add(&to->texts, intern_text(&from->texts, row->object),
			    intern_len(&from->texts, row->object));
	return add_costs(to, name, object, row->self, row->inclusive);
}

void function_costs_merge(struct function_costs *to, const struct function_costs *from)
{
	uint32_t *rows = xreallocarray(NULL, from->rows.len + 1, sizeof(*rows));

	for (size_t i = 0; i < from->rows.len; i++)
		rows[i] = function_costs_add_row(to, from, &from->rows.items[i]);
	if (to->graph && from->graph)
		call_graph_add(to->graph, from->graph, rows);
	free(rows);
}

struct order {
	const struct function_costs *table;
	enum function_order by;
};

static int larger_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int compare_texts(const struct intern *texts, uint32_t a, uint32_t b)
{
	size_t a_len = intern_len(texts, a), b_len = intern_len(texts, b);
	int order = memcmp(intern_text(texts, a), intern_text(texts, b),
			   a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct function_cost *a = pa, *b = pb;
	const struct order *order = arg;
	int self = larger_first(a->self, b->self);
	int inclusive = larger_first(a->inclusive, b->inclusive);
	int costs = order->by == FUNCTIONS_BY_SELF ? (self ? self : inclusive)
						   : (inclusive ? inclusive : self);

	if (costs)
		return costs;
	if (a->name != b->name)
		return compare_texts(&order->table->texts, a->name, b->name);
	return compare_texts(&order->table->texts, a->object, b->object);
}

struct function_cost *function_costs_top(const struct function_costs *t, enum function_order by,
					 size_t n, size_t *count)
{
	struct order order = {t, by};
	struct function_cost *top = xreallocarray(NULL, t->rows.len, sizeof(*top));
	size_t len = 0;

	for (size_t i = 0; i < t->rows.len; i++) {
		if (t->rows.items[i].self || t->rows.items[i].inclusive)
			top[len++] = t->rows.items[i];
	}
	qsort_r(top, len, sizeof(*top), compare_rows, &order);
	*count = len < n ? len : n;
	return top;
}

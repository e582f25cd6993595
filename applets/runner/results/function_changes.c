/* SPDX-License-Identifier: MIT */
/* function_changes.c - the functions that explain why a benchmark's instructions changed */
#include "applets/runner/results/function_changes.h"
#include "core/base.h"
#include "core/buf.h"
#include "core/intern.h"
#include "core/vec.h"

enum side { BASE, HEAD, SIDES };

/* A function by its number in the table of names. */
struct both {
	const struct result_function *function; /* of either side */
	uint64_t self[SIDES];
	bool listed[SIDES];
};

struct functions {
	struct intern keys;
	VEC(struct both) items;
	uint64_t unlisted[SIDES]; /* the most that a function has cost which the side does not list */
};

static void add_function(struct functions *t, const struct result_function *f, enum side side,
	struct buf *key)
{
	uint32_t at;

	buf_clear(key);
	buf_add(key, f->name, strlen(f->name) + 1);
	buf_addstr(key, f->object ? f->object : "");
	at = intern_add(&t->keys, key->data, key->len);
	if (at == t->items.len)
		vec_push(&t->items, (struct both){.function = f});
	t->items.items[at].self[side] = add_capped(t->items.items[at].self[side], f->self);
	t->items.items[at].listed[side] = true;
}

static void add_side(struct functions *t, const struct benchmark *b, enum side side)
{
	struct measure total = b->metrics[SIMULATION_INSTRUCTIONS];
	struct buf key = BUF_INIT;
	uint64_t sum = 0, least = UINT64_MAX;

	for (size_t i = 0; i < b->functions.len; i++) {
		const struct result_function *f = &b->functions.items[i];

		add_function(t, f, side, &key);
		sum = add_capped(sum, f->self);
		if (f->self < least)
			least = f->self;
	}
	t->unlisted[side] = total.known && sum >= total.value ? 0 : least;
	buf_release(&key);
}

/* Nothing in `by` where it may not have changed at all. */
static struct function_change change_of(const struct functions *t, const struct both *f)
{
	struct function_change change = {f->function->name, f->function->object, false, false, 0};
	uint64_t self[SIDES];

	for (int side = 0; side < SIDES; side++) {
		self[side] = f->listed[side] ? f->self[side] : t->unlisted[side];
		change.at_least |= !f->listed[side] && t->unlisted[side];
	}
	change.more = self[HEAD] > self[BASE];
	if (!f->listed[change.more ? HEAD : BASE])
		return change; /* the bound lies on the wrong side */
	change.by = change.more ? self[HEAD] - self[BASE] : self[BASE] - self[HEAD];
	return change;
}

static int biggest_first(const void *a, const void *b)
{
	const struct function_change *x = a, *y = b;
	int order;

	if (x->by != y->by)
		return x->by < y->by ? 1 : -1;
	order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->object ? x->object : "", y->object ? y->object : "");
}

struct function_change *function_changes(const struct benchmark *base, const struct benchmark *head,
	size_t *count)
{
	struct functions t = {.items = VEC_INIT};
	struct function_change *changes;
	size_t len = 0;

	intern_init(&t.keys);
	add_side(&t, base, BASE);
	add_side(&t, head, HEAD);
	changes = xreallocarray(NULL, t.items.len + 1, sizeof(*changes));
	for (size_t i = 0; i < t.items.len; i++) {
		changes[len] = change_of(&t, &t.items.items[i]);
		len += changes[len].by > 0;
	}
	qsort(changes, len, sizeof(*changes), biggest_first);
	vec_release(&t.items);
	intern_release(&t.keys);
	*count = len;
	return changes;
}

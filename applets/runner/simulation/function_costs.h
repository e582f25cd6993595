/* SPDX-License-Identifier: MIT */
/*
 * function_costs.h - instructions by function, where a function is its name in its object (the
 * executable or library). Levels of recursion (callgrind's name'2) are one function.
 */
#ifndef SIMULATION_FUNCTION_COSTS_H
#define SIMULATION_FUNCTION_COSTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/intern.h"
#include "core/vec.h"

struct function_cost {
	uint32_t name;      /* ids in function_costs.texts */
	uint32_t object;
	uint64_t self;      /* instructions in the function itself */
	uint64_t inclusive; /* and in everything that it called; at least `self` */
};

struct call_graph;

struct function_costs {
	struct intern texts;
	struct call_graph *graph;       /* also who calls whom (call_graph.h); NULL: not wanted */
	VEC(struct function_cost) rows; /* in the order of first sight */
	uint32_t *slots;                /* row + 1 by (name, object), 0 = free */
	size_t slot_count;
};

enum function_order { FUNCTIONS_BY_SELF, FUNCTIONS_BY_INCLUSIVE };

void function_costs_init(struct function_costs *t);
void function_costs_release(struct function_costs *t); /* frees the contents; as new */

/* The row of the function, made with costs of 0 when there is none. Both ids are of t->texts. */
uint32_t function_costs_row(struct function_costs *t, uint32_t name, uint32_t object);

/*
 * Sums end at UINT64_MAX, they do not wrap. The first two return the function's row; calls are
 * merged where both tables have them.
 */
uint32_t function_costs_add(struct function_costs *t, const char *name, const char *object,
			    uint64_t self, uint64_t inclusive);
uint32_t function_costs_add_row(struct function_costs *to, const struct function_costs *from,
				const struct function_cost *row);
void function_costs_merge(struct function_costs *to, const struct function_costs *from);

static inline const char *function_costs_name(const struct function_costs *t,
					      const struct function_cost *row)
{
	return intern_text(&t->texts, row->name);
}

static inline const char *function_costs_object(const struct function_costs *t,
						const struct function_cost *row)
{
	return intern_text(&t->texts, row->object);
}

/*
 * The `n` most expensive functions, or all when there are fewer (*count says how many), those
 * without any cost left out. Most expensive first; ties by the other cost, then by name, then by
 * object, so the order depends on nothing else. The caller frees the array (never NULL); its names
 * are read with `t`.
 */
struct function_cost *function_costs_top(const struct function_costs *t, enum function_order order,
					 size_t n, size_t *count);

#endif

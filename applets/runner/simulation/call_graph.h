/* SPDX-License-Identifier: MIT */
/*
 * call_graph.h - who calls whom, and what each function and each call has cost in every event.
 * Functions are rows of the function_costs that the graph belongs to; deeper levels of a recursion
 * (callgrind's name'2) are functions of their own there.
 */
#ifndef SIMULATION_CALL_GRAPH_H
#define SIMULATION_CALL_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "applets/runner/simulation/callgrind.h"
#include "core/vec.h"

struct event_costs {
	uint64_t events[CG_EVENT_COUNT];
};

/* All calls of one function by another. */
struct call_edge {
	uint32_t caller, callee;
	uint64_t count;
	struct event_costs inclusive;
};

struct call_graph {
	VEC(struct event_costs) self; /* by row; rows behind the last one have no cost */
	VEC(struct call_edge) edges;  /* in the order of first sight */
	uint32_t *slots;              /* edge + 1 by (caller, callee), 0 = free */
	size_t slot_count;
};

struct call_graph *call_graph_new(void);
void call_graph_free(struct call_graph *graph); /* NULL is fine */
void call_graph_clear(struct call_graph *graph);

/* Made with costs of 0 when not there; good until the next call. */
struct event_costs *call_graph_self(struct call_graph *graph, uint32_t row);
struct call_edge *call_graph_edge(struct call_graph *graph, uint32_t caller, uint32_t callee);

/* Add all of `from`, whose row i is row rows[i] here. */
void call_graph_add(struct call_graph *to, const struct call_graph *from, const uint32_t *rows);

/* All calls by caller, then by callee; the caller frees the array (never NULL). */
const struct call_edge **call_graph_sorted(const struct call_graph *graph);

/* Sums end at UINT64_MAX. */
void event_costs_add(struct event_costs *to, const struct event_costs *from);

#endif

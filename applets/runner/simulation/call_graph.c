/* SPDX-License-Identifier: MIT */
/* call_graph.c - who calls whom */
#include "applets/runner/simulation/call_graph.h"
#include "core/base.h"

enum { FIRST_SLOTS = 256 };

struct call_graph *call_graph_new(void)
{
	return xcalloc(1, sizeof(struct call_graph));
}

void call_graph_free(struct call_graph *graph)
{
	if (!graph)
		return;
	vec_release(&graph->self);
	vec_release(&graph->edges);
	free(graph->slots);
	free(graph);
}

void call_graph_clear(struct call_graph *graph)
{
	graph->self.len = 0;
	graph->edges.len = 0;
	if (graph->slot_count)
		memset(graph->slots, 0, graph->slot_count * sizeof(*graph->slots));
}

void event_costs_add(struct event_costs *to, const struct event_costs *from)
{
	for (size_t i = 0; i < CG_EVENT_COUNT; i++)
		to->events[i] = add_capped(to->events[i], from->events[i]);
}

struct event_costs *call_graph_self(struct call_graph *graph, uint32_t row)
{
	while (graph->self.len <= row)
		vec_push(&graph->self, (struct event_costs){0});
	return &graph->self.items[row];
}

/* The slot that holds the edge, or the free one where it belongs. */
static uint32_t *slot_of(const struct call_graph *graph, uint32_t caller, uint32_t callee)
{
	uint64_t hash = ((uint64_t)caller << 32 | callee) * 0x9e3779b97f4a7c15ULL;
	size_t i = (size_t)(hash >> 32) & (graph->slot_count - 1);

	for (; graph->slots[i]; i = (i + 1) & (graph->slot_count - 1)) {
		const struct call_edge *edge = &graph->edges.items[graph->slots[i] - 1];

		if (edge->caller == caller && edge->callee == callee)
			break;
	}
	return &graph->slots[i];
}

static void grow_slots(struct call_graph *graph)
{
	graph->slot_count = graph->slot_count ? graph->slot_count * 2 : FIRST_SLOTS;
	free(graph->slots);
	graph->slots = xcalloc(graph->slot_count, sizeof(*graph->slots));
	for (size_t i = 0; i < graph->edges.len; i++) {
		const struct call_edge *edge = &graph->edges.items[i];

		*slot_of(graph, edge->caller, edge->callee) = (uint32_t)i + 1;
	}
}

struct call_edge *call_graph_edge(struct call_graph *graph, uint32_t caller, uint32_t callee)
{
	uint32_t *slot;

	if (graph->edges.len * 2 >= graph->slot_count)
		grow_slots(graph);
	slot = slot_of(graph, caller, callee);
	if (!*slot) {
		vec_push(&graph->edges, (struct call_edge){.caller = caller, .callee = callee});
		*slot = (uint32_t)graph->edges.len;
	}
	return &graph->edges.items[*slot - 1];
}

void call_graph_add(struct call_graph *to, const struct call_graph *from, const uint32_t *rows)
{
	for (size_t i = 0; i < from->self.len; i++)
		event_costs_add(call_graph_self(to, rows[i]), &from->self.items[i]);
	for (size_t i = 0; i < from->edges.len; i++) {
		const struct call_edge *edge = &from->edges.items[i];
		struct call_edge *sum = call_graph_edge(to, rows[edge->caller], rows[edge->callee]);

		sum->count = add_capped(sum->count, edge->count);
		event_costs_add(&sum->inclusive, &edge->inclusive);
	}
}

static int by_caller(const void *a, const void *b)
{
	const struct call_edge *x = *(const struct call_edge *const *)a;
	const struct call_edge *y = *(const struct call_edge *const *)b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

const struct call_edge **call_graph_sorted(const struct call_graph *graph)
{
	const struct call_edge **edges = xreallocarray(NULL, graph->edges.len + 1, sizeof(*edges));

	for (size_t i = 0; i < graph->edges.len; i++)
		edges[i] = &graph->edges.items[i];
	qsort(edges, graph->edges.len, sizeof(*edges), by_caller);
	return edges;
}

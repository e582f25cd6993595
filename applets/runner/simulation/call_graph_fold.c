/* SPDX-License-Identifier: MIT */
/* call_graph_fold.c - a call graph as folded stacks, by proportion */
#include <inttypes.h>

#include "applets/runner/simulation/call_graph_write.h"
#include "core/base.h"
#include "core/text.h"

enum {
	FINEST = 10000, /* parts of the whole that are still followed */
	MAX_DEPTH = 256,
};

struct node {
	size_t first, count; /* of its calls, in order */
	uint64_t self;
	uint64_t inclusive; /* with its calls, but for those of itself */
	uint64_t incoming;  /* calls of it by others */
	bool on_stack;
};

struct folding {
	const struct function_costs *functions;
	struct node *nodes;         /* by row */
	const struct call_edge **calls; /* by caller */
	size_t call_count;
	uint64_t total;
	unsigned depth;
	struct buf stack; /* the line's text so far */
	struct buf *to;
};

static uint64_t cost_of(const struct call_edge *edge)
{
	return edge->inclusive.events[CG_IR];
}

/* A semicolon separates frames, a newline stacks. */
static void add_frame(struct folding *f, const char *name)
{
	struct buf safe = BUF_INIT;

	text_printable(name, strlen(name), &safe);
	if (f->stack.len)
		buf_addch(&f->stack, ';');
	for (const char *c = safe.data; *c; c++)
		buf_addch(&f->stack, *c == ';' ? ':' : *c);
	buf_release(&safe);
}

static void pop_frame(struct folding *f, size_t len)
{
	f->stack.len = len;
	f->stack.data[len] = '\0';
}

/* Without the mark of a level of recursion, name'2: the stack shows it. */
static void add_function(struct folding *f, uint32_t row)
{
	const char *name = function_costs_name(f->functions, &f->functions->rows.items[row]);
	size_t len = strlen(name), digits = len;
	char *plain;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits < len && digits > 1 && name[digits - 1] == '\'')
		len = digits - 1;
	plain = xstrndup(name, len);
	add_frame(f, plain);
	free(plain);
}

static void emit(const struct folding *f, uint64_t weight)
{
	if (weight)
		buf_printf(f->to, "%s %" PRIu64 "\n", f->stack.data, weight);
}

/* `part` of `whole`, of the weight; at most the weight. */
static uint64_t share(uint64_t weight, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)weight * part / whole);
}

static void fold_node(struct folding *f, uint32_t row, uint64_t weight);

/* A callee on the stack ends the line, as does one of which the file says nothing. */
static void fold_call(struct folding *f, uint32_t callee, uint64_t weight)
{
	size_t len = f->stack.len;

	add_function(f, callee);
	if (f->nodes[callee].on_stack || !f->nodes[callee].inclusive || weight < f->total / FINEST || f->depth == MAX_DEPTH)
		emit(f, weight);
	else
		fold_node(f, callee, weight);
	pop_frame(f, len);
}

/* The weight into the function itself and its calls; by sums, so that rounding loses nothing. */
static void fold_node(struct folding *f, uint32_t row, uint64_t weight)
{
	struct node *node = &f->nodes[row];
	uint64_t done = node->self, given = share(weight, done, node->inclusive);

	f->depth++;
	node->on_stack = true;
	emit(f, given);
	for (size_t i = node->first; i < node->first + node->count; i++) {
		uint64_t next;

		if (f->calls[i]->callee == row)
			continue; /* recursion lies within its own cost */
		done = add_capped(done, cost_of(f->calls[i]));
		next = share(weight, done, node->inclusive);
		if (next > given)
			fold_call(f, f->calls[i]->callee, next - given);
		given = next;
	}
	node->on_stack = false;
	f->depth--;
}

static void gather(struct folding *f)
{
	const struct call_graph *graph = f->functions->graph;

	for (size_t i = 0; i < graph->self.len; i++) {
		f->nodes[i].self = f->nodes[i].inclusive = graph->self.items[i].events[CG_IR];
		f->total = add_capped(f->total, f->nodes[i].self);
	}
	f->calls = call_graph_sorted(graph);
	f->call_count = graph->edges.len;
	for (size_t i = 0; i < f->call_count; i++) {
		const struct call_edge *edge = f->calls[i];
		struct node *caller = &f->nodes[edge->caller], *callee = &f->nodes[edge->callee];

		if (!caller->count++)
			caller->first = i;
		if (edge->caller == edge->callee)
			continue;
		caller->inclusive = add_capped(caller->inclusive, cost_of(edge));
		callee->incoming = add_capped(callee->incoming, cost_of(edge));
	}
}

/* What a function has cost beyond the calls of it: where stacks begin. */
static uint64_t own_start(const struct node *node)
{
	return node->inclusive > node->incoming ? node->inclusive - node->incoming : 0;
}

/* Scaled to the total: a dump in the middle of calls has callees that cost more than they can. */
static void fold_roots(struct folding *f)
{
	size_t rows = f->functions->rows.len;
	uint64_t starts = 0, done = 0, given = 0;
	bool rootless;

	for (size_t i = 0; i < rows; i++)
		starts = add_capped(starts, own_start(&f->nodes[i]));
	rootless = !starts; /* no real file is so: all begin where they are then */
	starts = rootless ? f->total : starts;
	for (size_t i = 0; i < rows && starts; i++) {
		uint64_t next;

		done = add_capped(done, rootless ? f->nodes[i].self : own_start(&f->nodes[i]));
		next = share(f->total, done, starts);
		if (next > given)
			fold_call(f, (uint32_t)i, next - given);
		given = next;
	}
}

void call_graph_fold(const struct function_costs *functions, const char *name, struct buf *to)
{
	struct folding f = {.functions = functions, .to = to};
	char *root = xasprintf("%s " FOLDED_LABEL, name);

	f.nodes = xcalloc(functions->rows.len + 1, sizeof(*f.nodes));
	gather(&f);
	add_frame(&f, root);
	fold_roots(&f);
	buf_release(&f.stack);
	free(f.calls);
	free(f.nodes);
	free(root);
}

/* SPDX-License-Identifier: MIT */
/* call_graph_write.c - a call graph as a callgrind file */
#include <inttypes.h>

#include "applets/runner/simulation/call_graph_write.h"
#include "core/base.h"
#include "core/text.h"

/* Objects and functions have numbers of their own. */
enum { NAMED_OBJECT = 1, NAMED_FUNCTION = 2 };

struct writing {
	const struct function_costs *functions;
	struct event_costs total;
	bool has_event[CG_EVENT_COUNT]; /* any cost at all */
	unsigned char *named;           /* texts that were written out: NAMED_... */
	struct buf *to;
};

/* "(3) name", and from the second time on "(3)". */
static void add_name(struct writing *w, const char *key, int kind, uint32_t text)
{
	const char *name = intern_text(&w->functions->texts, text);

	if (str_is_blank(name))
		name = "???"; /* blanks after a number are no name */
	buf_printf(w->to, "%s=(%" PRIu32 ")", key, text + 1);
	if (!(w->named[text] & kind)) {
		buf_addch(w->to, ' ');
		text_printable(name, strlen(name), w->to);
	}
	w->named[text] |= (unsigned char)kind;
	buf_addch(w->to, '\n');
}

static void add_costs(struct writing *w, const char *lead, const struct event_costs *costs)
{
	buf_addstr(w->to, lead);
	for (size_t i = 0; i < CG_EVENT_COUNT; i++)
		if (w->has_event[i])
			buf_printf(w->to, " %" PRIu64, costs->events[i]);
	buf_addch(w->to, '\n');
}

static void add_call(struct writing *w, const struct call_edge *edge)
{
	const struct function_cost *callee = &w->functions->rows.items[edge->callee];

	add_name(w, "cob", NAMED_OBJECT, callee->object);
	add_name(w, "cfn", NAMED_FUNCTION, callee->name);
	buf_printf(w->to, "calls=%" PRIu64 " 0\n", edge->count);
	add_costs(w, "0", &edge->inclusive);
}

static void add_function(struct writing *w, uint32_t row)
{
	static const struct event_costs none;
	const struct call_graph *graph = w->functions->graph;
	const struct function_cost *function = &w->functions->rows.items[row];

	add_name(w, "ob", NAMED_OBJECT, function->object);
	buf_addstr(w->to, "fl=???\n");
	add_name(w, "fn", NAMED_FUNCTION, function->name);
	add_costs(w, "0", row < graph->self.len ? &graph->self.items[row] : &none);
}

static void add_functions(struct writing *w)
{
	const struct call_graph *graph = w->functions->graph;
	const struct call_edge **edges = call_graph_sorted(graph);
	size_t next = 0;

	for (uint32_t row = 0; row < w->functions->rows.len; row++) {
		add_function(w, row);
		for (; next < graph->edges.len && edges[next]->caller == row; next++)
			add_call(w, edges[next]);
		buf_addch(w->to, '\n');
	}
	free(edges);
}

static void add_head(struct writing *w, const char *name)
{
	buf_addstr(w->to, "# callgrind format\nversion: 1\ncreator: codspeed " CODSPEED_VERSION "\ncmd: ");
	text_printable(name, strlen(name), w->to);
	buf_addstr(w->to, "\npart: 1\n\npositions: line\nevents:");
	for (size_t i = 0; i < CG_EVENT_COUNT; i++)
		if (w->has_event[i])
			buf_printf(w->to, " %s", callgrind_event_name((enum callgrind_event)i));
	buf_addch(w->to, '\n');
	add_costs(w, "summary:", &w->total);
	buf_addch(w->to, '\n');
}

void call_graph_write(const struct function_costs *functions, const char *name, struct buf *to)
{
	const struct call_graph *graph = functions->graph;
	struct writing w = {.functions = functions, .to = to};

	w.named = xcalloc(intern_count(&functions->texts) + 1, sizeof(*w.named));
	for (size_t i = 0; i < graph->self.len; i++)
		event_costs_add(&w.total, &graph->self.items[i]);
	for (size_t i = 0; i < CG_EVENT_COUNT; i++)
		w.has_event[i] = i == CG_IR || w.total.events[i];
	add_head(&w, name);
	add_functions(&w);
	add_costs(&w, "totals:", &w.total);
	free(w.named);
}

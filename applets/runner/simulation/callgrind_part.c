/* SPDX-License-Identifier: MIT */
/* callgrind_part.c - the header lines of callgrind files, and where their parts begin and end */
#include <inttypes.h>

#include "core/base.h"
#include "applets/runner/simulation/callgrind_parser.h"

static const char *const event_names[CG_EVENT_COUNT] = {
	[CG_IR] = "Ir",     [CG_DR] = "Dr",     [CG_DW] = "Dw",
	[CG_I1MR] = "I1mr", [CG_D1MR] = "D1mr", [CG_D1MW] = "D1mw",
	[CG_ILMR] = "ILmr", [CG_DLMR] = "DLmr", [CG_DLMW] = "DLmw",
};

const char *callgrind_event_name(enum callgrind_event event)
{
	return event_names[event];
}

static bool text_is(const char *text, size_t len, const char *wanted)
{
	return len == strlen(wanted) && memcmp(text, wanted, len) == 0;
}

/* The text after `prefix`, or NULL. */
static const char *after(const char *text, const char *nl, const char *prefix)
{
	size_t len = strlen(prefix);

	return (size_t)(nl - text) >= len && memcmp(text, prefix, len) == 0 ? text + len : NULL;
}

static void set_text(struct buf *b, const char *text, const char *nl)
{
	buf_clear(b);
	buf_add(b, text, (size_t)(nl - text));
}

/* The only number of a line. */
static int lone_number(const char *p, const char *nl, uint64_t *value)
{
	while (*p == ' ')
		p++;
	p = callgrind_number(p, value);
	if (!p)
		return -EBADMSG;
	while (*p == ' ')
		p++;
	return p == nl ? 0 : fail(-EBADMSG, "text after the number");
}

/* The next word before `nl`, starting at *p; its length, 0 at the end of the line. */
static size_t next_word(const char **p, const char *nl)
{
	const char *end;

	while (*p < nl && **p == ' ')
		(*p)++;
	for (end = *p; end < nl && *end != ' '; end++)
		;
	return (size_t)(end - *p);
}

static int parse_positions(struct callgrind_parser *cg, const char *p, const char *nl)
{
	size_t len;

	cg->positions = 0;
	while ((len = next_word(&p, nl))) {
		if (++cg->positions > CALLGRIND_POSITIONS_MAX)
			return fail(-EBADMSG, "too many kinds of positions");
		p += len;
	}
	return cg->positions ? 0 : fail(-EBADMSG, "no kind of position");
}

static int known_event(const char *name, size_t len)
{
	for (int event = 0; event < CG_EVENT_COUNT; event++) {
		if (text_is(name, len, event_names[event]))
			return event;
	}
	return -1;
}

static int parse_events(struct callgrind_parser *cg, const char *p, const char *nl)
{
	size_t len;

	cg->events = 0;
	cg->ir_column = CALLGRIND_EVENTS_MAX;
	memset(cg->part.has_event, 0, sizeof(cg->part.has_event));
	for (; (len = next_word(&p, nl)); p += len) {
		int event = known_event(p, len);

		if (cg->events == CALLGRIND_EVENTS_MAX)
			return fail(-EBADMSG, "too many events");
		if (event >= 0 && cg->part.has_event[event])
			return fail(-EBADMSG, "event %s twice", event_names[event]);
		if (event >= 0)
			cg->part.has_event[event] = true;
		if (event == CG_IR)
			cg->ir_column = cg->events;
		cg->event_of[cg->events++] = (int8_t)event;
	}
	return cg->events ? 0 : fail(-EBADMSG, "no events");
}

static int parse_desc(struct callgrind_parser *cg, const char *text, const char *nl)
{
	const char *value;
	uint64_t pid;

	value = after(text, nl, "Trigger: ");
	if (value)
		set_text(&cg->trigger, value, nl);
	value = after(text, nl, "Spawned pid: ");
	if (!value)
		return 0;
	if (lone_number(value, nl, &pid))
		return -EBADMSG;
	vec_push(&cg->spawned, pid);
	return 0;
}

static int parse_part_number(struct callgrind_parser *cg, const char *text, const char *nl)
{
	if (cg->in_body || cg->part.number)
		return fail(-EBADMSG, "part %" PRIu64 " has no totals", cg->part.number);
	return lone_number(text, nl, &cg->part.number);
}

int callgrind_begin_body(struct callgrind_parser *cg)
{
	struct callgrind_part *part = &cg->part;

	cg->open = true;
	cg->in_body = true;
	if (!cg->events)
		return callgrind_damaged(cg, fail(-EBADMSG, "part without an events: line"));
	cg->header.creator = cg->creator.len ? cg->creator.data : "";
	cg->header.cmd = cg->cmd.len ? cg->cmd.data : "";
	part->file = &cg->header;
	part->trigger = cg->trigger.len ? cg->trigger.data : "";
	part->spawned = cg->spawned.items;
	part->spawned_count = cg->spawned.len;
	cg->table = cg->ops->part_begin ? cg->ops->part_begin(cg->ctx, part) : NULL;
	if (cg->table)
		cg->object = intern_add(&cg->costs.texts, "???", 3);
	cg->wide = cg->table && cg->table->graph;
	if (cg->wide && !cg->costs.graph)
		cg->costs.graph = call_graph_new();
	return 0;
}

static void set_main_cost(struct callgrind_parser *cg)
{
	uint64_t ir = cg->main_called ? cg->main_calls : cg->start_up_calls;

	cg->part.main_inclusive = ir < cg->ir_sum ? ir : cg->ir_sum;
	cg->part.below_main_seen |= cg->main_called;
}

/* Rows whose deeper levels of recursion alone were seen have a self cost only. */
static void deliver_functions(struct callgrind_parser *cg)
{
	for (size_t i = 0; i < cg->touched.len; i++) {
		struct function_cost *row = &cg->costs.rows.items[cg->touched.items[i]];

		if (row->inclusive < row->self)
			row->inclusive = row->self;
		if (row->inclusive > cg->ir_sum)
			row->inclusive = cg->ir_sum;
		function_costs_add_row(cg->table, &cg->costs, row);
		row->self = 0;
		row->inclusive = 0;
	}
	cg->touched.len = 0;
}

/* To the table's rows, which functions that were only called may not have yet. */
static void deliver_calls(struct callgrind_parser *cg)
{
	uint32_t *rows;

	if (!cg->wide)
		return;
	rows = xreallocarray(NULL, cg->costs.rows.len + 1, sizeof(*rows));
	for (size_t i = 0; i < cg->costs.rows.len; i++)
		rows[i] = function_costs_add_row(cg->table, &cg->costs, &cg->costs.rows.items[i]);
	call_graph_add(cg->table->graph, cg->costs.graph, rows);
	free(rows);
}

static void reset_part(struct callgrind_parser *cg)
{
	cg->part = (struct callgrind_part){0};
	buf_clear(&cg->trigger);
	cg->spawned.len = 0;
	cg->open = false;
	cg->in_body = false;
	cg->table = NULL;
	cg->wide = false;
	if (cg->costs.graph)
		call_graph_clear(cg->costs.graph);
	cg->positions = 1;
	cg->events = 0;
	cg->ir_sum = 0;
	cg->main_called = false;
	cg->main_calls = 0;
	cg->start_up_calls = 0;
	cg->in_function = false;
	cg->in_main = false;
	cg->in_below_main = false;
	cg->pending = CALLGRIND_SELF;
	cg->callee = (struct callgrind_callee){0};
}

static int parse_totals(struct callgrind_parser *cg, const char *p, const char *nl)
{
	unsigned column = 0;
	uint64_t value;
	size_t len;

	for (; (len = next_word(&p, nl)); column++) {
		const char *end = callgrind_number(p, &value);

		if (!end)
			return -EBADMSG;
		if (end != p + len)
			return fail(-EBADMSG, "text in a number");
		if (column == cg->events)
			return fail(-EBADMSG, "more values than events");
		if (cg->event_of[column] >= 0)
			cg->part.costs[cg->event_of[column]] = value;
		p = end;
	}
	return column ? 0 : fail(-EBADMSG, "totals: without a value");
}

static int end_part(struct callgrind_parser *cg, const char *p, const char *nl)
{
	int rc;

	if (!cg->in_body && callgrind_begin_body(cg))
		return cg->rc;
	if (cg->pending)
		rc = fail(-EBADMSG, "calls= or jump= without its line");
	else
		rc = parse_totals(cg, p, nl);
	if (!rc && cg->part.costs[CG_IR] != cg->ir_sum)
		rc = fail(-EBADMSG,
			  "part %" PRIu64 " is damaged: its lines sum up to %" PRIu64
			  " instructions, its totals say %" PRIu64,
			  cg->part.number, cg->ir_sum, cg->part.costs[CG_IR]);
	if (rc)
		return callgrind_damaged(cg, rc);
	callgrind_flush_function(cg);
	deliver_functions(cg);
	deliver_calls(cg); /* after them: their costs are 0 again */
	set_main_cost(cg);
	cg->parts++;
	if (cg->ops->part_end)
		cg->rc = cg->ops->part_end(cg->ctx, &cg->part);
	reset_part(cg);
	return cg->rc;
}

/* The lines that belong to a part and stand before its body. */
static int part_line(struct callgrind_parser *cg, const char *key, size_t len, const char *text,
		     const char *nl)
{
	cg->open = true;
	if (text_is(key, len, "part"))
		return parse_part_number(cg, text, nl);
	if (cg->in_body)
		return fail(-EBADMSG, "%.*s: among the costs", (int)len, key);
	if (text_is(key, len, "positions"))
		return parse_positions(cg, text, nl);
	if (text_is(key, len, "events"))
		return parse_events(cg, text, nl);
	return parse_desc(cg, text, nl);
}

static bool is_part_key(const char *key, size_t len)
{
	static const char *const keys[] = {"part", "positions", "events", "desc"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (text_is(key, len, keys[i]))
			return true;
	}
	return false;
}

int callgrind_key_line(struct callgrind_parser *cg, const char *line, const char *colon,
		       const char *nl)
{
	size_t len = (size_t)(colon - line);
	const char *text = colon + 1;
	int rc = 0;

	while (text < nl && *text == ' ')
		text++;
	if (text_is(line, len, "totals"))
		return end_part(cg, text, nl);
	if (is_part_key(line, len))
		rc = part_line(cg, line, len, text, nl);
	else if (text_is(line, len, "creator"))
		set_text(&cg->creator, text, nl);
	else if (text_is(line, len, "cmd"))
		set_text(&cg->cmd, text, nl);
	else if (text_is(line, len, "pid"))
		rc = lone_number(text, nl, &cg->header.pid);
	return rc ? callgrind_damaged(cg, rc) : 0;
}

void callgrind_parser_init(struct callgrind_parser *cg, const char *name,
			   const struct callgrind_ops *ops, void *ctx)
{
	memset(cg, 0, sizeof(*cg));
	cg->name = name;
	cg->ops = ops;
	cg->ctx = ctx;
	function_costs_init(&cg->costs);
	reset_part(cg);
}

void callgrind_parser_release(struct callgrind_parser *cg)
{
	buf_release(&cg->creator);
	buf_release(&cg->cmd);
	buf_release(&cg->trigger);
	vec_release(&cg->spawned);
	vec_release(&cg->objects.texts);
	vec_release(&cg->functions.texts);
	vec_release(&cg->touched);
	function_costs_release(&cg->costs);
}

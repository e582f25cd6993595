/* SPDX-License-Identifier: MIT */
/*
 * callgrind_lines.c - the lines of a part's body: positions, costs, calls. This is where the time
 * goes, so a cost line is gone through once, byte by byte up to its newline. That is safe because
 * only whole lines get here: every loop stops at a newline.
 */
#include "core/base.h"
#include "applets/runner/simulation/callgrind_parser.h"

int callgrind_damaged(struct callgrind_parser *cg, int rc)
{
	cg->rc = fail(rc, "%s:%zu", cg->name, cg->line);
	return cg->rc;
}

/* The same for those that return the end of what they read. */
static const char *stop(struct callgrind_parser *cg, int rc)
{
	callgrind_damaged(cg, rc);
	return NULL;
}

/* `p` is the end of a word: go to the next one. */
static inline const char *next_word(struct callgrind_parser *cg, const char *p)
{
	if (!p)
		return stop(cg, -EBADMSG);
	if (*p != ' ' && *p != '\n')
		return stop(cg, fail(-EBADMSG, "text in a number"));
	while (*p == ' ')
		p++;
	return p;
}

/* Over "12", "+3", "-3", "*", "0x40": where code lies is of no interest here. */
static inline const char *skip_positions(struct callgrind_parser *cg, const char *p)
{
	uint64_t ignored;

	for (unsigned i = 0; i < cg->positions && p; i++) {
		if (*p == '*')
			p++;
		else
			p = callgrind_number(p + (*p == '+' || *p == '-'), &ignored);
		p = next_word(cg, p);
	}
	return p;
}

/* The values of a cost line; the one of Ir goes to *ir. Returns the line's newline. */
static inline const char *parse_costs(struct callgrind_parser *cg, const char *p, uint64_t *ir)
{
	uint64_t value;

	for (unsigned column = 0; p && *p != '\n'; column++) {
		if (column == cg->events)
			return stop(cg, fail(-EBADMSG, "more values than events"));
		p = callgrind_number(p, &value);
		if (column == cg->ir_column)
			*ir = value;
		p = next_word(cg, p);
	}
	return p;
}

/* The same, and all events we know to cg->values. */
static const char *parse_all_costs(struct callgrind_parser *cg, const char *p, uint64_t *ir)
{
	uint64_t value;

	cg->values = (struct event_costs){0};
	for (unsigned column = 0; p && *p != '\n'; column++) {
		if (column == cg->events)
			return stop(cg, fail(-EBADMSG, "more values than events"));
		p = callgrind_number(p, &value);
		if (cg->event_of[column] >= 0)
			cg->values.events[cg->event_of[column]] = value;
		p = next_word(cg, p);
	}
	*ir = cg->values.events[CG_IR];
	return p;
}

/* The line's costs into the part's graph. */
static void add_to_graph(struct callgrind_parser *cg)
{
	const struct callgrind_callee *callee = &cg->callee;
	struct call_edge *edge;

	if (cg->pending == CALLGRIND_SELF) {
		event_costs_add(call_graph_self(cg->costs.graph, cg->row), &cg->values);
		return;
	}
	if (cg->pending != CALLGRIND_CALL || !callee->function)
		return; /* a call of nobody */
	edge = call_graph_edge(cg->costs.graph, cg->row,
			       function_costs_row(&cg->costs, callee->function - 1,
						  callee->has_object ? callee->object : cg->object));
	edge->count = add_capped(edge->count, callee->count);
	event_costs_add(&edge->inclusive, &cg->values);
}

static void add_call(struct callgrind_parser *cg, uint64_t ir)
{
	const struct callgrind_callee *callee = &cg->callee;

	if (callee->main && !cg->in_main) {
		cg->main_called = true;
		cg->main_calls = add_capped(cg->main_calls, ir);
	} else if (callee->exit) {
		cg->main_calls = add_capped(cg->main_calls, ir);
	}
	if (cg->in_below_main && !callee->start_up)
		cg->start_up_calls = add_capped(cg->start_up_calls, ir);
	if (cg->table && (!callee->same_name || callee->other_object))
		cg->calls = add_capped(cg->calls, ir);
}

static const char *cost_line(struct callgrind_parser *cg, const char *p)
{
	uint64_t ir = 0;

	if (!cg->in_function)
		return stop(cg, fail(-EBADMSG, "costs outside of a function"));
	p = skip_positions(cg, p);
	if (cg->pending != CALLGRIND_JUMP)
		p = cg->wide ? parse_all_costs(cg, p, &ir) : parse_costs(cg, p, &ir);
	if (!p)
		return NULL;
	if (*p != '\n')
		return stop(cg, fail(-EBADMSG, "costs of a jump"));
	if (cg->wide)
		add_to_graph(cg);
	if (cg->pending == CALLGRIND_CALL)
		add_call(cg, ir);
	else if (__builtin_add_overflow(cg->ir_sum, ir, &cg->ir_sum))
		return stop(cg, fail(-EBADMSG, "costs above 64 bits"));
	else
		cg->self += ir;
	/* Real files have cob= and cfi= lines without the calls= line; they end here. */
	cg->pending = CALLGRIND_SELF;
	cg->callee = (struct callgrind_callee){0};
	return p + 1;
}

/*
 * The outermost level of a recursion alone has an inclusive cost: what deeper levels spend lies
 * already in its calls. So recursion, also through other functions, counts once.
 */
void callgrind_flush_function(struct callgrind_parser *cg)
{
	struct function_cost *row;

	if (cg->table && (cg->self || cg->calls)) {
		row = &cg->costs.rows.items[cg->row];
		if (!row->self && !row->inclusive)
			vec_push(&cg->touched, cg->row);
		row->self += cg->self; /* at most ir_sum, which is checked */
		if (cg->outermost)
			row->inclusive = add_capped(row->inclusive,
						    add_capped(cg->self, cg->calls));
	}
	cg->self = 0;
	cg->calls = 0;
}

static int set_object(struct callgrind_parser *cg, const char *text, const char *nl)
{
	struct callgrind_name name;

	if (callgrind_name_get(cg, &cg->objects, text, nl, &name))
		return -EBADMSG;
	if (cg->table)
		cg->object = intern_add(&cg->costs.texts, name.text, name.len);
	return 0;
}

static int set_function(struct callgrind_parser *cg, const char *text, const char *nl)
{
	struct callgrind_name name, whole;

	if (callgrind_name_get(cg, &cg->functions, text, nl, &name))
		return -EBADMSG;
	whole = name;
	callgrind_flush_function(cg);
	cg->in_function = true;
	cg->outermost = !callgrind_name_cut_level(&name);
	cg->in_main = callgrind_name_is(&name, "main", 4);
	cg->in_below_main = callgrind_name_is_below_main(&name);
	cg->part.below_main_seen |= cg->in_below_main;
	if (cg->wide)
		name = whole; /* a graph keeps the levels apart */
	if (cg->table) {
		cg->function = intern_add(&cg->costs.texts, name.text, name.len);
		cg->row = function_costs_row(&cg->costs, cg->function, cg->object);
	}
	return 0;
}

static bool is_text(const struct callgrind_parser *cg, const struct callgrind_name *name,
		    uint32_t id)
{
	const struct intern *texts = &cg->costs.texts;

	return callgrind_name_is(name, intern_text(texts, id), intern_len(texts, id));
}

static int set_called_object(struct callgrind_parser *cg, const char *text, const char *nl)
{
	struct callgrind_name name;

	if (callgrind_name_get(cg, &cg->objects, text, nl, &name))
		return -EBADMSG;
	cg->callee.other_object = cg->table && !is_text(cg, &name, cg->object);
	if (cg->wide) {
		cg->callee.has_object = true;
		cg->callee.object = intern_add(&cg->costs.texts, name.text, name.len);
	}
	return 0;
}

static int set_called_function(struct callgrind_parser *cg, const char *text, const char *nl)
{
	struct callgrind_name name;

	if (callgrind_name_get(cg, &cg->functions, text, nl, &name))
		return -EBADMSG;
	cg->callee.same_name =
		cg->table && cg->in_function && is_text(cg, &name, cg->function);
	cg->callee.main = callgrind_name_is(&name, "main", 4);
	cg->callee.exit = cg->in_below_main && callgrind_name_is(&name, "exit", 4);
	cg->callee.start_up = cg->in_below_main && callgrind_name_is_start_up(&name);
	if (cg->wide)
		cg->callee.function = intern_add(&cg->costs.texts, name.text, name.len) + 1;
	return 0;
}

/* Where the calls go to is of no interest, the next line has their cost. */
static int set_calls(struct callgrind_parser *cg, const char *text)
{
	cg->pending = CALLGRIND_CALL;
	text = callgrind_number(text, &cg->callee.count);
	if (!text)
		return -EBADMSG;
	return *text == ' ' || *text == '\n' ? 0 : fail(-EBADMSG, "text in a number");
}

static int set_jump(struct callgrind_parser *cg)
{
	cg->pending = CALLGRIND_JUMP;
	return 0;
}

enum key { KEY_OTHER, KEY_OB, KEY_FN, KEY_FILE, KEY_COB, KEY_CFN, KEY_CALLS, KEY_JFN, KEY_JUMP };

static enum key position_key(const char *key, size_t len)
{
	switch (len) {
	case 2:
		if (key[0] == 'f')
			return key[1] == 'n' ? KEY_FN : KEY_FILE;
		return memcmp(key, "ob", 2) ? KEY_OTHER : KEY_OB;
	case 3:
		if (key[0] == 'c' && key[1] == 'f')
			return key[2] == 'n' ? KEY_CFN : KEY_FILE;
		if (memcmp(key, "cob", 3) == 0)
			return KEY_COB;
		return memcmp(key, "jfn", 3) ? KEY_OTHER : KEY_JFN;
	case 4:
		return memcmp(key, "jump", 4) && memcmp(key, "jcnd", 4) ? KEY_OTHER : KEY_JUMP;
	case 5:
		return memcmp(key, "calls", 5) ? KEY_OTHER : KEY_CALLS;
	default:
		return KEY_OTHER;
	}
}

static int set_position(struct callgrind_parser *cg, enum key key, const char *text, const char *nl)
{
	struct callgrind_name ignored;

	if (cg->pending)
		return fail(-EBADMSG, "calls= or jump= without its line");
	switch (key) {
	case KEY_OB:
		return set_object(cg, text, nl);
	case KEY_FN:
		return set_function(cg, text, nl);
	case KEY_COB:
		return set_called_object(cg, text, nl);
	case KEY_CFN:
		return set_called_function(cg, text, nl);
	case KEY_CALLS:
		return set_calls(cg, text);
	case KEY_JFN: /* may define a compressed name */
		return callgrind_name_get(cg, &cg->functions, text, nl, &ignored);
	case KEY_JUMP:
		return set_jump(cg);
	case KEY_FILE: /* nobody asks for source files yet */
	default:
		return 0;
	}
}

/* A "key=text" line; keys we do not know are passed over. */
static int position_line(struct callgrind_parser *cg, const char *line, const char *equals,
			 const char *nl)
{
	enum key key = position_key(line, (size_t)(equals - line));
	int rc;

	if (key == KEY_OTHER)
		return 0;
	if (!cg->in_body && callgrind_begin_body(cg))
		return cg->rc;
	rc = set_position(cg, key, equals + 1, nl);
	return rc ? callgrind_damaged(cg, rc) : 0;
}

static inline bool in_key(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Any line that starts with no position. Returns the next line, NULL to stop. */
static const char *other_line(struct callgrind_parser *cg, const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p)), *sign = p;
	int rc;

	if (*p == '#' || p == nl)
		return nl + 1;
	while (in_key(*sign))
		sign++;
	if (sign != p && *sign == '=')
		rc = position_line(cg, p, sign, nl);
	else if (sign != p && *sign == ':')
		rc = callgrind_key_line(cg, p, sign, nl);
	else
		rc = callgrind_damaged(cg, fail(-EBADMSG, "not a line of a callgrind file"));
	return rc ? NULL : nl + 1;
}

static inline bool starts_position(char c)
{
	return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*';
}

static const char magic[] = "# callgrind format";

static const char *first_line(struct callgrind_parser *cg, const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	cg->line = 1;
	if ((size_t)(nl - p) == sizeof(magic) - 1 && memcmp(p, magic, sizeof(magic) - 1) == 0)
		return nl + 1;
	cg->rc = fail(-EBADMSG, "%s is not a callgrind file", cg->name);
	return NULL;
}

int callgrind_parse_lines(struct callgrind_parser *cg, const char *p, const char *end)
{
	if (p < end && !cg->line)
		p = first_line(cg, p, end);
	while (p && p < end) {
		cg->line++;
		p = starts_position(*p) ? cost_line(cg, p) : other_line(cg, p, end);
	}
	return cg->rc;
}

int callgrind_parser_finish(struct callgrind_parser *cg, const char *tail, size_t len)
{
	if (!cg->line && !len)
		return CALLGRIND_EMPTY;
	if (!cg->line && (len >= sizeof(magic) || memcmp(tail, magic, len) != 0))
		return fail(-EBADMSG, "%s is not a callgrind file", cg->name);
	return len || cg->open || !cg->parts ? CALLGRIND_TRUNCATED : CALLGRIND_COMPLETE;
}

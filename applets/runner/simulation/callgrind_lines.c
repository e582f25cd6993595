/* SPDX-License-Identifier: MIT */
/*
 * callgrind_lines.c - the lines of a part's body: positions, costs, calls. This is where the time
 * goes; a body line costs one look at its first byte and one pass over it.
 */
#include <inttypes.h>

#include "core/base.h"
#include "applets/runner/simulation/callgrind_parser.h"

static const char magic[] = "# callgrind format";
static const char below_main[] = "(below main)";

int callgrind_damaged(struct callgrind_parser *cg, int rc)
{
	cg->rc = fail(rc, "%s:%zu", cg->name, cg->line);
	return cg->rc;
}

/* The same where the end of the line is returned. */
static const char *stop(struct callgrind_parser *cg, int rc)
{
	callgrind_damaged(cg, rc);
	return NULL;
}

static const char *no_number(const char *why)
{
	fail(-EBADMSG, "%s", why);
	return NULL;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *hex_number(const char *p, uint64_t *value)
{
	uint64_t v = 0;
	int digit;

	if (hex_digit(*p) < 0)
		return no_number("not a number");
	for (; (digit = hex_digit(*p)) >= 0; p++) {
		if (v >> 60)
			return no_number("number above 64 bits");
		v = v << 4 | (uint64_t)digit;
	}
	*value = v;
	return p;
}

/* Only for numbers of 20 digits and more: whether they exceed 64 bits. */
static bool overflows(const char *p, const char *end)
{
	uint64_t v = 0;

	for (; p < end; p++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return true;
	}
	return false;
}

static inline const char *number(const char *p, uint64_t *value)
{
	const char *start = p;
	uint64_t v = 0;
	unsigned digit;

	for (; (digit = (unsigned char)*p - (unsigned)'0') <= 9; p++)
		v = v * 10 + digit;
	if (p - start == 1 && v == 0 && (*p == 'x' || *p == 'X'))
		return hex_number(p + 1, value);
	if (p == start)
		return no_number("not a number");
	if (p - start > 19 && overflows(start, p))
		return no_number("number above 64 bits");
	*value = v;
	return p;
}

const char *callgrind_number(const char *p, uint64_t *value)
{
	return number(p, value);
}

/* Over "12", "+3", "-3", "*", "0x40": where code lies is of no interest here. */
static inline const char *skip_position(struct callgrind_parser *cg, const char *p)
{
	uint64_t ignored;

	if (*p == '*')
		p++;
	else
		p = number(p + (*p == '+' || *p == '-'), &ignored);
	if (!p)
		return stop(cg, -EBADMSG);
	if (*p != ' ' && *p != '\n')
		return stop(cg, fail(-EBADMSG, "not a position"));
	while (*p == ' ')
		p++;
	return p;
}

static inline const char *skip_positions(struct callgrind_parser *cg, const char *p)
{
	for (unsigned i = 0; i < cg->positions && p; i++)
		p = skip_position(cg, p);
	return p;
}

/* The values of a cost line; the one of Ir goes to *ir. Returns the line's newline. */
static inline const char *parse_costs(struct callgrind_parser *cg, const char *p, uint64_t *ir)
{
	uint64_t value;

	for (unsigned column = 0; *p != '\n'; column++) {
		p = number(p, &value);
		if (!p)
			return stop(cg, -EBADMSG);
		if (column == cg->events)
			return stop(cg, fail(-EBADMSG, "more values than events"));
		if (column == cg->ir_column)
			*ir = value;
		if (*p != ' ' && *p != '\n')
			return stop(cg, fail(-EBADMSG, "text in a number"));
		while (*p == ' ')
			p++;
	}
	return p;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/*
 * Calls count for the caller's outermost level only: what deeper levels spend lies already in the
 * calls of the outermost one. So recursion, also through other functions, counts once.
 */
static void add_call(struct callgrind_parser *cg, uint64_t ir)
{
	const struct callgrind_callee *callee = &cg->callee;

	if (callee->main && !cg->main) {
		cg->main_seen = true;
		cg->main_calls = add_capped(cg->main_calls, ir);
	}
	if (cg->below_main && !callee->start_up)
		cg->start_up_calls = add_capped(cg->start_up_calls, ir);
	if (cg->table && cg->outermost && (!callee->same_name || callee->other_object))
		cg->calls = add_capped(cg->calls, ir);
}

static const char *cost_line(struct callgrind_parser *cg, const char *p)
{
	uint64_t ir = 0;

	if (!cg->in_function)
		return stop(cg, fail(-EBADMSG, "costs outside of a function"));
	p = skip_positions(cg, p);
	if (p && cg->pending != CALLGRIND_JUMP)
		p = parse_costs(cg, p, &ir);
	if (!p)
		return NULL;
	if (*p != '\n')
		return stop(cg, fail(-EBADMSG, "costs of a jump"));
	if (cg->pending == CALLGRIND_CALL)
		add_call(cg, ir);
	else if (__builtin_add_overflow(cg->ir_sum, ir, &cg->ir_sum))
		return stop(cg, fail(-EBADMSG, "costs above 64 bits"));
	else
		cg->self += ir;
	cg->pending = CALLGRIND_SELF;
	memset(&cg->callee, 0, sizeof(cg->callee));
	return p + 1;
}

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

/* A name in the input, or in costs.texts. */
struct name {
	const char *text;
	size_t len;
};

static void define(struct callgrind_parser *cg, struct callgrind_ids *ids, uint64_t id,
		   const struct name *name)
{
	while (ids->texts.len <= id)
		vec_push(&ids->texts, UINT32_MAX);
	ids->texts.items[id] = intern_add(&cg->costs.texts, name->text, name->len);
}

static int look_up(struct callgrind_parser *cg, const struct callgrind_ids *ids, uint64_t id,
		   struct name *name)
{
	if (id >= ids->texts.len || ids->texts.items[id] == UINT32_MAX)
		return fail(-EBADMSG, "name (%" PRIu64 ") was never defined", id);
	name->text = intern_text(&cg->costs.texts, ids->texts.items[id]);
	name->len = intern_len(&cg->costs.texts, ids->texts.items[id]);
	return 0;
}

/* "(3) name" or "(3)"; `name` holds the whole. */
static int expand(struct callgrind_parser *cg, struct callgrind_ids *ids, struct name *name)
{
	const char *nl = name->text + name->len, *p;
	uint64_t id;

	p = number(name->text + 1, &id);
	if (!p)
		return -EBADMSG;
	if (*p != ')')
		return 0; /* a name of this look, not compressed */
	if (id > CALLGRIND_ID_MAX)
		return fail(-EBADMSG, "name (%" PRIu64 ") out of range", id);
	p++;
	while (*p == ' ')
		p++;
	if (p == nl)
		return look_up(cg, ids, id, name);
	name->text = p;
	name->len = (size_t)(nl - p);
	define(cg, ids, id, name);
	return 0;
}

static inline int get_name(struct callgrind_parser *cg, struct callgrind_ids *ids,
			   const char *text, const char *nl, struct name *name)
{
	name->text = text;
	name->len = (size_t)(nl - text);
	if (text[0] != '(' || text[1] < '0' || text[1] > '9' || !expand(cg, ids, name))
		return 0;
	return callgrind_damaged(cg, -EBADMSG);
}

static bool name_is(const struct name *name, const char *text, size_t len)
{
	return name->len == len && memcmp(name->text, text, len) == 0;
}

/* Take off the 'n that marks level n of a recursion; whether there was one. */
static bool cut_recursion(struct name *name)
{
	size_t len = name->len;

	while (len && name->text[len - 1] >= '0' && name->text[len - 1] <= '9')
		len--;
	if (len == name->len || len < 2 || name->text[len - 1] != '\'')
		return false;
	name->len = len - 1;
	return true;
}

static int object_line(struct callgrind_parser *cg, const char *text, const char *nl)
{
	struct name name;

	if (get_name(cg, &cg->objects, text, nl, &name))
		return cg->rc;
	if (cg->table)
		cg->object = intern_add(&cg->costs.texts, name.text, name.len);
	return 0;
}

static int function_line(struct callgrind_parser *cg, const char *text, const char *nl)
{
	struct name name;

	if (get_name(cg, &cg->functions, text, nl, &name))
		return cg->rc;
	callgrind_flush_function(cg);
	cg->in_function = true;
	cg->outermost = !cut_recursion(&name);
	cg->below_main = name_is(&name, below_main, sizeof(below_main) - 1);
	cg->main = name_is(&name, "main", 4);
	cg->part.below_main_seen |= cg->below_main;
	if (cg->table) {
		cg->function = intern_add(&cg->costs.texts, name.text, name.len);
		cg->row = function_costs_row(&cg->costs, cg->function, cg->object);
	}
	return 0;
}

/*
 * valgrind calls `_start` and `__libc_start_call_main` "(below main)". What glibc 2.34 and later
 * has between the two goes unrecognised for its versioned name: __libc_start_main@@GLIBC_2.34.
 */
static bool is_start_up(const struct name *name)
{
	static const char versioned[] = "__libc_start_main@";
	struct name base = *name;

	if (name->len >= sizeof(versioned) - 1 &&
	    memcmp(name->text, versioned, sizeof(versioned) - 1) == 0)
		return true;
	cut_recursion(&base);
	return name_is(&base, below_main, sizeof(below_main) - 1);
}

static int called_object_line(struct callgrind_parser *cg, const char *text, const char *nl)
{
	struct name name;

	if (get_name(cg, &cg->objects, text, nl, &name))
		return cg->rc;
	cg->callee.other_object =
		cg->table && !name_is(&name, intern_text(&cg->costs.texts, cg->object),
				      intern_len(&cg->costs.texts, cg->object));
	return 0;
}

static int called_function_line(struct callgrind_parser *cg, const char *text, const char *nl)
{
	struct name name;

	if (get_name(cg, &cg->functions, text, nl, &name))
		return cg->rc;
	if (cg->table && cg->in_function && cg->outermost)
		cg->callee.same_name =
			name_is(&name, intern_text(&cg->costs.texts, cg->function),
				intern_len(&cg->costs.texts, cg->function));
	cg->callee.main = name_is(&name, "main", 4);
	if (cg->below_main)
		cg->callee.start_up = is_start_up(&name);
	return 0;
}

/* The cost line that follows is of the calls. */
static int calls_line(struct callgrind_parser *cg, const char *text)
{
	uint64_t count;

	text = number(text, &count);
	if (text && *text != ' ' && *text != '\n')
		text = no_number("text in a number");
	if (!text)
		return callgrind_damaged(cg, -EBADMSG);
	cg->pending = CALLGRIND_CALL;
	return 0;
}

/* What a line that starts with a letter sets, by its key. */
enum key { KEY_OTHER, KEY_OB, KEY_FN, KEY_FILE, KEY_COB, KEY_CFN, KEY_CALLS, KEY_JFN, KEY_JUMP };

/* The key of `line`, whose '=' is at line[len]. */
static enum key position_key(const char *line, size_t len)
{
	switch (len) {
	case 2:
		if (line[0] == 'f')
			return line[1] == 'n' ? KEY_FN : KEY_FILE;
		return line[0] == 'o' && line[1] == 'b' ? KEY_OB : KEY_OTHER;
	case 3:
		if (line[0] == 'c' && line[1] == 'f' && line[2] == 'n')
			return KEY_CFN;
		if (line[0] == 'j' && line[1] == 'f' && line[2] == 'n')
			return KEY_JFN;
		return line[0] == 'c' && line[1] == 'o' && line[2] == 'b' ? KEY_COB : KEY_OTHER;
	case 4:
		return memcmp(line, "jump", 4) && memcmp(line, "jcnd", 4) ? KEY_OTHER : KEY_JUMP;
	case 5:
		return memcmp(line, "calls", 5) ? KEY_OTHER : KEY_CALLS;
	default:
		return KEY_OTHER;
	}
}

static int position_line(struct callgrind_parser *cg, const char *line, const char *equals,
			 const char *nl)
{
	enum key key = position_key(line, (size_t)(equals - line));
	const char *text = equals + 1;
	struct name ignored;

	if (key == KEY_OTHER)
		return 0;
	if (!cg->in_body && callgrind_begin_body(cg))
		return cg->rc;
	if (cg->pending)
		return callgrind_damaged(cg, fail(-EBADMSG, "calls= or jump= without its line"));
	switch (key) {
	case KEY_OB:
		return object_line(cg, text, nl);
	case KEY_FN:
		return function_line(cg, text, nl);
	case KEY_COB:
		return called_object_line(cg, text, nl);
	case KEY_CFN:
		return called_function_line(cg, text, nl);
	case KEY_CALLS:
		return calls_line(cg, text);
	case KEY_JFN:
		return get_name(cg, &cg->functions, text, nl, &ignored);
	case KEY_JUMP:
		cg->pending = CALLGRIND_JUMP;
		return 0;
	default: /* source files are of no interest */
		return 0;
	}
}

static const char *other_line(struct callgrind_parser *cg, const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p)), *sign = p;
	int rc;

	if (*p == '#' || p == nl)
		return nl + 1;
	while (((*sign | 0x20) >= 'a' && (*sign | 0x20) <= 'z') || *sign == '_')
		sign++;
	if (sign != p && *sign == '=')
		rc = position_line(cg, p, sign, nl);
	else if (sign != p && *sign == ':')
		rc = callgrind_key_line(cg, p, sign, nl);
	else
		rc = callgrind_damaged(cg, fail(-EBADMSG, "not a line of a callgrind file"));
	return rc ? NULL : nl + 1;
}

static inline bool starts_costs(char c)
{
	return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*';
}

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
		p = starts_costs(*p) ? cost_line(cg, p) : other_line(cg, p, end);
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

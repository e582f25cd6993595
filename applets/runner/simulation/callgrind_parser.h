/* SPDX-License-Identifier: MIT */
/* callgrind_parser.h - what the files of the callgrind reader share; nobody else includes it */
#ifndef SIMULATION_CALLGRIND_PARSER_H
#define SIMULATION_CALLGRIND_PARSER_H

#include "applets/runner/simulation/call_graph.h"
#include "applets/runner/simulation/callgrind.h"
#include "core/buf.h"

enum {
	CALLGRIND_EVENTS_MAX = 64,
	CALLGRIND_POSITIONS_MAX = 8,
	CALLGRIND_ID_MAX = 1 << 24, /* callgrind counts from 1; a hostile id must not cost memory */
};

/* A name in the input or in the parser's table of texts. */
struct callgrind_name {
	const char *text;
	size_t len;
};

/* Names by their number in "(3) name": ids in costs.texts, UINT32_MAX = not defined. */
struct callgrind_ids {
	VEC(uint32_t) texts;
};

/* What the next cost line is. */
enum callgrind_pending { CALLGRIND_SELF, CALLGRIND_CALL, CALLGRIND_JUMP };

/* Whom the next calls= line calls; forgotten with every cost line. */
struct callgrind_callee {
	bool start_up;     /* it is start-up code, looked at only when the caller is, too */
	bool main;
	bool exit;         /* after main(), called by the code that called it */
	bool same_name;    /* as the caller's; kept only with a table */
	bool other_object; /* than the caller's; likewise */

	/* For a call graph only. */
	bool has_object;
	uint32_t object;
	uint32_t function; /* ids in costs.texts; of the function + 1, 0 = none was named */
	uint64_t count;
};

struct callgrind_parser {
	/* the file */
	const char *name;
	const struct callgrind_ops *ops;
	void *ctx;
	int rc; /* why parsing stopped */
	size_t line;
	size_t parts; /* complete ones */
	struct buf creator, cmd;
	struct callgrind_header header;
	struct callgrind_ids objects, functions;
	struct function_costs costs; /* all functions seen, with their costs in this part only */
	VEC(uint32_t) touched;       /* its rows that have any */

	/* the part */
	bool open;    /* a line of it was seen */
	bool in_body; /* part_begin() was called */
	struct callgrind_part part;
	struct buf trigger;
	VEC(uint64_t) spawned;
	struct function_costs *table; /* NULL: nobody wants the functions */
	bool wide;                    /* the table has a graph, and so has `costs` */
	unsigned positions;           /* at the head of each cost line */
	unsigned events;
	unsigned ir_column;
	int8_t event_of[CALLGRIND_EVENTS_MAX]; /* enum callgrind_event, -1 = unknown to us */
	uint64_t ir_sum;
	bool main_called;
	uint64_t main_calls;     /* Ir of the calls to `main`, and of exit() after it */
	uint64_t start_up_calls; /* of those out of `(below main)` */

	/* the function in it */
	bool in_function;
	bool in_below_main;        /* it is `(below main)` */
	bool in_main;
	bool outermost;            /* not a deeper level of recursion */
	uint32_t object, function; /* ids in costs.texts; only with a table */
	uint32_t row;              /* in costs, likewise */
	uint64_t self, calls;      /* not yet in its row */
	enum callgrind_pending pending;
	struct callgrind_callee callee;
	struct event_costs values; /* of the line at hand; for a call graph only */
};

/* callgrind_part.c */

void callgrind_parser_init(struct callgrind_parser *cg, const char *name,
			   const struct callgrind_ops *ops, void *ctx);
void callgrind_parser_release(struct callgrind_parser *cg);

/* A "key: text" line, `colon` being where its colon is and `nl` its end. 0 or cg->rc. */
int callgrind_key_line(struct callgrind_parser *cg, const char *line, const char *colon,
		       const char *nl);

/* The first line of a part's body. 0 or cg->rc. */
int callgrind_begin_body(struct callgrind_parser *cg);

/* callgrind_lines.c */

/* Whole lines: the byte before `end` is a newline. 0, or the reason to stop (also in cg->rc). */
int callgrind_parse_lines(struct callgrind_parser *cg, const char *p, const char *end);

/* The input is over, `tail` follows the last newline. Returns what callgrind_read() does. */
int callgrind_parser_finish(struct callgrind_parser *cg, const char *tail, size_t len);

/* Stop with `rc`, to whose frame the place is added. Returns it. */
int callgrind_damaged(struct callgrind_parser *cg, int rc);

/* Put what the current function has cost so far into its row. */
void callgrind_flush_function(struct callgrind_parser *cg);

/* callgrind_names.c */

/* The text from `text` to `nl` with "(3)" and "(3) name" resolved. 0 or -EBADMSG with a frame. */
int callgrind_name_get(struct callgrind_parser *cg, struct callgrind_ids *ids, const char *text,
		       const char *nl, struct callgrind_name *name);

/* Take off the 'n that marks level n of a recursion; whether there was one. */
bool callgrind_name_cut_level(struct callgrind_name *name);

bool callgrind_name_is(const struct callgrind_name *name, const char *text, size_t len);
bool callgrind_name_is_below_main(const struct callgrind_name *name);

/* Whether it is code between the program's entry and main(). */
bool callgrind_name_is_start_up(const struct callgrind_name *name);

/* callgrind_number() for everything but short decimal numbers. */
const char *callgrind_odd_number(const char *p, uint64_t *value);

/*
 * One number, decimal or 0x hex, in text that ends in something else than a digit. Returns its
 * end, or NULL with a frame when there is none or it has more than 64 bits.
 */
static inline const char *callgrind_number(const char *p, uint64_t *value)
{
	const char *start = p;
	uint64_t v = 0;
	unsigned digit;

	for (; (digit = (unsigned char)*p - (unsigned)'0') <= 9; p++)
		v = v * 10 + digit;
	*value = v;
	if (p == start || p - start > 19 || (*p | 0x20) == 'x')
		return callgrind_odd_number(start, value);
	return p;
}

#endif

/* SPDX-License-Identifier: MIT */
/* gate.c - limits of metrics, and which of them a comparison breaks */
#include <inttypes.h>
#include <math.h>

#include "applets/runner/results/gate.h"
#include "core/base.h"
#include "core/suggest.h"
#include "core/units.h"

void gates_release(struct gates *gates)
{
	for (size_t i = 0; i < gates->items.len; i++)
		free(gates->items.items[i].benchmark);
	vec_release(&gates->items);
}

/* Parsing */

int parse_share(const char *text, double *share)
{
	size_t digits = strspn(text, "0123456789."), whole = strcspn(text, ".");
	char *end;

	*share = strtod(text, &end) / 100;
	/* strtod() would also take signs, exponents, hex, nan and inf */
	if (!digits || text + digits != end || !str_eq(end, "%") || *text == '.' ||
	    whole + 1 == digits || !isfinite(*share))
		return fail(-EINVAL, "expected a percentage such as 2.5%%");
	return 0;
}

static int parse_limit(struct gate *gate, const char *text)
{
	if (str_eq(text, "off")) {
		gate->kind = GATE_OFF;
		return 0;
	}
	if (str_ends(text, "%")) {
		gate->kind = GATE_SHARE;
		return parse_share(text, &gate->share);
	}
	gate->kind = *text == '+' ? GATE_GROWTH : GATE_CEILING;
	if (!parse_uint64(text, &gate->amount))
		return 0;
	error_clear();
	return fail(-EINVAL, "'%s': expected a growth (3%% or +100), the largest value (5000) or off",
		text);
}

static int find_metric(struct gate *gate, const char *name)
{
	struct suggest near = suggest_for(name);
	struct buf hint = BUF_INIT;
	int rc;

	for (size_t m = 0; m < MODE_COUNT; m++) {
		const struct mode_info *mode = result_mode_info((enum mode)m);

		for (size_t i = 0; i < mode->metric_count; i++) {
			suggest_add(&near, mode->metrics[i].name);
			if (!str_eq(mode->metrics[i].name, name))
				continue;
			gate->mode = (enum mode)m;
			gate->metric = i;
			return 0;
		}
	}
	suggest_text(&near, ", ", "", &hint);
	rc = fail(-EINVAL, "there is no metric '%s'%s", name, hint.len ? hint.data : "");
	buf_release(&hint);
	return rc;
}

int gates_add(struct gates *gates, const char *benchmark, const char *metric, const char *limit)
{
	struct gate gate = {0};
	int rc = find_metric(&gate, metric);

	if (!rc)
		rc = parse_limit(&gate, limit);
	if (rc)
		return rc;
	gate.benchmark = benchmark ? xstrdup(benchmark) : NULL;
	vec_push(&gates->items, gate);
	return 0;
}

/* `METRIC=LIMIT`, with blanks around; it is cut up. */
static int parse_one(struct gates *gates, const char *benchmark, char *text)
{
	char *equals;
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len && strchr(" \t\r", text[len - 1]))
		text[--len] = '\0';
	equals = strchr(text, '=');
	if (!equals)
		return fail(-EINVAL, "'%s': expected METRIC=LIMIT, such as instructions=1%%", text);
	*equals = '\0';
	return gates_add(gates, benchmark, text, equals + 1);
}

/* The colon before a metric's name, which has none itself; the limit has none either. */
static int parse_own(struct gates *gates, char *text, char *colon)
{
	*colon = '\0';
	if (!*text)
		return fail(-EINVAL, "expected the name of a benchmark before the colon");
	return parse_one(gates, text, colon + 1);
}

/* `METRIC=LIMIT,...`; it is cut up. */
static int parse_list(struct gates *gates, const char *benchmark, char *text)
{
	char *item;
	int rc = 0;

	while (!rc && (item = strsep(&text, ",")))
		rc = parse_one(gates, benchmark, item);
	return rc;
}

int gates_parse(struct gates *gates, const char *text)
{
	char *copy = xstrdup(text), *colon = strrchr(copy, ':');
	int rc = colon ? parse_own(gates, copy, colon) : parse_list(gates, NULL, copy);

	free(copy);
	return rc;
}

int gates_parse_lines(struct gates *gates, const char *benchmark, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *line;
	int rc = 0;

	while (!rc && (line = strsep(&rest, "\n"))) {
		if (str_is_blank(line))
			continue;
		rc = benchmark ? parse_list(gates, benchmark, line) : gates_parse(gates, line);
	}
	free(copy);
	return rc;
}

bool gates_need_base(const struct gates *gates)
{
	for (size_t i = 0; i < gates->items.len; i++)
		if (gates->items.items[i].kind == GATE_SHARE || gates->items.items[i].kind == GATE_GROWTH)
			return true;
	return false;
}

/* Checking */

static bool is_for(const struct gate *gate, const struct benchmark *benchmark)
{
	return gate->benchmark && (str_eq(gate->benchmark, benchmark->name) ||
				   str_eq(gate->benchmark, benchmark->uri));
}

/* The benchmark's own before the one for all; the last of several. NULL for none. */
static const struct gate *find_gate(const struct gates *gates, const struct benchmark *benchmark,
	size_t metric)
{
	const struct gate *found = NULL;

	for (size_t i = 0; i < gates->items.len; i++) {
		const struct gate *gate = &gates->items.items[i];
		bool own = is_for(gate, benchmark);

		if (gate->mode != benchmark->mode || gate->metric != metric)
			continue;
		if (own || (!gate->benchmark && !(found && found->benchmark)))
			found = gate;
	}
	return found;
}

/* Metrics that are made of the rounds, which the median's rank test judges. */
static bool made_of_rounds(enum mode mode, size_t metric)
{
	return mode == MODE_WALLTIME && (metric <= WALLTIME_MAX || metric == WALLTIME_Q1 ||
					 metric == WALLTIME_Q3);
}

static bool may_have_grown(const struct compared *row, const struct gate *gate)
{
	const struct metric_change *change = &row->metrics[gate->metric];
	const struct rank_test *test;

	if (!row->base || !row->head || row->verdict == VERDICT_INCOMPARABLE)
		return false;
	if (made_of_rounds(gate->mode, gate->metric) || change->test) {
		test = change->test ? change->test : row->metrics[WALLTIME_MEDIAN].test;
		if (!test || judge_test(test, 0) != VERDICT_REGRESSED)
			return false;
	}
	return change->base.known && change->head.known && change->head.value > change->base.value;
}

static bool is_broken(const struct compared *row, const struct gate *gate)
{
	const struct metric_change *change = &row->metrics[gate->metric];

	switch (gate->kind) {
	case GATE_CEILING:
		return change->head.known && change->head.value > gate->amount;
	case GATE_GROWTH:
		return may_have_grown(row, gate) &&
		       change->head.value - change->base.value > gate->amount;
	case GATE_SHARE:
		return may_have_grown(row, gate) && relative_change(change) > gate->share;
	default:
		return false;
	}
}

void gates_check(const struct gates *gates, const struct comparison *c, struct broken_gates *to)
{
	for (size_t i = 0; i < c->rows.len && gates->items.len; i++) {
		const struct compared *row = &c->rows.items[i];
		const struct benchmark *benchmark = compared_benchmark(row);

		for (size_t m = 0; m < result_mode_info(benchmark->mode)->metric_count; m++) {
			const struct gate *gate = find_gate(gates, benchmark, m);

			if (gate && is_broken(row, gate))
				vec_push(&to->items, (struct broken_gate){gate, row});
		}
	}
}

void gates_unused(const struct gates *gates, const struct comparison *c, struct strvec *to)
{
	for (size_t i = 0; i < gates->items.len; i++) {
		const struct gate *gate = &gates->items.items[i];
		bool used = !gate->benchmark;

		for (size_t j = 0; !used && j < c->rows.len; j++)
			used = is_for(gate, compared_benchmark(&c->rows.items[j]));
		if (!used)
			strvec_push(to, gate->benchmark);
	}
}

void broken_gate_text(const struct broken_gate *broken, struct buf *to)
{
	const struct gate *gate = broken->gate;
	const struct metric_change *change = &broken->row->metrics[gate->metric];
	char head[UNIT_TEXT], base[UNIT_TEXT], limit[UNIT_TEXT];

	buf_printf(to, "%s: %s is %s", compared_benchmark(broken->row)->name,
		result_mode_info(gate->mode)->metrics[gate->metric].name,
		format_count(head, change->head.value));
	format_count(base, change->base.value);
	format_count(limit, gate->amount);
	if (gate->kind == GATE_CEILING)
		buf_printf(to, "; the limit is %s", limit);
	else if (gate->kind == GATE_GROWTH)
		buf_printf(to, ", %s above the base's %s; the limit is +%s",
			format_count(head, change->head.value - change->base.value), base, limit);
	else
		buf_printf(to, ", %.2f%% above the base's %s; the limit is %.10g%%",
			relative_change(change) * 100, base, gate->share * 100);
}

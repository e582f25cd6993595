/* SPDX-License-Identifier: MIT */
/* comparison_cells.c - a metric of a compared benchmark as text */
#include <math.h>
#include <stdio.h>

#include "applets/runner/report/comparison_cells.h"
#include "core/base.h"

#define NEWS 0.01

static void format_measure(char *out, struct measure measure)
{
	if (measure.known)
		format_count(out, measure.value);
	else
		memcpy(out, "-", 2);
}

const char *format_change(char *out, bool more, uint64_t by)
{
	char count[UNIT_TEXT];

	snprintf(out, UNIT_TEXT, "%s%s", !by ? "" : more ? "+" : "-", format_count(count, by));
	return out;
}

/* A large factor reads better than its per cents. */
static void format_relative(char *out, double change)
{
	if (isinf(change))
		snprintf(out, UNIT_TEXT, "from 0");
	else if (change >= 10)
		snprintf(out, UNIT_TEXT, "x%.4g", change + 1);
	else
		snprintf(out, UNIT_TEXT, "%+.2f%%", change * 100);
}

static void fill_test(struct comparison_cells *cells, const struct rank_test *test)
{
	char low[UNIT_TEXT], high[UNIT_TEXT];

	format_relative(cells->relative, test->ratio - 1);
	format_relative(low, test->low - 1);
	format_relative(high, test->high - 1);
	snprintf(cells->interval, sizeof(cells->interval), "%s to %s", low, high);
	snprintf(cells->p, sizeof(cells->p), test->p < 0.0001 ? "<0.0001" : "%.4f", test->p);
}

static bool has_changed(enum verdict verdict)
{
	return verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED;
}

static bool was_judged(enum verdict verdict)
{
	return verdict == VERDICT_UNCHANGED || has_changed(verdict);
}

void comparison_cells_fill(struct comparison_cells *cells, const struct compared *row,
	size_t metric)
{
	const struct mode_info *mode = result_mode_info(compared_benchmark(row)->mode);
	const struct metric_change *change = &row->metrics[metric];
	bool more = change->head.value > change->base.value;

	*cells = (struct comparison_cells){.metric = mode->metrics[metric].name};
	format_measure(cells->base, change->base);
	format_measure(cells->head, change->head);
	if (change->test)
		fill_test(cells, change->test);
	if (change->test || mode == result_mode_info(MODE_WALLTIME) || !was_judged(change->verdict))
		return; /* of what varies never a bare difference */
	format_change(cells->change, more, more ? change->head.value - change->base.value
						: change->base.value - change->head.value);
	format_relative(cells->relative, relative_change(change));
}

bool comparison_shows(const struct compared *row, size_t metric, enum metrics_shown shown)
{
	const struct mode_info *mode = result_mode_info(compared_benchmark(row)->mode);
	const struct metric_change *change = &row->metrics[metric];

	if (metric == mode->leading)
		return true;
	if (shown == METRICS_KNOWN)
		return change->base.known && change->head.known;
	if (!has_changed(change->verdict))
		return false;
	return shown == METRICS_CHANGED || (change->verdict != row->verdict && fabs(relative_change(change)) >= NEWS);
}

void comparison_summary(const struct comparison *c, struct buf *to)
{
	size_t before = to->len;

	for (size_t i = 0; i < VERDICTS; i++)
		if (c->counts[i])
			buf_printf(to, "%s%zu %s", to->len > before ? ", " : "", c->counts[i],
				verdict_name((enum verdict)i));
	if (to->len == before)
		buf_addstr(to, "nothing to compare");
}

/* SPDX-License-Identifier: MIT */
/* comparison_markdown.c - a comparison as Markdown, for the page of a CI run */
#include "applets/runner/report/comparison_report.h"
#include "applets/runner/report/markdown.h"
#include "applets/runner/results/function_changes.h"
#include "core/base.h"

enum { TAIL = 512 }; /* bytes kept for what is said at the end */

#define HEAD "| Benchmark | Metric | Base | Head | Change | Verdict |\n|---|---|--:|--:|--:|---|\n"

static void add_metric(const struct compared *row, size_t metric, const char *name, struct buf *to)
{
	const struct mode_info *mode = result_mode_info(compared_benchmark(row)->mode);
	enum verdict verdict = metric == mode->leading ? row->verdict
						       : row->metrics[metric].verdict;
	bool loud = verdict <= VERDICT_MISSING;
	struct comparison_cells cells;

	comparison_cells_fill(&cells, row, metric);
	buf_addstr(to, "| ");
	markdown_code(name, to);
	buf_printf(to, " | %s | %s | %s | %s", cells.metric, cells.base, cells.head, cells.change);
	if (*cells.interval)
		buf_printf(to, "%s (99%%: %s, p %s)", cells.relative, cells.interval, cells.p);
	else if (*cells.relative)
		buf_printf(to, " (%s)", cells.relative);
	buf_printf(to, " | %s%s%s", loud ? "**" : "", verdict_name(verdict), loud ? "**" : "");
	if (metric == mode->leading && row->why) {
		buf_addstr(to, ": ");
		markdown_text(row->why, to);
	}
	buf_addstr(to, " |\n");
}

static void add_row(const struct comparison_view *view, const struct compared *row, struct buf *to)
{
	const struct benchmark *benchmark = compared_benchmark(row);
	const struct mode_info *mode = result_mode_info(benchmark->mode);

	add_metric(row, mode->leading, benchmark->name, to);
	for (size_t i = 0; i < mode->metric_count; i++)
		if (i != mode->leading && comparison_shows(row, i, view->shown))
			add_metric(row, i, benchmark->name, to);
}

/* The rows that ask for a look first. How many found no room within `limit`. */
static size_t add_rows(const struct comparison_view *view, size_t limit, struct buf *to)
{
	const struct comparison *c = view->comparison;
	size_t left_out = 0;

	for (int verdict = 0; verdict < VERDICT_UNCHANGED; verdict++) {
		for (size_t i = 0; i < c->rows.len; i++) {
			size_t before = to->len;

			if ((int)c->rows.items[i].verdict != verdict)
				continue;
			if (!left_out)
				add_row(view, &c->rows.items[i], to);
			if (left_out || to->len > limit) {
				markdown_cut(to, before);
				left_out++;
			}
		}
	}
	return left_out;
}

/* As many as there is room for in half of what is left: the table comes first. */
static size_t add_broken(const struct broken_gates *broken, size_t limit, struct buf *to)
{
	for (size_t i = 0; i < broken->items.len; i++) {
		struct buf text = BUF_INIT;
		size_t before = to->len;

		broken_gate_text(&broken->items.items[i], &text);
		buf_addstr(to, "- ");
		markdown_text(text.data, to);
		buf_addch(to, '\n');
		buf_release(&text);
		if (to->len > limit) {
			markdown_cut(to, before);
			return broken->items.len - i;
		}
	}
	return 0;
}

static void add_head(const struct comparison *c, struct buf *to)
{
	buf_addstr(to, "### Benchmarks: ");
	comparison_summary(c, to);
	buf_addstr(to, "\n\nBase ");
	markdown_code(c->base_name, to);
	buf_addstr(to, ", head ");
	markdown_code(c->head_name, to);
	buf_addstr(to, "\n\n");
	for (size_t i = 0; i < MODE_COUNT; i++) {
		if (!c->why[i])
			continue;
		buf_printf(to, "**Other machine** (%s): ", mode_name((enum mode)i));
		markdown_text(c->why[i], to);
		buf_addstr(to, "\n\n");
	}
}

void comparison_markdown(const struct comparison_view *view, size_t limit, struct buf *to)
{
	const struct comparison *c = view->comparison;
	size_t begin = to->len, end, left_out;

	add_head(c, to);
	if (to->len + 2 * TAIL > begin + limit) {
		markdown_cut(to, begin);
		return; /* not even the head finds room */
	}
	end = begin + limit - TAIL;
	if (view->broken->items.len) {
		buf_printf(to, "**Broken gates: %zu**\n\n", view->broken->items.len);
		left_out = add_broken(view->broken, to->len + (end - to->len) / 2, to);
		if (left_out)
			buf_printf(to, "- and %zu more\n", left_out);
		buf_addch(to, '\n');
	}
	if (c->counts[VERDICT_UNCHANGED] < c->rows.len) {
		buf_addstr(to, HEAD);
		left_out = add_rows(view, end, to);
		if (left_out)
			buf_printf(to, "\n%zu more benchmarks found no room here.\n", left_out);
	}
	buf_addch(to, '\n');
}

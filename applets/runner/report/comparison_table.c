/* SPDX-License-Identifier: MIT */
/* comparison_table.c - a comparison as a table for the terminal */
#include "applets/runner/report/comparison_report.h"
#include "applets/runner/report/grid.h"
#include "applets/runner/results/function_changes.h"
#include "applets/runner/results/signed_rank.h"
#include "core/base.h"
#include "core/path.h"
#include "core/term.h"
#include "core/text.h"

static const char *const colours[] = {
	[VERDICT_REGRESSED] = TERM_RED,
	[VERDICT_INCOMPARABLE] = TERM_YELLOW,
	[VERDICT_MISSING] = TERM_YELLOW,
	[VERDICT_NEW] = TERM_CYAN,
	[VERDICT_IMPROVED] = TERM_GREEN,
	[VERDICT_UNCHANGED] = NULL,
	[VERDICT_NONE] = NULL,
};

static void add_columns(struct grid *grid, bool tested)
{
	grid_column(grid, "Benchmark", GRID_LEFT | GRID_CUT);
	grid_column(grid, "Metric", GRID_LEFT | GRID_DROP);
	grid_column(grid, "Base", GRID_DROP);
	grid_column(grid, "Head", GRID_DROP);
	if (tested) {
		grid_column(grid, "Change", 0);
		grid_column(grid, "99% interval", 0);
		grid_column(grid, "p", GRID_DROP);
	} else {
		grid_column(grid, "Difference", GRID_DROP);
		grid_column(grid, "Change", 0);
	}
	grid_column(grid, "Verdict", GRID_LEFT);
}

/* What a table is made with; it has columns of a test where any of its rows was tested. */
struct making {
	struct grid grid;
	bool tested;
};

static void add_metric(struct making *making, const struct compared *row, size_t metric,
	const char *name)
{
	struct grid *grid = &making->grid;
	bool leading = metric == result_mode_info(compared_benchmark(row)->mode)->leading;
	enum verdict verdict = leading ? row->verdict : row->metrics[metric].verdict;
	struct comparison_cells cells;

	comparison_cells_fill(&cells, row, metric);
	grid_row(grid, leading ? NULL : TERM_DIM);
	grid_cell(grid, NULL, name);
	grid_cell(grid, NULL, cells.metric);
	grid_cell(grid, NULL, cells.base);
	grid_cell(grid, NULL, cells.head);
	if (making->tested) {
		grid_cell(grid, NULL, cells.relative);
		grid_cell(grid, NULL, cells.interval);
		grid_cell(grid, NULL, cells.p);
	} else {
		grid_cell(grid, NULL, cells.change);
		grid_cell(grid, NULL, cells.relative);
	}
	grid_cell(grid, colours[verdict], verdict_name(verdict));
}

static void add_function(struct grid *grid, const struct function_change *change)
{
	char by[UNIT_TEXT];
	struct buf line = BUF_INIT;

	buf_printf(&line, "  %s%s  ", change->at_least ? "at least " : "",
		format_change(by, change->more, change->by));
	text_printable(change->name, strlen(change->name), &line);
	if (change->object) {
		buf_addstr(&line, " [");
		text_printable(path_base(change->object), strlen(path_base(change->object)), &line);
		buf_addch(&line, ']');
	}
	grid_line(grid, TERM_DIM, line.data);
	buf_release(&line);
}

static void add_functions(struct grid *grid, const struct compared *row, size_t most)
{
	struct function_change *changes;
	size_t count;

	if (compared_benchmark(row)->mode != MODE_SIMULATION || !row->base || !row->head ||
	    row->metrics[SIMULATION_INSTRUCTIONS].verdict >= VERDICT_UNCHANGED)
		return;
	changes = function_changes(row->base, row->head, &count);
	for (size_t i = 0; i < count && i < most; i++)
		add_function(grid, &changes[i]);
	free(changes);
}

static void add_row(struct making *making, const struct comparison_view *view,
	const struct compared *row)
{
	const struct benchmark *benchmark = compared_benchmark(row);
	const struct mode_info *mode = result_mode_info(benchmark->mode);
	struct buf text = BUF_INIT;

	text_printable(benchmark->name, strlen(benchmark->name), &text);
	add_metric(making, row, mode->leading, text.data);
	buf_clear(&text);
	if (row->why) {
		buf_addstr(&text, "  ");
		text_printable(row->why, strlen(row->why), &text);
		grid_line(&making->grid, TERM_DIM, text.data);
	}
	for (size_t i = 0; i < mode->metric_count; i++)
		if (i != mode->leading && comparison_shows(row, i, view->shown))
			add_metric(making, row, i, "");
	add_functions(&making->grid, row, view->functions);
	buf_release(&text);
}

#define PAIRED_METHOD "Exact where all rounds of a side are equal; else " SIGNED_RANK_METHOD "."

static const char *const methods[MODE_COUNT] = {
	[MODE_SIMULATION] = "Simulation: exact difference.",
	[MODE_MEMORY] = "Memory: exact difference.",
	[MODE_WALLTIME] = "Walltime: " RANK_TEST_METHOD ".",
};

static void paint(FILE *to, const struct table_style *style, const char *colour)
{
	if (style->colours)
		fprintf(to, "\033[%sm", colour);
}

static void print_text(FILE *to, const char *text)
{
	struct buf safe = BUF_INIT;

	text_printable(text, strlen(text), &safe);
	fputs(safe.data, to);
	buf_release(&safe);
}

static void print_machines(FILE *to, const struct comparison *c, enum mode mode,
	const struct table_style *style)
{
	if (!c->why[mode])
		return;
	paint(to, style, TERM_BOLD_YELLOW);
	fputs("! other machine", to);
	paint(to, style, TERM_PLAIN);
	fprintf(to, " (%s): ", mode_name(mode));
	print_text(to, c->why[mode]);
	fputc('\n', to);
}

static bool any_tested(const struct comparison *c, enum mode mode)
{
	for (size_t i = 0; i < c->rows.len; i++)
		for (size_t m = 0; m < RESULT_METRICS_MAX; m++)
			if (compared_benchmark(&c->rows.items[i])->mode == mode &&
			    c->rows.items[i].metrics[m].test)
				return true;
	return mode == MODE_WALLTIME;
}

static bool print_mode(FILE *to, const struct comparison_view *view,
	const struct table_style *style, enum mode mode)
{
	const struct comparison *c = view->comparison;
	struct making making = {.tested = any_tested(c, mode)};
	size_t rows = 0;

	grid_init(&making.grid, style);
	add_columns(&making.grid, making.tested);
	for (size_t i = 0; i < c->rows.len; i++) {
		if (compared_benchmark(&c->rows.items[i])->mode != mode)
			continue;
		add_row(&making, view, &c->rows.items[i]);
		rows++;
	}
	if (rows) {
		print_machines(to, c, mode, style);
		grid_print(&making.grid, to);
		fputc('\n', to);
	}
	grid_release(&making.grid);
	return rows;
}

void comparison_print(FILE *to, const struct comparison_view *view,
	const struct table_style *style)
{
	const struct comparison *c = view->comparison;
	bool present[MODE_COUNT];
	struct buf summary = BUF_INIT;

	fputs("Base ", to);
	print_text(to, c->base_name);
	fputs(", head ", to);
	print_text(to, c->head_name);
	fputs("\n\n", to);
	for (size_t i = 0; i < MODE_COUNT; i++)
		present[i] = print_mode(to, view, style, (enum mode)i);
	for (size_t i = 0; i < MODE_COUNT; i++) {
		if (!present[i])
			continue;
		paint(to, style, TERM_DIM);
		fputs(c->paired ? PAIRED_METHOD : methods[i], to);
		paint(to, style, TERM_PLAIN);
		fputc('\n', to);
	}
	comparison_summary(c, &summary);
	fprintf(to, "%s\n", summary.data);
	buf_release(&summary);
}

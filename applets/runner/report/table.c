/* SPDX-License-Identifier: MIT */
/* table.c - results as a table for people */
#include "applets/runner/report/process_tree.h"
#include "applets/runner/report/table.h"
#include "applets/runner/report/table_rows.h"
#include "core/base.h"
#include "core/path.h"
#include "core/round_statistics.h"
#include "core/term.h"
#include "core/text.h"
#include "core/units.h"

enum {
	GAP = 2,       /* columns between two cells */
	MIN_NAME = 12, /* of a cut name */
};

#define MEMORY_FOOTER "Peak = most bytes live at once in a benchmark, leaked = live at its end; over " \
	"all its processes"

#define WALLTIME_FOOTER "Mean with its 95 % confidence interval; outliers are 1.5 interquartile ranges " \
	"off the quartiles"

/* How to read the numbers of a mode. */
static const struct {
	const char *utf8, *ascii;
} footers[MODE_COUNT] = {
	[MODE_SIMULATION] = {
		"Estimated cycles = L1 + 5·LL + 35·RAM",
		"Estimated cycles = L1 + 5*LL + 35*RAM",
	},
	[MODE_WALLTIME] = {WALLTIME_FOOTER, WALLTIME_FOOTER},
	[MODE_MEMORY] = {MEMORY_FOOTER, MEMORY_FOOTER},
};

struct table_style table_style_for(FILE *to)
{
	int fd = fileno(to);

	return (struct table_style){
		.width = term_width(fd),
		.colours = term_colours(fd),
		.utf8 = term_utf8(),
	};
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

#define LARGEST_HALF 1e19 /* ns that 64 bits hold; a file may claim more */

enum { CELL_TEXT = 2 * UNIT_TEXT + 8 }; /* a mean and its interval */

/* The mean of so many rounds, give or take what the mean of others may differ by. */
static void format_mean(char *out, const struct measure *cells, bool utf8)
{
	char mean[UNIT_TEXT], reach[UNIT_TEXT];
	struct measure stdev = cells[WALLTIME_STDEV], rounds = cells[WALLTIME_ROUNDS];
	double half = round_statistics_confidence((double)stdev.value, rounds.value);

	format_time(mean, cells[WALLTIME_MEAN].value);
	if (stdev.known && rounds.known && rounds.value > 1)
		snprintf(out, CELL_TEXT, "%s %s %s", mean, utf8 ? "±" : "+-",
			format_time(reach, half < LARGEST_HALF ? (uint64_t)half : UINT64_MAX));
	else
		snprintf(out, CELL_TEXT, "%s", mean);
}

static const char *format_cell(const struct table *table, char *out, const struct measure *cells,
	size_t i)
{
	if (!cells[i].known)
		return "-";
	switch (table->mode->metrics[i].unit) {
	case UNIT_COUNT:
		return format_count(out, cells[i].value);
	case UNIT_TIME:
		return format_time(out, cells[i].value);
	case UNIT_MEAN:
		format_mean(out, cells, table->style->utf8);
		return out;
	case UNIT_BYTES:
		return format_bytes(out, cells[i].value);
	}
	BUG("unit of a metric");
}

static bool is_shown(const struct table *table, size_t i)
{
	return table->mode->metrics[i].column && !table->dropped[i];
}

/* Printing pieces */

/* NULL paints nothing. */
static void paint(const struct table *table, const char *colour)
{
	if (table->style->colours && colour)
		fprintf(table->to, "\033[%sm", colour);
}

static void end_line(const struct table *table, const char *colour)
{
	paint(table, colour ? TERM_PLAIN : NULL);
	fputc('\n', table->to);
}

static void print_blanks(const struct table *table, size_t count)
{
	fprintf(table->to, "%*s", (int)count, "");
}

/* The text, cut to the columns there are; returns how many it took. */
static size_t print_cut(const struct table *table, const char *text, size_t columns)
{
	const char *mark = table->style->utf8 ? "…" : "...";
	size_t mark_width = text_width(mark, strlen(mark));
	size_t len = strlen(text), width = text_width(text, len);

	if (width <= columns) {
		fputs(text, table->to);
		return width;
	}
	len = text_fit(text, len, columns - mark_width);
	fprintf(table->to, "%.*s%s", (int)len, text, mark);
	return columns;
}

/* Rows */

void table_measure_row(struct table *table, const char *colour UNUSED, const char *name,
	const struct measure *cells, size_t count)
{
	char text[CELL_TEXT];

	table->name_width = larger(table->name_width, text_width(name, strlen(name)));
	for (size_t i = 0; i < count; i++) {
		const char *cell = format_cell(table, text, cells, i);

		table->widths[i] = larger(table->widths[i], text_width(cell, strlen(cell)));
	}
}

void table_print_row(struct table *table, const char *colour, const char *name,
	const struct measure *cells, size_t count)
{
	char text[CELL_TEXT];
	size_t used;

	paint(table, colour);
	used = print_cut(table, name, table->name_width);
	print_blanks(table, count ? table->name_width - used : 0);
	for (size_t i = 0; i < count; i++) {
		const char *cell = format_cell(table, text, cells, i);

		if (!is_shown(table, i))
			continue;
		print_blanks(table, GAP + table->widths[i] - text_width(cell, strlen(cell)));
		fputs(cell, table->to);
	}
	end_line(table, colour);
}

static void visit_benchmark(struct table *table, const struct benchmark *benchmark,
	row_visitor *visit)
{
	struct buf name = BUF_INIT;

	text_printable(benchmark->name, strlen(benchmark->name), &name);
	visit(table, NULL, name.data, benchmark->metrics, table->mode->metric_count);
	buf_release(&name);
}

/*
 * Only where there are several: a single one would repeat the benchmark's row. Only a simulation
 * has a figure for each.
 */
void table_visit_processes(struct table *table, const struct benchmark *benchmark,
	row_visitor *visit)
{
	size_t cells = benchmark->mode == MODE_SIMULATION;
	struct buf name = BUF_INIT;
	struct process_tree tree;

	if (benchmark->processes.len < 2)
		return;
	process_tree_init(&tree, benchmark);
	for (int i = tree.first; i != PROCESS_NONE; i = process_tree_next(&tree, i)) {
		const struct result_process *process = &benchmark->processes.items[i];
		const char *command = process->command ? process->command : "?";

		buf_clear(&name);
		process_tree_draw(&tree, i, table->style->utf8, &name);
		text_printable(command, strlen(command), &name);
		if (tree.nodes[i].count > 1)
			buf_printf(&name, " (%zu times)", tree.nodes[i].count);
		visit(table, TERM_DIM, name.data, &tree.nodes[i].instructions, cells);
	}
	process_tree_release(&tree);
	buf_release(&name);
}

/* Below a row: why it is not what it should be */

static const char *status_colour(enum benchmark_status status)
{
	switch (status) {
	case BENCHMARK_FAILED:
		return TERM_BOLD_RED;
	case BENCHMARK_INCOMPLETE:
		return TERM_BOLD_YELLOW;
	default:
		return TERM_DIM;
	}
}

static void print_note(const struct table *table, const struct benchmark *benchmark,
	enum benchmark_status status, const char *note)
{
	const char *label = status == BENCHMARK_OK ? "note" : benchmark_status_name(status);
	struct buf text = BUF_INIT;

	text_printable(note, strlen(note), &text);
	paint(table, status_colour(status));
	fprintf(table->to, "%s%s%s%s", status == BENCHMARK_OK ? "  " : "! ",
		table->joined ? mode_name(benchmark->mode) : "", table->joined ? " " : "", label);
	paint(table, TERM_PLAIN);
	fprintf(table->to, "%s%s\n", text.len ? ": " : "", text.data);
	buf_release(&text);
}

void table_print_notes(const struct table *table, const struct benchmark *benchmark)
{
	const struct strvec *notes = &benchmark->notes;

	if (!notes->len && benchmark->status != BENCHMARK_OK)
		print_note(table, benchmark, benchmark->status, "");
	/* the first one is the reason, what follows are remarks */
	for (size_t i = 0; i < notes->len; i++)
		print_note(table, benchmark, i ? BENCHMARK_OK : benchmark->status,
			notes->items[i]);
}

/* Below a row: where the instructions went */

struct function_widths {
	int self;
	int inclusive;
};

static size_t shown_functions(const struct table *table, const struct benchmark *benchmark)
{
	size_t top = table->style->top, len = benchmark->functions.len;

	return top < len ? top : len;
}

static struct function_widths measure_functions(const struct table *table,
	const struct benchmark *benchmark)
{
	size_t self = strlen("Self"), inclusive = strlen("Inclusive");
	char text[UNIT_TEXT];

	for (size_t i = 0; i < shown_functions(table, benchmark); i++) {
		const struct result_function *function = &benchmark->functions.items[i];

		self = larger(self, strlen(format_count(text, function->self)));
		inclusive = larger(inclusive, strlen(format_count(text, function->inclusive)));
	}
	return (struct function_widths){(int)self, (int)inclusive};
}

static const char *format_share(char *out, uint64_t part, struct measure whole)
{
	if (!whole.known || !whole.value)
		return "-";
	snprintf(out, UNIT_TEXT, "%.1f%%", (double)part / (double)whole.value * 100);
	return out;
}

static void function_label(const struct result_function *function, struct buf *to)
{
	const char *object = function->object ? path_base(function->object) : "";

	text_printable(function->name, strlen(function->name), to);
	if (!*object)
		return;
	buf_addstr(to, " [");
	text_printable(object, strlen(object), to);
	buf_addch(to, ']');
}

static void print_function(const struct table *table, const struct benchmark *benchmark,
	const struct result_function *function, struct function_widths widths)
{
	char self[UNIT_TEXT], inclusive[UNIT_TEXT], share[UNIT_TEXT];
	struct buf label = BUF_INIT;
	int used = fprintf(table->to, "  %*s  %*s  %7s  ",
		widths.self, format_count(self, function->self),
		widths.inclusive, format_count(inclusive, function->inclusive),
		format_share(share, function->self,
			benchmark->metrics[SIMULATION_INSTRUCTIONS]));
	size_t room = table->style->width > (unsigned)used + MIN_NAME
		? table->style->width - (unsigned)used : MIN_NAME;

	function_label(function, &label);
	print_cut(table, label.data, table->style->width ? room : SIZE_MAX);
	fputc('\n', table->to);
	buf_release(&label);
}

void table_print_functions(const struct table *table, const struct benchmark *benchmark)
{
	struct function_widths widths = measure_functions(table, benchmark);
	size_t shown = shown_functions(table, benchmark);

	if (!shown)
		return;
	paint(table, TERM_DIM);
	fprintf(table->to, "  %*s  %*s  %7s  Function", widths.self, "Self", widths.inclusive,
		"Inclusive", "Percent");
	end_line(table, TERM_DIM);
	for (size_t i = 0; i < shown; i++)
		print_function(table, benchmark, &benchmark->functions.items[i], widths);
}

/* The whole table */

/* Columns that all but the name take. */
static size_t numbers_width(const struct table *table)
{
	size_t width = 0;

	for (size_t i = 0; i < table->mode->metric_count; i++)
		width += is_shown(table, i) ? GAP + table->widths[i] : 0;
	return width;
}

/* The name gives way first, down to some letters; then columns go, the last one first. */
void table_fit_to_width(struct table *table)
{
	size_t width = table->style->width;

	if (!width || numbers_width(table) + table->name_width <= width)
		return;
	for (size_t i = table->mode->metric_count; i-- > 1;)
		if (is_shown(table, i) && numbers_width(table) + MIN_NAME > width)
			table->dropped[i] = true;
	if (numbers_width(table) + table->name_width > width)
		table->name_width = width > numbers_width(table) + MIN_NAME
			? width - numbers_width(table) : MIN_NAME;
}

void table_print_dropped(const struct table *table)
{
	const char *before = "No room for: ";

	for (size_t i = 0; i < table->mode->metric_count; i++) {
		if (!table->dropped[i])
			continue;
		paint(table, *before == ',' ? NULL : TERM_DIM);
		fprintf(table->to, "%s%s", before, table->mode->metrics[i].column);
		before = ", ";
	}
	if (*before == ',')
		end_line(table, TERM_DIM);
}

static void lay_out(struct table *table, const struct result *result, enum mode mode)
{
	table->name_width = strlen(TABLE_NAME_TITLE);
	for (size_t i = 0; i < table->mode->metric_count; i++)
		table->widths[i] = is_shown(table, i) ? strlen(table->mode->metrics[i].column) : 0;
	for (size_t i = 0; i < result->benchmarks.len; i++) {
		const struct benchmark *benchmark = &result->benchmarks.items[i];

		if (benchmark->mode != mode)
			continue;
		visit_benchmark(table, benchmark, table_measure_row);
		table_visit_processes(table, benchmark, table_measure_row);
	}
	table_fit_to_width(table);
}

static void print_rule(const struct table *table)
{
	size_t columns = table->name_width + numbers_width(table);

	if (table->style->width && columns > table->style->width)
		columns = table->style->width;
	while (columns--)
		fputs(table->style->utf8 ? "─" : "-", table->to);
	fputc('\n', table->to);
}

void table_print_head(const struct table *table)
{
	paint(table, TERM_BOLD);
	fprintf(table->to, "%-*s", (int)table->name_width, TABLE_NAME_TITLE);
	for (size_t i = 0; i < table->mode->metric_count; i++)
		if (is_shown(table, i))
			fprintf(table->to, "%*s", (int)(GAP + table->widths[i]),
				table->mode->metrics[i].column);
	end_line(table, TERM_BOLD);
	print_rule(table);
}

static void print_benchmark(struct table *table, const struct benchmark *benchmark)
{
	visit_benchmark(table, benchmark, table_print_row);
	table_print_notes(table, benchmark);
	table_visit_processes(table, benchmark, table_print_row);
	table_print_functions(table, benchmark);
}

void table_print_footer(const struct table *table, enum mode mode)
{
	paint(table, TERM_DIM);
	fputs(table->style->utf8 ? footers[mode].utf8 : footers[mode].ascii, table->to);
	end_line(table, TERM_DIM);
}

static void print_mode(FILE *to, const struct result *result, const struct table_style *style,
	enum mode mode)
{
	struct table table = {.to = to, .style = style, .mode = result_mode_info(mode)};

	lay_out(&table, result, mode);
	table_print_head(&table);
	for (size_t i = 0; i < result->benchmarks.len; i++)
		if (result->benchmarks.items[i].mode == mode)
			print_benchmark(&table, &result->benchmarks.items[i]);
	fputc('\n', to);
	table_print_dropped(&table);
	table_print_footer(&table, mode);
}

static size_t count_modes(const struct result *result, enum mode *last)
{
	size_t count = 0;

	for (size_t i = 0; i < MODE_COUNT; i++) {
		if (!result_has_mode(result, (enum mode)i))
			continue;
		*last = (enum mode)i;
		count++;
	}
	return count;
}

void table_print(FILE *to, const struct result *result, const struct table_style *style)
{
	enum mode mode = MODE_SIMULATION;
	size_t count = count_modes(result, &mode);

	if (count > 1)
		table_print_joined(to, result, style);
	else if (count)
		print_mode(to, result, style, mode);
}

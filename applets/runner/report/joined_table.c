/* SPDX-License-Identifier: MIT */
/* joined_table.c - several modes: a row for each URI, with the figures that say most of each mode */
#include "applets/runner/report/table_rows.h"
#include "core/base.h"
#include "core/text.h"

/* A mode's own table has all. */
static const char *const joined_metrics[] = {
	"instructions", "estimated_cycles", "median_ns", "peak_bytes", "allocations",
};

struct joined {
	struct metric_info metrics[ARRAY_SIZE(joined_metrics)];
	struct mode_info columns;
	enum mode modes[ARRAY_SIZE(joined_metrics)]; /* where a column's figure comes from */
	size_t indices[ARRAY_SIZE(joined_metrics)];
	const struct benchmark **sorted; /* by URI; of one URI in the order of the result */
	size_t len;
};

static void choose_columns(struct joined *joined, const struct result *result)
{
	for (size_t i = 0; i < ARRAY_SIZE(joined_metrics) * MODE_COUNT; i++) {
		enum mode mode = (enum mode)(i / ARRAY_SIZE(joined_metrics));
		const char *name = joined_metrics[i % ARRAY_SIZE(joined_metrics)];
		const struct mode_info *info = result_mode_info(mode);

		for (size_t j = 0; result_has_mode(result, mode) && j < info->metric_count; j++) {
			if (!str_eq(info->metrics[j].name, name))
				continue;
			joined->metrics[joined->columns.metric_count] = info->metrics[j];
			joined->modes[joined->columns.metric_count] = mode;
			joined->indices[joined->columns.metric_count++] = j;
		}
	}
	joined->columns.metrics = joined->metrics;
}

static int by_uri(const void *a, const void *b)
{
	const struct benchmark *x = *(const struct benchmark *const *)a;
	const struct benchmark *y = *(const struct benchmark *const *)b;
	int order = strcmp(x->uri, y->uri);

	return order ? order : x < y ? -1 : x > y;
}

static void sort_by_uri(struct joined *joined, const struct result *result)
{
	joined->len = result->benchmarks.len;
	joined->sorted = xcalloc(joined->len, sizeof(*joined->sorted));
	for (size_t i = 0; i < joined->len; i++)
		joined->sorted[i] = &result->benchmarks.items[i];
	qsort(joined->sorted, joined->len, sizeof(*joined->sorted), by_uri);
}

/* The benchmarks of a row, from its first in the result on; *count is 0 for any but that one. */
static const struct benchmark **row_of(const struct joined *joined,
	const struct benchmark *benchmark, size_t *count)
{
	const struct benchmark **at = bsearch(&benchmark, joined->sorted, joined->len,
		sizeof(*joined->sorted), by_uri);
	const struct benchmark **end = joined->sorted + joined->len;

	*count = 0;
	if (at > joined->sorted && str_eq(at[-1]->uri, benchmark->uri))
		return at;
	while (at + *count < end && str_eq(at[*count]->uri, benchmark->uri))
		(*count)++;
	return at;
}

/* Of two benchmarks of one mode and URI, which a file may claim, the last one counts. */
static void visit_joined(struct table *table, const struct joined *joined,
	const struct benchmark **row, size_t count, row_visitor *visit)
{
	struct measure cells[ARRAY_SIZE(joined_metrics)] = {0};
	struct buf name = BUF_INIT;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < joined->columns.metric_count; j++)
			if (row[i]->mode == joined->modes[j])
				cells[j] = row[i]->metrics[joined->indices[j]];
	text_printable(row[0]->name, strlen(row[0]->name), &name);
	visit(table, NULL, name.data, cells, joined->columns.metric_count);
	buf_release(&name);
}

/* Processes have figures in simulations alone, whose column is the first. */
static void visit_joined_processes(struct table *table, const struct benchmark **row, size_t count,
	row_visitor *visit)
{
	for (size_t i = 0; i < count; i++)
		if (row[i]->mode == MODE_SIMULATION)
			table_visit_processes(table, row[i], visit);
}

static void lay_out_joined(struct table *table, const struct joined *joined,
	const struct result *result)
{
	table->name_width = strlen(TABLE_NAME_TITLE);
	for (size_t i = 0; i < table->mode->metric_count; i++)
		table->widths[i] = strlen(table->mode->metrics[i].column);
	for (size_t i = 0; i < result->benchmarks.len; i++) {
		size_t count;
		const struct benchmark **row = row_of(joined, &result->benchmarks.items[i], &count);

		if (!count)
			continue;
		visit_joined(table, joined, row, count, table_measure_row);
		visit_joined_processes(table, row, count, table_measure_row);
	}
	table_fit_to_width(table);
}

static void print_joined_row(struct table *table, const struct joined *joined,
	const struct benchmark **row, size_t count)
{
	visit_joined(table, joined, row, count, table_print_row);
	for (size_t i = 0; i < count; i++)
		table_print_notes(table, row[i]);
	visit_joined_processes(table, row, count, table_print_row);
	for (size_t i = 0; i < count; i++)
		table_print_functions(table, row[i]);
}

void table_print_joined(FILE *to, const struct result *result, const struct table_style *style)
{
	struct joined joined = {0};
	struct table table = {.to = to, .style = style, .mode = &joined.columns, .joined = true};

	choose_columns(&joined, result);
	sort_by_uri(&joined, result);
	lay_out_joined(&table, &joined, result);
	table_print_head(&table);
	for (size_t i = 0; i < result->benchmarks.len; i++) {
		size_t count;
		const struct benchmark **row = row_of(&joined, &result->benchmarks.items[i], &count);

		if (count)
			print_joined_row(&table, &joined, row, count);
	}
	fputc('\n', to);
	table_print_dropped(&table);
	for (size_t i = 0; i < MODE_COUNT; i++)
		if (result_has_mode(result, (enum mode)i))
			table_print_footer(&table, (enum mode)i);
	free(joined.sorted);
}

/* SPDX-License-Identifier: MIT */
/* table_rows.h - what the table of one mode and that of several are made of; for these two only */
#ifndef REPORT_TABLE_ROWS_H
#define REPORT_TABLE_ROWS_H

#include <stdio.h>

#include "applets/runner/report/table.h"

#define TABLE_NAME_TITLE "Benchmark"

/* A table being laid out, then printed: two walks over the same rows. */
struct table {
	FILE *to;
	const struct table_style *style;
	const struct mode_info *mode; /* or of the joined table's columns */
	bool joined;                  /* benchmarks of several modes: notes name theirs */
	size_t name_width;
	size_t widths[RESULT_METRICS_MAX];
	bool dropped[RESULT_METRICS_MAX]; /* columns for which the terminal has no room */
};

/* What a walk does with a row: the name comes ready for the terminal; `colour` may be NULL. */
typedef void row_visitor(struct table *table, const char *colour, const char *name,
	const struct measure *cells, size_t count);

/* Both are row visitors: how wide a row's cells are, and the row itself. */
row_visitor table_measure_row, table_print_row;

/* The processes of a benchmark, a row each. */
void table_visit_processes(struct table *table, const struct benchmark *benchmark,
	row_visitor *visit);

/* Below a row. */
void table_print_notes(const struct table *table, const struct benchmark *benchmark);
void table_print_functions(const struct table *table, const struct benchmark *benchmark);

/* Once all rows were measured: the name gives way first, then columns are left out. */
void table_fit_to_width(struct table *table);

/* Titles and rule; the columns left out; how to read a mode's numbers. */
void table_print_head(const struct table *table);
void table_print_dropped(const struct table *table);
void table_print_footer(const struct table *table, enum mode mode);

/* joined_table.c: a result of several modes, a row for each URI. */
void table_print_joined(FILE *to, const struct result *result, const struct table_style *style);

#endif

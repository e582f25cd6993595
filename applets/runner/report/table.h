/* SPDX-License-Identifier: MIT */
/* table.h - results as a table for people */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "applets/runner/results/result.h"

struct table_style {
	size_t top;     /* functions to list for each benchmark */
	unsigned width; /* columns; names are cut to fit. 0: no limit */
	bool colours;
	bool utf8; /* else lines and the mark of a cut are drawn in ASCII */
};

/* What suits this stream; `top` is 0. */
struct table_style table_style_for(FILE *to);

/*
 * The benchmarks of one mode with all its figures; of several modes one table with the chief figures
 * of each, joined by URI. A row for each benchmark, below it the reasons when it did not end well, its
 * processes when there are several and its costliest functions. Bytes that could steer a terminal
 * are escaped. Errors of writing stay in the stream, for the caller's check.
 */
void table_print(FILE *to, const struct result *result, const struct table_style *style);

#endif

/* SPDX-License-Identifier: MIT */
/* comparison_report.h - a comparison for people: as a table, and as Markdown */
#ifndef REPORT_COMPARISON_REPORT_H
#define REPORT_COMPARISON_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "applets/runner/report/comparison_cells.h"
#include "applets/runner/report/table.h"
#include "applets/runner/results/comparison.h"
#include "applets/runner/results/gate.h"

struct comparison_view {
	const struct comparison *comparison;
	const struct broken_gates *broken;
	enum metrics_shown shown;
	size_t functions; /* that explain an instruction change, at most */
};

/* A table for each mode. Errors of writing stay in the stream. */
void comparison_print(FILE *to, const struct comparison_view *view,
	const struct table_style *style);

/*
 * Append it as GitHub's Markdown of at most `limit` bytes: what asks for a look first, unchanged
 * benchmarks as a number. What does not fit is counted.
 */
void comparison_markdown(const struct comparison_view *view, size_t limit, struct buf *to);

#endif

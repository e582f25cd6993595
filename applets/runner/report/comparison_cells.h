/* SPDX-License-Identifier: MIT */
/* comparison_cells.h - a metric of a compared benchmark as text: what all reports of it share */
#ifndef REPORT_COMPARISON_CELLS_H
#define REPORT_COMPARISON_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "applets/runner/results/comparison.h"
#include "core/units.h"

struct comparison_cells {
	const char *metric; /* its key in JSON, which gates name, too */
	char base[UNIT_TEXT], head[UNIT_TEXT];
	char change[UNIT_TEXT];   /* "+1,234", or "" */
	char relative[UNIT_TEXT]; /* "+1.23%"; by the rank test where there is one */
	char interval[2 * UNIT_TEXT + 8];        /* "+0.50% to +2.00%", rank tests only */
	char p[UNIT_TEXT];        /* likewise */
};

void comparison_cells_fill(struct comparison_cells *cells, const struct compared *row,
	size_t metric);

/* The metrics that a report shows besides the leading one. */
enum metrics_shown {
	METRICS_NEWS,    /* whose change of a per cent or more the leading one does not tell */
	METRICS_CHANGED, /* all that changed */
	METRICS_KNOWN,   /* all that both sides have */
};

bool comparison_shows(const struct compared *row, size_t metric, enum metrics_shown shown);

/* "2 regressed, 1 new, 3 unchanged", or "nothing to compare". */
void comparison_summary(const struct comparison *c, struct buf *to);

/* "+12,345", "-12,345"; out has UNIT_TEXT bytes. */
const char *format_change(char *out, bool more, uint64_t by);

#endif

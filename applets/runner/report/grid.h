/* SPDX-License-Identifier: MIT */
/*
 * grid.h - a text table that fits the terminal: cells are collected, then laid out and printed.
 *
 *	struct grid grid;
 *
 *	grid_init(&grid, &style);
 *	grid_column(&grid, "Name", GRID_LEFT | GRID_CUT);
 *	grid_column(&grid, "Bytes", 0);
 *	grid_row(&grid, NULL);
 *	grid_cell(&grid, NULL, "main");
 *	grid_cell(&grid, NULL, "1,234");
 *	grid_line(&grid, TERM_DIM, "below that row, over all columns");
 *	grid_print(&grid, stdout);
 *	grid_release(&grid);
 *
 * Texts come ready for the terminal (text_printable()). Where the columns do not fit, those with
 * GRID_CUT are cut, down to some letters; then those with GRID_DROP go, the last one first.
 */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "applets/runner/report/table.h"
#include "core/buf.h"
#include "core/vec.h"

enum grid_flags {
	GRID_LEFT = 1 << 0, /* else to the right, as numbers are */
	GRID_CUT = 1 << 1,
	GRID_DROP = 1 << 2,
};

enum { GRID_COLUMNS = 16 };

struct grid_column {
	const char *title;
	unsigned flags;
	size_t width;
	bool dropped;
};

struct grid_cell {
	size_t at;    /* in texts */
	size_t width; /* columns of the text */
	const char *colour;
};

struct grid_row {
	const char *colour;
	size_t first, count; /* of cells; a line over all columns has one */
	bool line;
};

struct grid {
	const struct table_style *style; /* borrowed */
	struct grid_column columns[GRID_COLUMNS];
	size_t column_count;
	VEC(struct grid_row) rows;
	VEC(struct grid_cell) cells;
	struct buf texts; /* NUL-terminated, one behind the other */
};

void grid_init(struct grid *grid, const struct table_style *style);
void grid_release(struct grid *grid);

void grid_column(struct grid *grid, const char *title, unsigned flags); /* title: ASCII, borrowed */

/* Begin a row, whose cells follow, the last ones may be absent. Colours are of term.h, or NULL. */
void grid_row(struct grid *grid, const char *colour);
void grid_cell(struct grid *grid, const char *colour, const char *text);

/* A line of text between rows. */
void grid_line(struct grid *grid, const char *colour, const char *text);

/* Title, rule and rows. Errors of writing stay in the stream. */
void grid_print(struct grid *grid, FILE *to);

#endif

/* SPDX-License-Identifier: MIT */
/* grid.c - a text table that fits the terminal */
#include "applets/runner/report/grid.h"
#include "core/base.h"
#include "core/term.h"
#include "core/text.h"

enum {
	GAP = 2,
	CUT_MIN = 12, /* columns that a cut one keeps */
};

void grid_init(struct grid *grid, const struct table_style *style)
{
	*grid = (struct grid){.style = style};
}

void grid_release(struct grid *grid)
{
	vec_release(&grid->rows);
	vec_release(&grid->cells);
	buf_release(&grid->texts);
}

void grid_column(struct grid *grid, const char *title, unsigned flags)
{
	if (grid->column_count == GRID_COLUMNS)
		BUG("too many columns");
	grid->columns[grid->column_count++] = (struct grid_column){
		.title = title, .flags = flags, .width = strlen(title),
	};
}

void grid_row(struct grid *grid, const char *colour)
{
	vec_push(&grid->rows, (struct grid_row){.colour = colour, .first = grid->cells.len});
}

static void push_cell(struct grid *grid, const char *colour, const char *text, size_t width)
{
	vec_push(&grid->cells, (struct grid_cell){grid->texts.len, width, colour});
	buf_add(&grid->texts, text, strlen(text) + 1);
	vec_last(&grid->rows)->count++;
}

void grid_cell(struct grid *grid, const char *colour, const char *text)
{
	size_t at = vec_last(&grid->rows)->count, width = text_width(text, strlen(text));

	if (at == grid->column_count)
		BUG("a cell without a column");
	if (grid->columns[at].width < width)
		grid->columns[at].width = width;
	push_cell(grid, colour, text, width);
}

void grid_line(struct grid *grid, const char *colour, const char *text)
{
	grid_row(grid, colour);
	vec_last(&grid->rows)->line = true;
	push_cell(grid, colour, text, text_width(text, strlen(text)));
}

/* Laying out */

static size_t total_width(const struct grid *grid)
{
	size_t width = 0;

	for (size_t i = 0; i < grid->column_count; i++)
		if (!grid->columns[i].dropped)
			width += grid->columns[i].width + (width ? GAP : 0);
	return width;
}

static void cut(struct grid_column *column, size_t excess)
{
	size_t room = column->width > CUT_MIN ? column->width - CUT_MIN : 0;

	column->width -= room < excess ? room : excess;
}

static void fit(struct grid *grid)
{
	size_t width = grid->style->width, total = total_width(grid);

	for (size_t i = 0; width && total > width && i < grid->column_count; i++) {
		if (grid->columns[i].flags & GRID_CUT)
			cut(&grid->columns[i], total - width);
		total = total_width(grid);
	}
	for (size_t i = grid->column_count; width && total > width && i-- > 0;) {
		grid->columns[i].dropped = grid->columns[i].flags & GRID_DROP;
		total = total_width(grid);
	}
}

/* Printing */

static void paint(const struct grid *grid, FILE *to, const char *colour)
{
	if (grid->style->colours && colour)
		fprintf(to, "\033[%sm", colour);
}

static void print_blanks(FILE *to, size_t count)
{
	while (count--)
		fputc(' ', to);
}

/* The text of `width` columns, cut where that is too long; how many it took. */
static size_t print_cut(const struct grid *grid, FILE *to, const char *text, size_t width,
	size_t columns)
{
	const char *mark = grid->style->utf8 ? "…" : "...";
	size_t len = strlen(text), mark_width;

	if (width <= columns) {
		fputs(text, to);
		return width;
	}
	mark_width = text_width(mark, strlen(mark));
	len = text_fit(text, len, columns > mark_width ? columns - mark_width : 0);
	fprintf(to, "%.*s%s", (int)len, text, mark);
	return text_width(text, len) + mark_width;
}

static void print_cell(const struct grid *grid, FILE *to, const struct grid_column *column,
	const char *colour, const char *text, size_t width, bool last)
{
	if (!(column->flags & GRID_LEFT) && width < column->width)
		print_blanks(to, column->width - width);
	paint(grid, to, colour);
	width = print_cut(grid, to, text, width, column->width);
	paint(grid, to, colour ? TERM_PLAIN : NULL);
	if (column->flags & GRID_LEFT && !last && width < column->width)
		print_blanks(to, column->width - width);
}

static void print_cells(const struct grid *grid, FILE *to, const struct grid_row *row)
{
	const char *gap = "";

	for (size_t i = 0; i < row->count; i++) {
		const struct grid_cell *cell = &grid->cells.items[row->first + i];

		if (grid->columns[i].dropped)
			continue;
		fputs(gap, to);
		print_cell(grid, to, &grid->columns[i], cell->colour ? cell->colour : row->colour,
			grid->texts.data + cell->at, cell->width, i + 1 == row->count);
		gap = "  ";
	}
	fputc('\n', to);
}

static void print_line(const struct grid *grid, FILE *to, const struct grid_row *row)
{
	const struct grid_cell *cell = &grid->cells.items[row->first];
	size_t width = grid->style->width;

	paint(grid, to, row->colour);
	print_cut(grid, to, grid->texts.data + cell->at, cell->width, width ? width : SIZE_MAX);
	paint(grid, to, row->colour ? TERM_PLAIN : NULL);
	fputc('\n', to);
}

static void print_head(const struct grid *grid, FILE *to)
{
	size_t width = total_width(grid);
	const char *gap = "";

	for (size_t i = 0; i < grid->column_count; i++) {
		if (grid->columns[i].dropped)
			continue;
		fputs(gap, to);
		print_cell(grid, to, &grid->columns[i], TERM_BOLD, grid->columns[i].title,
			strlen(grid->columns[i].title), i + 1 == grid->column_count);
		gap = "  ";
	}
	fputc('\n', to);
	if (grid->style->width && width > grid->style->width)
		width = grid->style->width;
	while (width--)
		fputs(grid->style->utf8 ? "─" : "-", to);
	fputc('\n', to);
}

void grid_print(struct grid *grid, FILE *to)
{
	fit(grid);
	print_head(grid, to);
	for (size_t i = 0; i < grid->rows.len; i++) {
		const struct grid_row *row = &grid->rows.items[i];

		if (row->line)
			print_line(grid, to, row);
		else
			print_cells(grid, to, row);
	}
}

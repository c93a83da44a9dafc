// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/terminal/grid.h"

#include <stdarg.h>
#include <stdlib.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/render/terminal/wrap.h"

#define GAP 2
/* Prose that would get a narrower column than this goes to a line of its own. */
#define PROSE_LEAST 40

struct row {
	enum colour colour;
	bool note;
	size_t used; /* cells; of a note: the column it begins in */
	char *cells[GRID_COLUMNS];
};

struct grid {
	const struct grid_column *columns;
	size_t column_count;
	size_t row_count;
	size_t room;
	struct row *rows;
};

/* Where each column begins, and how wide it is; the last one reaches the edge. */
struct layout {
	unsigned begin[GRID_COLUMNS];
	unsigned width[GRID_COLUMNS];
	unsigned edge;
};

struct grid *grid__new(const struct grid_column *columns, size_t count)
{
	struct grid *grid = xcalloc(1, sizeof(*grid));

	grid->columns = columns;
	grid->column_count = count < GRID_COLUMNS ? count : GRID_COLUMNS;
	return grid;
}

static struct row *add_row(struct grid *grid, enum colour colour)
{
	grid->rows = xgrow(grid->rows, grid->row_count, &grid->room, sizeof(*grid->rows));
	struct row *row = &grid->rows[grid->row_count++];

	*row = (struct row){.colour = colour};
	return row;
}

void grid__add(struct grid *grid, enum colour colour, const char *const *cells)
{
	struct row *row = add_row(grid, colour);

	for (; *cells && row->used < grid->column_count; cells++)
		row->cells[row->used++] = xstrdup(*cells);
}

void grid__note(struct grid *grid, enum colour colour, size_t column, const char *format, ...)
{
	struct row *row = add_row(grid, colour);
	va_list args;

	row->note = true;
	row->used = column < grid->column_count ? column : 0;
	va_start(args, format);
	row->cells[0] = xvasprintf(format, args);
	va_end(args);
}

void grid__rest(struct grid *grid, uint64_t rest, const char *what)
{
	if (rest > 0)
		grid__note(grid, COLOUR_DIM, 0, "and %s more %s%s", count_text(rest), what,
			   rest > 1 ? "s" : "");
}

static bool has_titles(const struct grid *grid)
{
	return grid->column_count > 0 && grid->columns[0].title;
}

static struct layout lay_out(const struct grid *grid, const struct render_style *style,
			     unsigned indent)
{
	struct layout layout = {.edge = colour__width(style)};
	unsigned begin = indent;

	for (size_t c = 0; c < grid->column_count; c++) {
		unsigned *width = &layout.width[c];

		for (size_t r = 0; r < grid->row_count; r++) {
			const struct row *row = &grid->rows[r];
			unsigned columns =
				row->note || c >= row->used ? 0 : wrap__columns(row->cells[c]);

			*width = columns > *width ? columns : *width;
		}
		if (*width > 0 && has_titles(grid)) {
			unsigned columns = wrap__columns(grid->columns[c].title);

			*width = columns > *width ? columns : *width;
		}
		layout.begin[c] = begin;
		begin += *width > 0 ? *width + GAP : 0;
	}
	return layout;
}

static unsigned pad_to(FILE *out, unsigned from, unsigned to)
{
	if (to <= from)
		return from;
	fprintf(out, "%*s", (int)(to - from), "");
	return to;
}

/* The last column leaves too little room: its prose goes below, to the left. */
static bool is_narrow(const struct grid *grid, const struct layout *layout)
{
	return layout->begin[grid->column_count - 1] + PROSE_LEAST > layout->edge;
}

static unsigned narrow_begin(const struct grid *grid, const struct layout *layout)
{
	return layout->begin[grid->column_count > 1 ? 1 : 0] + GAP;
}

/* The prose of a row, which stands at column: at its place, or on its own line. */
static void print_prose(FILE *out, const struct grid *grid, const struct layout *layout,
			const char *text, unsigned column)
{
	unsigned begin = layout->begin[grid->column_count - 1];
	bool fits = begin + wrap__columns(text) <= layout->edge;

	if (!fits && is_narrow(grid, layout)) {
		begin = narrow_begin(grid, layout);
		fputc('\n', out);
		column = 0;
	}
	pad_to(out, column, begin);
	wrap__print(out, text, begin, begin, layout->edge);
}

static void print_note(FILE *out, const struct grid *grid, const struct layout *layout,
		       const struct row *note)
{
	unsigned begin = layout->begin[note->used];

	if (note->used > 1 && is_narrow(grid, layout))
		begin = narrow_begin(grid, layout);
	pad_to(out, 0, begin);
	wrap__print(out, note->cells[0], begin, begin, layout->edge);
}

static void print_row(FILE *out, const struct grid *grid, const struct layout *layout,
		      const char *const *cells, size_t used)
{
	unsigned column = 0;

	while (used > 0 && cells[used - 1][0] == '\0')
		used--;
	for (size_t c = 0; c < used; c++) {
		unsigned columns = wrap__columns(cells[c]);
		unsigned begin = layout->begin[c];

		if (c + 1 == grid->column_count) {
			print_prose(out, grid, layout, cells[c], column);
			return;
		}
		if (columns == 0)
			continue;
		if (grid->columns[c].right)
			begin += layout->width[c] - columns;
		column = pad_to(out, column, begin) + columns;
		fputs(cells[c], out);
	}
}

static void print_titles(FILE *out, const struct grid *grid, const struct layout *layout)
{
	const char *titles[GRID_COLUMNS];

	for (size_t c = 0; c < grid->column_count; c++)
		titles[c] = layout->width[c] > 0 ? grid->columns[c].title : "";
	print_row(out, grid, layout, titles, grid->column_count);
}

static void free_grid(struct grid *grid)
{
	for (size_t r = 0; r < grid->row_count; r++)
		for (size_t c = 0; c < GRID_COLUMNS; c++)
			free(grid->rows[r].cells[c]);
	free(grid->rows);
	free(grid);
}

void grid__finish(struct grid *grid, FILE *out, const struct render_style *style, unsigned indent)
{
	struct layout layout = lay_out(grid, style, indent);

	if (has_titles(grid)) {
		fputs(colour__on(style, COLOUR_STRONG), out);
		print_titles(out, grid, &layout);
		fprintf(out, "%s\n", colour__off(style, COLOUR_STRONG));
	}
	for (size_t r = 0; r < grid->row_count; r++) {
		const struct row *row = &grid->rows[r];

		fputs(colour__on(style, row->colour), out);
		if (row->note)
			print_note(out, grid, &layout, row);
		else
			print_row(out, grid, &layout, (const char *const *)row->cells, row->used);
		fprintf(out, "%s\n", colour__off(style, row->colour));
	}
	free_grid(grid);
}

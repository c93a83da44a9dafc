/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aligned columns: cells are collected first, widths computed, then printed.
 *
 *   grid = grid__new(columns, 3);
 *   grid__row(grid, COLOUR_PLAIN);
 *   grid__cell(grid, "%s", name);
 *   ...
 *   grid__print(grid, out, style, 2);
 *   grid__free(grid);
 *
 * The last column is prose: it wraps at the edge. A column whose cells are all
 * empty takes no room.
 */
#ifndef NETSTALL_RENDER_TERMINAL_GRID_H
#define NETSTALL_RENDER_TERMINAL_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "user/render/terminal/colour.h"

#define GRID_COLUMNS 12

struct grid_column {
	const char *title; /* NULL in all columns: no head line */
	bool right;        /* align right: numbers */
};

struct grid;

struct grid *grid__new(const struct grid_column *columns, size_t count);
/* Begin a row. */
void grid__row(struct grid *grid, enum colour colour);
/* The next cell of the row; "" leaves it empty. */
void grid__cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of prose below the last row, from the left edge of this column on. */
void grid__note(struct grid *grid, enum colour colour, size_t column, const char *text);
/* "and 44 more connections": rows that were left out; none, no line. */
void grid__rest(struct grid *grid, uint64_t rest, const char *what);
void grid__print(const struct grid *grid, FILE *out, const struct render_style *style,
		 unsigned indent);
void grid__free(struct grid *grid);

#endif

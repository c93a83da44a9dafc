/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Aligned columns: cells are collected first, widths computed, then printed.
 *
 *   grid = grid__new(columns, 3);
 *   grid__row(grid, COLOUR_PLAIN, name, count_text(count), remark);
 *   grid__finish(grid, out, style, 2);
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
/* A row; "" leaves a cell empty, and so does what is missing at its end. */
#define grid__row(grid, colour, ...)                                                               \
	grid__add(grid, colour, (const char *const[]){__VA_ARGS__, NULL})
void grid__add(struct grid *grid, enum colour colour, const char *const *cells);
/* A line of prose below the last row, from the left edge of this column on. */
void grid__note(struct grid *grid, enum colour colour, size_t column, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* "and 44 more connections": rows that were left out; none, no line. */
void grid__rest(struct grid *grid, uint64_t rest, const char *what);
/* Print it and free it. */
void grid__finish(struct grid *grid, FILE *out, const struct render_style *style, unsigned indent);

#endif

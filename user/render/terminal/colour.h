/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a line is, and the terminal's way to show it. */
#ifndef NETSTALL_RENDER_TERMINAL_COLOUR_H
#define NETSTALL_RENDER_TERMINAL_COLOUR_H

#include "user/render/render.h"

enum colour {
	COLOUR_PLAIN,
	COLOUR_DIM,    /* true, and seldom needed */
	COLOUR_STRONG, /* heads of tables, numbers of stalls */
	COLOUR_CAUSE,  /* the name of the cause */
	COLOUR_HELD,   /* where the bytes stopped */
	COLOUR_FIRED,  /* what let them go */
	COLOUR_GOOD,   /* nothing is wrong */
	COLOUR_COUNT
};

/* The escape sequences around a piece of text; empty strings without colour. */
const char *colour__on(const struct render_style *style, enum colour colour);
const char *colour__off(const struct render_style *style, enum colour colour);

/* Columns to fill: style->width, or 120 when that is 0. */
unsigned colour__width(const struct render_style *style);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Prose into lines. */
#ifndef NETSTALL_RENDER_TERMINAL_WRAP_H
#define NETSTALL_RENDER_TERMINAL_WRAP_H

#include <stdio.h>

#include "user/render/terminal/colour.h"

/* Columns that a text takes on a terminal: UTF-8 characters. */
unsigned wrap__columns(const char *text);

/*
 * Print text from the present column to the edge at width, further lines
 * behind indent blanks; without the last newline. A word that is longer than a line
 * stays whole: an address that can be copied is worth more than a straight edge.
 */
void wrap__print(FILE *out, const char *text, unsigned column, unsigned indent, unsigned width);
/*
 * A label and a paragraph behind it, whose further lines begin at column further; 0: below its
 * beginning. The colour is the paragraph's.
 */
void wrap__item(FILE *out, const char *label, const char *text, unsigned indent, unsigned further,
		enum colour colour, const struct render_style *style);
/* A whole paragraph from indent to the edge, further lines one step further right. */
void wrap__paragraph(FILE *out, const char *text, unsigned indent, enum colour colour,
		     const struct render_style *style);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The report as a page to look at: one HTML file that needs nothing else, with the verdict, a
 * picture of each of the first stalls, and charts. What it shows is a JSON document in it; page.js
 * draws.
 */
#ifndef NETSTALL_RENDER_HTML_HTML_H
#define NETSTALL_RENDER_HTML_HTML_H

#include "user/render/render.h"

#define HTML_STALLS 100 /* that have a picture */

/* above: a line over the verdict; NULL: none. */
void render__html(FILE *out, const struct report *report, const struct verdict *verdict,
		  const char *above);

#endif

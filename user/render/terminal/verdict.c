// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The verdict: prose, wrapped. */
#include <stdio.h>
#include <string.h>

#include "user/explain/call_site.h"
#include "user/render/render.h"
#include "user/render/terminal/colour.h"
#include "user/render/terminal/wrap.h"

#define INDENT 2

static void paragraph(FILE *out, const char *text, const struct render_style *style)
{
	fprintf(out, "%*s", INDENT, "");
	wrap__print(out, text, INDENT, INDENT, colour__width(style));
	fputc('\n', out);
}

static void print_advice(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	if (verdict->advice_count == 0)
		return;
	fprintf(out, "%*s%s%s%s\n", INDENT, "", colour__on(style, COLOUR_STRONG),
		verdict->advice_count > 1 ? "Do one of:" : "Do this:",
		colour__off(style, COLOUR_STRONG));
	for (size_t i = 0; i < verdict->advice_count; i++) {
		int number = fprintf(out, "%*s%zu. ", 2 * INDENT, "", i + 1);

		wrap__print(out, verdict->advice[i], (unsigned)number, (unsigned)number,
			    colour__width(style));
		fputc('\n', out);
	}
}

/* Keep the innermost frames that fit. */
static void cut_frames(char *frames, size_t size, unsigned columns)
{
	static const char more[] = " <- ...";
	size_t fits = 0;

	if (wrap__columns(frames) <= columns)
		return;
	for (const char *at = frames; (at = strstr(at, " <- ")); at++) {
		size_t bytes = (size_t)(at - frames);

		if (!fits || bytes + strlen(more) <= columns)
			fits = bytes;
	}
	if (fits)
		snprintf(frames + fits, size - fits, "%s", more);
}

/* "    first write:   flow_write <- send_finish <- main" */
static void print_site(FILE *out, const char *which, const char *stack,
		       const struct render_style *style)
{
	char frames[SITE_TEXT];
	int column;

	if (!stack || !stack[0])
		return;
	column = fprintf(out, "%*s%-14s", 2 * INDENT, "", which);
	site__describe(frames, sizeof(frames), stack);
	if (!style->verbose)
		cut_frames(frames, sizeof(frames), colour__width(style) - (unsigned)column);
	wrap__print(out, frames, (unsigned)column, (unsigned)column, colour__width(style));
	fputc('\n', out);
}

void render__verdict(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	enum colour colour = verdict->found ? COLOUR_CAUSE : COLOUR_GOOD;

	fputc('\n', out);
	fputs(colour__on(style, colour), out);
	wrap__print(out, verdict->headline, 0, INDENT, colour__width(style));
	fprintf(out, "%s\n", colour__off(style, colour));
	if (verdict->brief && verdict->brief[0])
		paragraph(out, verdict->brief, style);
	print_site(out, "first write:", verdict->first_site, style);
	print_site(out, verdict->cause == CAUSE_CORK ? "held write:" : "second write:",
		   verdict->second_site, style);
	print_advice(out, verdict, style);
}

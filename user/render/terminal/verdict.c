// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The verdict: prose, wrapped. */
#include <string.h>

#include "user/base/text.h"
#include "user/explain/call_site.h"
#include "user/render/render.h"
#include "user/render/terminal/colour.h"
#include "user/render/terminal/wrap.h"

#define INDENT     2
#define SITE_LABEL 14 /* columns */

static void print_advice(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	if (verdict->advice_count == 0)
		return;
	fprintf(out, "%*s%s%s%s\n", INDENT, "", colour__on(style, COLOUR_STRONG),
		verdict->advice_count > 1 ? "Do one of:" : "Do this:",
		colour__off(style, COLOUR_STRONG));
	for (size_t i = 0; i < verdict->advice_count; i++) {
		char number[24];

		print_to(number, "%zu. ", i + 1);
		wrap__item(out, number, verdict->advice[i], 2 * INDENT, 0, COLOUR_PLAIN, style);
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
	char frames[SITE_TEXT], label[SITE_LABEL + 1];

	if (!stack || !stack[0])
		return;
	print_to(label, "%-*s", SITE_LABEL, which);
	site__describe(frames, sizeof(frames), stack);
	if (!style->verbose)
		cut_frames(frames, sizeof(frames), colour__width(style) - 2 * INDENT - SITE_LABEL);
	wrap__item(out, label, frames, 2 * INDENT, 0, COLOUR_PLAIN, style);
}

void render__verdict(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	enum colour colour = verdict->found ? COLOUR_CAUSE : COLOUR_GOOD;

	fputc('\n', out);
	wrap__item(out, "", verdict->headline, 0, INDENT, colour, style);
	if (verdict->brief && verdict->brief[0])
		wrap__item(out, "", verdict->brief, INDENT, 0, COLOUR_PLAIN, style);
	print_site(out, "first write:", verdict->first_site, style);
	print_site(out, verdict->cause == CAUSE_CORK ? "held write:" : "second write:",
		   verdict->second_site, style);
	print_advice(out, verdict, style);
}

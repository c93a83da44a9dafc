// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The verdict: prose, wrapped. */
#include <string.h>

#include "user/base/text.h"
#include "user/explain/call_site.h"
#include "user/render/render.h"
#include "user/render/terminal/colour.h"
#include "user/render/terminal/wrap.h"

#define INDENT     2
#define SITE_LABEL 14   /* columns */
#define FULL_SITE  4096 /* all of a stack, made safe to print */

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
static void print_line(FILE *out, const char *which, char *text, size_t size,
		       const struct render_style *style)
{
	char label[SITE_LABEL + 1];

	if (!text[0])
		return;
	print_to(label, "%-*.*s", SITE_LABEL, SITE_LABEL, which);
	if (!style->verbose)
		cut_frames(text, size, colour__width(style) - 2 * INDENT - SITE_LABEL);
	wrap__item(out, label, text, 2 * INDENT, 0, COLOUR_PLAIN, style);
}

static void print_site(FILE *out, const char *which, const char *stack,
		       const struct render_style *style)
{
	char text[SITE_TEXT];

	if (stack)
		print_line(out, which, site__describe(text, sizeof(text), stack), sizeof(text),
			   style);
}

static void print_full(FILE *out, const char *which, const char *stack,
		       const struct render_style *style)
{
	char text[FULL_SITE], label[SITE_LABEL + 1];

	if (!stack)
		return;
	print_to(label, "%-*.*s", SITE_LABEL, SITE_LABEL, which);
	wrap__item(out, label, site__full(text, sizeof(text), stack), 2 * INDENT, 0, COLOUR_PLAIN,
		   style);
}

/* Its two writes, or where it reads and answers what is waited for. */
static void print_sites(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	const char *second = verdict->cause == CAUSE_CORK ? "held write:" : "second write:";
	char labels[SITE_ROWS][SITE_LABEL + 1];
	struct site_row rows[SITE_ROWS];
	struct site_pair pair;
	char text[SITE_TEXT];

	site__rows(&verdict->sites, style->full_stacks, rows);
	for (size_t i = 0; i < SITE_ROWS; i++)
		print_to(labels[i], "%s:", rows[i].label);
	if (style->full_stacks) {
		print_full(out, "first write:", verdict->sites.first_write, style);
		print_full(out, second, verdict->sites.second_write, style);
		for (size_t i = 0; i < SITE_ROWS; i++)
			print_full(out, labels[i], rows[i].frames, style);
		return;
	}
	if (!verdict->sites.first_write && !verdict->sites.second_write) {
		for (size_t i = 0; i < SITE_ROWS; i++)
			if (rows[i].frames)
				print_line(out, labels[i],
					   site__describe_row(text, sizeof(text), &rows[i]),
					   sizeof(text), style);
		return;
	}
	if (!site__pair(verdict->sites.first_write, verdict->sites.second_write, &pair)) {
		print_site(out, "first write:", verdict->sites.first_write, style);
		print_site(out, second, verdict->sites.second_write, style);
		return;
	}
	print_line(out, pair.first[0] || pair.by_function ? "both in:" : "both at:", pair.both,
		   sizeof(pair.both), style);
	print_line(out, "first write:", pair.first, sizeof(pair.first), style);
	print_line(out, second, pair.second, sizeof(pair.second), style);
}

/* Of where a thread waits none: there an event loop has no function of the program. */
static void print_hints(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	const struct call_sites *sites = &verdict->sites;
	const struct {
		const char *what;
		const char *frames;
	} rows[] = {
		{"here", sites->second_write ? sites->second_write : sites->read},
		{"where it answers", sites->answer},
		{"where it computes", site__busy(sites).frames},
	};
	const char *said = NULL;
	char text[SITE_TEXT];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *hint = rows[i].frames ? site__names_hint(rows[i].frames) : NULL;

		if (!hint || hint == said)
			continue;
		snprintf(text, sizeof(text), "for its own functions %s, %s", rows[i].what, hint);
		print_line(out, "", text, sizeof(text), style);
		said = hint;
	}
}

void render__places(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	print_sites(out, verdict, style);
	print_hints(out, verdict, style);
}

void render__headline(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	wrap__item(out, "", verdict->headline, 0, INDENT,
		   verdict->found ? COLOUR_CAUSE : COLOUR_GOOD, style);
}

void render__verdict(FILE *out, const struct verdict *verdict, const struct render_style *style)
{
	render__headline(out, verdict, style);
	if (verdict->brief && verdict->brief[0])
		wrap__item(out, "", verdict->brief, INDENT, 0, COLOUR_PLAIN, style);
	render__places(out, verdict, style);
	print_advice(out, verdict, style);
}

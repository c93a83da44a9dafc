// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/profile/svg_page.h"

#include <string.h>

#include "user/base/array.h"
#include "user/base/embed.h"
#include "user/base/escape.h"
#include "user/base/text.h"
#include "user/render/profile/svg_colour.h"
#include "user/render/words/chain_words.h"

#ifndef NETSTALL_VERSION
#define NETSTALL_VERSION "unknown"
#endif

#define LINE      17 /* of the head */
#define HEAD_LINE 60 /* where the notes begin */

EMBED(netstall_flamegraph_css, "user/render/profile/flamegraph.css");
EMBED(netstall_flamegraph_js, "user/render/profile/flamegraph.js");

static void print_safe(FILE *out, const char *text, size_t max)
{
	char safe[TEXT_SAFE(256)];

	escape__xml(out, text__safe(safe, sizeof(safe), text, max < 256 ? max : 256), false);
}

void svg_page__share(FILE *out, uint64_t part, uint64_t whole)
{
	escape__xml(out, part_text(part, whole), false);
}

static void begin_note(FILE *out, const char *attributes, unsigned line)
{
	fprintf(out, "<text %s x=\"%d\" y=\"%u\">", attributes, SVG_PAD, HEAD_LINE + line * LINE);
}

static void print_loss(FILE *out, const struct profile *profile, size_t kind, unsigned line)
{
	char words[CHAIN_WORDS];

	begin_note(out, "class=\"warn\"", line);
	fputs("Lost: ", out);
	profile__lost(words, sizeof(words), profile, kind);
	escape__xml(out, words, false);
	fputs("</text>\n", out);
}

static void print_pruned(FILE *out, const struct svg_page *page, unsigned line)
{
	begin_note(out, "id=\"pruned\" class=\"soft\"", line);
	fprintf(out, "Too narrow to draw: %s frames, ", count_text(page->pruned));
	svg_page__share(out, page->pruned_ns, page->profile->total_ns);
	fputs(" of the time in all</text>\n", out);
}

static void print_hidden(FILE *out, const struct svg_page *page, unsigned line)
{
	begin_note(out, "class=\"soft\"", line);
	print_safe(out, page->profile->hidden, 256);
	fputs("</text>\n", out);
}

/* What is not in the picture, a line each; returns how many. out NULL: only counts. */
static unsigned notes(FILE *out, const struct svg_page *page)
{
	unsigned lines = 0;

	for (size_t kind = 0; kind < PROFILE_LOST_KINDS; kind++) {
		if (page->profile->lost[kind].count) {
			if (out)
				print_loss(out, page->profile, kind, lines);
			lines++;
		}
	}
	if (page->pruned) {
		if (out)
			print_pruned(out, page, lines);
		lines++;
	}
	if (page->profile->hidden) {
		if (out)
			print_hidden(out, page, lines);
		lines++;
	}
	return lines;
}

/* Notes, then the legend, then the details of the frame under the pointer. */
unsigned svg_page__bar_height(const struct svg_page *page)
{
	return HEAD_LINE + (notes(NULL, page) + 2) * LINE;
}

static void print_button(FILE *out, const char *id, const char *class, unsigned x, unsigned width,
			 const char *words)
{
	fprintf(out,
		"<g id=\"%s\" class=\"button%s\" tabindex=\"0\" role=\"button\"><rect x=\"%u\" "
		"y=\"8\" width=\"%u\" height=\"22\" rx=\"4\"/><text x=\"%u\" y=\"23\" "
		"text-anchor=\"middle\">%s</text></g>\n",
		id, class, x, width, x + width / 2, words);
}

static void print_legend(FILE *out, unsigned y)
{
	static const struct {
		enum frame_kind kind;
		unsigned hop;
		const char *words;
	} rows[] = {
		{FRAME_CAUSE, 0, "cause"},
		{FRAME_USER, 0, "program, blocked"},
		{FRAME_KERNEL, 0, "kernel, blocked"},
		{FRAME_WAKER_KERNEL, 1, "kernel, waking"},
		{FRAME_WAKER_USER, 1, "program, waking"},
		{FRAME_WAKER_KERNEL, 2, "its waker"},
		{FRAME_WAKER_KERNEL, 3, "and so on"},
	};
	unsigned x = SVG_PAD;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		fprintf(out,
			"<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" rx=\"2\" "
			"fill=\"#%06x\"/><text class=\"soft\" x=\"%u\" y=\"%u\">%s</text>\n",
			x, y - 10, svg_colour(rows[i].kind, rows[i].hop, ""), x + 17, y,
			rows[i].words);
		x += 17 + (unsigned)(strlen(rows[i].words) * SVG_LETTER) + 18;
	}
}

static void print_head(FILE *out, const struct svg_page *page)
{
	const struct profile *profile = page->profile;

	fprintf(out,
		"<text id=\"title\" x=\"%d\" y=\"24\">Blocked time, and who ended it</text>\n"
		"<text id=\"subtitle\" class=\"soft\" x=\"%d\" y=\"43\">",
		SVG_PAD, SVG_PAD);
	print_safe(out, profile->target, sizeof(profile->target));
	fprintf(out, " \xc2\xb7 %s watched \xc2\xb7 %s blocked in %s waits \xc2\xb7 Linux ",
		duration_text(profile->end_ts - profile->start_ts),
		duration_text(profile->total_ns), count_text(profile->waits));
	print_safe(out, profile->kernel_release, sizeof(profile->kernel_release));
	fputs("</text>\n", out);
}

static void print_bar(FILE *out, const struct svg_page *page)
{
	unsigned height = svg_page__bar_height(page);

	fprintf(out,
		"<g id=\"bar\" data-height=\"%u\">\n"
		"<rect class=\"paper\" width=\"%d\" height=\"%u\"/>"
		"<line x1=\"0\" x2=\"%d\" y1=\"%u.5\" y2=\"%u.5\"/>\n",
		height, SVG_WIDTH, height - 2, SVG_WIDTH, height - 3, height - 3);
	print_head(out, page);
	notes(out, page);
	print_legend(out, height - LINE - 9);
	fprintf(out,
		"<text id=\"details\" class=\"soft\" x=\"%d\" y=\"%u\">Click a frame to zoom, "
		"Escape goes back. Arrows and Enter do the same.</text>\n",
		SVG_PAD, height - 9);
	fputs("<g id=\"buttons\">\n", out);
	print_button(out, "reset", " off", 846, 100, "Reset zoom");
	print_button(out, "flip", "", 956, 90, "Flip (i)");
	print_button(out, "search", "", 1056, 134, "Search (Ctrl-F)");
	fprintf(out,
		"<text id=\"matched\" x=\"1190\" y=\"%u\" text-anchor=\"end\"> </text>\n"
		"<foreignObject id=\"search-box\" x=\"890\" y=\"34\" width=\"300\" height=\"26\" "
		"style=\"display:none\"><input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"field\" "
		"type=\"text\" spellcheck=\"false\" autocomplete=\"off\" "
		"placeholder=\"regular expression\" "
		"aria-label=\"Search by regular expression\"/></foreignObject>\n"
		"</g>\n</g>\n",
		height - LINE - 9);
}

void svg_page__begin(FILE *out, const struct svg_page *page)
{
	unsigned height = svg_page__bar_height(page) + page->levels * SVG_FRAME + SVG_PAD;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" data-height=\"%u\" data-levels=\"%u\">\n"
		"<desc>Made by netstall offwake %s. Widths are blocked time; a frame stands on the "
		"one that called it, and behind a -- on the wait that it ended.</desc>\n"
		"<style><![CDATA[\n%s]]></style>\n",
		SVG_WIDTH, height, SVG_WIDTH, height, height, page->levels, NETSTALL_VERSION,
		netstall_flamegraph_css);
	fputs("<g id=\"frames\">\n", out);
}

/* The bar stands behind the frames in the file, so that it is above them on the screen. */
void svg_page__end(FILE *out, const struct svg_page *page)
{
	fputs("</g>\n", out);
	if (page->levels == 0)
		fprintf(out, "<text x=\"%d\" y=\"%u\">No wait ended in this time.</text>\n",
			SVG_PAD, svg_page__bar_height(page) + 12);
	print_bar(out, page);
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", netstall_flamegraph_js);
}

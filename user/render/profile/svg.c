// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The flame graph: a rectangle for each place in the tree of chains, drawn by us, so that the
 * file shows the same wherever it is opened; what it does when it is clicked is
 * user/render/profile/flamegraph.js.
 */
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/escape.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/render/profile/flame.h"
#include "user/render/profile/profile.h"
#include "user/render/profile/svg_colour.h"
#include "user/render/profile/svg_page.h"

#define FRAMES_MOST 8000 /* about 3 MB; the narrowest are not drawn */
#define LEAST_WIDTH 0.1  /* pixels */

struct drawing {
	struct flame *flame;
	uint64_t least_ns; /* of a frame that is drawn */
	uint64_t *starts;  /* ns, of each node */
	size_t pruned;
	uint64_t pruned_ns;
	unsigned levels;
};

static int most_first(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left > right ? -1 : left < right;
}

/* A child is never wider than its parent: what is wide enough stands on what is. */
static uint64_t least_of(const struct flame *flame)
{
	uint64_t whole = flame->nodes[0].ns, *times, least;
	double ns = (double)whole * LEAST_WIDTH / (SVG_WIDTH - 2 * SVG_PAD);

	least = ns < 1 ? 1 : (uint64_t)ns;
	if (flame->count <= FRAMES_MOST)
		return least;
	times = xcalloc(flame->count, sizeof(*times));
	for (size_t i = 0; i < flame->count; i++)
		times[i] = flame->nodes[i].ns;
	sort_array(times, flame->count, sizeof(*times), most_first);
	if (times[FRAMES_MOST] >= least)
		least = times[FRAMES_MOST] + 1;
	free(times);
	return least;
}

static bool is_drawn(const struct drawing *drawing, size_t at)
{
	return drawing->flame->nodes[at].ns >= drawing->least_ns;
}

/* Where each frame begins, and what is left out. */
static void lay_out(struct drawing *drawing)
{
	const struct flame_node *nodes = drawing->flame->nodes;
	size_t at = 0;

	if (nodes[0].ns == 0)
		return;
	do {
		uint64_t start = drawing->starts[at];

		for (size_t child = nodes[at].child; child; child = nodes[child].next) {
			drawing->starts[child] = start;
			start += nodes[child].ns;
			if (is_drawn(drawing, at) && !is_drawn(drawing, child))
				drawing->pruned_ns += nodes[child].ns;
		}
		if (!is_drawn(drawing, at))
			drawing->pruned += nodes[at].ns > 0;
		else if (nodes[at].depth >= drawing->levels)
			drawing->levels = nodes[at].depth + 1;
		at = flame__next(drawing->flame, at);
	} while (at);
}

/* As many bytes of text as take so many columns, whole characters. */
static size_t bytes_of(const char *text, unsigned columns)
{
	size_t bytes = 0;

	while (text[bytes]) {
		unsigned char lead = (unsigned char)text[bytes];
		size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
		unsigned wide = lead >= 0xe1 ? 2 : 1; /* from U+1000 on */

		if (wide > columns)
			break;
		columns -= wide;
		bytes += size;
	}
	return bytes;
}

static void print_label(FILE *out, const char *text, double width)
{
	int room = (int)((width - 6) / SVG_LETTER);
	char *head;

	if (room < 3)
		return;
	if (!text[bytes_of(text, (unsigned)room)]) {
		escape__xml(out, text, false);
		return;
	}
	head = xasprintf("%.*s..", (int)bytes_of(text, (unsigned)room - 2), text);
	escape__xml(out, head, false);
	free(head);
}

static void print_title(FILE *out, const struct flame_node *node, uint64_t whole)
{
	const char *text = node->text ? node->text : "all";

	escape__xml(out, text, false);
	fprintf(out, "\n%s, ", duration_text(node->ns));
	svg_page__share(out, node->ns, whole);
	fprintf(out, " of all, %s", counted_text(node->waits, "wait"));
}

static void print_frame(FILE *out, const struct drawing *drawing, size_t at, unsigned top)
{
	const struct flame_node *node = &drawing->flame->nodes[at];
	uint64_t whole = drawing->flame->nodes[0].ns;
	double scale = (SVG_WIDTH - 2 * SVG_PAD) / (double)whole;
	double x = SVG_PAD + (double)drawing->starts[at] * scale, width = (double)node->ns * scale;
	unsigned y = top + (drawing->levels - 1 - node->depth) * SVG_FRAME;
	bool bold = node->text && (node->kind == FRAME_THREAD || node->kind == FRAME_CAUSE ||
				   node->kind == FRAME_WAKER);

	fprintf(out, "<g class=\"f%s\" data-v=\"%llu %llu %u %llu %d %u\"><title>",
		bold ? " b" : "", (unsigned long long)drawing->starts[at],
		(unsigned long long)node->ns, node->depth, (unsigned long long)node->waits,
		(int)node->kind, node->hop);
	print_title(out, node, whole);
	fprintf(out,
		"</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" rx=\"2\" "
		"fill=\"#%06x\"/><text x=\"%.2f\" y=\"%u\">",
		x, y, width > 2 ? width - 0.5 : width, SVG_FRAME - 1,
		node->text ? svg_colour(node->kind, node->hop, node->text) : 0xdfe3e9, x + 3,
		y + 12);
	print_label(out, node->text ? node->text : "all", width);
	fputs("</text></g>\n", out);
}

void render__profile_svg(FILE *out, const struct profile *profile)
{
	struct drawing drawing = {.flame = flame__new(profile)};
	struct svg_page page = {.profile = profile};
	size_t at = 0;

	drawing.least_ns = least_of(drawing.flame);
	drawing.starts = xcalloc(drawing.flame->count, sizeof(*drawing.starts));
	lay_out(&drawing);
	page.levels = drawing.levels;
	page.pruned = drawing.pruned;
	page.pruned_ns = drawing.pruned_ns;
	svg_page__begin(out, &page);
	if (drawing.levels) {
		do {
			if (is_drawn(&drawing, at))
				print_frame(out, &drawing, at, svg_page__bar_height(&page));
			at = flame__next(drawing.flame, at);
		} while (at);
	}
	svg_page__end(out, &page);
	free(drawing.starts);
	flame__free(drawing.flame);
}

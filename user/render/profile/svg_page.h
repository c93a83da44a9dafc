/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the flame graph's page has besides the frames: texts of flamegraph.css and flamegraph.js. */
#ifndef NETSTALL_RENDER_PROFILE_SVG_PAGE_H
#define NETSTALL_RENDER_PROFILE_SVG_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "user/analyze/profile/profile.h"

#define SVG_WIDTH  1200
#define SVG_PAD    10
#define SVG_FRAME  17 /* a frame's height; flamegraph.js has the same */
#define SVG_LETTER 7.25

struct svg_page {
	const struct profile *profile;
	unsigned levels; /* rows of frames */
	size_t pruned;   /* frames that are not drawn */
	uint64_t pruned_ns;
};

/* Pixels above the first row of frames. */
unsigned svg_page__bar_height(const struct svg_page *page);
void svg_page__begin(FILE *out, const struct svg_page *page);
void svg_page__end(FILE *out, const struct svg_page *page);
/* "87.5%"; "&lt;0.1%" */
void svg_page__share(FILE *out, uint64_t part, uint64_t whole);

#endif

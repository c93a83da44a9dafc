// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/terminal/colour.h"

#define WIDTH_WHEN_UNKNOWN 120
#define WIDTH_LEAST        40

static const char *const sequences[COLOUR_COUNT] = {
	[COLOUR_PLAIN] = "",           [COLOUR_DIM] = "\033[2m",   [COLOUR_STRONG] = "\033[1m",
	[COLOUR_CAUSE] = "\033[1;31m", [COLOUR_HELD] = "\033[33m", [COLOUR_FIRED] = "\033[1;33m",
	[COLOUR_GOOD] = "\033[32m",
};

const char *colour__on(const struct render_style *style, enum colour colour)
{
	return style->colour ? sequences[colour] : "";
}

const char *colour__off(const struct render_style *style, enum colour colour)
{
	return style->colour && colour != COLOUR_PLAIN ? "\033[0m" : "";
}

unsigned colour__width(const struct render_style *style)
{
	if (style->width == 0)
		return WIDTH_WHEN_UNKNOWN;
	return style->width < WIDTH_LEAST ? WIDTH_LEAST : style->width;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/profile/svg_colour.h"

#include "user/base/array.h"

/* By hop: blue for who was blocked, aqua for the waker as in flamegraph.pl's chain colours, and
 * warmer with each waker before it. */
static const struct {
	unsigned kernel, user, name;
} hues[] = {
	{0x7ba4ec, 0xa9c7f7, 0x5f8fe6}, {0x5cc2c2, 0x98dcd9, 0x35aeb4},
	{0x7cc98d, 0xaedfb4, 0x55b56c}, {0xbac65c, 0xd6de95, 0xa6b53a},
	{0xe3c25c, 0xf0da98, 0xd8b03a}, {0xeaa865, 0xf5cb9f, 0xe39344},
	{0xe98f7a, 0xf4bcae, 0xe2765d}, {0xdf86a8, 0xf0b5cb, 0xd66a93},
	{0xc58ad6, 0xdfbaea, 0xb56fca},
};

static unsigned hash(const char *text)
{
	unsigned value = 2166136261u;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 16777619u;
	return value ^ value >> 15;
}

/* Each part of the colour goes up or down by at most 10. */
static unsigned shift(unsigned colour, const char *text)
{
	unsigned by = *text ? hash(text) : 0, shifted = 0;

	for (unsigned part = 0; part < 3; part++) {
		int value = (int)(colour >> 8 * part & 0xff);

		if (*text)
			value += (int)((by >> 5 * part) % 21) - 10;
		value = value < 0 ? 0 : value > 255 ? 255 : value;
		shifted |= (unsigned)value << 8 * part;
	}
	return shifted;
}

unsigned svg_colour(enum frame_kind kind, unsigned hop, const char *text)
{
	unsigned hue = hop < COUNT_OF(hues) ? hop : COUNT_OF(hues) - 1;

	switch (kind) {
	case FRAME_DELIMITER:
		return 0xd5d9df;
	case FRAME_SEPARATOR:
		return 0xb4bac3;
	case FRAME_CAUSE:
		return 0xffb74d;
	case FRAME_THREAD:
	case FRAME_WAKER:
		return hues[hue].name;
	case FRAME_USER:
	case FRAME_WAKER_USER:
		return shift(hues[hue].user, text);
	case FRAME_KERNEL:
	case FRAME_WAKER_KERNEL:
	case FRAME_KINDS:
		break;
	}
	return shift(hues[hue].kernel, text);
}

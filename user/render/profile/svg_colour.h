/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef NETSTALL_RENDER_PROFILE_SVG_COLOUR_H
#define NETSTALL_RENDER_PROFILE_SVG_COLOUR_H

#include "user/render/profile/frames.h"

/* 0xrrggbb of a frame, light enough for dark letters; its text shifts it a little. */
unsigned svg_colour(enum frame_kind kind, unsigned hop, const char *text);

#endif

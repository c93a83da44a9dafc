/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A chain of the profile as one stack of frames, from the thread that slept up to its last
 * waker, in the order of the folded format:
 *
 *   comm;[cause;]user root..leaf;[-;]kernel root..leaf
 *       ;--;waker kernel leaf..root;[-;]waker user leaf..root;waker_comm     each hop
 *
 * The texts are safe to print, and so that a line of them is read back as the same frames by
 * whoever splits it at ';' and takes the number behind the last blank, as flamegraph.pl does:
 * none is empty, holds a ';', is one of the two separators, or ends in a blank and a number
 * (which flamegraph.pl takes for the first of two columns).
 */
#ifndef NETSTALL_RENDER_PROFILE_FRAMES_H
#define NETSTALL_RENDER_PROFILE_FRAMES_H

#include <stddef.h>

#include "user/analyze/profile/profile.h"

/* Longer names are cut: some templates' names are longer than any line. */
#define FRAME_BYTES 512
#define FRAME_TEXT  (4 * FRAME_BYTES + 1)

enum frame_kind {
	FRAME_THREAD, /* who slept */
	FRAME_CAUSE,
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_DELIMITER, /* "-", between a user and a kernel stack */
	FRAME_SEPARATOR, /* "--", before each waker */
	FRAME_WAKER_KERNEL,
	FRAME_WAKER_USER,
	FRAME_WAKER, /* who woke; also softirq:..., irq:... */
	FRAME_KINDS
};

/* hop: 0 for the sleeper's own frames, else the number of the waker from 1 on. */
typedef void frames_sink(void *context, enum frame_kind kind, unsigned hop, const char *text);

/* Calls sink for each frame; the text is valid during the call. */
void frames__of(const struct profile *profile, const struct profile_entry *entry, frames_sink *sink,
		void *context);

/* One frame's text (bytes of it, or up to its NUL) as above; dst has room for FRAME_TEXT. */
void frame__text(char *dst, const char *text, size_t bytes);

#endif

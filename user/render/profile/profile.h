/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Renderers of a profile: a FILE and a const profile in, nothing else touched. */
#ifndef NETSTALL_RENDER_PROFILE_PROFILE_H
#define NETSTALL_RENDER_PROFILE_PROFILE_H

#include <stdio.h>

#include "user/analyze/profile/profile.h"
#include "user/render/render.h"

/*
 * Folded stacks for flamegraph.pl, a line an entry, equal ones joined, no header:
 *   comm;[cause;]user root..leaf;[-;]kernel root..leaf;--;waker kernel leaf..root;[-;]waker user
 *   leaf..root;waker_comm[;--;next waker ...] USEC
 */
void render__folded(FILE *out, const struct profile *profile);
/* The longest chains as a list, for a terminal. */
void render__profile_top(FILE *out, const struct profile *profile,
			 const struct render_style *style);
/* netstall.profile/1, see docs/profile-schema.json */
void render__profile_json(FILE *out, const struct profile *profile);
/* A self-contained interactive flame graph. */
void render__profile_svg(FILE *out, const struct profile *profile);
/* profile.proto of pprof, gzipped. Returns 0 or -errno of zlib's or the stream's failure. */
int render__profile_pprof(FILE *out, const struct profile *profile);

#endif

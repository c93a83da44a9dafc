/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What let held bytes go, by what was seen of it. */
#ifndef NETSTALL_ANALYZE_HOLDS_RELEASE_H
#define NETSTALL_ANALYZE_HOLDS_RELEASE_H

#include "user/analyze/holds/parts.h"

/*
 * What released the last part of a hold, for stall.released_by, and what of that was not seen, for
 * stall.missing. Not for Nagle's algorithm, which nagle__explain() explains.
 */
void release__explain(const struct incident *incident, const struct part *last,
		      struct stall *stall);
/* The transmit that took the held bytes, NULL when it was not seen. */
const struct ns_segment *release__transmit(const struct incident *incident);
/* The option that let the bytes go; RELEASE_UNSEEN: none was seen to. */
enum stall_release release__option(const struct incident *incident, const struct ns_hold *hold);

#endif

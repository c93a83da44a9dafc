/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A hold by Nagle's algorithm ends with the acknowledgement of what was in flight. Who
 * sent that, and why only then, is decided by order and sequence numbers, never by how long
 * it took: a delayed ACK lasts 4 to 200 ms, and a late second write shortens the hold.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_NAGLE_H
#define NETSTALL_ANALYZE_HOLDS_NAGLE_H

#include "user/analyze/stall.h"

/* The cause, its confidence, the ACK, the timer and what is missing. */
void nagle__explain(const struct model *model, const struct incident *incident,
		    struct finding *finding);

#endif

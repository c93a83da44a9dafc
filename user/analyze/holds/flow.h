/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Windows, buffers and rates hold a long message back again and again, for a round trip or a
 * timer's tick at a time: that is one incident. Nagle's algorithm and corks hold each message
 * once.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_FLOW_H
#define NETSTALL_ANALYZE_HOLDS_FLOW_H

#include "user/analyze/holds/incident.h"

/* So long it may take until a flow is held back again: a hold is recorded only when it ends. */
#define FLOW_NS (4 * SETTLE_NS)

/* Is this hold of the kind that goes on? */
bool flow__is(const struct incident *incident);
/* Does the next hold carry the flow of the first on? What is held after an answer came is
 * another message. */
bool flow__goes_on(const struct model *model, const struct incident *one,
		   const struct incident *next);
/* Is a hold of this reason of that kind? */
bool flow__reason(uint32_t reason);
/* The two become one; next is freed. */
void flow__absorb(struct incident *incident, struct incident *next);

#endif

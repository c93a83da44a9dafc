/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A hold whose reason changed while it lasted is made of parts, one for each reason in turn:
 *
 *	hold reason=cork     12 ms      part 1, 0 to 12 ms
 *	hold reason=nagle begun=changed part 2, 12 to 40 ms
 *	release
 */
#ifndef NETSTALL_ANALYZE_HOLDS_PARTS_H
#define NETSTALL_ANALYZE_HOLDS_PARTS_H

#include "user/analyze/stall.h"

#define PARTS (STALL_SLICES - 2) /* the network and the run queue come behind them */

struct part {
	const struct ns_hold *hold; /* as that reason began; NULL: its record was not seen */
	uint32_t reason;
	uint64_t start_ts;
	uint64_t end_ts;
	enum cause cause;
};

/* In time order, one ends where the next begins; from the hold's begin to its end. */
struct parts {
	size_t count; /* at least 1 */
	struct part v[PARTS];
};

/* Of more than PARTS the shortest join the ones before them. Causes are those of their reasons
 * alone. */
void parts__find(const struct incident *incident, struct parts *parts);
/*
 * The part that the stall is named for: of the cause that took longest in all, the first. What
 * did not hold the bytes for long may have been asked first, but is not what to change.
 */
const struct part *parts__main(const struct parts *parts);
/* What was before ts goes; ts lies before their end. */
void parts__begin_at(struct parts *parts, uint64_t ts);
/*
 * The window that part number shut found closed would have been by then without the reasons before
 * it, too: from ts on, if that is before it, the part takes their time.
 */
void parts__shut_since(struct parts *parts, size_t shut, uint64_t ts);
/* The incident with nothing but this part of its time. It borrows the events. */
struct incident part__incident(const struct incident *incident, const struct parts *parts,
			       const struct part *part);

#endif

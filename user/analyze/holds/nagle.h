/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A hold by Nagle's algorithm ends with the acknowledgement of what was in flight. Who
 * sent that, and why only then, is decided by order and sequence numbers, never by how long
 * it took: a delayed ACK lasts 4 to 200 ms, and a late second write shortens the hold.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_NAGLE_H
#define NETSTALL_ANALYZE_HOLDS_NAGLE_H

#include "user/analyze/stall.h"

/* Why a hold by Nagle's algorithm lasted. It points into the incident's events. */
struct nagle {
	enum cause cause;
	enum confidence confidence;
	enum stall_inferred inferred; /* as in struct stall */
	enum stall_missing missing;
	enum stall_release released_by;
	const struct ns_segment *ack; /* as it reached the holder; NULL not seen */
	const struct ns_delack *arm;  /* of the other end's timer, if it delayed the ACK */
	const struct ns_delack *fire;
	const struct ns_segment *peer_ack; /* as it left the other end */
};

/* hold: NULL when its record was not seen. */
struct nagle nagle__explain(const struct model *model, const struct incident *incident,
			    const struct ns_hold *hold);

#endif

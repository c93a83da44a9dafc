/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The causes of stalls: stable ids, and the words for them. */
#ifndef NETSTALL_ANALYZE_CAUSE_H
#define NETSTALL_ANALYZE_CAUSE_H

enum cause {
	CAUSE_UNKNOWN,
	CAUSE_NAGLE_DELACK,
	CAUSE_NAGLE,
	CAUSE_CORK,
	CAUSE_NETWORK,  /* today only as a slice of another stall */
	CAUSE_RUNQUEUE, /* likewise */
	CAUSE_COUNT
};

enum confidence {
	CONFIDENCE_OBSERVED, /* every link of the chain was seen */
	CONFIDENCE_INFERRED, /* a link is deduced, mostly because the peer is on another host */
};

struct cause_info {
	const char *id;    /* "nagle-delack": part of the JSON contract */
	const char *title; /* "Nagle's algorithm against a delayed ACK" */
};

const struct cause_info *cause__info(enum cause cause);
const char *confidence__name(enum confidence confidence);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The causes of stalls: stable ids, and the words for them. */
#ifndef NETSTALL_ANALYZE_CAUSE_H
#define NETSTALL_ANALYZE_CAUSE_H

#include <stdint.h>

enum cause {
	CAUSE_UNKNOWN,
	CAUSE_NAGLE_DELACK,
	CAUSE_NAGLE,
	CAUSE_CORK,
	CAUSE_NETWORK,
	CAUSE_RUNQUEUE,
	CAUSE_CWND,
	CAUSE_RWND,
	CAUSE_ZERO_WINDOW,
	CAUSE_PACING,
	CAUSE_TSQ,
	CAUSE_TSO_DEFER,
	CAUSE_AUTOCORK,
	CAUSE_SNDBUF,
	CAUSE_RTO,
	CAUSE_TLP,
	CAUSE_FAST_RETRANSMIT,
	CAUSE_SYN_RETRANSMIT,
	CAUSE_PEER_APP,
	CAUSE_IDLE, /* never of a stall */
	CAUSE_LOCK,
	CAUSE_IPC,
	CAUSE_DISK,
	CAUSE_TIMER,
	CAUSE_URING,
	CAUSE_SELF, /* of requests alone: what the program did between its own calls */
	CAUSE_COUNT
};

/*
 * What a verdict goes by before the time lost: what the network did to the program is what it
 * is asked for, what the machine did comes behind that, then what the program wanted itself.
 */
enum cause_rank {
	CAUSE_RANK_UNEXPLAINED,
	CAUSE_RANK_OWN_WISH,
	CAUSE_RANK_MACHINE,
	CAUSE_RANK_NETWORK,
};

enum confidence {
	CONFIDENCE_OBSERVED, /* every link of the chain was seen */
	CONFIDENCE_INFERRED, /* a link is deduced, mostly because the peer is on another host */
};

struct cause_info {
	const char *id;    /* "nagle-delack": part of the JSON contract */
	const char *title; /* "Nagle's algorithm against a delayed ACK" */
	enum cause_rank rank;
};

const struct cause_info *cause__info(enum cause cause);
/* The cause of a hold as long as nothing more is known of it: CAUSE_NAGLE, CAUSE_CORK, ... */
enum cause cause__of_hold(uint32_t reason);
const char *confidence__name(enum confidence confidence);

#endif

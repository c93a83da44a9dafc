/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The causes of stalls: one row each, in cause.def. */
#ifndef NETSTALL_ANALYZE_CAUSE_H
#define NETSTALL_ANALYZE_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cause {
#define CAUSE(name, ...) CAUSE_##name,
#include "user/analyze/cause.def"
#undef CAUSE
	CAUSE_COUNT
};

/* Whom a cause is up to. */
enum cause_group {
	CAUSE_GROUP_UNKNOWN,
	CAUSE_GROUP_WRITES,
	CAUSE_GROUP_TCP,
	CAUSE_GROUP_LOSS,
	CAUSE_GROUP_PEER,
	CAUSE_GROUP_MACHINE,
	CAUSE_GROUP_PROGRAM,
	CAUSE_GROUPS
};

/* What explains a wait for something else: the network's causes are named through it, others not.
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
	enum cause_group group;
	/* For a reader who has never heard of it, each one or two sentences: */
	const char *meaning;
	const char *remedy;
	const char *known_by; /* how netstall decides on it */
	uint32_t needs; /* bits 1 << enum ns_fact: without one it may not be found, or not be named
			   so */
	bool is_gated;  /* `check` allows none of it by default */
	bool is_given;  /* neither the program nor this host's settings make it shorter */
	bool never_of_stall;
	bool shows_stacks; /* a time line shows the kernel stacks, which say more than its lines */
};

const struct cause_info *cause__info(enum cause cause);
/* Of the cause with this id, len bytes; CAUSE_COUNT: there is none. */
enum cause cause__find(const char *id, size_t len);
/* The id that a misspelt one is nearest to, of a stall's cause; NULL: none is near. */
const char *cause__nearest(const char *id);
enum cause_rank cause__rank(enum cause cause);
/* "your writes" */
const char *cause_group__name(enum cause_group group);
/* "segments were lost and sent again": it waited because of that */
const char *cause_group__meaning(enum cause_group group);
/*
 * What TCP itself does: a hold or a loss comes with the bytes that are written, not with the time
 * that somebody takes. A busy machine makes more of the others in the same work.
 */
bool cause__is_of_tcp(enum cause cause);
/* Room comes as the program at the other end reads: who writes on waits for that. */
bool cause__waits_for_reader(enum cause cause);
/* The cause of a hold as long as nothing more is known of it: CAUSE_NAGLE, CAUSE_CORK, ... */
enum cause cause__of_hold(uint32_t reason);
const char *confidence__name(enum confidence confidence);

#endif

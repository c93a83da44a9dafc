/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Intervals of connections that an explained incident covers: a wait there needs no other cause.
 * One on a target's own connection is reported as a stall at once. One on another connection, in
 * the middle of a chain, stays here unreported until it explains a target's wait; most never do.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_INTERVALS_H
#define NETSTALL_ANALYZE_HOLDS_INTERVALS_H

#include "user/analyze/stall.h"
#include "user/analyze/waits/wait.h"

#define INTERVALS 4096 /* remembered; the oldest is forgotten */
#define INTERVALS_UNREPORTED                                                                       \
	256 /* of these with their evidence, unreported; the oldest loses it                       \
	     */

/* Written when it is added, but for the end of a flow that goes on, and stall. */
struct interval {
	struct span span;
	enum cause cause;
	bool is_peers;  /* the other end's, which is not watched, by what this one saw */
	uint32_t stall; /* number of the stall that reports it, 0 unreported */
	size_t slice_count;
	struct slice slices[STALL_SLICES];
	/* Unreported: for the stall that may come of it. */
	struct incident *incident;
	struct finding *finding;
};

struct intervals;

struct intervals *intervals__new(void);
void intervals__free(struct intervals *intervals);
/* The stall of this number reports it. */
void intervals__add(struct intervals *intervals, const struct stall *stall);
/* Nobody's stall yet; takes the incident over. */
void intervals__add_unreported(struct intervals *intervals, const struct finding *finding,
			       struct incident *incident);
/*
 * The interval on this connection, from either of its ends, that begins first among those which
 * end after from and begin before to; NULL: none.
 */
struct interval *intervals__first(const struct intervals *intervals, uint32_t conn, uint64_t from,
				  uint64_t to);
/* The incident of this stall and cause lasted longer than was known. Returns false when it is
 * forgotten. */
bool intervals__extend(struct intervals *intervals, uint32_t stall, enum cause cause,
		       uint64_t end_ts);
/* Walk all: start with *cursor 0; NULL ends it. */
const struct interval *intervals__next(const struct intervals *intervals, size_t *cursor);
/* It has become the stall of this number: the evidence goes. */
void interval__reported(struct interval *interval, uint32_t stall);

#endif

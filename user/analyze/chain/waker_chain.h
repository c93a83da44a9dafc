/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the parts of the chain walk share; for attribution.c, walk.c and walk_peer.c alone. */
#ifndef NETSTALL_ANALYZE_CHAIN_WAKER_CHAIN_H
#define NETSTALL_ANALYZE_CHAIN_WAKER_CHAIN_H

#include "user/analyze/chain/attribution.h"

#define WALK_DEPTH STALL_LINKS

/* What a level of the chain makes of the causes below it. */
struct wrapper {
	enum cause cause; /* of what is not the network's */
	bool idle_stays;  /* idle below is idle above: nobody was held up */
	bool runqueue_stays;
	uint32_t serves; /* the thread is to answer on this connection, 0 none */
};

struct walk {
	const struct model *model;
	const struct intervals *intervals;
	struct attribution *out;
	uint64_t at; /* explained up to here */
	size_t depth;
	struct wrapper wrappers[WALK_DEPTH];
	struct {
		uint32_t tid;
		uint64_t off_ts;
	} visited[WALK_DEPTH];
	size_t visited_count;
	bool linked; /* the links of this branch are kept */
	/* The way over connections, which leads back to waits: walk_peer.c. */
	void (*answer)(struct walk *walk, const struct ns_wait *wait, uint64_t until);
	void (*transit)(struct walk *walk, uint32_t serves, uint64_t until);
	/* The way over the operations of a ring, which leads back as well: walk_ring.c. */
	void (*ring)(struct walk *walk, const struct ns_wait *wait, uint64_t until);
	unsigned chained; /* operations that hang on one another, on the way */
};

/* The time up to until is this cause's, as the levels above make of it. */
void walk__emit(struct walk *walk, uint64_t until, enum cause cause);
void walk__emit_interval(struct walk *walk, uint64_t until, struct interval *interval);
/* Explain the wait from where the walk is up to until, which the wait reaches. */
void walk__wait(struct walk *walk, const struct ns_wait *wait, uint64_t until);
/* The waits of a thread up to until, at a level of their own; between them it ran. */
void walk__thread(struct walk *walk, uint32_t tid, uint64_t until, const struct wrapper *wrapper);
/* The same for a thread that was to signal, or whatever the wrapper says: idle, if it was not
 * waiting itself. */
void walk__signaller(struct walk *walk, uint32_t tid, uint64_t until,
		     const struct wrapper *wrapper);
/* What the wait was for, up to until, without what came before its operation. */
void walk__slept(struct walk *walk, const struct ns_wait *wait, uint64_t until);
/* A wait for completions of io_uring whose operation is known. */
void walk__ring(struct walk *walk, const struct ns_wait *wait, uint64_t until);
/* More of the request was to come to this end of a connection. */
void walk__transit(struct walk *walk, uint32_t serves, uint64_t until);
/* Bytes were to come from the other end of this connection. */
void walk__answer(struct walk *walk, const struct ns_wait *wait, uint64_t until);
/* Incidents on the connection; the time between them is for the function, or the cause. */
typedef void walk_gap(struct walk *walk, const struct ns_wait *wait, uint64_t until);
void walk__intervals(struct walk *walk, const struct ns_wait *wait, uint64_t until, walk_gap *gap,
		     enum cause cause);

static inline uint64_t walk__clip(const struct walk *walk, uint64_t ts, uint64_t until)
{
	return ts < walk->at ? walk->at : ts > until ? until : ts;
}

/* The first to say what is missing, or from what it is inferred, is nearest to the target. */
static inline void walk__missing(struct walk *walk, enum stall_missing what)
{
	if (!walk->out->missing)
		walk->out->missing = what;
}

static inline void walk__infer(struct walk *walk, enum stall_inferred from)
{
	walk->out->confidence = CONFIDENCE_INFERRED;
	if (!walk->out->inferred)
		walk->out->inferred = from;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the time of one wait went to: slices, each with its cause as it is for the thread that
 * waits, their sums, and the chain of waits behind them.
 */
#ifndef NETSTALL_ANALYZE_CHAIN_ATTRIBUTION_H
#define NETSTALL_ANALYZE_CHAIN_ATTRIBUTION_H

#include "user/analyze/holds/intervals.h"
#include "user/analyze/path.h"

#define ATTRIBUTION_SLICES 128 /* of one wait */

/* The waker chain owns and writes it. */
struct attribution {
	uint64_t ns[CAUSE_COUNT];           /* of each cause, slices that were joined too */
	struct interval *interval;          /* the incident that took most of it; NULL none */
	uint64_t interval_ns;               /* how much */
	const struct interval *reported;    /* likewise, of those that a stall reports; NULL none */
	uint64_t reported_longest_ns;       /* that one */
	uint64_t reported_ns;               /* all of those together */
	const struct ns_throttle *throttle; /* the longest in it, of any thread; NULL none */
	uint64_t throttle_ns;               /* so much of it */
	const struct ns_ran *ran;           /* of the longest wait for a CPU in it; NULL none */
	uint64_t ran_ns;
	enum confidence confidence;
	enum stall_inferred inferred; /* as in struct stall */
	enum stall_missing missing;
	bool tried_again; /* it, or who waits with it, looked several times for the lock */
	uint64_t from_ts;
	size_t slice_count;
	struct slice slices[ATTRIBUTION_SLICES]; /* from then on, by time, disjoint, without gaps */
	struct path path;                        /* the same time, by whose it was */
	size_t link_count;
	struct stall_link links[STALL_LINKS]; /* the wait itself first, then its wakers' waits;
						 without the texts of their stacks */
};

void attribution__clear(struct attribution *attribution);
/* So much of the time behind the last slice had this cause. */
void attribution__add(struct attribution *attribution, enum cause cause, uint64_t ns);
/* So much of the time belongs to this incident. */
void attribution__add_interval(struct attribution *attribution, struct interval *interval,
			       uint64_t ns);
/* Which cause took longest, idleness included; of equals the one that came first. */
enum cause attribution__main_cause(const struct attribution *attribution);

#endif

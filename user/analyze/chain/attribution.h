/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A wait, explained by walking its chain backwards: what was it for, who ended it, what had
 * that one waited for itself, ... across connections, threads and processes of this host.
 *
 * The time of the wait is cut into stretches, each with its cause as it is for the thread that
 * waits: a lock whose holder slept is lock, but one whose holder waited for bytes under
 * Nagle's algorithm is nagle-delack, because there the program can be changed.
 */
#ifndef NETSTALL_ANALYZE_CHAIN_ATTRIBUTION_H
#define NETSTALL_ANALYZE_CHAIN_ATTRIBUTION_H

#include "user/analyze/holds/intervals.h"

#define ATTRIBUTION_STRETCHES 128 /* of one wait; beyond, the shortest joins the one before it */

struct stretch {
	uint64_t start_ts;
	uint64_t end_ts;
	enum cause cause;
};

struct attribution {
	size_t stretch_count;
	struct stretch stretches[ATTRIBUTION_STRETCHES]; /* by time, disjoint, without gaps */
	uint64_t ns[CAUSE_COUNT]; /* of each cause, stretches that were joined too */
	size_t link_count;
	struct stall_link links[STALL_LINKS]; /* the wait itself first, then what it hung on */
	struct interval *interval;            /* the incident that it hung on longest; NULL none */
	uint64_t interval_ns;                 /* for how long */
	const struct interval *reported;      /* likewise, of those that a stall tells; NULL none */
	uint64_t reported_longest_ns;         /* that one */
	uint64_t reported_ns;                 /* all of those together */
	enum confidence confidence;
	enum stall_inferred inferred; /* as in struct stall */
	enum stall_missing missing;
};

/* Explain the wait of a thread between two times that lie in it. */
void attribution__of_wait(const struct model *model, const struct intervals *intervals,
			  const struct ns_wait *wait, uint64_t from, uint64_t to,
			  struct attribution *attribution);
uint64_t attribution__ns(const struct attribution *attribution, enum cause cause);
/* Which cause took longest, idleness included; of equals the one that came first. */
enum cause attribution__main_cause(const struct attribution *attribution);

#endif

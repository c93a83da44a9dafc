/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which parts of a wait are explained already, by incidents that are reported by themselves. */
#ifndef NETSTALL_ANALYZE_WAITS_OVERLAP_H
#define NETSTALL_ANALYZE_WAITS_OVERLAP_H

#include "user/analyze/holds/incident_queue.h"
#include "user/analyze/holds/intervals.h"

#define OVERLAP_PARTS 64 /* parts; what finds no room is not accounted for */

struct overlap {
	const struct model *model;
	const struct ns_wait *wait;
	size_t count;
	struct {
		uint64_t start, end;
	} part[OVERLAP_PARTS]; /* disjoint, by time */
	uint32_t stall;        /* the stall that explains most of it, 0 none that is reported */
	enum cause cause;      /* of that one */
	uint64_t stall_ns;
	uint64_t stall_end; /* when that one ended */
};

void overlap__find(struct overlap *overlap, const struct model *model,
		   const struct intervals *intervals, const struct incident_queue *incidents,
		   const struct ns_wait *wait);
uint64_t overlap__total(const struct overlap *overlap);
/* The longest part of the wait that is not explained; returns its length. */
uint64_t overlap__gap(const struct overlap *overlap, uint64_t *start);

#endif

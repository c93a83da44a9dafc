/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What one wait was for, all of its time: idleness, a time-out of its own and a stall alike.
 * A stall is an incident, which several waits may show; this is the other way round.
 */
#ifndef NETSTALL_ANALYZE_WAITS_WAIT_RECORD_H
#define NETSTALL_ANALYZE_WAITS_WAIT_RECORD_H

#include <stdint.h>

#include "user/analyze/cause.h"

/* Of a target's thread, of at least the threshold. Numbers as the report has them. */
struct wait_record {
	uint32_t pid;
	uint32_t tid;
	uint64_t off_ts;
	uint64_t end_ts;
	uint64_t ns[CAUSE_COUNT]; /* they sum to end_ts - off_ts */
};

/* The one that took longest; of equals the first in the order of their numbers. */
enum cause wait_record__main_cause(const struct wait_record *waited);

struct overlap;
struct request_place;
struct waker_chain;

/* overlap: the wait, and which parts of it are incidents that are reported by themselves. */
void wait_record__explain(struct waker_chain *chain, const struct overlap *overlap,
			  const struct request_place *place, struct wait_record *out);

#endif

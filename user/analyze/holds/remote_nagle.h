/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Nagle's algorithm at an end that is out of sight, seen from the end that delays the
 * acknowledgement: our delayed-ACK timer ran out, its acknowledgement left, and a round trip
 * later came the bytes that a thread here had waited for all the time.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_REMOTE_NAGLE_H
#define NETSTALL_ANALYZE_HOLDS_REMOTE_NAGLE_H

#include "user/analyze/holds/incident_queue.h"
#include "user/analyze/stall.h"

/*
 * What an acknowledgement lets go comes a round trip after it: hardly sooner than the least
 * one of the connection, and not much later, because no program has to run for it. A path
 * of some microseconds may take longer for want of a CPU.
 */
#define REMOTE_NAGLE_ROUND_TRIPS 2
#define REMOTE_NAGLE_SLACK_NS    1000000ull

/* The model has seen the record already: an incident begins, if data may have been let go. */
void remote_nagle__feed(const struct model *model, struct incident_queue *incidents,
			const union record *record, uint64_t now);
/* Returns false when nothing was let go, or nobody waited for it. */
bool remote_nagle__explain(const struct model *model, const struct incident *incident,
			   struct finding *finding);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What every maker of a struct stall needs. */
#ifndef NETSTALL_ANALYZE_STALL_H
#define NETSTALL_ANALYZE_STALL_H

#include "user/analyze/holds/incident.h"
#include "user/analyze/report.h"

/* An incident as it was explained. */
struct finding {
	struct stall stall;
	struct ns_wait receiver;    /* the thread that the held bytes woke; head.type 0: not seen */
	struct ns_segment peer_ack; /* as it left the other end; head.type 0: not seen */
};

/*
 * Put a slice behind the others; none when it is empty, and one with the last of its cause. Of more
 * than bound the shortest joins the nearest of its cause: the sums stay, the order nearly.
 */
void slices__add(struct slice *slices, size_t *count, size_t bound, enum cause cause, uint64_t ns);
/* Likewise behind those of a stall. */
void stall__slice(struct stall *stall, enum cause cause, uint64_t ns);
/* Another wait that showed it, unless it is known. */
void stall__join(struct stall *stall, const struct stall_wait *wait);
/* The connection of the request that it is of, 0: of none. */
static inline uint32_t stall__request(const struct stall *stall)
{
	return stall->request ? stall->request : stall->conn;
}
/* Asserts what every stall promises: slices that sum exactly to its time. */
void stall__check(const struct stall *stall);
/* For stall.missing, of a connection whose other end is not in sight: that end, and why. */
enum stall_missing stall__unseen_end(const struct model *model, uint32_t conn);

/* The events of a finding in time order; returns their number, at most STALL_STEPS. */
size_t steps__build(const struct incident *incident, const struct finding *finding,
		    union event **steps);

#endif

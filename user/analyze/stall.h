/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What every maker of a struct stall needs. */
#ifndef NETSTALL_ANALYZE_STALL_H
#define NETSTALL_ANALYZE_STALL_H

#include "user/analyze/holds/incident_queue.h"
#include "user/analyze/report.h"

/* An incident as it was explained. */
struct finding {
	struct stall stall;
	struct ns_wait receiver;    /* the thread that the held bytes woke; head.type 0: not seen */
	struct ns_segment peer_ack; /* as it left the other end; head.type 0: not seen */
};

/*
 * Put a slice behind the others; none when it is empty, and one with the last of its cause. Of more
 * than STALL_SLICES the shortest joins the one before it.
 */
void stall__slice(struct stall *stall, enum cause cause, uint64_t ns);
/* Asserts what every stall promises: slices that sum exactly to its time. */
void stall__check(const struct stall *stall);
/* For stall.missing, of a connection whose other end is not in sight: that end, and why. */
enum stall_missing stall__unseen_end(const struct model *model, uint32_t conn);

/* Explain a hold. Returns false when it is no stall after all. */
bool hold__explain(const struct model *model, const struct incident *incident,
		   struct finding *finding);
/* The part for Nagle's algorithm: cause, confidence, ack, timer and what is missing. */
void nagle__explain(const struct model *model, const struct incident *incident,
		    struct finding *finding);

/* The wait that the held bytes ended, NULL when it was not seen. */
const struct ns_wait *wait__receiver(const struct model *model, const struct incident *incident,
				     uint32_t writer_tid);
/* The target's wait that a stall delayed; the receiver's for want of one; NULL: neither. */
const struct ns_wait *wait__delayed(const struct model *model, const struct incident *incident,
				    const struct finding *finding);
/* Enter it into the stall, with its stacks; for want of it the target among the two ends. */
void wait__find_delayed(const struct model *model, const struct incident *incident,
			struct finding *finding);

/* A time in which a hold delayed its connection. */
struct span {
	uint64_t start_ts;
	uint64_t end_ts;
	uint32_t conn;
	uint32_t peer;
	uint32_t writer_tid;
};

/* May this wait have been for the bytes that were held there? */
bool wait__concerns(const struct model *model, const struct ns_wait *wait, const struct span *span);
uint64_t wait__overlap(const struct ns_wait *wait, uint64_t start_ts, uint64_t end_ts);
/* When the thread was made runnable: within the wait, its end when no wake was seen. */
uint64_t wait__woken(const struct ns_wait *wait);

/* The events of a finding in time order; returns their number, at most STALL_STEPS. */
size_t steps__build(const struct incident *incident, const struct finding *finding,
		    union event **steps);

#endif

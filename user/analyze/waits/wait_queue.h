/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every wait of a target's thread of at least the threshold gets a cause: it belongs to an
 * incident that is reported already, or it is explained by its chain and becomes a stall of its
 * own, or it had nothing to wait for and was idle.
 */
#ifndef NETSTALL_ANALYZE_WAITS_WAIT_QUEUE_H
#define NETSTALL_ANALYZE_WAITS_WAIT_QUEUE_H

#include "user/analyze/chain/attribution.h"
#include "user/analyze/holds/incident_queue.h"
#include "user/analyze/waits/request.h"
#include "user/analyze/waits/wait_record.h"

#define WAIT_QUEUE_PENDING                                                                         \
	1024 /* not yet judged; the oldest is judged early when there are more                     \
	      */
#define WAIT_QUEUE_LINKS       1024 /* links of stalls, which other waits may turn out to share */
#define WAIT_QUEUE_PROVISIONAL 2048 /* of some 8 KB; further stalls are not */

enum judgement {
	JUDGED_NOTHING, /* idle, or no stall by another reason */
	JUDGED_STALL,   /* a stall of its own */
	JUDGED_JOINED,  /* it shows a reported stall */
	JUDGED_EXTENDS, /* and is the continuation of it: finding has the slices */
};

/* wait_queue__judge() writes all of it. */
struct judged {
	enum judgement judgement;
	uint32_t stall;            /* joined, extends: its number */
	struct stall_wait wait;    /* joined, extends: the wait */
	uint32_t delayed_by;       /* the stall that explains a request's time, 0 none, */
	uint32_t delayed;          /* and the request's connection */
	struct finding finding;    /* stall */
	struct incident *incident; /* stall: its evidence; the caller frees it */
	struct interval
		*interval; /* stall: the unreported incident that it comes from, NULL none */
	bool is_explained; /* explain_all was asked for: record is filled */
	struct wait_record record;    /* the wait itself, whatever was judged */
	struct walked_request walked; /* a request of a target; conn 0: it was none */
};

struct wait_queue;

/* With explain_all judged.record is filled in for every wait, also of those that are no stall. */
struct wait_queue *wait_queue__new(const struct model *model,
				   const struct incident_queue *incidents,
				   struct intervals *intervals, bool explain_all);
void wait_queue__free(struct wait_queue *queue);
/* The model has seen the record already. */
void wait_queue__feed(struct wait_queue *queue, const struct ns_wait *wait, uint64_t now);
/* A request of a target: what the threads waited for in it is judged by what came of it. */
void wait_queue__feed_request(struct wait_queue *queue, const struct ns_exchange *exchange,
			      uint64_t now);
/* Judge the wait that is due first, when it is at now (UINT64_MAX: it is). Returns false
 * when none is. */
bool wait_queue__judge(struct wait_queue *queue, uint64_t now, struct judged *judged);
/* The stall that was judged has got its number. */
void wait_queue__reported(struct wait_queue *queue, const struct judged *judged, uint32_t number);
/* The longest wait for a reply that is no stall. */
uint64_t wait_queue__longest(const struct wait_queue *queue, enum cause *cause);
/* The longest that pending_reply__not_asked(); head.type 0: there was none. */
const struct ns_wait *wait_queue__not_asked(const struct wait_queue *queue);
/* How long the targets waited on sockets that are not followed, in long waits, and the kind of
 * most. */
uint64_t wait_queue__unfollowed(const struct wait_queue *queue, const char **kind);
/* When all is judged: those that last at the window's end, or that their process's end cut off, and
 * are no stalls, are counted too. One each time, of which judged.record is filled in; false: there
 * is none. */
bool wait_queue__count_lasting(struct wait_queue *queue, struct judged *judged);
/* Waits and requests of which too much is known to follow all of it, or to keep it. */
uint64_t wait_queue__lost(const struct wait_queue *queue);
/* What the targets' waits of at least the threshold were for, in ns, by cause. */
const uint64_t *wait_queue__by_cause(const struct wait_queue *queue);

#endif

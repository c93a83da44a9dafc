// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/wait_queue.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/chain/chain_stall.h"
#include "user/analyze/chain/waker_chain.h"
#include "user/analyze/waits/overlap.h"
#include "user/analyze/waits/pending_reply.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/base/xalloc.h"

struct pending {
	struct ns_wait wait;
	uint64_t due_ts;
};

/* A link of the chain of a reported stall. */
struct reported {
	uint32_t stall;
	enum cause cause;
	uint32_t tid;
	uint64_t off_ts;
	bool last; /* where the chain ends */
};

struct wait_queue {
	const struct model *model;
	const struct incident_queue *incidents;
	struct intervals *intervals;
	struct waker_chain *chain;
	struct pending *pending;
	size_t count;
	size_t size;
	struct reported reported[WAIT_QUEUE_LINKS];
	size_t reported_count; /* ever */
	uint64_t longest;
	enum cause longest_cause;
	uint64_t by_cause[CAUSE_COUNT];
	bool explains_all;
};

struct wait_queue *wait_queue__new(const struct model *model,
				   const struct incident_queue *incidents,
				   struct intervals *intervals, bool explain_all)
{
	struct wait_queue *queue = xcalloc(1, sizeof(*queue));

	queue->model = model;
	queue->incidents = incidents;
	queue->intervals = intervals;
	queue->explains_all = explain_all;
	queue->chain = waker_chain__new(model, intervals);
	return queue;
}

void wait_queue__free(struct wait_queue *queue)
{
	if (!queue)
		return;
	waker_chain__free(queue->chain);
	free(queue->pending);
	free(queue);
}

uint64_t wait_queue__longest(const struct wait_queue *queue, enum cause *cause)
{
	*cause = queue->longest_cause;
	return queue->longest;
}

const uint64_t *wait_queue__by_cause(const struct wait_queue *queue)
{
	return queue->by_cause;
}

/* Too short for a stall; the longest of these is reported as such. */
static void note_short(struct wait_queue *queue, const struct ns_wait *wait)
{
	uint64_t length = wait->head.ts - wait->off_ts;
	const struct attribution *attribution;

	if (length <= queue->longest || !model__is_target(queue->model, wait->head.tgid) ||
	    !pending_reply__awaited(queue->model, wait))
		return;
	attribution = waker_chain__explain(queue->chain, wait, wait->off_ts, wait->head.ts);
	queue->longest = length;
	queue->longest_cause = attribution__main_cause(attribution);
}

/*
 * A sleep may be what somebody else waits for, who wakes up only after it: a lock's waiter, the
 * client of a server that sleeps. That one's stall shows the sleep. So those who wait for others
 * are judged before those who do not, and for a socket before for a lock.
 */
static uint64_t patience(const struct model *model, const struct ns_wait *wait)
{
	struct wait_view view = wait_view__of(model, wait);

	/* A time-out that ran out is a sleep by another name. */
	if (wait_kind__is_socket(view.kind) &&
	    (view.waker != WAKER_TIMER || pending_reply__awaited(model, wait)))
		return 0;
	if (uring_thread__is(wait->comm))
		return 3 * SETTLE_NS; /* it sleeps for those who wait on the ring */
	return wait_kind__is_thread(view.kind) ? SETTLE_NS : 2 * SETTLE_NS;
}

void wait_queue__feed(struct wait_queue *queue, const struct ns_wait *wait, uint64_t now)
{
	uint64_t length = wait->head.ts - wait->off_ts, end = wait->head.ts;
	bool knows_threshold = model__session(queue->model)->head.type;

	if (knows_threshold && length < model__threshold(queue->model)) {
		note_short(queue, wait);
		return;
	}
	queue->pending = xgrow(queue->pending, queue->count, &queue->size, sizeof(*queue->pending));
	queue->pending[queue->count++] = (struct pending){
		.wait = *wait,
		.due_ts = (end > now ? end : now) + SETTLE_NS + patience(queue->model, wait)};
}

/* ---- the same incident as a reported one ---- */

/* The stall with this wait in its chain, 0 none; at the end of its chain, if it is of a cause. */
static uint32_t stall_of(const struct wait_queue *queue, uint32_t tid, uint64_t off_ts,
			 const enum cause *ends)
{
	size_t count =
		queue->reported_count < WAIT_QUEUE_LINKS ? queue->reported_count : WAIT_QUEUE_LINKS;

	for (size_t i = 0; i < count; i++) {
		const struct reported *reported = &queue->reported[i];

		if (reported->tid == tid && reported->off_ts == off_ts &&
		    (!ends || (reported->last && reported->cause == *ends)))
			return reported->stall;
	}
	return 0;
}

/*
 * Two waits whose chains end in the same wait are one stall when they are of one cause: the lock
 * that others wait for while its holder sleeps is not that sleep.
 */
static uint32_t reported_before(const struct wait_queue *queue, const struct stall *stall)
{
	const struct stall_link *last;

	if (!stall->link_count)
		return 0;
	last = &stall->links[stall->link_count - 1];
	return stall_of(queue, last->wait.head.tid, last->wait.off_ts, &stall->cause);
}

void wait_queue__reported(struct wait_queue *queue, const struct judged *judged, uint32_t number)
{
	const struct stall *stall = &judged->finding.stall;

	if (judged->interval)
		interval__reported(judged->interval, number);
	for (size_t i = 0; i < stall->link_count; i++)
		queue->reported[queue->reported_count++ % WAIT_QUEUE_LINKS] = (struct reported){
			.stall = number,
			.cause = stall->cause,
			.tid = stall->links[i].wait.head.tid,
			.off_ts = stall->links[i].wait.off_ts,
			.last = i + 1 == stall->link_count,
		};
}

/* ---- judging ---- */

static void join(struct judged *judged, const struct ns_wait *wait, uint32_t stall)
{
	judged->judgement = JUDGED_JOINED;
	judged->stall = stall;
	judged->wait = stall_wait__of(wait);
}

/*
 * The stall that explains most of it already, 0 none: one incident, or several in turn, as for
 * whoever waits for the end of a program that is a target too.
 */
static uint32_t reported_by_intervals(const struct attribution *attribution, uint64_t length)
{
	enum cause cause = attribution__main_cause(attribution);

	if (!attribution->reported)
		return 0;
	if (2 * attribution->reported_ns >= length ||
	    (attribution->reported->cause == cause &&
	     2 * attribution->reported_ns >= attribution->ns[cause]))
		return attribution->reported->stall;
	return 0;
}

/* The chain decides. */
static void judge_chain(struct wait_queue *queue, const struct ns_wait *wait, uint64_t start,
			uint64_t length, const struct overlap *overlap, struct judged *judged)
{
	uint32_t same = stall_of(queue, wait->head.tid, wait->off_ts, NULL);
	const struct attribution *attribution;

	attribution = waker_chain__explain(queue->chain, wait, start, start + length);
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		queue->by_cause[i] += attribution->ns[i];
	if (length - attribution->ns[CAUSE_IDLE] < model__threshold(queue->model))
		return;
	if (!same)
		same = reported_by_intervals(attribution, length);
	/* What was held has to travel all the same: that is the rest of one incident. */
	if (!same && attribution__main_cause(attribution) == CAUSE_NETWORK)
		same = overlap->stall;
	if (same) {
		join(judged, wait, same);
		return;
	}
	chain_stall__fill(queue->model, wait, start, attribution, &judged->finding);
	same = reported_before(queue, &judged->finding.stall);
	if (same) {
		join(judged, wait, same);
		return;
	}
	/* It went on as it had begun, in holds too short for stalls of their own. */
	same = overlap->stall_end == start ? overlap->stall : 0;
	if (same && judged->finding.stall.cause == overlap->cause &&
	    intervals__extend(queue->intervals, same, overlap->cause, start + length)) {
		join(judged, wait, same);
		judged->judgement = JUDGED_EXTENDS;
		return;
	}
	judged->judgement = JUDGED_STALL;
	if (attribution->interval && attribution->interval->finding &&
	    attribution->interval->cause == judged->finding.stall.cause)
		judged->interval = attribution->interval;
	judged->incident =
		chain_stall__evidence(queue->model, judged->interval, &judged->finding.stall);
}

static void judge(struct wait_queue *queue, const struct ns_wait *wait, struct judged *judged)
{
	uint64_t start, gap, length = wait->head.ts - wait->off_ts;
	struct overlap overlap;

	judged->judgement = JUDGED_NOTHING;
	judged->interval = NULL;
	judged->incident = NULL;
	judged->is_explained = false;
	if (!length || !model__is_target(queue->model, wait->head.tgid) ||
	    length < model__threshold(queue->model))
		return;
	overlap__find(&overlap, queue->model, queue->intervals, queue->incidents, wait);
	queue->by_cause[overlap.cause] += overlap__total(&overlap);
	if (queue->explains_all) {
		wait_record__explain(queue->chain, &overlap, wait, &judged->record);
		judged->is_explained = true;
	}
	gap = overlap__gap(&overlap, &start);
	/* Explained in substance, by half or more: one incident is one stall. */
	if (2 * overlap__total(&overlap) >= length || gap < model__threshold(queue->model)) {
		if (overlap.stall)
			join(judged, wait, overlap.stall);
		return;
	}
	judge_chain(queue, wait, start, gap, &overlap, judged);
}

static bool due_before(const struct pending *a, const struct pending *b)
{
	if (a->due_ts != b->due_ts)
		return a->due_ts < b->due_ts;
	return a->wait.head.ts != b->wait.head.ts ? a->wait.head.ts < b->wait.head.ts
						  : a->wait.head.tid < b->wait.head.tid;
}

bool wait_queue__judge(struct wait_queue *queue, uint64_t now, struct judged *judged)
{
	struct ns_wait wait;
	size_t next = 0;

	for (size_t i = 1; i < queue->count; i++) {
		if (due_before(&queue->pending[i], &queue->pending[next]))
			next = i;
	}
	if (!queue->count ||
	    (queue->pending[next].due_ts > now && queue->count <= WAIT_QUEUE_PENDING))
		return false;
	wait = queue->pending[next].wait;
	/* What may explain it comes first. */
	if (now != UINT64_MAX && queue->count <= WAIT_QUEUE_PENDING && wait.head.conn &&
	    incident_queue__pending(queue->incidents, wait.head.conn, wait.off_ts, wait.head.ts)) {
		queue->pending[next].due_ts = now + SETTLE_NS;
		judged->judgement = JUDGED_NOTHING;
		judged->is_explained = false;
		return true;
	}
	queue->pending[next] = queue->pending[--queue->count];
	uring_wait__fill_in(queue->model, &wait);
	judge(queue, &wait, judged);
	return true;
}

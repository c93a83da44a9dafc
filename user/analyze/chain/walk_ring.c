// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The walk from a wait for completions of io_uring to what its operation hung on. */
#include "user/analyze/chain/waker_chain.h"
#include "user/analyze/waits/pending_reply.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait_kind.h"

#define CHAINED 8 /* operations of one chain that are looked at */

static bool by_submission_thread(const struct walk *walk, const struct ns_wait *wait)
{
	const struct model_ring *ring = model__ring(walk->model, wait->ring);

	return ring && wait->op_tid && ring->id.sq_tid == wait->op_tid;
}

/* A thread of the ring's should come by itself, and does the operation as soon as it does. */
static void walk_coming(struct walk *walk, uint32_t tid, uint64_t until,
			enum stall_missing what_kept_it)
{
	const struct wrapper coming = {.cause = CAUSE_URING, .runqueue_stays = true};
	uint64_t begin = walk->at, before = walk->out->ns[CAUSE_URING];

	walk__thread(walk, tid, until, &coming);
	if (2 * (walk->out->ns[CAUSE_URING] - before) > until - begin)
		walk__missing(walk, what_kept_it);
}

static void walk_polling(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	walk_coming(walk, wait->op_tid, until, MISSING_SQPOLL_WAIT);
}

/*
 * Until it was submitted the operation did not exist: who waits for completions of a ring waits
 * for the thread that submits there.
 */
static void walk_submission(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	const struct wrapper another = {.cause = CAUSE_LOCK, .idle_stays = true};

	if (until <= walk->at || !wait->op_tid || wait->op_tid == wait->head.tid)
		return;
	if (by_submission_thread(walk, wait))
		walk_polling(walk, wait, until);
	else
		walk__signaller(walk, wait->op_tid, until, &another);
}

/* A worker thread (io-wq) did it: what that one waited for. */
static void walk_worker(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	bool is_disk = wait_kind__of(walk->model, wait) == WAIT_DISK;
	const struct wrapper wrapper = {.cause = is_disk ? CAUSE_DISK : CAUSE_IPC,
					.idle_stays = !is_disk,
					.runqueue_stays = true};

	walk__thread(walk, wait->op_by_tid, until, &wrapper);
}

static bool is_by_worker(const struct ns_wait *wait)
{
	return wait->op_how == NS_URING_WORKER && wait->op_by_tid &&
	       wait->op_by_tid != wait->head.tid && wait->op_by_tid != wait->op_tid;
}

/*
 * The worker waited last for work, or for a CPU: for nothing that the operation needs. One that did
 * not wait at all, as a new one, has not waited for room either.
 */
static bool worker_came_late(const struct walk *walk, const struct ns_wait *wait,
			     enum wait_kind operation, uint64_t until)
{
	const struct model_thread *thread = model__thread(walk->model, wait->op_by_tid);
	const struct ns_wait *last = NULL;
	enum wait_kind kind;

	for (size_t i = 0; thread && i < thread->waits.count; i++) {
		const struct ns_wait *own = &thread->waits.v[i].wait;

		if (own->head.ts > walk->at && own->head.ts <= until)
			last = own;
	}
	if (!last)
		return operation == WAIT_SEND;
	kind = wait_kind__of(walk->model, last);
	return kind == WAIT_WORK || kind == WAIT_PREEMPTED;
}

/* The operation itself, since it began. */
static void walk_operation(struct walk *walk, const struct ns_wait *wait,
			   const struct ns_uring *done, uint64_t until)
{
	enum wait_kind kind = wait_kind__of(walk->model, wait);
	struct ns_wait seen = *wait;

	seen.waker_tid = uring_wait__done_by(wait);
	if (seen.waker_tid != wait->waker_tid && model__thread(walk->model, seen.waker_tid))
		seen.waker_tgid = model__thread(walk->model, seen.waker_tid)->tgid;
	/* Done as it came to it: whatever the operation needs was there before, but not that
	 * thread. */
	if (wait->op_how == NS_URING_INLINE && by_submission_thread(walk, wait)) {
		walk_polling(walk, wait, until);
		return;
	}
	if (is_by_worker(wait) && wait_kind__is_socket(kind) &&
	    worker_came_late(walk, wait, kind, until)) {
		walk_coming(walk, wait->op_by_tid, until, MISSING_RING_WORKER_WAIT);
		return;
	}
	switch (kind) {
	case WAIT_DISK:
	case WAIT_IPC:
		if (is_by_worker(wait))
			walk_worker(walk, wait, until);
		break;
	case WAIT_SLEEP:
		/* A server's clock, between requests. */
		if (!walk->depth && pending_reply__is_server(walk->model, wait->head.tgid) &&
		    !pending_reply__due_anywhere(walk->model, wait))
			walk__emit(walk, until, CAUSE_IDLE);
		break;
	case WAIT_SEND:
		/* Of a zero-copy send the bytes have gone, and are acknowledged last. */
		if (done && done->cqe_flags & NS_CQE_NOTIF)
			walk__intervals(walk, wait, until, NULL, CAUSE_NETWORK);
		break;
	default:
		break;
	}
	if (walk->at < until)
		walk__slept(walk, &seen, until);
}

void walk__ring(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	const struct ns_uring *done = uring_wait__completion(walk->model, wait);
	const struct ns_uring *before = done ? uring_wait__before(walk->model, done) : NULL;

	if (wait->op_submit_ts)
		walk_submission(walk, wait, walk__clip(walk, wait->op_submit_ts, until));
	if (before && before->head.ts > walk->at && walk->chained < CHAINED) {
		struct ns_wait first = uring_wait__as_if(wait, before);

		walk->chained++;
		walk__ring(walk, &first, walk__clip(walk, before->head.ts, until));
		walk->chained--;
	}
	walk_operation(walk, wait, done, until);
}

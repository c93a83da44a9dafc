// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The walk from a wait to its waker's own waits. */
#include "user/analyze/chain/waker_chain.h"

#include "user/analyze/waits/pending_reply.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait_kind.h"

/* What a link is by itself, before what it hung on is known. */
static enum cause cause_of(enum wait_kind kind, bool owed)
{
	switch (kind) {
	case WAIT_PREEMPTED:
		return CAUSE_RUNQUEUE;
	case WAIT_RECEIVE:
	case WAIT_MANY:
		return owed ? CAUSE_PEER_APP : CAUSE_IDLE;
	case WAIT_SEND:
		return CAUSE_SNDBUF;
	case WAIT_CONNECT:
		return CAUSE_NETWORK;
	case WAIT_ACCEPT:
	case WAIT_PAUSE:
	case WAIT_WORK:
		return CAUSE_IDLE;
	case WAIT_URING:
		return CAUSE_URING;
	case WAIT_MUTEX:
	case WAIT_SIGNAL:
		return CAUSE_LOCK;
	case WAIT_IPC:
	case WAIT_CHILD:
		return CAUSE_IPC;
	case WAIT_DISK:
		return CAUSE_DISK;
	case WAIT_SLEEP:
		return CAUSE_TIMER;
	case WAIT_STOPPED:
	case WAIT_UNKNOWN:
		break;
	}
	return CAUSE_UNKNOWN;
}

/*
 * One link a level: of several waits there, the one that took longest, with what hung below
 * it. Returns whether this wait is it.
 */
static bool link_up(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	struct attribution *out = walk->out;
	struct stall_link *link = &out->links[walk->depth];

	if (!walk->linked || walk->depth > out->link_count)
		return false;
	if (walk->depth < out->link_count && link->end_ts - link->start_ts >= until - walk->at)
		return false;
	out->link_count = walk->depth + 1;
	*link = (struct stall_link){
		.pid = wait->head.tgid,
		.tid = wait->head.tid,
		.conn = wait->head.conn,
		.cause = cause_of(wait_kind__of(walk->model, wait),
				  pending_reply__awaited(walk->model, wait)),
		.start_ts = walk->at,
		.end_ts = until,
		.wait = *wait,
		.wait_stack = model__kept_stack(walk->model, wait->stack_id),
		.waker_stack = model__kept_stack(walk->model, wait->waker_stack_id),
	};
	return true;
}

static bool is_visited(const struct walk *walk, const struct ns_wait *wait)
{
	for (size_t i = 0; i < walk->visited_count; i++) {
		if (walk->visited[i].tid == wait->head.tid &&
		    walk->visited[i].off_ts == wait->off_ts)
			return true;
	}
	return false;
}

/*
 * Between two waits the thread ran. While it takes in a long request that means that it slept
 * for each segment, too shortly to be told of.
 */
static void walk_running(struct walk *walk, const struct ns_wait *next, uint64_t until,
			 const struct wrapper *wrapper)
{
	if (wrapper->serves && next->head.conn == wrapper->serves && until > walk->at &&
	    until - walk->at < model__threshold(walk->model))
		walk->transit(walk, wrapper->serves, until);
	else
		walk__emit(walk, until, wrapper->cause);
}

void walk__thread(struct walk *walk, uint32_t tid, uint64_t until, const struct wrapper *wrapper)
{
	const struct model_thread *thread = model__thread(walk->model, tid);

	walk->wrappers[walk->depth++] = *wrapper;
	for (size_t i = 0; thread && walk->depth < WALK_DEPTH && i < thread->waits.count; i++) {
		const struct ns_wait *wait = &thread->waits.v[i].wait;

		if (wait->head.ts <= walk->at || wait->off_ts >= until || is_visited(walk, wait))
			continue;
		walk_running(walk, wait, walk__clip(walk, wait->off_ts, until), wrapper);
		walk__wait(walk, wait, walk__clip(walk, wait->head.ts, until));
	}
	walk__emit(walk, until, wrapper->cause);
	walk->depth--;
}

/* How much of the time up to until the thread is known to have waited itself. */
static uint64_t time_waited(const struct walk *walk, uint32_t tid, uint64_t until)
{
	const struct model_thread *thread = model__thread(walk->model, tid);
	uint64_t ns = 0;

	for (size_t i = 0; thread && i < thread->waits.count; i++)
		ns += wait__overlap(&thread->waits.v[i].wait, walk->at, until);
	return ns;
}

/* Another thread was to end it: by unlocking, signalling, writing to a pipe. */
static void walk_other(struct walk *walk, const struct ns_wait *wait, uint64_t until,
		       const struct wrapper *wrapper)
{
	switch (waker__of(walk->model, wait)) {
	case WAKER_TASK:
		if (wait->waker_tgid != wait->head.tgid &&
		    !model__thread(walk->model, wait->waker_tid))
			walk__missing(walk, MISSING_THE_WAKERS_WAIT);
		walk__thread(walk, wait->waker_tid, until, wrapper);
		break;
	case WAKER_TIMER:
		/* Nobody came within the time that it had given itself. */
		walk__emit(walk, until, CAUSE_TIMER);
		break;
	case WAKER_UNSEEN:
		walk__missing(walk, MISSING_WAKER);
		walk__emit(walk, until, wrapper->cause);
		break;
	default:
		walk__emit(walk, until, wrapper->cause);
		break;
	}
}

/*
 * A condition or a semaphore holds a thread up when somebody who should signal it is late,
 * and keeps a worker without work asleep as well. It is the latter when whoever signals
 * was not waiting itself: work came when it came.
 */
static void walk_signal(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	const struct wrapper wrapper = {.cause = CAUSE_LOCK, .idle_stays = true};

	if (waker__of(walk->model, wait) == WAKER_TASK &&
	    !pending_reply__due_here(walk->model, wait) &&
	    2 * time_waited(walk, wait->waker_tid, until) < until - walk->at)
		walk__emit(walk, until, CAUSE_IDLE);
	else
		walk_other(walk, wait, until, &wrapper);
}

void walk__signaller(struct walk *walk, uint32_t tid, uint64_t until, const struct wrapper *wrapper)
{
	if (2 * time_waited(walk, tid, until) < until - walk->at)
		walk__emit(walk, until, CAUSE_IDLE);
	else
		walk__thread(walk, tid, until, wrapper);
}

/*
 * A kernel thread of io_uring's that had nothing to do: nobody was held up. For who hangs on it
 * the thread that gave it something to do is the one that was to come.
 */
static void walk_work(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	const struct wrapper message = {.cause = CAUSE_IPC, .idle_stays = true};

	if (walk->depth)
		walk_other(walk, wait, until, &message);
	else
		walk__emit(walk, until, CAUSE_IDLE);
}

static void walk_unresolved(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	if (uring_wait__has_operation(wait))
		walk__missing(walk, MISSING_WHAT_RING_WAITED_FOR);
	else if (!model__sees(walk->model, NS_FACT_URING_COURSE))
		walk__missing(walk, MISSING_OPERATION_HIDDEN);
	else
		walk__missing(walk, MISSING_OPERATION);
	walk__emit(walk, until, CAUSE_URING);
}

/*
 * A parent waits as long as its child lives: that the child lives is no stall, and what a child
 * that is a target waits for is told of itself. Where the parent was to answer, it was late.
 */
static void walk_child(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	bool is_told = !walk->depth && waker__of(walk->model, wait) == WAKER_TASK &&
		       wait->waker_tgid != wait->head.tgid &&
		       model__is_target(walk->model, wait->waker_tgid);
	const struct wrapper wrapper = {.cause = is_told ? CAUSE_IDLE : CAUSE_IPC,
					.idle_stays = true};

	walk_other(walk, wait, until, &wrapper);
}

void walk__intervals(struct walk *walk, const struct ns_wait *wait, uint64_t until, walk_gap *gap,
		     enum cause cause)
{
	while (walk->at < until) {
		struct interval *interval =
			intervals__first(walk->intervals, wait->head.conn, walk->at, until);
		uint64_t next = interval ? walk__clip(walk, interval->span.start_ts, until) : until;

		if (gap && next > walk->at)
			gap(walk, wait, next);
		else
			walk__emit(walk, next, cause);
		if (!interval)
			continue;
		next = walk__clip(walk, interval->span.end_ts, until);
		if (interval->cause == CAUSE_UNKNOWN)
			walk__missing(walk, MISSING_TCP_REASON);
		walk__emit_interval(walk, next, interval);
		walk__emit(walk, next, interval->cause); /* whatever its slices left */
	}
}

/*
 * Data of one socket, or an event of one of several. Without an answer owed it is the idle
 * wait of a server, a time-out that the program set itself, or another thread's message.
 */
static void walk_receive(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	const struct wrapper message = {.cause = CAUSE_IPC, .idle_stays = true};
	uint32_t serves = walk->depth ? walk->wrappers[walk->depth - 1].serves : 0;
	enum waker waker = waker__of(walk->model, wait);

	if (serves && wait->head.conn == serves)
		walk->transit(walk, serves, until);
	else if (waker == WAKER_ROOM && wait_kind__of(walk->model, wait) == WAIT_RECEIVE)
		/* Another thread writes there, and nothing came: not known to be owed at all. */
		walk__intervals(walk, wait, until, NULL, CAUSE_IDLE);
	else if (pending_reply__awaited(walk->model, wait))
		walk->answer(walk, wait, until);
	else if (waker == WAKER_TIMER && !pending_reply__is_server(walk->model, wait->head.tgid))
		walk__emit(walk, until, CAUSE_TIMER);
	else if (waker == WAKER_TASK && pending_reply__due_here(walk->model, wait))
		walk_other(walk, wait, until, &message);
	else
		walk__intervals(walk, wait, until, NULL, CAUSE_IDLE);
}

void walk__slept(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	const struct wrapper lock = {.cause = CAUSE_LOCK};
	const struct wrapper message = {.cause = CAUSE_IPC, .idle_stays = true};

	switch (wait_kind__of(walk->model, wait)) {
	case WAIT_PREEMPTED:
		walk__emit(walk, until, CAUSE_RUNQUEUE);
		break;
	case WAIT_RECEIVE:
	case WAIT_MANY:
		walk_receive(walk, wait, until);
		break;
	case WAIT_SEND:
		walk__intervals(walk, wait, until, NULL, CAUSE_SNDBUF);
		break;
	case WAIT_CONNECT:
		walk__intervals(walk, wait, until, NULL, CAUSE_NETWORK);
		break;
	case WAIT_ACCEPT:
	case WAIT_PAUSE:
		walk__emit(walk, until, CAUSE_IDLE);
		break;
	case WAIT_URING:
		walk_unresolved(walk, wait, until);
		break;
	case WAIT_WORK:
		walk_work(walk, wait, until);
		break;
	case WAIT_MUTEX:
		walk_other(walk, wait, until, &lock);
		break;
	case WAIT_SIGNAL:
		walk_signal(walk, wait, until);
		break;
	case WAIT_IPC:
		walk_other(walk, wait, until, &message);
		break;
	case WAIT_CHILD:
		walk_child(walk, wait, until);
		break;
	case WAIT_DISK:
		walk__emit(walk, until, CAUSE_DISK);
		break;
	case WAIT_SLEEP:
		walk__emit(walk, until, CAUSE_TIMER);
		break;
	case WAIT_STOPPED:
		walk__missing(walk, MISSING_STOPPER);
		walk__emit(walk, until, CAUSE_UNKNOWN);
		break;
	case WAIT_UNKNOWN:
		walk__missing(walk, MISSING_WHAT_IT_WAITED_FOR);
		walk__emit(walk, until, CAUSE_UNKNOWN);
		break;
	}
}

static void walk_blocked(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	if (uring_wait__has_operation(wait) && wait_kind__is_completions(walk->model, wait))
		walk->ring(walk, wait, until);
	else
		walk__slept(walk, wait, until);
}

void walk__wait(struct walk *walk, const struct ns_wait *told, uint64_t until)
{
	bool was_linked = walk->linked;
	uint64_t woken = wait__woken(told);
	struct ns_wait recalled = *told;
	const struct ns_wait *wait = &recalled;

	uring_wait__fill_in(walk->model, &recalled);
	walk->linked = link_up(walk, wait, until);
	walk->visited[walk->visited_count].tid = wait->head.tid;
	walk->visited[walk->visited_count++].off_ts = wait->off_ts;
	if (wait->state)
		walk_blocked(walk, wait, walk__clip(walk, woken, until));
	walk->visited_count--;
	walk->linked = was_linked;
	walk__emit(walk, until, CAUSE_RUNQUEUE);
}

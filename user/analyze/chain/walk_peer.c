// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The walk to the other end of a connection: the way there, its program, the way back. */
#include "user/analyze/chain/waker_chain.h"
#include "user/analyze/waits/pending_reply.h"
#include "user/analyze/waits/wait_kind.h"

#define UNKNOWN_RTT UINT32_MAX

/*
 * The other end is on another host. The least round trip of this connection is what the path
 * takes when nothing is wrong; what is left is the program's, or that of a path that had a
 * bad moment, which this end can't tell apart.
 */
static void walk_remote(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	const struct model_conn *conn = model__conn(walk->model, wait->head.conn);
	uint32_t rtt_us = wait->min_rtt_us ? wait->min_rtt_us : conn->totals.min_rtt_us;
	uint64_t way = 1000ull * rtt_us, length = until - walk->at;

	if (!rtt_us || rtt_us == UNKNOWN_RTT) {
		walk__missing(walk, MISSING_ROUND_TRIP);
		walk__emit(walk, until, CAUSE_UNKNOWN);
		return;
	}
	walk__infer(walk, INFERRED_FROM_BEYOND_ROUND_TRIP);
	if (way > length)
		way = length;
	walk__emit(walk, walk->at + way / 2, CAUSE_NETWORK);
	walk__emit(walk, until - (way - way / 2), CAUSE_PEER_APP);
	walk__emit(walk, until, CAUSE_NETWORK);
}

/* What the other end wrote last before the wait ended; NULL: not seen. */
static const struct ns_send *answer_of(const struct walk *walk, const struct model_conn *peer,
				       uint64_t until)
{
	const struct ns_send *answer = NULL;

	for (size_t i = 0; i < peer->events.count; i++) {
		const union event *event = &peer->events.v[i];

		if (event->head.type == NS_SEND && event->head.ts > walk->at &&
		    event->head.ts <= until)
			answer = &event->send;
	}
	return answer;
}

/* The only thread of a process that is known to have waited, 0 when there are several. The
 * kernel's own for its rings are none of it. */
static uint32_t only_thread(const struct model *model, uint32_t tgid)
{
	const struct model_thread *thread;
	uint32_t tid = 0;
	size_t cursor = 0;

	while ((thread = model__next_thread(model, &cursor))) {
		if (thread->tgid != tgid || uring_thread__is(thread->comm))
			continue;
		if (tid)
			return 0;
		tid = thread->tid;
	}
	return tid;
}

/* Who answered, and when its answer left: on loopback the wake comes within the send itself. */
struct answerer {
	uint32_t tid; /* 0: not known */
	uint64_t ts;
};

/* What a ring's submission thread or worker sent, a thread of the program had asked for. */
static uint32_t who_asked(const struct walk *walk, uint32_t owner, uint32_t tid, bool by_kernel)
{
	uint32_t asked = by_kernel ? only_thread(walk->model, owner) : 0;

	return asked ? asked : tid;
}

static struct answerer find_answerer(const struct walk *walk, const struct ns_wait *wait,
				     const struct model_conn *peer, uint64_t until)
{
	uint32_t owner = peer->id.head.tgid;
	const struct ns_send *answer;

	if (owner && wait->waker_tgid == owner && wait->waker_tid)
		return (struct answerer){
			who_asked(walk, owner, wait->waker_tid, uring_thread__is(wait->waker_comm)),
			until};
	answer = answer_of(walk, peer, until);
	if (answer)
		return (struct answerer){
			who_asked(walk, owner, answer->head.tid, answer->via == NS_VIA_WORKER),
			answer->head.ts};
	return (struct answerer){only_thread(walk->model, owner), until};
}

/*
 * Can a request on the connection end it? A thread that sleeps by itself, or waits for another
 * connection, may have the request already: the send is told when the call is over, and that
 * may be after the other end has read.
 */
static bool ends_by_request(const struct walk *walk, const struct ns_wait *wait, uint32_t serves)
{
	switch (wait_kind__of(walk->model, wait)) {
	case WAIT_RECEIVE:
		return !wait->head.conn || wait->head.conn == serves;
	case WAIT_SLEEP:
	case WAIT_DISK:
	case WAIT_CHILD:
	case WAIT_SEND:
	case WAIT_CONNECT:
		return false;
	default:
		return true;
	}
}

/* The wait of the answering thread in which the request reached it; NULL: it was busy, or
 * that was not seen. */
static const struct ns_wait *reading_wait(const struct walk *walk, uint32_t tid, uint32_t serves,
					  uint64_t asked, uint64_t until)
{
	const struct model_thread *thread = model__thread(walk->model, tid);

	for (size_t i = 0; thread && i < thread->waits.count; i++) {
		const struct ns_wait *wait = &thread->waits.v[i].wait;

		if (wait->head.ts > walk->at && wait->off_ts < until && wait->off_ts <= asked &&
		    wait__woken(wait) >= asked && ends_by_request(walk, wait, serves))
			return wait;
	}
	return NULL;
}

/*
 * Was the thread watched by then? The threads of the other end are from the first hold or long
 * wait on, so what it did during that first one is not known: no wait of it came at all.
 */
static bool was_watched(const struct walk *walk, uint32_t tid, uint64_t until)
{
	const struct model_thread *thread = model__thread(walk->model, tid);

	for (size_t i = 0; thread && i < thread->waits.count; i++) {
		if (thread->waits.v[i].wait.off_ts < until)
			return true;
	}
	return false;
}

/*
 * The other end waits on the very connection that it is to answer on: a part of the request
 * has yet to come. Either TCP holds it back here, for shorter than makes a stall of its own,
 * or it is under way.
 */
void walk__transit(struct walk *walk, uint32_t serves, uint64_t until)
{
	const struct model_conn *peer = model__conn(walk->model, serves);
	const struct model_conn *conn = peer ? model__conn(walk->model, peer->peer) : NULL;

	for (size_t i = 0; conn && i < conn->events.count; i++) {
		const union event *event = &conn->events.v[i];

		if (event->head.type != NS_RELEASE || event->head.ts <= walk->at)
			continue;
		if (event->head.ts - event->release.held_ns >= until)
			break;
		walk__emit(walk, walk__clip(walk, event->head.ts - event->release.held_ns, until),
			   CAUSE_NETWORK);
		walk__emit(walk, walk__clip(walk, event->head.ts, until),
			   cause__of_hold(event->release.reason));
	}
	walk__emit(walk, until, CAUSE_NETWORK);
}

/* Nothing of either end is held: the request went out, was worked on, and answered. */
static void walk_peer(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{

	const struct model_conn *conn = model__conn(walk->model, wait->head.conn);
	const struct model_conn *peer = model__conn(walk->model, conn->peer);
	uint64_t asked = pending_reply__requested_at(walk->model, wait);
	const struct ns_wait *reading;
	struct wrapper program;
	struct answerer by;

	if (!peer || !peer->id.head.type) {
		walk_remote(walk, wait, until);
		return;
	}
	program = (struct wrapper){
		.cause = CAUSE_PEER_APP, .runqueue_stays = true, .serves = peer->number};
	by = find_answerer(walk, wait, peer, until);
	reading = reading_wait(walk, by.tid, peer->number, asked ? asked : walk->at, by.ts);
	if (reading) {
		walk__emit(walk, walk__clip(walk, wait__woken(reading), by.ts), CAUSE_NETWORK);
		walk__emit(walk, walk__clip(walk, reading->head.ts, by.ts), CAUSE_RUNQUEUE);
	}
	if (!by.tid)
		walk__missing(walk, MISSING_ANSWERING_THREAD);
	else if (!was_watched(walk, by.tid, by.ts))
		walk__missing(walk, MISSING_PEER_THREAD);
	if (by.tid)
		walk__thread(walk, by.tid, by.ts, &program);
	else
		walk__emit(walk, by.ts, CAUSE_PEER_APP);
	walk__emit(walk, until, CAUSE_NETWORK);
}

void walk__answer(struct walk *walk, const struct ns_wait *wait, uint64_t until)
{
	walk__intervals(walk, wait, until, walk_peer, CAUSE_NETWORK);
}

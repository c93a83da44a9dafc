// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/chain/answerer.h"

#include "user/analyze/waits/wait.h"
#include "user/analyze/waits/wait_kind.h"

/* What the other end wrote last between two times; NULL: not seen. */
static const struct ns_send *last_send(const struct model_conn *peer, uint64_t from, uint64_t until)
{
	const struct ns_send *send = NULL;
	const union event *event;

	for (size_t i = 0; (event = events__next(&peer->events, NS_SEND, &i));) {
		if (event->head.ts > from && event->head.ts <= until)
			send = &event->send;
	}
	return send;
}

/* What a ring's submission thread or worker sent, a thread of the program had asked for. */
static uint32_t who_asked(const struct model *model, uint32_t owner, uint32_t tid, bool by_kernel)
{
	uint32_t asked = by_kernel ? process__only_thread(model, owner) : 0;

	return asked ? asked : tid;
}

struct answerer answerer__find(const struct model *model, const struct ns_wait *wait,
			       const struct model_conn *peer, uint64_t from, uint64_t until)
{
	uint32_t owner = peer->id.head.tgid;
	const struct ns_send *send;

	if (owner && wait->waker_tgid == owner && wait->waker_tid)
		return (struct answerer){who_asked(model, owner, wait->waker_tid,
						   uring_thread__is(wait->waker_comm)),
					 until};
	send = last_send(peer, from, until);
	if (send)
		return (struct answerer){
			who_asked(model, owner, send->head.tid, send->via == NS_VIA_WORKER),
			send->head.ts};
	return (struct answerer){process__only_thread(model, owner), until};
}

/*
 * Can a request on the connection end it? A thread that sleeps by itself, or waits for another
 * connection, may have the request already: the send is recorded when the call is over, and that
 * may be after the other end has read.
 */
static bool ends_by_request(const struct model *model, const struct ns_wait *wait, uint32_t conn)
{
	switch (wait_view__of(model, wait).kind) {
	case WAIT_RECEIVE:
		return !wait->head.conn || wait->head.conn == conn;
	case WAIT_SLEEP:
	case WAIT_DISK:
	case WAIT_MEMORY:
	case WAIT_STOPPED:
	case WAIT_CHILD:
	case WAIT_SEND:
	case WAIT_CONNECT:
		return false;
	default:
		return true;
	}
}

/*
 * Did the request end it? On this host its segments arrive within the send, so the sender wakes the
 * reader, and a wake much later was somebody else's, for something else.
 */
static bool is_woken_by(const struct model *model, const struct ns_wait *wait, uint32_t asker_tid,
			uint64_t requested_ts)
{
	struct wait_view view = wait_view__of(model, wait);

	if (wait->waker_tid == asker_tid || wait__woken(wait) - requested_ts < WAIT_AT_ONCE_NS)
		return true;
	return view.waker == WAKER_UNSEEN || view.waker == WAKER_INTERRUPT ||
	       (view.waker == WAKER_NETWORK && !model__thread(model, wait->waker_tid));
}

const struct ns_wait *answerer__reading(const struct model *model, const struct answerer *answerer,
					uint32_t conn, uint32_t asker_tid, uint64_t requested_ts,
					uint64_t from)
{
	const struct model_thread *thread = model__thread(model, answerer->tid);
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (!wait__goes_on(wait) && wait->head.ts > from && wait->off_ts < answerer->ts &&
		    wait->off_ts <= requested_ts && wait__woken(wait) >= requested_ts &&
		    ends_by_request(model, wait, conn) &&
		    is_woken_by(model, wait, asker_tid, requested_ts))
			return wait;
	}
	return NULL;
}

bool answerer__was_watched(const struct model *model, const struct answerer *answerer)
{
	const struct model_thread *thread = model__thread(model, answerer->tid);
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->off_ts < answerer->ts)
			return true;
	}
	return false;
}

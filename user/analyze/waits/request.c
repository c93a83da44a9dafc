// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/request.h"

#include <string.h>

#include "user/analyze/waits/wait.h"
#include "user/analyze/waits/wait_kind.h"

/* A thread writes, and is preempted before it goes to sleep. */
#define AT_ONCE_NS 1000000

static bool is_receiving(const struct model *model, const struct ns_wait *wait)
{
	return wait->state && wait__syscall(model, wait) != SYSCALL_WAIT_OTHER;
}

/* Not one that its time-out, or its own clock, ended: by then the bytes may have lain there. */
static bool is_ended_by_data(const struct model *model, const struct ns_wait *wait)
{
	struct wait_view view = wait_view__of(model, wait);

	return view.waker != WAKER_TIMER && (is_receiving(model, wait) || view.is_completion);
}

const struct ns_exchange *request__awaited(const struct model *model, const struct ns_wait *wait,
					   uint32_t conn)
{
	const struct ns_exchange *asked;

	for (size_t i = 0; (asked = model__next_exchange(model, &i));) {
		if (asked->side != NS_EXCHANGE_ASKED || asked->head.tgid != wait->head.tgid ||
		    (conn && asked->head.conn != conn))
			continue;
		if (asked->head.tid != wait->head.tid && asked->head.conn != wait->head.conn)
			continue;
		if (wait->head.ts <= asked->ready_ts || wait__woken(wait) > asked->head.ts)
			continue;
		/* One that began long before the request is nobody's but a reader's. */
		if (wait->off_ts + AT_ONCE_NS >= asked->ready_ts || is_receiving(model, wait))
			return asked;
	}
	return NULL;
}

bool request__is_being_written(const struct model *model, const struct ns_wait *wait)
{
	const struct ns_exchange *asked;

	for (size_t i = 0; (asked = model__next_exchange(model, &i));) {
		if (asked->side == NS_EXCHANGE_ASKED && asked->head.tid == wait->head.tid &&
		    wait->off_ts >= asked->begin_ts && wait->head.ts <= asked->ready_ts)
			return true;
	}
	return false;
}

bool request__is_being_served(const struct model *model, const struct ns_wait *wait)
{
	const struct ns_exchange *served;

	for (size_t i = 0; (served = model__next_exchange(model, &i));) {
		if (served->side == NS_EXCHANGE_SERVED && served->head.tid == wait->head.tid &&
		    served->ready_ts && wait->off_ts >= served->ready_ts &&
		    wait->head.ts <= served->head.ts)
			return true;
	}
	return false;
}

/* ---- the wait for the answer ---- */

static struct ns_wait no_wait(const struct ns_exchange *asked)
{
	struct ns_wait wait = {.head = asked->head, .state = 1, .syscall = NS_SYSCALL_NONE};

	wait.head.type = 0;
	wait.conn_basis = NS_CONN_FD;
	wait.turn = NS_TURN_WROTE;
	wait.min_rtt_us = asked->min_rtt_us;
	return wait;
}

void reply__find(const struct model *model, const struct ns_exchange *asked, struct reply *reply)
{
	const struct model_thread *thread = model__thread(model, asked->head.tid);
	const struct ns_wait *wait, *longest = NULL, *last = NULL;
	uint64_t sent;

	memset(reply, 0, sizeof(*reply));
	reply->asked = asked;
	reply->served = model__served_side(model, asked);
	reply->from = asked->ready_ts;
	sent = reply->served ? reply->served->head.ts : 0;
	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		uint64_t common = wait__overlap(wait, asked->ready_ts, asked->head.ts);

		if (!common || wait__woken(wait) > asked->head.ts)
			continue;
		if (sent && !is_ended_by_data(model, wait) && wait__woken(wait) >= sent)
			continue;
		if (!longest || common > wait__overlap(longest, asked->ready_ts, asked->head.ts))
			longest = wait;
		last = wait;
	}
	reply->arrived = reply->to = sent ? sent : asked->head.ts;
	if (last && wait__woken(last) >= reply->arrived) {
		reply->arrived = wait__woken(last);
		reply->to = last->head.ts;
	} else if (last && !sent) {
		/* The other end was not seen: what came last woke the thread. */
		reply->arrived = wait__woken(last);
		reply->to = last->head.ts;
	}
	if (reply->to > asked->head.ts)
		reply->to = asked->head.ts;
	if (reply->arrived > reply->to)
		reply->arrived = reply->to;
	reply->wait = longest ? *longest : no_wait(asked);
	if (!reply->wait.head.conn)
		reply->wait.head.conn = asked->head.conn;
	if (longest)
		return;
	reply->wait.off_ts = reply->from;
	reply->wait.wake_ts = reply->arrived;
	reply->wait.head.ts = reply->to;
}

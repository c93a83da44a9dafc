// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/open_request.h"

#include "user/analyze/waits/pending_reply.h"
#include "user/analyze/waits/request.h"
#include "user/analyze/waits/wait.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/base/array.h"

/* What a thread may be doing for a request that was read. */
enum doing {
	DOING_OTHER,    /* it waits for whoever comes elsewhere */
	DOING_READS,    /* it has waited for more there, or for any of several connections */
	DOING_SOMETHING /* it ran, or waited for what ends by itself or by others */
};

/* poll() on one file waits for that one. */
static bool is_for_one(const struct model *model, const struct wait_view *view)
{
	return view->kind == WAIT_RECEIVE ||
	       (view->wait->arg1 == 1 && !view->is_completion &&
		!syscall__is_epoll(model__session(model)->arch, view->wait->syscall));
}

static enum doing doing_in(const struct model *model, const struct ns_wait *wait, uint32_t conn)
{
	struct wait_view view = wait_view__of(model, wait);

	switch (view.kind) {
	case WAIT_RECEIVE:
	case WAIT_MANY:
	case WAIT_URING:
		if (wait->head.conn == conn || !is_for_one(model, &view))
			return DOING_READS;
		return pending_reply__awaited(model, wait) ? DOING_SOMETHING : DOING_OTHER;
	case WAIT_UNKNOWN:
		return DOING_READS;
	case WAIT_ACCEPT:
	case WAIT_PAUSE:
	case WAIT_WORK:
		return DOING_OTHER;
	default:
		return DOING_SOMETHING;
	}
}

/* What its waits from then on say, of which the last tells what it is at; else that it had none. */
static enum doing doing_since(const struct model *model, const struct model_thread *thread,
			      uint32_t conn, uint64_t from)
{
	enum doing doing =
		thread->totals.head.type && thread->totals.blocked_ns < model__threshold(model)
			? DOING_SOMETHING
			: DOING_OTHER;
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->head.ts <= from || !wait->state)
			continue;
		doing = doing_in(model, wait, conn);
		if (doing == DOING_READS)
			return doing;
	}
	return doing;
}

/* Is a process at what it has read on a connection? *tid: its thread, 0: one of several. */
static bool is_served(const struct model *model, uint32_t tgid, uint32_t conn, uint64_t from,
		      uint32_t *tid)
{
	const struct model_thread *thread = model__threads_of(model, tgid);
	size_t count = 0;

	*tid = 0;
	for (; thread; thread = thread->next_of_owner) {
		enum doing doing;

		if (uring_thread__is(thread->comm))
			continue;
		doing = doing_since(model, thread, conn, from);
		if (doing == DOING_READS)
			return false;
		if (doing == DOING_SOMETHING)
			*tid = count++ ? 0 : thread->tid;
	}
	return count;
}

#define SUMS_NS (3600ull * 1000000000) /* struct ns_spent wraps */

/* What a thread did in all of the window, but for its waits that have records. */
static void fill_spent(const struct model *model, struct ns_exchange *exchange)
{
	const struct model_thread *thread = model__thread(model, exchange->head.tid);
	uint64_t rest = exchange->head.ts - exchange->begin_ts, run, ready;
	const struct ns_wait *wait;

	if (!thread || !thread->totals.head.type || rest > SUMS_NS)
		return;
	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++)
		rest -= min_u64(rest, wait__overlap(wait, exchange->begin_ts, exchange->head.ts));
	run = min_u64(thread->totals.on_cpu_ns, rest);
	ready = min_u64(thread->totals.runqueue_ns, rest - run);
	exchange->spent_known = 1;
	exchange->spent.run_us = (uint32_t)(run / 1000);
	exchange->spent.ready_us = (uint32_t)(ready / 1000);
	exchange->spent.short_us[NS_SHORT_OTHER] = (uint32_t)((rest - run - ready) / 1000);
}

/* The thread that waits on the connection at the window's end; NULL: none. */
static const struct ns_wait *waiting_on(const struct model *model, const struct ns_exchange *asked)
{
	const struct model_thread *thread = model__threads_of(model, asked->head.tgid);
	const struct ns_wait *wait;

	for (; thread; thread = thread->next_of_owner) {
		if (!thread->waits.count)
			continue;
		wait = model_thread__wait(thread, thread->waits.count - 1);
		if (wait__goes_on(wait) && wait->head.conn == asked->head.conn &&
		    pending_reply__awaited(model, wait))
			return wait;
	}
	return NULL;
}

bool open_request__find(const struct model *model, struct ns_exchange *exchange)
{
	const struct model_conn *conn = model__conn(model, exchange->head.conn), *peer;
	const struct ns_wait *wait;
	uint32_t tid;

	if (!conn || !conn->id.head.type)
		return false;
	if (exchange->side == NS_EXCHANGE_SERVED) {
		if (!is_served(model, exchange->head.tgid, exchange->head.conn, exchange->begin_ts,
			       &exchange->head.tid))
			return false;
		fill_spent(model, exchange);
		return true;
	}
	wait = waiting_on(model, exchange);
	if (wait) {
		exchange->head.tid = wait->head.tid;
		return true;
	}
	peer = model__peer(model, conn);
	if (!peer || !peer->id.head.tgid ||
	    !is_served(model, peer->id.head.tgid, peer->number, exchange->begin_ts, &tid))
		return false;
	exchange->head.tid = process__only_thread(model, exchange->head.tgid);
	return true;
}

bool open_request__is(const struct model *model, const struct ns_exchange *exchange)
{
	const struct model_thread *thread = model__thread(model, exchange->head.tid);

	if (exchange->ended != NS_EXCHANGE_OPEN || exchange->answer_ts)
		return false;
	if (exchange->since_ts) /* it was fed because it is */
		return true;
	if (exchange->side == NS_EXCHANGE_ASKED)
		return request__is_waited_for(model, exchange);
	return thread && doing_since(model, thread, exchange->head.conn, exchange->ready_ts) ==
				 DOING_SOMETHING;
}

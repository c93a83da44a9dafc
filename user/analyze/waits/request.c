// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/request.h"

#include <string.h>

#include "bpf/times.h"
#include "user/analyze/waits/wait.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/analyze/waits/wakers.h"
#include "user/base/array.h"
#include "user/base/clock.h"

#define WAKER_STEPS 4 /* from thread to thread, backwards */
#define TICKS       2 /* of a loop that has one */

static bool is_receiving(const struct model *model, const struct ns_wait *wait)
{
	/* Who is stopped waits for nothing that comes, in whatever call he was. */
	return wait->state && wait->state != NS_STATE_STOPPED &&
	       wait__syscall(model, wait) != SYSCALL_WAIT_OTHER;
}

/* Not one that its time-out, or its own clock, ended: by then the bytes may have lain there. */
static bool is_ended_by_data(const struct model *model, const struct ns_wait *wait)
{
	struct wait_view view = wait_view__of(model, wait);

	return view.waker != WAKER_TIMER && (is_receiving(model, wait) || view.is_completion);
}

static bool is_awaited(const struct model *model, const struct ns_wait *wait,
		       const struct ns_exchange *asked)
{
	if (asked->side != NS_EXCHANGE_ASKED || asked->head.tgid != wait->head.tgid)
		return false;
	if (asked->head.tid != wait->head.tid && asked->head.conn != wait->head.conn)
		return false;
	if (wait->head.ts <= asked->ready_ts || wait__woken(wait) > asked->head.ts)
		return false;
	/* One that began long before the request is nobody's but a reader's. */
	return wait->off_ts + WAIT_AT_ONCE_NS >= asked->ready_ts || is_receiving(model, wait);
}

const struct ns_exchange *request__awaited(const struct model *model, const struct ns_wait *wait,
					   uint32_t conn)
{
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk walk = exchanges__of(exchanges, wait->head.tid, wait->head.conn);
	const struct ns_exchange *asked;

	while ((asked = exchanges__next(exchanges, &walk))) {
		if ((!conn || asked->head.conn == conn) && is_awaited(model, wait, asked))
			return asked;
	}
	return NULL;
}

uint32_t request__others(const struct model *model, uint32_t tid, const uint32_t conns[2],
			 uint64_t from, uint64_t to, uint64_t *ns)
{
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk walk = exchanges__of(exchanges, tid, 0);
	const struct ns_exchange *exchange;
	uint32_t count = 0;

	*ns = 0;
	while ((exchange = exchanges__next(exchanges, &walk))) {
		if (exchange->side != NS_EXCHANGE_SERVED || exchange->head.conn == conns[0] ||
		    exchange->head.conn == conns[1])
			continue;
		if (exchange->ready_ts)
			*ns += clock__common(exchange->ready_ts, exchange->head.ts, from, to);
		if (exchange->head.ts > from && exchange->head.ts <= to)
			count++;
	}
	return count;
}

/* Of a thread that goes on to write: where its return was not seen, it had returned by then. */
static uint64_t over_by(const struct ns_wait *wait)
{
	return wait->ended == NS_WAIT_BOUND ? wait->off_ts : wait->head.ts;
}

struct request_place request__place(const struct model *model, const struct ns_wait *wait)
{
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk walk = exchanges__of(exchanges, wait->head.tid, wait->head.conn);
	struct request_place place = {0};
	const struct ns_exchange *exchange;

	while ((exchange = exchanges__next(exchanges, &walk))) {
		if (!place.awaited && is_awaited(model, wait, exchange))
			place.awaited = exchange;
		if (exchange->head.tid != wait->head.tid)
			continue;
		if (exchange->side == NS_EXCHANGE_ASKED)
			place.is_written |= wait->off_ts >= exchange->begin_ts &&
					    over_by(wait) <= exchange->ready_ts;
		else if (exchange->ready_ts && wait->off_ts >= exchange->ready_ts &&
			 wait->head.ts <= exchange->head.ts)
			place.served = exchange;
	}
	return place;
}

bool request_place__is_in(const struct request_place *place)
{
	return place->awaited || place->served || place->is_written;
}

bool request__is_of_target(const struct model *model, const struct ns_exchange *served)
{
	const struct exchanges *exchanges = model__exchanges(model);
	const struct model_conn *conn = model__conn(model, served->head.conn);
	struct exchange_walk walk = exchanges__of(exchanges, 0, conn ? conn->peer : 0);
	const struct ns_exchange *asked;

	while ((asked = exchanges__next(exchanges, &walk))) {
		if (asked->side == NS_EXCHANGE_ASKED && model__is_target(model, asked->head.tgid) &&
		    model__are_sides(model, asked, served) &&
		    asked->head.ts - asked->ready_ts >= model__threshold(model))
			return true;
	}
	return false;
}

/* ---- a wait in several pieces ---- */

/* Of several that it is at, the one that is over first. */
static const struct ns_exchange *served_at(const struct model *model, const struct ns_wait *wait)
{
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk walk = exchanges__of(exchanges, wait->head.tid, 0);
	const struct ns_exchange *served, *first = NULL;

	while ((served = exchanges__next(exchanges, &walk))) {
		if (served->side == NS_EXCHANGE_SERVED && served->ready_ts &&
		    wait->off_ts >= served->ready_ts && wait->head.ts <= served->head.ts &&
		    (!first || served->head.ts < first->head.ts))
			first = served;
	}
	return first;
}

/* Did a wait of this thread's end in that time because the other one went on? */
static bool is_let_on(const struct model *model, uint32_t tid, uint32_t by, uint64_t from,
		      uint64_t until, unsigned steps)
{
	const struct model_thread *thread = model__thread(model, tid);
	const struct ns_wait *wait;

	for (size_t i = 0; steps && (wait = model_thread__wait(thread, i)); i++) {
		uint64_t woken = wait__woken(wait);

		if (wait->waker_tid && woken >= from && woken <= until &&
		    (wait->waker_tid == by ||
		     is_let_on(model, wait->waker_tid, by, from, woken, steps - 1)))
			return true;
	}
	return false;
}

/* Only a known thread can have been at it all the time: not what this one had begun meanwhile. */
static bool was_at_it_since(const struct model *model, const struct ns_wait *last, uint64_t since)
{
	const struct model_thread *thread = model__thread(model, last->waker_tid);
	const struct ns_exchange *asked = request__awaited(model, last, 0);

	return thread && thread->waits.count && (!asked || asked->begin_ts < since) &&
	       !is_let_on(model, thread->tid, last->head.tid, since, wait__woken(last),
			  WAKER_STEPS);
}

/* Who connects to this process, or has, and tells it something that it did not ask for. */
static bool is_from_client(const struct model *model, const struct ns_wait *last)
{
	const struct model_conn *conn = model__conn(model, last->head.conn);

	if (last->conn_basis == NS_CONN_READY)
		return conn && conn->id.opener == NS_OPENER_PEER;
	return stack__has(model__stack(model, last->waker_stack_id),
			  "tcp_child_process|unix_stream_connect");
}

/* It went to sleep in the same call again, and had written nothing. */
static bool goes_on(const struct ns_wait *wait, const struct ns_wait *next)
{
	return next->syscall == wait->syscall && next->conn_basis != NS_CONN_WRITTEN;
}

/* A loop that looks after its own clock and goes back to sleep, in this request or in others. */
static bool has_tick(const struct model *model, const struct ns_wait *last)
{
	const struct model_thread *thread = model__thread(model, last->head.tid);
	const struct ns_wait *wait, *next;
	unsigned ticks = 0;

	for (size_t i = 0; ticks < TICKS && (wait = model_thread__wait(thread, i)); i++) {
		next = model_thread__wait(thread, i + 1);
		ticks += next && wait->state && wait->syscall == last->syscall &&
			 goes_on(wait, next) && wait_view__of(model, wait).waker == WAKER_TIMER;
	}
	return ticks == TICKS;
}

/*
 * Since when such a one was at it is not known; but a loop that wakes up by its clock and goes back
 * to sleep (Redis, mosquitto) began nothing then: where it does so TICKS times, or nobody whom it
 * could have asked is who came.
 */
static bool is_by_unwatched(const struct model *model, const struct ns_wait *last)
{
	const struct model_thread *thread = model__thread(model, last->waker_tid);
	struct wake_judged judged;

	if (wait__goes_on(last)) /* of what is still to come nothing has begun */
		return true;
	if (!has_tick(model, last) && !is_from_client(model, last))
		return false;
	wait__judge_wake(model, last, &judged);
	if (judged.kind != WAKER_IS_THREAD)
		return judged.received;
	return last->waker_tgid != last->head.tgid && (!thread || !thread->waits.count);
}

/* Not by what came on its own connection. */
static bool is_ended_by_another(const struct model *model, const struct ns_exchange *served,
				const struct ns_wait *wait)
{
	bool is_own = wait->conn_basis == NS_CONN_READY && wait->head.conn == served->head.conn;

	return !is_own && is_from_client(model, wait);
}

/* In a call for whatever comes, at a request that it has read and not begun to answer. */
static bool is_at(const struct model *model, const struct ns_exchange *served,
		  const struct ns_wait *wait)
{
	return wait->head.tid == served->head.tid && wait->off_ts >= served->ready_ts &&
	       wait->off_ts < exchange__first_write(served) && is_receiving(model, wait);
}

bool request__past_others(const struct model *model, const struct ns_exchange *served,
			  const struct ns_wait *wait, struct ns_wait *whole)
{
	const struct model_thread *thread = model__thread(model, wait->head.tid);
	const struct ns_wait *next, *last = NULL;

	if (!is_at(model, served, wait) || !is_ended_by_another(model, served, wait))
		return false;
	for (size_t i = 0; (next = model_thread__wait(thread, i)); i++) {
		if (next->off_ts >= exchange__first_write(served))
			break;
		if (next->off_ts < wait->head.ts || next->syscall != wait->syscall ||
		    !is_at(model, served, next))
			continue;
		last = next;
		if (!is_ended_by_another(model, served, next))
			break;
	}
	if (!last)
		return false;
	*whole = *last;
	whole->off_ts = wait->off_ts;
	return true;
}

/* In whole ms, rounded up. */
static bool ran_out_by(const struct ns_wait *wait, uint64_t ts)
{
	return wait->arg2 && wait->arg2 != NS_TIMEOUT_NEVER &&
	       wait->off_ts + 1000000ull * (wait->arg2 - 1) <= ts;
}

enum by_others request__by_others(const struct model *model, const struct ns_exchange *served,
				  const struct ns_wait *wait)
{
	const struct model_thread *thread = model__thread(model, wait->head.tid);
	const struct ns_wait *piece;
	unsigned others = 0;

	if (!is_at(model, served, wait) || !is_ended_by_another(model, served, wait))
		return BY_OTHERS_NOT;
	for (size_t i = 0; (piece = model_thread__wait(thread, i)); i++) {
		if (!is_at(model, served, piece) || !is_ended_by_another(model, served, piece))
			continue;
		others++;
		if (piece->head.ts == wait->head.ts &&
		    ran_out_by(piece, exchange__first_write(served)))
			return BY_OTHERS_AND_CLOCK;
	}
	return others > 1 ? BY_OTHERS_PERHAPS : BY_OTHERS_FIRST;
}

bool request__whole_wait(const struct model *model, const struct ns_exchange *of,
			 const struct ns_wait *wait, struct ns_wait *whole)
{
	const struct model_thread *thread = model__thread(model, wait->head.tid);
	const struct ns_exchange *served = NULL;
	const struct ns_wait *piece, *first = NULL, *last = NULL;
	bool is_in = false;

	if (is_receiving(model, wait))
		served = of && of->head.tid == wait->head.tid ? of : served_at(model, wait);
	for (size_t i = 0; served && (piece = model_thread__wait(thread, i)); i++) {
		bool by_timer, is_passed;

		if (!piece->state || piece->off_ts < served->ready_ts)
			continue;
		if (piece->head.ts > served->head.ts)
			break;
		if (!last || !goes_on(last, piece)) {
			if (is_in)
				return false;
			first = piece;
		}
		by_timer = wait_view__of(model, piece).waker == WAKER_TIMER;
		is_in |= piece->off_ts == wait->off_ts;
		is_passed = by_timer || request__past_others(model, served, piece, whole);
		last = is_passed ? piece : NULL;
		if (is_passed || !is_in)
			continue;
		if (first == piece || (!was_at_it_since(model, piece, first->head.ts) &&
				       !is_by_unwatched(model, piece)))
			return false;
		*whole = *piece;
		whole->off_ts = first->off_ts;
		return true;
	}
	return false;
}

uint64_t request__begun(const struct ns_exchange *asked)
{
	return asked->connect_ts ? asked->connect_ts : asked->begin_ts;
}

uint64_t request__arrived(const struct ns_exchange *served)
{
	return served->arrived_ts && served->arrived_ts < served->begin_ts ? served->arrived_ts
									   : served->begin_ts;
}

bool request__was_awaited(const struct model *model, const struct ns_exchange *served)
{
	const struct model_thread *thread = model__thread(model, served->head.tid);
	uint64_t arrived = request__arrived(served);
	const struct ns_wait *wait;
	struct wait_view view;

	/* It was woken for something else, or was at others before. */
	if (served->begin_ts > arrived + WAIT_AT_ONCE_NS)
		return false;
	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->head.ts <= arrived || wait->off_ts > arrived)
			continue;
		view = wait_view__of(model, wait);
		return view.waker != WAKER_TIMER &&
		       (wait_kind__is_socket(view.kind) || view.is_completion);
	}
	/* Its short sleeps have no records. */
	return served->begin_ts < served->ready_ts && served->begin_ts <= arrived + WAKE_AT_ONCE_NS;
}

const struct ns_exchange *request__queued(const struct model *model,
					  const struct ns_exchange *exchange)
{
	const struct ns_exchange *served = NULL;

	if (exchange->side == NS_EXCHANGE_ASKED && !exchange->queued_ts)
		served = model__served_side(model, exchange);
	return served ? served : exchange;
}

uint64_t request__accepted(const struct ns_exchange *exchange)
{
	if (!exchange->queued_ts)
		return 0;
	return exchange->accepted_ts ? exchange->accepted_ts : exchange->head.ts;
}

/* ---- subscriptions ---- */

/* In one pause the rest of an answer is made, and perhaps in a second. */
#define PAUSES 3

bool request__is_subscription(const struct model *model, const struct ns_exchange *exchange)
{
	const struct model_thread *thread = model__thread(model, exchange->head.tid);
	const struct ns_wait *wait;
	unsigned pauses = 0;

	if (exchange->ended != NS_EXCHANGE_OPEN || !exchange->answer_ts)
		return false;
	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->off_ts < exchange->answer_ts || wait->head.ts > exchange->head.ts)
			continue;
		if (exchange->side == NS_EXCHANGE_SERVED)
			pauses += wait->state != 0;
		else
			pauses += wait->head.conn == exchange->head.conn &&
				  is_ended_by_data(model, wait);
	}
	return pauses >= PAUSES;
}

struct ns_exchange request__until_first_piece(const struct ns_exchange *exchange)
{
	struct ns_exchange first = *exchange;

	first.head.ts = exchange->answer_ts;
	first.spent_known = 0;
	return first;
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

/* It could not write because there was no room, and then this end read. */
static bool is_for_room(const struct model *model, const struct ns_wait *wait,
			const struct reply *reply)
{
	struct wait_view view;

	if (wait->head.conn != reply->served->head.conn ||
	    wait->waker_tgid != reply->asked->head.tgid || wait->off_ts < reply->from ||
	    wait->off_ts >= reply->served->head.ts)
		return false;
	view = wait_view__of(model, wait);
	return view.kind == WAIT_SEND || view.waker == WAKER_ROOM;
}

typedef bool wait_fn(const struct model *model, const struct ns_wait *wait);

/* The thread itself is in such waits on the connection for most of a time. */
static bool waits_most(const struct model *model, const struct ns_exchange *asked, wait_fn *is_such,
		       uint64_t from, uint64_t to)
{
	const struct model_thread *thread = model__thread(model, asked->head.tid);
	const struct ns_wait *wait;
	uint64_t ns = 0;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->head.conn == asked->head.conn && is_such(model, wait))
			ns += wait__overlap(wait, from, to);
	}
	return to > from && 2 * ns > to - from;
}

/* It had read of the answer before `at`, and from then on did something else: since when. */
static uint64_t since_first_read(const struct model *model, const struct ns_exchange *asked,
				 uint64_t at)
{
	uint64_t read = asked->answer_ts;

	if (read < asked->ready_ts || read >= at ||
	    waits_most(model, asked, is_ended_by_data, read, min_u64(at, asked->head.ts)))
		return at;
	return read;
}

/* Most of the time from the first read on its window was full. */
static bool is_held_by_reader(const struct reply *reply)
{
	const struct ns_exchange *asked = reply->asked, *served = reply->served;
	bool is_of_window =
		served->hold_reason == NS_HOLD_RWND || served->hold_reason == NS_HOLD_ZERO_WINDOW;

	return is_of_window && asked->answer_ts &&
	       2 * served->held_ns > ns_passed(asked->answer_ts, asked->head.ts);
}

/* An answer that fills all buffers goes on when they are read: what the asking end did before that
 * is its own time. */
static uint64_t reads_from(const struct model *model, const struct reply *reply)
{
	const struct model_thread *thread;
	const struct ns_wait *wait;

	if (!reply->served)
		return 0;
	thread = model__thread(model, reply->served->head.tid);
	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (is_for_room(model, wait, reply) &&
		    !waits_most(model, reply->asked, is_ended_by_data, wait->off_ts,
				wait__woken(wait)))
			return since_first_read(model, reply->asked, wait->off_ts);
	}
	/* It may have waited too shortly each time for a record. */
	if (is_held_by_reader(reply) &&
	    since_first_read(model, reply->asked, UINT64_MAX) == reply->asked->answer_ts)
		return reply->asked->answer_ts;
	return 0;
}

bool request__is_waited_for(const struct model *model, const struct ns_exchange *asked)
{
	return waits_most(model, asked, is_receiving, asked->ready_ts, asked->head.ts);
}

/* What no answer ends. */
static bool is_of_its_own(const struct model *model, const struct ns_wait *wait)
{
	enum wait_kind kind = wait_view__of(model, wait).kind;

	return kind == WAIT_SLEEP || kind == WAIT_STOPPED;
}

/* Its first sleep, of which its record has the end. What the thread did by its own clock is none.
 */
static bool may_be_for_input(const struct ns_exchange *asked)
{
	const uint32_t *us = asked->spent.short_us;
	uint64_t waited = 1000ull * (us[NS_SHORT_REPLY] + us[NS_SHORT_INPUT] + us[NS_SHORT_URING]);

	return !asked->spent_known || 2 * waited >= ns_passed(asked->off_ts, asked->wake_ts);
}

void reply__find(const struct model *model, const struct ns_exchange *asked, struct reply *reply)
{
	const struct model_thread *thread = model__thread(model, asked->head.tid);
	const struct ns_wait *wait, *longest = NULL, *last = NULL, *sleep = NULL;
	bool is_recorded = false;
	uint64_t sent;

	memset(reply, 0, sizeof(*reply));
	reply->asked = asked;
	reply->served = model__served_side(model, asked);
	reply->from = asked->ready_ts;
	sent = reply->served ? reply->served->head.ts : 0;
	reply->reads_from = reads_from(model, reply);
	if (reply->reads_from)
		sent = reply->reads_from;
	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		uint64_t common = wait__overlap(wait, asked->ready_ts, asked->head.ts);

		is_recorded |= common && wait->off_ts <= asked->wake_ts;
		if (!common || wait__woken(wait) > asked->head.ts)
			continue;
		if (reply->reads_from && wait->off_ts >= reply->reads_from)
			continue;
		if (sent && !is_ended_by_data(model, wait) && wait__woken(wait) >= sent)
			continue;
		if (!sent && is_of_its_own(model, wait)) {
			sleep = wait; /* between two of them it may have looked for the answer */
			continue;
		}
		sleep = NULL;
		/* Of a request that is open, what its thread waits in now stands for all of them.
		 */
		if (!longest || (wait__goes_on(wait) && !asked->answer_ts) ||
		    common > wait__overlap(longest, asked->ready_ts, asked->head.ts))
			longest = wait;
		last = wait;
	}
	reply->arrived = reply->to = sent ? sent : asked->head.ts;
	/* Too short a sleep for a record of its own: the request's has its end. What comes behind
	 * the first read was no wait for that; who computes is preempted. */
	if (!is_recorded && asked->wake_ts > asked->ready_ts && may_be_for_input(asked) &&
	    (!asked->answer_ts || asked->wake_ts <= asked->answer_ts)) {
		reply->arrived = asked->wake_ts > sent ? asked->wake_ts : sent;
		reply->to = asked->answer_ts ? asked->answer_ts : asked->head.ts;
		if (reply->to < reply->arrived)
			reply->to = reply->arrived;
	}
	if (last && wait__woken(last) >= reply->arrived) {
		reply->arrived = wait__woken(last);
		reply->to = last->head.ts;
	} else if (last && !sent) {
		/* The other end was not seen: what came last woke the thread. */
		reply->arrived = wait__woken(last);
		reply->to = last->head.ts;
	}
	/* No answer ends that: it was there when the thread had slept, which is its own time. */
	if (sleep && reply->to > sleep->off_ts)
		reply->to = sleep->off_ts > reply->from ? sleep->off_ts : reply->from;
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

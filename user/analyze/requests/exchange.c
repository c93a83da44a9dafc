// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One exchange in slices. */
#include <string.h>

#include "user/analyze/requests/requests.h"
#include "user/analyze/stall.h"
#include "user/analyze/waits/request.h"
#include "user/base/array.h"

/* No later does a thread come to what it has been waiting for. */
#define AT_ONCE_NS 1000000

/* Cuts from the exchange's begin to its end, so that nothing overlaps and nothing is left out. */
struct cutter {
	struct request_view *view;
	uint64_t at;
	uint64_t end;
};

static void cut(struct cutter *cutter, uint64_t until, enum cause cause)
{
	struct request_view *view = cutter->view;

	if (until > cutter->end)
		until = cutter->end;
	if (until <= cutter->at)
		return;
	slices__add(view->slices, &view->slice_count, STALL_SLICES, cause, until - cutter->at);
	cutter->at = until;
}

/* Back with the first of the answer. */
static uint64_t first_read(const struct ns_exchange *asked)
{
	return asked->answer_ts ? asked->answer_ts : asked->head.ts;
}

static bool answered_before(const struct exchange *exchange)
{
	uint64_t written = exchange__first_write(&exchange->served);

	return exchange->served.head.type && written > exchange->asked.begin_ts &&
	       written <= exchange->asked.head.ts;
}

static bool is_corked(const struct ns_exchange *asked)
{
	return asked->hold_reason == NS_HOLD_CORK || asked->hold_reason == NS_HOLD_MSG_MORE;
}

/*
 * When the held bytes left. Only the sum of the held time is known: Nagle's algorithm holds
 * from the last write on, a cork from the first, and in neither case longer than until the
 * other end, or failing that this one, is woken by what came of it.
 */
static uint64_t hold_end(const struct exchange *exchange)
{
	const struct ns_exchange *asked = &exchange->asked;
	uint64_t most = asked->wake_ts ? asked->wake_ts : first_read(asked);

	if (answered_before(exchange)) {
		most = exchange__first_write(&exchange->served);
		/* Woken by all of the request; if earlier, by a part, or by something else. */
		if (exchange->served.begin_ts >= asked->begin_ts + asked->held_ns)
			most = exchange->served.begin_ts;
	}
	if (is_corked(asked))
		return min_u64(asked->begin_ts + asked->held_ns, most);
	return min_u64(asked->ready_ts + asked->held_ns, most);
}

/* The other end came to it when it was done with something else. */
static bool lay_unread(const struct exchange *exchange)
{
	const struct ns_exchange *served = &exchange->served;

	return answered_before(exchange) && served->ready_ts && served->arrived_ts &&
	       served->begin_ts > served->arrived_ts + AT_ONCE_NS;
}

/*
 * Both ends were seen: the request's way, its time unread if the thread there was at something
 * else, that one's wait for a CPU, the work, the way back.
 */
static void cut_served(struct cutter *cutter, const struct exchange *exchange,
		       const struct exchange_facts *facts)
{
	const struct ns_exchange *served = &exchange->served;

	/* What held it up meanwhile cost nothing then. */
	if (lay_unread(exchange) && exchange->asked.held_ns)
		cut(cutter, served->begin_ts, CAUSE_PEER_APP);
	if (served->begin_ts == served->ready_ts) { /* its thread was awake */
		cut(cutter, request__arrived(served), facts->network);
		cut(cutter, served->begin_ts, CAUSE_PEER_APP);
	}
	cut(cutter, served->begin_ts, facts->network);
	cut(cutter, served->ready_ts, CAUSE_RUNQUEUE);
	cut(cutter, exchange__first_write(served), CAUSE_PEER_APP);
}

/*
 * Of what lies until end only the ends are known: a round trip is the network's, half of it each
 * way, the rest the other program's. When its answer was seen to leave, end is that time, and
 * the way back comes behind it.
 */
static void cut_far(struct cutter *cutter, uint64_t end, const struct exchange_facts *facts,
		    bool answer_seen)
{
	uint64_t trip = facts->min_rtt_us * 1000ull, back = answer_seen ? 0 : trip / 2;

	if (!trip) {
		cut(cutter, end, CAUSE_UNKNOWN);
		return;
	}
	if (facts->network != CAUSE_NETWORK || end < cutter->at + trip / 2 + back) {
		cut(cutter, end, facts->network);
		return;
	}
	cut(cutter, cutter->at + trip / 2, CAUSE_NETWORK);
	cut(cutter, end - back, CAUSE_PEER_APP);
	cut(cutter, end, CAUSE_NETWORK);
}

uint64_t exchange__begin(const struct ns_exchange *asked)
{
	return asked->connect_ts ? asked->connect_ts : asked->begin_ts;
}

/* From connect() until the other end had answered, and from then to the first write. */
static void cut_connect(struct cutter *cutter, const struct ns_exchange *asked)
{
	if (!asked->connect_ts)
		return;
	cut(cutter, asked->connected_ts,
	    asked->connect_syns ? CAUSE_SYN_RETRANSMIT : CAUSE_NETWORK);
	cut(cutter, asked->begin_ts, CAUSE_SELF);
}

/* The request lay in the listen queue with its connection, when that had come there. */
static void cut_queued(struct cutter *cutter, const struct exchange *exchange,
		       const struct exchange_facts *facts)
{
	const struct ns_exchange *side = &exchange->asked;

	if (!side->queued_ts && exchange->served.head.type)
		side = &exchange->served;
	if (!side->queued_ts)
		return;
	cut(cutter, min_u64(side->queued_ts, request__accepted(side)), facts->network);
	cut(cutter, request__accepted(side), CAUSE_ACCEPT_QUEUE);
}

/* Until the answer was there, as far as each end was seen. */
static void cut_way(struct cutter *cutter, const struct exchange *exchange,
		    const struct exchange_facts *facts)
{
	const struct ns_exchange *asked = &exchange->asked;
	bool slept = asked->off_ts && asked->wake_ts;

	cut_queued(cutter, exchange, facts);
	if (answered_before(exchange) && exchange->served.ready_ts) {
		cut_served(cutter, exchange, facts);
	} else {
		cutter->view->confidence = CONFIDENCE_INFERRED;
		if (answered_before(exchange))
			cut_far(cutter, exchange__first_write(&exchange->served), facts, true);
		else
			cut_far(cutter, slept ? asked->wake_ts : first_read(asked), facts, false);
	}
	if (slept) {
		cut(cutter, asked->wake_ts, CAUSE_NETWORK);
		cut(cutter, first_read(asked), CAUSE_RUNQUEUE);
	}
}

/* From the first of the answer to its end: until that was written it is the other program's. */
static void cut_rest(struct cutter *cutter, const struct exchange *exchange)
{
	cut(cutter, first_read(&exchange->asked), CAUSE_SELF);
	if (answered_before(exchange)) {
		cut(cutter, exchange->served.head.ts, CAUSE_PEER_APP);
	} else if (cutter->at < cutter->end) {
		cutter->view->confidence = CONFIDENCE_INFERRED;
		cut(cutter, cutter->end, CAUSE_PEER_APP);
	}
}

void exchange__cut(const struct exchange *exchange, const struct exchange_facts *facts,
		   struct request_view *view)
{
	const struct ns_exchange *asked = &exchange->asked;
	struct cutter cutter = {view, exchange__begin(asked), asked->head.ts};
	uint64_t released = hold_end(exchange);
	uint64_t begun = released > asked->held_ns ? released - asked->held_ns : 0;

	memset(view, 0, sizeof(*view));
	view->total_ns = cutter.end - cutter.at;
	view->confidence = CONFIDENCE_OBSERVED;
	cut_connect(&cutter, asked);
	/* Corked as long as its end does not exist, it waits for that. */
	if (is_corked(asked) || begun > asked->ready_ts)
		begun = asked->ready_ts;
	cut(&cutter, begun, CAUSE_SELF);
	if (asked->held_ns && !lay_unread(exchange))
		cut(&cutter, released, facts->held);
	cut(&cutter, asked->ready_ts, CAUSE_SELF);
	cut_way(&cutter, exchange, facts);
	cut_rest(&cutter, exchange);
	/* Awake all the time: it looked for the answer when it was done with other things. */
	cut(&cutter, asked->head.ts, CAUSE_SELF);
}

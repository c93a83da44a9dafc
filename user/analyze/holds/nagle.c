// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/nagle.h"

#include "user/analyze/holds/release.h"

/*
 * A prompt ACK takes one round trip, and the small segment that it acknowledges left even
 * before the hold began. Queues and a busy receiver can double or treble that; beyond
 * four round trips neither explains it. The least RTT counts, not the smoothed one: on a
 * connection that stalls every time the smoothed one contains the stalls.
 */
#define PROMPT_ROUND_TRIPS 4

/*
 * Between what the arming of a timer says of its delay and when it runs lies a jiffy to either
 * side (10 ms with CONFIG_HZ=100), and what softirqs come late.
 */
#define TIMER_SLACK_NS 10000000ull

/* What the seen chain consists of; NULL where a link is missing. */
struct chain {
	const struct ns_hold *hold;
	uint64_t start_ts; /* of the hold */
	uint32_t snd_una;  /* when the hold began */
	const struct ns_segment
		*arrived; /* at the holder: moved snd_una, last before the release */
	const struct ns_delack *arm;
	const struct ns_delack *fire;
	const struct ns_segment *left; /* from the peer, by that timer */
	bool peer_sent_data;           /* after the timer, before the acknowledgement arrived */
	bool peer_acked;               /* some pure ACK of the peer was seen during the hold */
};

/* What acknowledges held bytes themselves comes behind them, and has released nothing. */
static bool is_behind_release(const struct incident *incident, const struct ns_segment *segment)
{
	return !incident->open && seq_after(segment->ack, incident->release.seq);
}

static void find_arrival(const struct incident *incident, struct chain *chain)
{
	const union event *event;

	for (size_t i = 0; (event = events__next(&incident->own, NS_RX, &i));) {
		if (event->head.ts >= incident->start_ts && event->head.ts <= incident->end_ts &&
		    seq_after(event->segment.ack, chain->snd_una) &&
		    !is_behind_release(incident, &event->segment))
			chain->arrived = &event->segment;
	}
}

/* The first pure ACK behind the timer at place, before limit. */
static const struct ns_segment *next_ack(const struct events *events, size_t place, uint64_t limit,
					 bool *data_first)
{
	*data_first = false;
	for (size_t i = place + 1; i < events->count && events->v[i].head.ts <= limit; i++) {
		const union event *event = &events->v[i];

		if (event->head.type == NS_TX)
			*data_first = true;
		if (event->head.type == NS_ACK && segment__is_pure_ack(&event->segment))
			return &event->segment;
	}
	return NULL;
}

static bool is_the_one(const struct chain *chain, const struct ns_segment *left)
{
	if (!left)
		return false;
	if (chain->arrived)
		return left->ack == chain->arrived->ack;
	return seq_after(left->ack, chain->snd_una);
}

/* The delayed-ACK timer as it was last armed by then, NULL not seen. */
static const struct ns_delack *last_arming(const struct events *events, uint64_t until)
{
	const struct ns_delack *arm = NULL;
	const union event *event;

	for (size_t i = 0; (event = events__next(events, NS_DELACK_ARM, &i));) {
		if (event->head.ts <= until)
			arm = &event->delack;
	}
	return arm;
}

/*
 * The timer that sent the acknowledgement: the last one whose next pure ACK it was. When
 * none fits, the last that ran out at all.
 */
static void find_timer(const struct incident *incident, struct chain *chain)
{
	uint64_t limit = chain->arrived ? chain->arrived->head.ts : incident->end_ts;
	const struct events *events = &incident->peers;

	for (size_t i = 0; i < events->count && events->v[i].head.ts <= limit; i++) {
		const union event *event = &events->v[i];
		const struct ns_segment *left;
		bool data_first;

		if (event->head.ts <= incident->start_ts)
			continue;
		if (event->head.type == NS_ACK)
			chain->peer_acked = true;
		if (!event__is_delack_due(event))
			continue;
		left = next_ack(events, i, limit, &data_first);
		if (chain->left && !is_the_one(chain, left))
			continue;
		chain->fire = &event->delack;
		chain->left = is_the_one(chain, left) ? left : NULL;
		chain->peer_sent_data = data_first;
	}
	if (chain->fire)
		chain->arm = last_arming(events, chain->fire->head.ts);
}

static void conclude(struct nagle *out, enum cause cause, enum stall_release by,
		     enum stall_missing missing)
{
	out->cause = cause;
	out->released_by = by;
	out->missing = missing;
}

static void infer(struct nagle *out, enum stall_release by, enum stall_inferred from,
		  enum stall_missing missing)
{
	conclude(out, CAUSE_NAGLE_DELACK, by, missing);
	out->confidence = CONFIDENCE_INFERRED;
	out->inferred = from;
}

/* Within that time a prompt ACK comes, ns; 0: the least round trip is not known. */
static uint64_t prompt_ns(const struct chain *chain)
{
	uint32_t min_rtt_us = chain->hold ? chain->hold->min_rtt_us : 0;

	return min_rtt_us == UINT32_MAX ? 0 : PROMPT_ROUND_TRIPS * 1000ull * min_rtt_us;
}

/* The other end's timer could not be watched: only the time that the ACK took is left. */
static void judge_by_round_trip(const struct chain *chain, struct nagle *out,
				enum stall_missing unseen)
{
	uint64_t took = chain->arrived->head.ts - chain->start_ts;
	uint64_t prompt = prompt_ns(chain);

	if (!prompt) {
		conclude(out, CAUSE_NAGLE, RELEASED_BY_BARE_ACK, MISSING_ROUND_TRIP_OF_ACK);
		return;
	}
	if (took <= prompt) {
		conclude(out, CAUSE_NAGLE, RELEASED_BY_BARE_ACK, unseen);
		return;
	}
	infer(out, RELEASED_BY_LATE_ACK, INFERRED_FROM_LATE_ACK, unseen);
}

/* Both ends are watched, and an acknowledgement without data arrived. */
static void judge_pure_ack(const struct model *model, const struct chain *chain, struct nagle *out)
{
	if (chain->left) {
		conclude(out, CAUSE_NAGLE_DELACK, RELEASED_BY_DELAYED_ACK, MISSING_NOTHING);
	} else if (chain->fire && !chain->peer_acked && !chain->peer_sent_data) {
		infer(out, RELEASED_BY_DELAYED_ACK, INFERRED_FROM_TIMER_THEN_ACK,
		      MISSING_ACK_DEPARTURE);
	} else if (chain->fire) {
		conclude(out, CAUSE_NAGLE, RELEASED_BY_BARE_ACK, MISSING_ACK_REASON);
	} else if (!model__sees(model, NS_FACT_DELACK_FIRE)) {
		judge_by_round_trip(chain, out, MISSING_DELACK_HIDDEN);
	} else if (!chain->peer_acked) {
		judge_by_round_trip(chain, out, MISSING_PEER_MEANWHILE);
	} else if (!model__is_whole(model)) {
		conclude(out, CAUSE_NAGLE, RELEASED_BY_BARE_ACK, MISSING_DELACK_LOST);
	} else {
		conclude(out, CAUSE_NAGLE, RELEASED_BY_PROMPT_ACK, MISSING_NOTHING);
	}
}

/* More was written behind the held bytes, and together they left as a full segment. */
static bool filled_by_write(const struct incident *incident, const struct ns_hold *hold)
{
	const struct ns_segment *transmit = incident->open ? NULL : release__transmit(incident);

	return transmit && hold && hold->mss && transmit->end - transmit->seq >= hold->mss;
}

/* The program closed the connection, or its half: tcp_send_fin() lets all go that is held. */
static bool ended_by_close(const struct incident *incident)
{
	const struct ns_segment *transmit = incident->open ? NULL : release__transmit(incident);

	return transmit && transmit->flags & SEGMENT_FIN;
}

/* Was the other end's acknowledgement still waiting for its timer when the hold ended? */
static bool was_delayed_to_the_end(const struct incident *incident, const struct chain *chain,
				   const struct ns_delack *arm)
{
	return arm && !chain->fire && !chain->peer_acked &&
	       arm->head.ts + arm->delay_us * 1000ull + TIMER_SLACK_NS > incident->end_ts;
}

/* Nothing arrived by then, so that it is not known how long it would have lasted. */
static void judge_close(const struct model *model, const struct incident *incident,
			struct chain *chain, struct nagle *out)
{
	const struct model_conn *conn = model__conn(model, incident->conn);
	const struct ns_delack *arm = last_arming(&incident->peers, incident->end_ts);
	uint64_t took = incident->end_ts - incident->start_ts, prompt = prompt_ns(chain);

	if (was_delayed_to_the_end(incident, chain, arm)) {
		chain->arm = arm;
		conclude(out, CAUSE_NAGLE_DELACK, RELEASED_BY_CLOSE, MISSING_NOTHING);
	} else if (!(conn && conn->peer) && prompt && took > prompt) {
		infer(out, RELEASED_BY_CLOSE, INFERRED_FROM_NO_ACK,
		      stall__unseen_end(model, incident->conn));
	} else {
		conclude(out, CAUSE_NAGLE, RELEASED_BY_CLOSE, MISSING_ACK_BEFORE_CLOSE);
	}
}

/* Did the other end write something before the held bytes went, which may have carried the ACK? */
static bool peer_wrote(const struct incident *incident)
{
	const union event *event;

	for (size_t i = 0; (event = events__next(&incident->peers, NS_TX, &i));) {
		if (event->head.ts > incident->start_ts && event->head.ts < incident->end_ts &&
		    !is_behind_release(incident, &event->segment))
			return true;
	}
	return false;
}

/* Was the other end's timer to run out when the hold ended? */
static bool was_due_at_end(const struct incident *incident, const struct ns_hold *hold,
			   const struct ns_delack *arm)
{
	uint64_t due = 0;

	if (hold && hold->ack_due_us)
		due = hold->head.ts + hold->ack_due_us * 1000ull;
	else if (arm)
		due = arm->head.ts + arm->delay_us * 1000ull;
	return due > incident->start_ts && due <= incident->end_ts + TIMER_SLACK_NS &&
	       incident->end_ts <= due + TIMER_SLACK_NS;
}

/* Held bytes left in a softirq run that nobody saw (docs/limits.md): timer, ACK and transmit. */
static bool infer_from_arming(const struct incident *incident, struct chain *chain,
			      struct nagle *out)
{
	const struct ns_delack *arm = last_arming(&incident->peers, incident->end_ts - 1);

	if (!incident->release.inexact || chain->fire || peer_wrote(incident) ||
	    !was_due_at_end(incident, chain->hold, arm))
		return false;
	chain->arm = arm;
	infer(out, RELEASED_BY_DELAYED_ACK, INFERRED_FROM_TIMER_DUE, MISSING_ACK_AND_TRANSMIT);
	return true;
}

static void judge_without_arrival(const struct model *model, const struct incident *incident,
				  struct chain *chain, struct nagle *out)
{
	enum stall_release option = release__option(incident, chain->hold);

	if (option)
		conclude(out, CAUSE_NAGLE, option, MISSING_NOTHING);
	else if (filled_by_write(incident, chain->hold))
		conclude(out, CAUSE_NAGLE, RELEASED_BY_FULL_SEGMENT, MISSING_NOTHING);
	else if (ended_by_close(incident))
		judge_close(model, incident, chain, out);
	else if (incident->open)
		conclude(out, CAUSE_NAGLE, RELEASE_UNSEEN,
			 incident->closed ? MISSING_ACK_BEFORE_CLOSE : MISSING_END_WINDOW);
	else if (chain->left && !chain->peer_sent_data)
		infer(out, RELEASED_BY_DELAYED_ACK, INFERRED_FROM_TIMER_ACKED_BEFORE,
		      MISSING_ACK_ARRIVAL);
	else if (infer_from_arming(incident, chain, out))
		return;
	else if (!model__sees(model, NS_FACT_RECEIVE))
		conclude(out, CAUSE_NAGLE, RELEASE_UNSEEN, MISSING_RELEASER_HIDDEN);
	else
		conclude(out, CAUSE_NAGLE, RELEASE_UNSEEN, MISSING_RELEASER);
}

struct nagle nagle__explain(const struct model *model, const struct incident *incident,
			    const struct ns_hold *hold)
{
	const struct model_conn *conn = model__conn(model, incident->conn);
	bool has_peer = conn && conn->peer;
	struct chain chain = {.hold = hold, .start_ts = incident->start_ts};
	struct nagle out = {0};

	/* Without the hold's own record: all that was in flight is acknowledged at the end. */
	chain.snd_una = hold ? hold->seq - hold->unacked : incident->release.seq - 1;
	find_arrival(incident, &chain);
	if (has_peer)
		find_timer(incident, &chain);
	if (!chain.arrived)
		judge_without_arrival(model, incident, &chain, &out);
	else if (!segment__is_pure_ack(chain.arrived))
		conclude(&out, CAUSE_NAGLE, RELEASED_BY_DATA, MISSING_NOTHING);
	else if (has_peer)
		judge_pure_ack(model, &chain, &out);
	else
		judge_by_round_trip(&chain, &out, stall__unseen_end(model, incident->conn));
	out.ack = chain.arrived;
	if (out.cause == CAUSE_NAGLE_DELACK) {
		out.arm = chain.arm;
		out.fire = chain.fire;
		out.peer_ack = chain.left;
	}
	return out;
}

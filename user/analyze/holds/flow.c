// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/flow.h"

bool flow__reason(uint32_t reason)
{
	switch (reason) {
	case NS_HOLD_UNKNOWN:
	case NS_HOLD_NAGLE:
	case NS_HOLD_CORK:
	case NS_HOLD_MSG_MORE:
		return false;
	default:
		return true;
	}
}

bool flow__is(const struct incident *incident)
{
	return incident->kind == INCIDENT_HOLD && !incident->open &&
	       flow__reason(incident->release.reason);
}

/* Is this a sign at the holding end, or an act at the other one, that there was an answer? */
static bool is_answer(const union event *event, bool own)
{
	switch (event->head.type) {
	case NS_SEND:
		return !own;
	case NS_RX:
		return own && event__is_data_in(event);
	case NS_RECV:
	case NS_DELACK_ARM:
		return own;
	default:
		return false;
	}
}

static bool any_answer(const struct events *events, bool own, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < events->count && events->v[i].head.ts <= to; i++) {
		if (events->v[i].head.ts > from && is_answer(&events->v[i], own))
			return true;
	}
	return false;
}

/* Of a long flow the answer itself is gone from the history, but the request was seen whole. */
static bool was_answered(const struct model *model, uint32_t conn, uint64_t from, uint64_t to)
{
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk walk = exchanges__of(exchanges, 0, conn);
	const struct ns_exchange *exchange;

	while ((exchange = exchanges__next(exchanges, &walk))) {
		if (exchange->side == NS_EXCHANGE_ASKED && exchange->ended != NS_EXCHANGE_OPEN &&
		    exchange->head.ts > from && exchange->head.ts <= to)
			return true;
	}
	return false;
}

static uint32_t peer_of(const struct model *model, uint32_t number)
{
	const struct model_conn *conn = model__conn(model, number);

	return conn ? conn->peer : 0;
}

bool flow__goes_on(const struct model *model, const struct incident *one,
		   const struct incident *next)
{
	return one->conn == next->conn && flow__is(next) &&
	       next->start_ts <= one->end_ts + SETTLE_NS &&
	       !any_answer(&next->own, true, one->start_ts, next->start_ts) &&
	       !any_answer(&next->peers, false, one->start_ts, next->start_ts) &&
	       !was_answered(model, one->conn, one->start_ts, next->start_ts) &&
	       !was_answered(model, peer_of(model, one->conn), one->start_ts, next->start_ts);
}

void flow__absorb(struct incident *incident, struct incident *next)
{
	if (next->end_ts > incident->end_ts) {
		incident->end_ts = next->end_ts;
		incident->release = next->release;
	}
	if (next->start_ts < incident->start_ts)
		incident->start_ts = incident->own.reasons_from = next->start_ts;
	if (next->due_ts > incident->due_ts)
		incident->due_ts = next->due_ts;
	incident->release.held_ns = incident->end_ts - incident->start_ts;
	events__add_all(&incident->own, &next->own);
	events__add_all(&incident->peers, &next->peers);
	events__add_all(&incident->waits, &next->waits);
	events__add_all(&incident->rings, &next->rings);
	incident__free(next);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/hold.h"

#include <string.h>

#include "user/analyze/holds/nagle.h"
#include "user/analyze/holds/parts.h"
#include "user/analyze/holds/reader.h"
#include "user/analyze/holds/receiver.h"
#include "user/analyze/holds/release.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait.h"

/* The send that was held, and the last one before it that was not yet acknowledged. */
static void find_writes(const struct incident *incident, struct stall *stall)
{
	const struct ns_hold *hold = &stall->hold;
	uint32_t snd_una = hold->seq - hold->unacked;
	const union event *event;

	if (!hold->head.type)
		return;
	for (size_t i = 0; (event = events__next(&incident->own, NS_SEND, &i));) {
		if (event->head.ts > incident->end_ts)
			break;
		if (event->head.ts <= hold->head.ts && event->send.write_seq == hold->end)
			stall->second = event->send;
		else if (event->head.ts > hold->head.ts)
			/* Not the send that let them go: that one left snd_nxt behind them. */
			stall->joined += !seq_after(event->send.snd_nxt, hold->seq);
		else if (seq_after(event->send.write_seq, snd_una) &&
			 !seq_after(event->send.write_seq, hold->seq))
			stall->first = event->send;
	}
}

static bool is_nagle(const struct part *part)
{
	return part->reason == NS_HOLD_NAGLE;
}

/* Whether the ACK that ended a part by Nagle's algorithm was a delayed one decides its cause. */
static struct nagle judge_nagle(const struct model *model, const struct incident *incident,
				const struct parts *parts, struct part *part)
{
	struct incident alone = part__incident(incident, parts, part);
	struct nagle nagle = nagle__explain(model, &alone, part->hold);

	part->cause = nagle.cause;
	return nagle;
}

static void take_nagle(struct finding *finding, const struct nagle *nagle)
{
	struct stall *stall = &finding->stall;

	stall->confidence = nagle->confidence;
	stall->inferred = nagle->inferred;
	stall->missing = nagle->missing;
	stall->released_by = nagle->released_by;
	if (nagle->ack)
		stall->ack = *nagle->ack;
	if (nagle->arm)
		stall->arm = *nagle->arm;
	if (nagle->fire)
		stall->fire = *nagle->fire;
	if (nagle->peer_ack)
		finding->peer_ack = *nagle->peer_ack;
}

static void explain_cause(const struct model *model, const struct incident *incident,
			  struct parts *parts, struct finding *finding)
{
	struct part *last = &parts->v[parts->count - 1];
	struct nagle judged[PARTS];
	struct stall *stall = &finding->stall;
	const struct part *main_part;

	for (size_t i = 0; i < parts->count; i++) {
		if (is_nagle(&parts->v[i]))
			judged[i] = judge_nagle(model, incident, parts, &parts->v[i]);
	}
	main_part = parts__main(parts);
	stall->cause = main_part->cause;
	stall->reason = main_part->reason;
	if (main_part->hold)
		stall->hold = *main_part->hold;
	if (is_nagle(main_part))
		take_nagle(finding, &judged[main_part - parts->v]);
	if (main_part == last && is_nagle(last))
		return;
	if (is_nagle(last))
		stall->released_by = judged[parts->count - 1].released_by;
	else
		release__explain(incident, last, stall);
	if (!stall->missing && stall->cause == CAUSE_UNKNOWN)
		stall->missing = MISSING_HOLD_REASON;
}

/* Until the release each part is its cause's; what the receiver took to run is not. */
static void cut_slices(struct stall *stall, const struct parts *parts,
		       const struct ns_wait *receiver)
{
	stall->end_ts = parts->v[parts->count - 1].end_ts;
	for (size_t i = 0; i < parts->count; i++)
		stall__slice(stall, parts->v[i].cause, parts->v[i].end_ts - parts->v[i].start_ts);
	if (receiver)
		receiver__cut(stall, receiver);
}

/* All that was held from the first of its bytes on. */
static uint32_t bytes_held(const struct incident *incident, const struct parts *parts)
{
	const struct ns_hold *first = parts->v[0].hold;
	uint32_t seq = first ? first->seq : incident->release.seq;

	/* Later writes may have joined it. */
	return (incident->open ? parts->v[parts->count - 1].hold->end : incident->release.end) -
	       seq;
}

/* The reader itself is the reason. */
static bool is_of_reader(const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		switch (parts->v[i].reason) {
		case NS_HOLD_UNKNOWN:
		case NS_HOLD_RWND:
		case NS_HOLD_ZERO_WINDOW:
		case NS_HOLD_SNDBUF:
			return true;
		default:
			break;
		}
	}
	return false;
}

/*
 * Held bytes delay who waits for them. A program that all the while had not even read what was
 * there when the hold began had no use for more: the end of each write in a bulk transfer waits
 * for an acknowledgement like that. Where the reader itself is the reason, a closed window or
 * a full buffer, it is a stall all the same.
 */
static bool nobody_wanted(const struct incident *incident, const struct parts *parts)
{
	const struct ns_release *release = &incident->release;

	return !incident->open && release->unread_known && release->unread && !is_of_reader(parts);
}

/* One end writes and the other answers: what is written until then is one message. */
static bool is_of_requests(const struct model *model, const struct model_conn *conn)
{
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk own, peers;

	if (!conn)
		return false;
	own = exchanges__of(exchanges, 0, conn->number);
	peers = exchanges__of(exchanges, 0, conn->peer);
	return exchanges__next(exchanges, &own) || exchanges__next(exchanges, &peers);
}

/*
 * Until its last write a message is held because its program was still making it: when was that?
 * Of bytes that nobody answers it is not known where a message ends.
 */
static uint64_t complete_from(const struct model *model, const struct incident *incident,
			      const struct parts *parts, const struct stall *stall)
{
	uint32_t reason = parts->v[parts->count - 1].reason;
	bool is_corked = reason == NS_HOLD_CORK || reason == NS_HOLD_MSG_MORE;
	uint64_t start = incident->start_ts, last = start;
	bool by_write = is_corked && (stall->released_by == RELEASED_BY_LATER_WRITE ||
				      stall->released_by == RELEASED_BY_FULL_SEGMENT);
	bool by_program = by_write || stall->released_by == RELEASED_BY_UNCORK ||
			  stall->released_by == RELEASED_BY_NODELAY;

	if (parts->count > 1 || !(reason == NS_HOLD_NAGLE || (is_corked && by_program)) ||
	    !is_of_requests(model, model__conn(model, incident->conn)))
		return start;
	for (size_t i = 0; i < incident->own.count; i++) {
		const union event *event = &incident->own.v[i];

		if (event->head.ts <= start || event->head.ts > incident->end_ts)
			continue;
		if (event->head.type == NS_RX && event->segment.seq != event->segment.end)
			return start;
		if (event->head.type == NS_SEND)
			last = event->head.ts;
	}
	return by_write ? incident->end_ts : last;
}

/* Before that nothing was lost: cut off if it is as long as a stall. False: nothing is left. */
static bool cut_before(const struct model *model, struct parts *parts, uint64_t from)
{
	uint64_t end = parts->v[parts->count - 1].end_ts;

	if (from < parts->v[0].start_ts + model__threshold(model))
		return true;
	if (from + model__threshold(model) > end)
		return false;
	parts__begin_at(parts, from);
	return true;
}

/*
 * The other end held its bytes because the target, which is to read them, does not: that delays
 * the other end, not the target.
 */
static bool target_shut_the_window(const struct model *model, const struct model_conn *conn,
				   const struct parts *parts)
{
	uint32_t reason = parts__main(parts)->reason;

	if (!conn || !conn->id.head.type || conn->id.role & NS_ROLE_TARGET)
		return false;
	conn = model__conn(model, conn->peer);
	return conn && conn->id.role & NS_ROLE_TARGET &&
	       (reason == NS_HOLD_RWND || reason == NS_HOLD_ZERO_WINDOW);
}

/*
 * While nobody reads, a window closes however fast the bytes come: what held them on their way
 * there, a pacing or a small congestion window, delayed nobody, but for the time in which the
 * reader waited for them.
 */
static void leave_to_reader(const struct model *model, const struct incident *incident,
			    struct parts *parts)
{
	struct stall_reader reader;

	for (size_t i = parts->count - 1; i > 0; i--) {
		if (parts->v[i].reason != NS_HOLD_ZERO_WINDOW)
			continue;
		reader = reader__find(model, incident);
		if (reader.seen)
			parts__shut_since(parts, i, parts->v[0].start_ts + reader.waited_ns);
		return;
	}
}

bool hold__explain(const struct model *model, const struct incident *incident,
		   struct finding *finding)
{
	const struct model_conn *conn = model__conn(model, incident->conn);
	struct stall *stall = &finding->stall;
	const struct ns_wait *receiver;
	struct parts parts;

	memset(finding, 0, sizeof(*finding));
	if (incident->open && !events__open_hold(&incident->own))
		return false; /* its release came after all */
	parts__find(incident, &parts);
	leave_to_reader(model, incident, &parts);
	if (incident->open && !parts.v[parts.count - 1].hold)
		return false;
	if (nobody_wanted(incident, &parts) || target_shut_the_window(model, conn, &parts))
		return false;
	stall->conn = incident->conn;
	stall->peer = conn ? conn->peer : 0;
	if (!incident->open && !is_of_reader(&parts) &&
	    !cut_before(model, &parts, reader__wants_from(model, incident)))
		return false;
	stall->open = incident->open;
	stall->exact = !incident->open && !incident->release.inexact;
	stall->held_bytes = bytes_held(incident, &parts);
	if (parts.v[0].start_ts > incident->end_ts ||
	    incident->end_ts - parts.v[0].start_ts < model__threshold(model))
		return false;
	explain_cause(model, incident, &parts, finding);
	if (!cut_before(model, &parts, complete_from(model, incident, &parts, stall)))
		return false;
	stall->start_ts = parts.v[0].start_ts;
	find_writes(incident, stall);
	if (!stall->hold.head.type && !stall->missing)
		stall->missing = MISSING_HELD_WRITE;
	if (!stall->open && !stall->exact && !stall->missing)
		stall->missing = MISSING_TRANSMIT_LATE;
	receiver = receiver__find(model, incident, stall->hold.head.tid);
	if (receiver) {
		finding->receiver = *receiver;
		uring_wait__fill_in(model, &finding->receiver);
	}
	if (cause__waits_for_reader(stall->cause))
		stall->reader = reader__find(model, incident);
	cut_slices(stall, &parts, receiver);
	receiver__find_delayed(model, incident, finding);
	stall__check(stall);
	return true;
}

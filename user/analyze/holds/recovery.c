// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/recovery.h"

#include <string.h>

#include "bpf/times.h"
#include "user/analyze/holds/reader.h"
#include "user/analyze/holds/receiver.h"
#include "user/analyze/waits/wait.h"

/* The kind that a recovery with several is named for is the dearest of them. */
static const struct {
	uint32_t kind;
	enum cause cause;
} kinds[] = {
	{NS_RETRANS_UNKNOWN, CAUSE_UNKNOWN},
	{NS_RETRANS_FAST, CAUSE_FAST_RETRANSMIT},
	{NS_RETRANS_TLP, CAUSE_TLP},
	{NS_RETRANS_RTO, CAUSE_RTO},
	{NS_RETRANS_SYN, CAUSE_SYN_RETRANSMIT},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static size_t rank_of(uint32_t kind)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].kind == kind)
			return i;
	}
	return 0;
}

static bool carries(const struct ns_segment *segment, const struct loss *loss)
{
	return segment->seq != segment->end && seq_after(segment->end, loss->seq) &&
	       !seq_after(segment->seq, loss->seq);
}

/*
 * When the lost bytes reached the other end: the last time, for when the first one got
 * through after all it was an acknowledgement that was lost. 0: not seen.
 */
static uint64_t arrival(const struct incident *incident)
{
	const union event *event;
	uint64_t ts = 0;

	for (size_t i = 0; (event = events__next(&incident->peers, NS_RX, &i));) {
		if (event->head.ts > incident->start_ts && event->head.ts <= incident->end_ts &&
		    carries(&event->segment, &incident->loss))
			ts = event->head.ts;
	}
	return ts;
}

static bool sends_again(const struct ns_retrans *retrans, const struct loss *loss)
{
	return retrans->seq == loss->seq ||
	       (seq_after(loss->seq, retrans->seq) && seq_after(retrans->end, loss->seq));
}

struct progress {
	const struct ns_retrans *last;    /* of the first lost byte: this one got through */
	const struct ns_retrans *dearest; /* the last of the kind that names the stall */
	const struct ns_hold *hold;       /* what was held back behind the loss */
	uint64_t held_ns;                 /* the longest time that anything was held so */
	uint64_t probe_ts;                /* a probe with held bytes left, 0 none */
};

static void follow_retrans(const struct ns_retrans *retrans, const struct loss *loss,
			   struct progress *progress)
{
	if (!progress->last || sends_again(retrans, loss))
		progress->last = retrans;
	if (!progress->dearest || rank_of(retrans->kind) >= rank_of(progress->dearest->kind))
		progress->dearest = retrans;
}

/*
 * A tail loss probe takes new bytes when there are any, even such as Nagle's algorithm holds:
 * these leave although nothing arrived that would let them, and what arrives then shows
 * the loss.
 */
static void follow(const struct incident *incident, struct stall *stall, struct progress *progress)
{
	bool released = false; /* or might have been, by an acknowledgement or a write */
	bool holds = false;

	for (size_t i = 0; i < incident->own.count; i++) {
		const union event *event = &incident->own.v[i];

		if (event->head.ts < incident->start_ts)
			continue;
		if (event->head.ts > incident->end_ts)
			break;
		switch (event->head.type) {
		case NS_HOLD:
			progress->hold = &event->hold;
			released = false;
			holds = true;
			break;
		case NS_RX:
			if (progress->hold &&
			    seq_after(event->segment.ack,
				      progress->hold->seq - progress->hold->unacked))
				released = true;
			break;
		case NS_SEND:
			released = true;
			break;
		case NS_RELEASE:
			holds = false;
			if (event->release.held_ns > progress->held_ns)
				progress->held_ns = event->release.held_ns;
			if (progress->hold && !released && !stall->retransmits &&
			    progress->hold->reason == NS_HOLD_NAGLE && !event->release.inexact)
				progress->probe_ts = event->head.ts;
			break;
		case NS_RETRANS:
			stall->retransmits++;
			follow_retrans(&event->retrans, &incident->loss, progress);
			break;
		default:
			break;
		}
	}
	if (holds && ns_passed(progress->hold->head.ts, incident->end_ts) > progress->held_ns)
		progress->held_ns = ns_passed(progress->hold->head.ts, incident->end_ts);
}

/* A slice behind the others. */
static void add_slice(struct stall *stall, enum cause cause, uint64_t until)
{
	uint64_t ns = until > stall->end_ts ? until - stall->end_ts : 0;

	stall__slice(stall, cause, ns);
	stall->end_ts += ns;
}

/* What sent it, or, when that was not seen, what the whole is named for. */
static enum cause cause_of(const struct stall *stall, const struct ns_retrans *retrans)
{
	enum cause cause = kinds[rank_of(retrans->kind)].cause;

	return cause == CAUSE_UNKNOWN ? stall->cause : cause;
}

static void cut_slices(struct stall *stall, const struct incident *incident,
		       const struct progress *progress, uint64_t delivered)
{
	const union event *event;

	stall->end_ts = stall->start_ts;
	if (progress->probe_ts && progress->probe_ts < delivered)
		add_slice(stall, CAUSE_TLP, progress->probe_ts);
	for (size_t i = 0; (event = events__next(&incident->own, NS_RETRANS, &i));) {
		uint64_t ts = event->head.ts;

		if (ts >= incident->start_ts && ts <= incident->end_ts)
			add_slice(stall, cause_of(stall, &event->retrans),
				  ts < delivered ? ts : delivered);
	}
	/* It lasts: the timer that will run out next, or has given up, is to wait for. */
	if (incident->loss.open || incident->loss.closed)
		add_slice(stall, stall->cause, incident->end_ts);
}

static void cut_rest(struct stall *stall, const struct incident *incident, uint64_t arrived,
		     const struct ns_wait *receiver)
{
	if (incident->loss.open || incident->loss.closed)
		return;
	if (receiver)
		receiver__cut(stall, receiver);
	else
		add_slice(stall, CAUSE_NETWORK, arrived ? arrived : incident->end_ts);
}

static void find_missing(struct stall *stall, const struct loss *loss)
{
	if (loss->open)
		stall->missing = MISSING_END_WINDOW;
	else if (loss->closed && !loss->is_syn)
		stall->missing = MISSING_ACK_BEFORE_CLOSE;
	else if (!loss->first_sent_seen)
		stall->missing = MISSING_FIRST_TRANSMIT;
	else if (!loss->acked && !loss->closed)
		stall->missing = MISSING_LAST_ACK;
	else if (stall->cause == CAUSE_UNKNOWN)
		stall->missing = MISSING_RETRANSMIT_REASON;
}

static void describe(const struct incident *incident, const struct progress *progress,
		     struct stall *stall)
{
	const struct loss *loss = &incident->loss;

	stall->retrans = *progress->dearest;
	stall->queue = (struct stall_queue){.port = stall->retrans.listen_port,
					    .length = stall->retrans.backlog,
					    .backlog = stall->retrans.backlog_max,
					    .somaxconn = stall->retrans.somaxconn};
	stall->cause = kinds[rank_of(progress->dearest->kind)].cause;
	if (progress->probe_ts && stall->cause == CAUSE_FAST_RETRANSMIT)
		stall->cause = CAUSE_TLP;
	stall->open = loss->open || loss->closed;
	stall->exact = loss->first_sent_seen && loss->acked;
	if (loss->closed && loss->is_syn) {
		/* Nobody ever answered, and the program, or the kernel, gave up. */
		stall->released_by = RELEASED_BY_GIVING_UP;
		stall->exact = loss->first_sent_seen;
	} else if (loss->acked) {
		stall->released_by =
			loss->is_syn ? RELEASED_BY_SYN_ANSWER : RELEASED_BY_RETRANSMIT_ACK;
	}
	find_missing(stall, loss);
	if (!progress->hold)
		return;
	stall->hold = *progress->hold;
	stall->reason = progress->hold->reason;
	stall->held_bytes = progress->hold->end - progress->hold->seq;
}

static bool in_range(uint32_t seq, uint32_t from, uint32_t to)
{
	return !seq_after(from, seq) && seq_after(to, seq);
}

/* The transmit of these bytes, or the send that wrote them and left nothing behind. */
static bool shows_sending(const union event *event, uint32_t seq)
{
	const struct ns_send *send = &event->send;

	if (event->head.type == NS_TX)
		return in_range(seq, event->segment.seq, event->segment.end);
	return event->head.type == NS_SEND && seq_after(send->snd_nxt, seq) &&
	       in_range(seq, send->write_seq - send->bytes, send->write_seq);
}

/*
 * When did the lost bytes go out for the first time? The kernel's own stamp is the best
 * witness, then what was seen of the connection, then the timer, which ran since.
 */
static uint64_t first_sent(const struct model *model, const struct ns_retrans *retrans, bool *known)
{
	const struct model_conn *conn = model__conn(model, retrans->head.conn);
	uint64_t ts = retrans->head.ts, timer = retrans->rto_us * 1000ull;

	*known = true;
	if (retrans->sent_ts && retrans->sent_ts <= ts)
		return retrans->sent_ts;
	for (size_t i = 0; conn && i < conn->events.count; i++) {
		const union event *event = &conn->events.v[i];

		if (event->head.ts <= ts && shows_sending(event, retrans->seq))
			return event->head.ts;
	}
	*known = false;
	if (retrans->retries && retrans->kind != NS_RETRANS_TLP && timer < ts)
		return ts - timer;
	return ts;
}

/* What went out before the window counts from its beginning. */
uint64_t recovery__first_sent(const struct model *model, const struct ns_retrans *retrans,
			      bool *known)
{
	uint64_t begin = model__session(model)->head.ts;
	uint64_t ts = first_sent(model, retrans, known);

	if (ts >= begin)
		return ts;
	*known = false;
	return begin;
}

/*
 * Records come late: when a repetition is recorded before what it repeats, the start is that of
 * an earlier retransmission. Back to the first transmission.
 */
static void find_start(const struct model *model, struct incident *incident)
{
	const union event *event;
	bool moved;

	do {
		moved = false;
		for (size_t i = 0; (event = events__next(&incident->own, NS_RETRANS, &i));) {
			uint64_t sent;

			if (event->head.ts > incident->start_ts || event->retrans.arrived ||
			    event->retrans.seq != incident->loss.seq)
				continue;
			sent = recovery__first_sent(model, &event->retrans,
						    &incident->loss.first_sent_seen);
			moved = sent < incident->start_ts;
			incident->start_ts = sent;
			break;
		}
	} while (moved);
}

/* And the end is the first acknowledgement, whatever was recorded before it. */
static void find_end(struct incident *incident)
{
	struct loss *loss = &incident->loss;
	bool sent = false;

	for (size_t i = 0; i < incident->own.count; i++) {
		const union event *event = &incident->own.v[i];

		if (event->head.ts < incident->start_ts)
			continue;
		sent = sent || event->head.type == NS_RETRANS;
		if (event->head.type != NS_RX || !sent || !loss__is_acked(loss, event->segment.ack))
			continue;
		incident->end_ts = event->head.ts;
		loss->acked = true;
		loss->open = false;
		loss->closed = false;
		return;
	}
}

/* Not before the bytes had come after all. */
static bool nobody_waited(const struct model *model, const struct incident *delivery)
{
	uint64_t from = reader__wants_from(model, delivery);

	return from > delivery->start_ts && from >= delivery->end_ts;
}

bool recovery__explain(const struct model *model, const struct incident *recorded,
		       struct finding *finding)
{
	struct incident whole = *recorded, *incident = &whole;
	const struct model_conn *conn = model__conn(model, incident->conn);
	struct stall *stall = &finding->stall;
	struct progress progress = {0};
	struct incident delivery; /* as if it ended when the bytes got through */
	const struct ns_wait *receiver;
	uint64_t arrived;

	memset(finding, 0, sizeof(*finding));
	find_start(model, incident);
	find_end(incident);
	follow(incident, stall, &progress);
	if (!progress.last)
		return false;
	/* The bytes were there all the time; only what was held back for want of the
	 * acknowledgement was delayed. */
	if (progress.dearest->retries && progress.dearest->arrived && !progress.hold)
		return false;
	stall->conn = incident->conn;
	stall->peer = conn ? conn->peer : 0;
	stall->start_ts = incident->start_ts;
	describe(incident, &progress, stall);
	arrived = arrival(incident);
	delivery = whole;
	delivery.end_ts =
		arrived && arrived < progress.last->head.ts ? arrived : progress.last->head.ts;
	delivery.open = stall->open;
	if (!stall->open && nobody_waited(model, &delivery))
		return false;
	receiver = receiver__find(model, &delivery, stall->hold.head.tid);
	if (receiver)
		finding->receiver = *receiver;
	cut_slices(stall, incident, &progress, delivery.end_ts);
	cut_rest(stall, incident, arrived, receiver);
	if (stall->end_ts - stall->start_ts < model__threshold(model))
		return false;
	receiver__find_delayed(model, incident, finding);
	/* A fast retransmission costs a round trip; it matters when somebody waited for it. */
	if (stall->cause == CAUSE_FAST_RETRANSMIT && !stall->tid &&
	    progress.held_ns < model__threshold(model))
		return false;
	stall__check(stall);
	return true;
}

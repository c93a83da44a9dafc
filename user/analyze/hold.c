// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* From a hold and the events around it to a stall: who held what, why, and whom it delayed. */
#include <string.h>

#include "user/analyze/stall.h"

#define NOT_YET(reason) "(held by " reason ", which this version does not explain)"

static const char *const not_explained_yet[] = {
	[NS_HOLD_UNKNOWN] = "why TCP held the bytes",
	[NS_HOLD_RWND] = "what kept the receive window small " NOT_YET("rwnd"),
	[NS_HOLD_ZERO_WINDOW] = "why the other end does not read " NOT_YET("zero-window"),
	[NS_HOLD_CWND] = "what kept the congestion window small " NOT_YET("cwnd"),
	[NS_HOLD_PACING] = "what set the pacing rate " NOT_YET("pacing"),
	[NS_HOLD_TSQ] = "what filled the device's queue " NOT_YET("tsq"),
	[NS_HOLD_TSO_DEFER] = "what a full segment waited for " NOT_YET("tso-defer"),
	[NS_HOLD_AUTOCORK] = "what filled the device's queue " NOT_YET("autocork"),
	[NS_HOLD_SNDBUF] = "what filled the send buffer " NOT_YET("sndbuf"),
};

/* The hold that the release, or the end of the window, closes. */
static const struct ns_hold *find_hold(const struct incident *incident)
{
	const struct ns_hold *found = NULL;

	if (incident->open)
		return events__open_hold(&incident->own);
	for (size_t i = 0; i < incident->own.count; i++) {
		const union event *event = &incident->own.v[i];

		if (event->head.type == NS_HOLD && event->head.ts <= incident->end_ts &&
		    event->hold.seq == incident->release.seq)
			found = &event->hold;
	}
	return found;
}

/* The send that was held, and the last one before it that was not yet acknowledged. */
static void find_writes(const struct incident *incident, struct stall *stall)
{
	const struct ns_hold *hold = &stall->hold;
	uint32_t snd_una = hold->seq - hold->unacked;

	if (!hold->head.type)
		return;
	for (size_t i = 0; i < incident->own.count; i++) {
		const union event *event = &incident->own.v[i];

		if (event->head.type != NS_SEND || event->head.ts > incident->end_ts)
			continue;
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

/* The transmit that took the held bytes. */
static const struct ns_segment *find_transmit(const struct incident *incident)
{
	for (size_t i = 0; i < incident->own.count; i++) {
		const union event *event = &incident->own.v[i];

		if (event->head.type == NS_TX && event->head.ts == incident->end_ts &&
		    seq_after(event->segment.end, incident->release.seq))
			return &event->segment;
	}
	return NULL;
}

static void explain_cork(const struct incident *incident, struct finding *finding, bool msg_more)
{
	const struct ns_segment *transmit = find_transmit(incident);
	struct stall *stall = &finding->stall;

	stall->cause = CAUSE_CORK;
	if (incident->open)
		stall->missing = incident->closed ? "its end: the connection was closed first"
						  : "its end: the window closed first";
	else if (!transmit)
		stall->missing = "the transmit that ended it";
	else if (seq_after(transmit->end, incident->release.end))
		stall->ended = msg_more ? "a later write, without MSG_MORE or filling the segment"
					: "a later write that filled the segment";
	else
		stall->ended = msg_more ? "a push, or the kernel's limit of 200 ms"
					: "clearing TCP_CORK, or the kernel's limit of 200 ms";
}

static void explain_cause(const struct model *model, const struct incident *incident,
			  struct finding *finding)
{
	struct stall *stall = &finding->stall;

	switch (stall->reason) {
	case NS_HOLD_NAGLE:
		nagle__explain(model, incident, finding);
		break;
	case NS_HOLD_CORK:
	case NS_HOLD_MSG_MORE:
		explain_cork(incident, finding, stall->reason == NS_HOLD_MSG_MORE);
		break;
	default:
		stall->cause = CAUSE_UNKNOWN;
		stall->missing =
			not_explained_yet[stall->reason <= NS_HOLD_SNDBUF ? stall->reason : 0];
		break;
	}
}

/* The part until the release is the cause's; what the receiver took to run is not. */
static void cut_slices(struct stall *stall, uint64_t released, const struct ns_wait *receiver)
{
	uint64_t woken;

	stall->end_ts = released;
	stall__slice(stall, stall->cause, released - stall->start_ts);
	if (!receiver)
		return;
	woken = wait__woken(receiver);
	stall__slice(stall, CAUSE_NETWORK, woken - released);
	stall__slice(stall, CAUSE_RUNQUEUE, receiver->head.ts - woken);
	stall->end_ts = receiver->head.ts;
}

bool hold__explain(const struct model *model, const struct incident *incident,
		   struct finding *finding)
{
	const struct model_conn *conn = model__conn(model, incident->conn);
	const struct ns_hold *hold = find_hold(incident);
	struct stall *stall = &finding->stall;
	const struct ns_wait *receiver;

	memset(finding, 0, sizeof(*finding));
	if (incident->open && !hold)
		return false; /* its release came after all */
	stall->conn = incident->conn;
	stall->peer = conn ? conn->peer : 0;
	stall->start_ts = incident->start_ts;
	stall->open = incident->open;
	stall->exact = !incident->open && !incident->release.inexact;
	if (hold) {
		stall->hold = *hold;
		stall->start_ts = hold->head.ts;
	}
	stall->reason = incident->open ? hold->reason : incident->release.reason;
	stall->held_bytes = incident->open ? hold->end - hold->seq
					   : incident->release.end - incident->release.seq;
	if (stall->start_ts > incident->end_ts ||
	    incident->end_ts - stall->start_ts < session__threshold(model))
		return false;
	find_writes(incident, stall);
	explain_cause(model, incident, finding);
	if (!hold && !stall->missing)
		stall->missing = "the write that was held";
	if (!stall->open && !stall->exact && !stall->missing)
		stall->missing = "the transmit that ended it: its end is an upper bound";
	receiver = wait__receiver(model, incident, stall->hold.head.tid);
	if (receiver)
		finding->receiver = *receiver;
	cut_slices(stall, incident->end_ts, receiver);
	wait__find_delayed(model, incident, finding);
	stall__check(stall);
	return true;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What let held bytes go, by what was seen of it. */
#include "user/analyze/holds/parts.h"

#define NONAGLE_NODELAY 1
#define NONAGLE_CORK    2

/* What ends a hold of a reason: an acknowledgement that arrives, or something unseen. */
struct ending {
	const char *by_ack;  /* when one arrived while it lasted; NULL: that does not end it */
	const char *without; /* ended without one; NULL: then it was not seen */
	const char *missing; /* what was not seen then */
};

static const struct ending endings[] = {
	[NS_HOLD_RWND] = {"an acknowledgement that moved the receiver's window on", NULL,
			  "the acknowledgement that moved the window on (without one, only TCP's "
			  "probe of the window sends)"},
	[NS_HOLD_ZERO_WINDOW] = {"an acknowledgement that opened the receiver's window", NULL,
				 "the acknowledgement that opened the window (without one, only "
				 "TCP's probe of the window sends)"},
	[NS_HOLD_CWND] = {"an acknowledgement, which made room in the congestion window", NULL,
			  "the acknowledgement that made room in the congestion window (without "
			  "one, only a loss probe sends)"},
	[NS_HOLD_PACING] = {NULL, "the pacing timer", NULL},
	[NS_HOLD_TSQ] = {NULL, "the device, done with earlier segments", NULL},
	[NS_HOLD_AUTOCORK] = {NULL, "the device, done with earlier segments", NULL},
	[NS_HOLD_TSO_DEFER] = {"an acknowledgement", NULL,
			       "what ended the deferral: neither an acknowledgement nor a write"},
	[NS_HOLD_SNDBUF] = {"an acknowledgement, which made room in the send buffer", NULL,
			    "the acknowledgement that made room in the send buffer"},
};

const struct ns_segment *release__transmit(const struct incident *incident)
{
	for (size_t i = 0; i < incident->own.count; i++) {
		const union event *event = &incident->own.v[i];

		if (event->head.type == NS_TX && event->head.ts == incident->end_ts &&
		    seq_after(event->segment.end, incident->release.seq))
			return &event->segment;
	}
	return NULL;
}

const char *release__option(const struct incident *incident, const struct ns_hold *hold)
{
	uint32_t before = hold ? hold->nonagle : 0, after = incident->release.nonagle;

	if (incident->open || !hold || !incident->release.nonagle_known)
		return NULL;
	if (after & NONAGLE_NODELAY && !(before & NONAGLE_NODELAY))
		return "setting TCP_NODELAY";
	if (before & NONAGLE_CORK && !(after & NONAGLE_CORK))
		return "clearing TCP_CORK";
	return NULL;
}

static bool ack_arrived(const struct incident *incident, uint64_t start_ts)
{
	for (size_t i = 0; i < incident->own.count; i++) {
		const struct ns_head *head = &incident->own.v[i].head;

		if (head->type == NS_RX && head->ts > start_ts && head->ts <= incident->end_ts)
			return true;
	}
	return false;
}

static void end_cork(const struct incident *incident, const struct part *part, struct stall *stall)
{
	bool msg_more = part->reason == NS_HOLD_MSG_MORE;
	const struct ns_segment *transmit = release__transmit(incident);
	bool known = incident->release.nonagle_known;

	stall->ended = msg_more ? NULL : release__option(incident, part->hold);
	if (stall->ended)
		return;
	if (!transmit)
		stall->missing = "the transmit that ended it";
	else if (seq_after(transmit->end, incident->release.end))
		stall->ended = msg_more ? "a later write, without MSG_MORE or filling the segment"
					: "a later write that filled the segment";
	else if (msg_more)
		stall->ended = "a push, or the kernel's limit of 200 ms";
	else
		stall->ended = known ? "the kernel's limit of 200 ms"
				     : "clearing TCP_CORK, or the kernel's limit of 200 ms";
}

void release__explain(const struct incident *incident, const struct part *last, struct stall *stall)
{
	const struct ending *ending;

	if (incident->open) {
		stall->missing = incident->closed ? "its end: the connection was closed first"
						  : "its end: the window closed first";
		return;
	}
	if (last->reason == NS_HOLD_CORK || last->reason == NS_HOLD_MSG_MORE) {
		end_cork(incident, last, stall);
		return;
	}
	if (last->reason >= sizeof(endings) / sizeof(endings[0]))
		return;
	ending = &endings[last->reason];
	if (ending->by_ack && ack_arrived(incident, last->start_ts))
		stall->ended = ending->by_ack;
	else if (ending->without)
		stall->ended = ending->without;
	else
		stall->missing = ending->missing;
}

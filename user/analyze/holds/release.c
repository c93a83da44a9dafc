// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/release.h"

#define NONAGLE_NODELAY 1
#define NONAGLE_CORK    2

/* What ends a hold of a reason: an acknowledgement that arrives, or something unseen. */
struct release_rule {
	enum stall_release
		by_ack; /* when one arrived while it lasted; UNSEEN: it does not end it */
	enum stall_release without; /* ended without one; UNSEEN: then it was not seen */
	enum stall_missing missing; /* what was not seen then */
};

/* clang-format off */
static const struct release_rule rules[] = {
	[NS_HOLD_RWND] = {.by_ack = RELEASED_BY_RWND_ACK, .missing = MISSING_RWND_ACK},
	[NS_HOLD_ZERO_WINDOW] = {.by_ack = RELEASED_BY_WINDOW_OPENING, .missing = MISSING_WINDOW_OPENING},
	[NS_HOLD_CWND] = {.by_ack = RELEASED_BY_CWND_ACK, .missing = MISSING_CWND_ACK},
	[NS_HOLD_PACING] = {.without = RELEASED_BY_PACING_TIMER},
	[NS_HOLD_TSQ] = {.without = RELEASED_BY_DEVICE},
	[NS_HOLD_AUTOCORK] = {.without = RELEASED_BY_DEVICE},
	[NS_HOLD_TSO_DEFER] = {.by_ack = RELEASED_BY_ACK, .missing = MISSING_DEFERRAL_END},
	[NS_HOLD_SNDBUF] = {.by_ack = RELEASED_BY_SNDBUF_ACK, .missing = MISSING_SNDBUF_ACK},
};
/* clang-format on */

const struct ns_segment *release__transmit(const struct incident *incident)
{
	const union event *event;

	for (size_t i = 0; (event = events__next(&incident->own, NS_TX, &i));) {
		if (event->head.ts == incident->end_ts &&
		    seq_after(event->segment.end, incident->release.seq))
			return &event->segment;
	}
	return NULL;
}

enum stall_release release__option(const struct incident *incident, const struct ns_hold *hold)
{
	uint32_t before = hold ? hold->nonagle : 0, after = incident->release.nonagle;

	if (incident->open || !hold || !incident->release.nonagle_known)
		return RELEASE_UNSEEN;
	if (after & NONAGLE_NODELAY && !(before & NONAGLE_NODELAY))
		return RELEASED_BY_NODELAY;
	if (before & NONAGLE_CORK && !(after & NONAGLE_CORK))
		return RELEASED_BY_UNCORK;
	return RELEASE_UNSEEN;
}

static bool ack_arrived(const struct incident *incident, uint64_t start_ts)
{
	const union event *event;

	for (size_t i = 0; (event = events__next(&incident->own, NS_RX, &i));) {
		if (event->head.ts > start_ts && event->head.ts <= incident->end_ts)
			return true;
	}
	return false;
}

static void explain_cork(const struct incident *incident, const struct part *part,
			 struct stall *stall)
{
	bool msg_more = part->reason == NS_HOLD_MSG_MORE;
	const struct ns_segment *transmit = release__transmit(incident);
	bool known = incident->release.nonagle_known;

	stall->released_by = msg_more ? RELEASE_UNSEEN : release__option(incident, part->hold);
	if (stall->released_by)
		return;
	if (!transmit)
		stall->missing = MISSING_TRANSMIT;
	else if (seq_after(transmit->end, incident->release.end))
		stall->released_by = msg_more ? RELEASED_BY_LATER_WRITE : RELEASED_BY_FULL_SEGMENT;
	else if (msg_more)
		stall->released_by = RELEASED_BY_PUSH;
	else
		stall->released_by = known ? RELEASED_BY_CORK_LIMIT : RELEASED_BY_UNCORK_OR_LIMIT;
}

void release__explain(const struct incident *incident, const struct part *last, struct stall *stall)
{
	const struct release_rule *rule;

	if (incident->open) {
		stall->missing = incident->closed ? MISSING_END_CLOSE : MISSING_END_WINDOW;
		return;
	}
	if (last->reason == NS_HOLD_CORK || last->reason == NS_HOLD_MSG_MORE) {
		explain_cork(incident, last, stall);
		return;
	}
	if (last->reason >= sizeof(rules) / sizeof(rules[0]))
		return;
	rule = &rules[last->reason];
	if (rule->by_ack && ack_arrived(incident, last->start_ts))
		stall->released_by = rule->by_ack;
	else if (rule->without)
		stall->released_by = rule->without;
	else
		stall->missing = rule->missing;
}

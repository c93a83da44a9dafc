// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Segments that were lost, and what sent them again. Where they were lost nobody here sees. */
#include "user/base/text.h"
#include "user/explain/tale_parts.h"

/* "1,448 B (sequence 1001 to 2449) that client/4242 had sent 204 ms before on fd 7 (...)" */
static void add_lost(const struct story *story, char **text)
{
	const struct ns_retrans *lost = &story->stall->retrans;
	char bytes[TEXT_BYTES], ago[TEXT_DURATION];

	tale__whose(story, text);
	if (lost->head.type && lost->end != lost->seq)
		prose__add(text, "%s (sequence %u to %u)",
			   text__bytes(bytes, sizeof(bytes), lost->end - lost->seq), lost->seq,
			   lost->end);
	else
		prose__add(text, "A segment");
	prose__add(text, " that %s had sent", story->sender);
	if (lost->head.type && lost->sent_ts && lost->sent_ts < lost->head.ts)
		prose__add(text, " %s before",
			   text__duration(ago, sizeof(ago), lost->head.ts - lost->sent_ts));
	prose__add(text, " on %s", story->fd);
	tale__connection(story, text);
	prose__add(text, " was not acknowledged in time");
}

static void add_honesty(const struct story *story, char **text)
{
	char count[TEXT_COUNT];

	if (story->stall->retransmits > 1)
		prose__add(text, " In all %s segments were sent again meanwhile.",
			   text__count(count, sizeof(count), story->stall->retransmits));
	prose__add(text,
		   " Where it was lost is not visible from here: on its way, in %s's kernel, "
		   "or its acknowledgement on the way back.",
		   story->other);
}

void tale__rto(const struct story *story, char **text)
{
	const struct ns_retrans *lost = &story->stall->retrans;
	char rto[TEXT_DURATION], rtt[TEXT_DURATION];

	add_lost(story, text);
	prose__add(text,
		   ", nothing that was sent behind it told of the loss, and so TCP waited "
		   "for its retransmission timer");
	if (lost->head.type && lost->rto_us)
		prose__add(text, " of %s", text__nominal(rto, sizeof(rto), 1000ull * lost->rto_us));
	if (lost->head.type && lost->srtt_us)
		prose__add(text, " (a round trip takes %s)",
			   text__duration(rtt, sizeof(rtt), 1000ull * lost->srtt_us));
	prose__add(text, " before it sent it again");
	if (lost->head.type && lost->retries > 1)
		prose__add(text, ", for the %u%s time, with the timer doubled each time",
			   lost->retries,
			   lost->retries == 2   ? "nd"
			   : lost->retries == 3 ? "rd"
						: "th");
	prose__add(text, ".");
	add_honesty(story, text);
}

void tale__tlp(const struct story *story, char **text)
{
	const struct ns_retrans *lost = &story->stall->retrans;

	add_lost(story, text);
	prose__add(text,
		   ". Nothing sent behind it told of the loss, until a tail loss probe went "
		   "out: two round trips later, or with a single segment under way only when "
		   "the retransmission timer would have run out");
	if (lost->head.type && lost->kind == NS_RETRANS_FAST)
		prose__add(text,
			   ". It took along bytes that were held back, and what came back for "
			   "these made TCP send the lost ones again");
	prose__add(text, ".");
	add_honesty(story, text);
}

void tale__fast_retransmit(const struct story *story, char **text)
{
	char rtt[TEXT_DURATION];

	add_lost(story, text);
	prose__add(text,
		   " while later ones were: those acknowledgements told TCP of the loss, and "
		   "it sent it again without waiting for a timer");
	if (story->stall->retrans.head.type && story->stall->retrans.srtt_us)
		prose__add(
			text, ", about a round trip later (%s)",
			text__duration(rtt, sizeof(rtt), 1000ull * story->stall->retrans.srtt_us));
	prose__add(text, ".");
	add_honesty(story, text);
}

void tale__syn_retransmit(const struct story *story, char **text)
{
	const struct ns_retrans *lost = &story->stall->retrans;
	char rto[TEXT_DURATION];

	tale__whose(story, text);
	prose__add(text, "%s asked for a connection", story->sender);
	tale__connection(story, text);
	prose__add(text, ", and nobody answered");
	if (lost->head.type && lost->rto_us)
		prose__add(text, " until the timer of %s",
			   text__nominal(rto, sizeof(rto), 1000ull * lost->rto_us));
	else
		prose__add(text, " until the timer");
	prose__add(text, " ran out and the request (SYN) was sent again");
	if (lost->head.type && lost->retries > 1)
		prose__add(text, ", %u times in all", lost->retries);
	prose__add(text,
		   ". Whether the SYN was lost on the way, dropped at a full listen queue, or "
		   "filtered is not visible from this end.");
}

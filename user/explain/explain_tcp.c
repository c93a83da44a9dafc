// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How TCP came to hold bytes back, or to send them again. */
#include "user/base/text.h"
#include "user/explain/explain_parts.h"

/* ---- windows, pacing, queues, corks ---- */

static uint32_t in_flight(const struct ns_hold *hold)
{
	return hold->in_flight ? hold->in_flight : hold->packets_out;
}

/* "client/4242 wrote 1.2 MB on fd 7 (...), and TCP held 65,536 B of it back" */
static void add_held(const struct context *context, char **text)
{
	const struct ns_send *write = &context->stall->second;
	char written[TEXT_BYTES], held[TEXT_BYTES];

	explain__whose(context, text);
	builder__add(text, "%s %s ", context->sender, context->by_ring ? "sent" : "wrote");
	if (write->head.type)
		builder__add(text, "%s ", text__bytes(written, sizeof(written), write->bytes));
	builder__add(text, "on %s", context->fd);
	explain__connection(context, text);
	if (context->by_ring)
		builder__add(text, " through a ring (io_uring)");
	builder__add(text, ", and TCP held %s back",
		     text__bytes(held, sizeof(held), context->stall->held_bytes));
}

void explain__cork(const struct context *context, char **text)
{
	const struct stall *stall = context->stall;
	bool msg_more = stall->reason == NS_HOLD_MSG_MORE;
	char bytes[2 * TEXT_BYTES + 8];

	explain__whose(context, text);
	builder__add(text, "%s %s ", context->sender,
		     context->by_ring ? "submits a send" : "writes");
	if (context->tally->second_bytes.most)
		builder__add(text, context->by_ring ? "of %s " : "%s ",
			     builder__bytes(bytes, sizeof(bytes), &context->tally->second_bytes));
	if (context->tally->joined.most)
		builder__add(text, "and then more ");
	builder__add(text, "on %s", context->fd);
	explain__connection(context, text);
	if (context->by_ring)
		builder__add(text, " through a ring (io_uring)");
	builder__add(
		text,
		msg_more ? " with MSG_MORE, which promises more to come. TCP keeps such bytes "
			   "until a segment is full, until a write without MSG_MORE, or for at "
			   "most 200 ms."
			 : " while the socket is corked (TCP_CORK). TCP keeps such bytes until a "
			   "segment is full, until the program clears TCP_CORK, or for at most "
			   "200 ms.");
}

void explain__cwnd(const struct context *context, char **text)
{
	const struct ns_hold *hold = &context->stall->hold;
	char rtt[TEXT_DURATION], again[TEXT_COUNT];

	add_held(context, text);
	builder__add(text, ": the congestion window was full");
	if (hold->head.type)
		builder__add(text, ", with %u packets in flight of the %u that it allows",
			     in_flight(hold), hold->cwnd);
	builder__add(text,
		     ". TCP starts a connection, and goes on after a pause or a loss, with a small "
		     "window that grows with every acknowledgement");
	if (hold->head.type && hold->srtt_us)
		builder__add(text, "; a round trip takes %s here",
			     text__duration(rtt, sizeof(rtt), 1000ull * hold->srtt_us));
	builder__add(text, ".");
	if (context->conn && context->conn->totals.retrans)
		builder__add(text,
			     " Loss made it smaller: %s of this connection's segments were sent "
			     "again.",
			     text__count(again, sizeof(again), context->conn->totals.retrans));
}

void explain__rwnd(const struct context *context, char **text)
{
	const struct ns_hold *hold = &context->stall->hold;
	char window[TEXT_BYTES], unacked[TEXT_BYTES];

	add_held(context, text);
	builder__add(text, ": the window that %s offers was full", context->other);
	if (hold->head.type)
		builder__add(text, ", with %s in flight of the %s that it allows",
			     text__bytes(unacked, sizeof(unacked), hold->unacked),
			     text__bytes(window, sizeof(window), hold->snd_wnd));
	builder__add(text,
		     ". It opens again when the program there reads, or when its kernel gives "
		     "the socket a larger buffer.");
	explain__chain(context, text);
}

void explain__zero_window(const struct context *context, char **text)
{
	add_held(context, text);
	builder__add(text,
		     ": %s has closed its receive window, because the program there has not read "
		     "what already arrived.",
		     context->other);
	explain__chain(context, text);
}

void explain__pacing(const struct context *context, char **text)
{
	const struct ns_hold *hold = &context->stall->hold;
	char rate[TEXT_BYTES], wait[TEXT_DURATION];

	add_held(context, text);
	builder__add(text, ": it paces this socket");
	if (hold->head.type && hold->pacing_rate)
		builder__add(text, " to %s a second",
			     text__bytes(rate, sizeof(rate), hold->pacing_rate));
	if (hold->head.type && hold->pacing_us)
		builder__add(text, ", and its timer let the next segment go only after %s",
			     text__duration(wait, sizeof(wait), 1000ull * hold->pacing_us));
	builder__add(text, ".");
}

void explain__tsq(const struct context *context, char **text)
{
	const struct ns_hold *hold = &context->stall->hold;
	char device[TEXT_BYTES];

	add_held(context, text);
	builder__add(text, ": earlier segments of this socket still lie with the network device");
	if (hold->head.type && hold->wmem_alloc)
		builder__add(text, " or its queue (%s)",
			     text__bytes(device, sizeof(device), hold->wmem_alloc));
	builder__add(text,
		     ", and TCP small queues lets only about a millisecond's worth lie there.");
}

void explain__tso_defer(const struct context *context, char **text)
{
	const struct ns_hold *hold = &context->stall->hold;

	add_held(context, text);
	builder__add(text,
		     " to fill a larger burst (TSO): it expects an acknowledgement soon that "
		     "lets it send more at once");
	if (hold->head.type)
		builder__add(text, "; %u of %u packets were in flight", in_flight(hold),
			     hold->cwnd);
	builder__add(text, ".");
}

void explain__autocork(const struct context *context, char **text)
{
	add_held(context, text);
	builder__add(
		text,
		" to join it with later writes (automatic corking): an earlier segment of this "
		"socket had not left the device yet.");
}

void explain__sndbuf(const struct context *context, char **text)
{
	const struct ns_hold *hold = &context->stall->hold;
	char queued[TEXT_BYTES], room[TEXT_BYTES], operation[48];

	explain__whose(context, text);
	if (context->stall->wait.ring &&
	    context__operation(operation, sizeof(operation), &context->stall->wait))
		builder__add(text, "%s waited for its %s through ring %u", context->waiter,
			     operation, context->stall->wait.ring);
	else
		builder__add(text, "%s waited inside a write on %s", context->waiter, context->fd);
	explain__connection(context, text);
	if (context->stall->wait.ring && context->stall->wait.op_known)
		builder__add(text, ", which waited");
	builder__add(text, " for room in the socket's send buffer");
	if (hold->head.type && hold->sndbuf)
		builder__add(text, ", in which %s of %s were taken",
			     text__bytes(queued, sizeof(queued), hold->wmem_queued),
			     text__bytes(room, sizeof(room), hold->sndbuf));
	builder__add(text,
		     ". Room comes as %s acknowledges, and that takes a round trip and, when "
		     "its window is full, a program there that reads.",
		     context->other);
	explain__chain(context, text);
}

/* ---- Nagle's algorithm, with and without a delayed ACK ---- */

/* "0.2 ms apart", "0.2 ms to 3 ms apart" */
static void add_gap(const struct context *context, char **text)
{
	const struct range *gap = &context->tally->gap_ns;
	char least[TEXT_DURATION], most[TEXT_DURATION];

	text__duration(least, sizeof(least), gap->least);
	text__duration(most, sizeof(most), gap->most);
	if (gap->most > 2 * gap->least)
		builder__add(text, ", %s to %s apart", least, most);
	else /* one figure to the reader */
		builder__add(text, ", %s apart",
			     text__duration(most, sizeof(most), (gap->least + gap->most) / 2));
}

/* "client/4242 writes each request in two pieces, 40 B and 136 B, 0.2 ms apart, on fd 7 (...)" */
static void add_writes(const struct context *context, char **text)
{
	const struct tally *tally = context->tally;
	char first[2 * TEXT_BYTES + 8], second[2 * TEXT_BYTES + 8], number[TEXT_COUNT],
		most[TEXT_COUNT];

	explain__whose(context, text);
	if (!tally->first_bytes.most || !tally->second_bytes.most) {
		builder__add(text,
			     "%s %s a small piece on %s while an earlier one is still not "
			     "acknowledged",
			     context->sender,
			     context->by_ring ? "sends through a ring (io_uring)" : "writes",
			     context->fd);
		explain__connection(context, text);
		builder__add(text, ".");
		return;
	}
	builder__bytes(first, sizeof(first), &tally->first_bytes);
	builder__bytes(second, sizeof(second), &tally->second_bytes);
	builder__number(number, sizeof(number), 2 + tally->joined.least);
	builder__number(most, sizeof(most), 2 + tally->joined.most);
	builder__add(text, "%s %s each %s in %s", context->sender,
		     context->by_ring ? "submits" : "writes", context->message, number);
	if (tally->joined.least != tally->joined.most)
		builder__add(text, " to %s", most);
	builder__add(text, context->by_ring ? " sends through a ring (io_uring)" : " pieces");
	builder__add(text,
		     tally->joined.most ? ", the first of %s, the second of %s" : ", %s and %s",
		     first, second);
	add_gap(context, text);
	builder__add(text, ", on %s", context->fd);
	explain__connection(context, text);
	builder__add(text, ".");
}

static void add_rule(const struct context *context, char **text)
{
	const struct ns_hold *hold = &context->stall->hold;
	const char *rest = context->tally->joined.most ? "the rest" : "the second";
	char held[TEXT_BYTES], mss[TEXT_BYTES];

	builder__add(text, " TCP sends the first at once, but Nagle's algorithm holds %s back",
		     rest);
	if (hold->head.type && hold->mss)
		builder__add(text, ", which does not fill a segment (%s of %s),",
			     text__bytes(held, sizeof(held), context->stall->held_bytes),
			     text__bytes(mss, sizeof(mss), hold->mss));
	builder__add(text, " until the first is acknowledged.");
}

/* The other end is out of sight, and the timer was this end's: see remote_nagle.h. */
static void tell_from_receiver(const struct context *context, char **text)
{
	const struct stall *stall = context->stall;
	char delay[TEXT_DURATION];

	builder__add(text, "The cause lies at the other end: %s seems to write in small pieces",
		     context->other);
	explain__connection(context, text);
	builder__add(
		text,
		". The first arrives, and Nagle's algorithm there holds the rest back until it "
		"is acknowledged. %s waits for the rest on %s and has nothing to send yet, so "
		"its kernel delays that acknowledgement",
		context->sender, context->fd);
	if (stall->arm.head.type && stall->arm.delay_us)
		builder__add(text, " by %s",
			     text__nominal(delay, sizeof(delay), 1000ull * stall->arm.delay_us));
	builder__add(text,
		     ". When the timer had run out and the acknowledgement had left, the rest "
		     "came one round trip later.");
}

void explain__nagle_delack(const struct context *context, char **text)
{
	const struct stall *stall = context->stall;
	char delay[TEXT_DURATION], took[TEXT_DURATION], rtt[TEXT_DURATION];

	if (stall->fire.head.type && stall->fire.head.conn == stall->conn) {
		tell_from_receiver(context, text);
		return;
	}
	add_writes(context, text);
	add_rule(context, text);
	if (stall->confidence == CONFIDENCE_INFERRED && !stall->fire.head.type) {
		builder__add(text,
			     " %s (%s) delays the acknowledgement, by a timer that was out of "
			     "sight",
			     context->other_end, context->other);
		if (stall->ack.head.type && stall->hold.min_rtt_us)
			builder__add(
				text, ": it came after %s, while a round trip here takes %s",
				text__duration(took, sizeof(took),
					       stall->ack.head.ts - stall->start_ts),
				text__duration(rtt, sizeof(rtt), 1000ull * stall->hold.min_rtt_us));
		builder__add(text, ".");
		return;
	}
	builder__add(text,
		     " %s (%s) has nothing to send yet, so its kernel delays the acknowledgement",
		     context->other_end, context->other);
	if (stall->arm.head.type && stall->arm.delay_us)
		builder__add(text, " by %s",
			     text__nominal(delay, sizeof(delay), 1000ull * stall->arm.delay_us));
	builder__add(text,
		     ", in the hope of sending it along with data; it leaves only when that "
		     "timer runs out, and until then both ends wait for each other.");
}

void explain__nagle(const struct context *context, char **text)
{
	add_writes(context, text);
	add_rule(context, text);
	if (context->stall->missing)
		return;
	if (2 * context->tally->by_data >= context->tally->count)
		builder__add(
			text,
			" %s (%s) sends the acknowledgement together with "
			"data, when it answers: no timer is in play, the hold lasts as long as "
			"that answer takes.",
			context->other_end, context->other);
	else
		builder__add(text,
			     " %s (%s) acknowledges without delay: no timer is in play, "
			     "the hold lasts a round trip.",
			     context->other_end, context->other);
}

/* ---- lost segments: where they were lost nobody here sees ---- */

/* "1,448 B (sequence 1001 to 2449) that client/4242 had sent 204 ms before on fd 7 (...)" */
static void add_lost(const struct context *context, char **text)
{
	const struct ns_retrans *lost = &context->stall->retrans;
	char bytes[TEXT_BYTES], ago[TEXT_DURATION];

	explain__whose(context, text);
	if (lost->head.type && lost->end != lost->seq)
		builder__add(text, "%s (sequence %u to %u)",
			     text__bytes(bytes, sizeof(bytes), lost->end - lost->seq), lost->seq,
			     lost->end);
	else
		builder__add(text, "A segment");
	builder__add(text, " that %s had sent", context->sender);
	if (lost->head.type && lost->sent_ts && lost->sent_ts < lost->head.ts)
		builder__add(text, " %s before",
			     text__duration(ago, sizeof(ago), lost->head.ts - lost->sent_ts));
	builder__add(text, " on %s", context->fd);
	explain__connection(context, text);
	builder__add(text, " was not acknowledged in time");
}

static void add_honesty(const struct context *context, char **text)
{
	char count[TEXT_COUNT];

	if (context->stall->retransmits > 1)
		builder__add(text, " In all %s segments were sent again meanwhile.",
			     text__count(count, sizeof(count), context->stall->retransmits));
	builder__add(text,
		     " Where it was lost is not visible from here: on its way, in %s's kernel, "
		     "or its acknowledgement on the way back.",
		     context->other);
}

void explain__rto(const struct context *context, char **text)
{
	const struct ns_retrans *lost = &context->stall->retrans;
	char rto[TEXT_DURATION], rtt[TEXT_DURATION];

	add_lost(context, text);
	builder__add(text,
		     ", nothing that was sent behind it told of the loss, and so TCP waited "
		     "for its retransmission timer");
	if (lost->head.type && lost->rto_us)
		builder__add(text, " of %s",
			     text__nominal(rto, sizeof(rto), 1000ull * lost->rto_us));
	if (lost->head.type && lost->srtt_us)
		builder__add(text, " (a round trip takes %s)",
			     text__duration(rtt, sizeof(rtt), 1000ull * lost->srtt_us));
	builder__add(text, " before it sent it again");
	if (lost->head.type && lost->retries > 1)
		builder__add(text, ", for the %u%s time, with the timer doubled each time",
			     lost->retries,
			     lost->retries == 2   ? "nd"
			     : lost->retries == 3 ? "rd"
						  : "th");
	builder__add(text, ".");
	add_honesty(context, text);
}

void explain__tlp(const struct context *context, char **text)
{
	const struct ns_retrans *lost = &context->stall->retrans;

	add_lost(context, text);
	builder__add(text,
		     ". Nothing sent behind it told of the loss, until a tail loss probe went "
		     "out: two round trips later, or with a single segment under way only when "
		     "the retransmission timer would have run out");
	if (lost->head.type && lost->kind == NS_RETRANS_FAST)
		builder__add(text,
			     ". It took along bytes that were held back, and what came back for "
			     "these made TCP send the lost ones again");
	builder__add(text, ".");
	add_honesty(context, text);
}

void explain__fast_retransmit(const struct context *context, char **text)
{
	char rtt[TEXT_DURATION];

	add_lost(context, text);
	builder__add(text,
		     " while later ones were: those acknowledgements told TCP of the loss, and "
		     "it sent it again without waiting for a timer");
	if (context->stall->retrans.head.type && context->stall->retrans.srtt_us)
		builder__add(text, ", about a round trip later (%s)",
			     text__duration(rtt, sizeof(rtt),
					    1000ull * context->stall->retrans.srtt_us));
	builder__add(text, ".");
	add_honesty(context, text);
}

void explain__syn_retransmit(const struct context *context, char **text)
{
	const struct ns_retrans *lost = &context->stall->retrans;
	char rto[TEXT_DURATION];

	explain__whose(context, text);
	builder__add(text, "%s asked for a connection", context->sender);
	explain__connection(context, text);
	builder__add(text, ", and nobody answered");
	if (lost->head.type && lost->rto_us)
		builder__add(text, " until the timer of %s",
			     text__nominal(rto, sizeof(rto), 1000ull * lost->rto_us));
	else
		builder__add(text, " until the timer");
	builder__add(text, " ran out and the request (SYN) was sent again");
	if (lost->head.type && lost->retries > 1)
		builder__add(text, ", %u times in all", lost->retries);
	builder__add(text,
		     ". Whether the SYN was lost on the way, dropped at a full listen queue, or "
		     "filtered is not visible from this end.");
}

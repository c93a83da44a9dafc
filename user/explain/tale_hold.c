// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What else than Nagle's algorithm held written bytes back: windows, pacing, queues, corks. */
#include "user/base/text.h"
#include "user/explain/tale_parts.h"

static uint32_t in_flight(const struct ns_hold *hold)
{
	return hold->in_flight ? hold->in_flight : hold->packets_out;
}

/* "client/4242 wrote 1.2 MB on fd 7 (...), and TCP held 65,536 B of it back" */
static void add_held(const struct story *story, char **text)
{
	const struct ns_send *write = &story->stall->second;
	char written[TEXT_BYTES], held[TEXT_BYTES];

	tale__whose(story, text);
	prose__add(text, "%s %s ", story->sender, story->by_ring ? "sent" : "wrote");
	if (write->head.type)
		prose__add(text, "%s ", text__bytes(written, sizeof(written), write->bytes));
	prose__add(text, "on %s", story->fd);
	tale__connection(story, text);
	if (story->by_ring)
		prose__add(text, " through a ring (io_uring)");
	prose__add(text, ", and TCP held %s back",
		   text__bytes(held, sizeof(held), story->stall->held_bytes));
}

void tale__cork(const struct story *story, char **text)
{
	const struct stall *stall = story->stall;
	bool msg_more = stall->reason == NS_HOLD_MSG_MORE;
	char bytes[2 * TEXT_BYTES + 8];

	tale__whose(story, text);
	prose__add(text, "%s %s ", story->sender, story->by_ring ? "submits a send" : "writes");
	if (story->tally->second_bytes.most)
		prose__add(text, story->by_ring ? "of %s " : "%s ",
			   prose__bytes(bytes, sizeof(bytes), &story->tally->second_bytes));
	if (story->tally->joined.most)
		prose__add(text, "and then more ");
	prose__add(text, "on %s", story->fd);
	tale__connection(story, text);
	if (story->by_ring)
		prose__add(text, " through a ring (io_uring)");
	prose__add(text,
		   msg_more
			   ? " with MSG_MORE, which promises more to come. TCP keeps such bytes "
			     "until a segment is full, until a write without MSG_MORE, or for at "
			     "most 200 ms."
			   : " while the socket is corked (TCP_CORK). TCP keeps such bytes until a "
			     "segment is full, until the program clears TCP_CORK, or for at most "
			     "200 ms.");
}

void tale__cwnd(const struct story *story, char **text)
{
	const struct ns_hold *hold = &story->stall->hold;
	char rtt[TEXT_DURATION], again[TEXT_COUNT];

	add_held(story, text);
	prose__add(text, ": the congestion window was full");
	if (hold->head.type)
		prose__add(text, ", with %u packets in flight of the %u that it allows",
			   in_flight(hold), hold->cwnd);
	prose__add(text,
		   ". TCP starts a connection, and goes on after a pause or a loss, with a small "
		   "window that grows with every acknowledgement");
	if (hold->head.type && hold->srtt_us)
		prose__add(text, "; a round trip takes %s here",
			   text__duration(rtt, sizeof(rtt), 1000ull * hold->srtt_us));
	prose__add(text, ".");
	if (story->conn && story->conn->totals.retrans)
		prose__add(text,
			   " Loss made it smaller: %s of this connection's segments were sent "
			   "again.",
			   text__count(again, sizeof(again), story->conn->totals.retrans));
}

void tale__rwnd(const struct story *story, char **text)
{
	const struct ns_hold *hold = &story->stall->hold;
	char window[TEXT_BYTES], unacked[TEXT_BYTES];

	add_held(story, text);
	prose__add(text, ": the window that %s offers was full", story->other);
	if (hold->head.type)
		prose__add(text, ", with %s in flight of the %s that it allows",
			   text__bytes(unacked, sizeof(unacked), hold->unacked),
			   text__bytes(window, sizeof(window), hold->snd_wnd));
	prose__add(text,
		   ". It opens again when the program there reads, or when its kernel gives "
		   "the socket a larger buffer.");
	tale__chain(story, text);
}

void tale__zero_window(const struct story *story, char **text)
{
	add_held(story, text);
	prose__add(text,
		   ": %s has closed its receive window, because the program there has not read "
		   "what already arrived.",
		   story->other);
	tale__chain(story, text);
}

void tale__pacing(const struct story *story, char **text)
{
	const struct ns_hold *hold = &story->stall->hold;
	char rate[TEXT_BYTES], wait[TEXT_DURATION];

	add_held(story, text);
	prose__add(text, ": it paces this socket");
	if (hold->head.type && hold->pacing_rate)
		prose__add(text, " to %s a second",
			   text__bytes(rate, sizeof(rate), hold->pacing_rate));
	if (hold->head.type && hold->pacing_us)
		prose__add(text, ", and its timer let the next segment go only after %s",
			   text__duration(wait, sizeof(wait), 1000ull * hold->pacing_us));
	prose__add(text, ".");
}

void tale__tsq(const struct story *story, char **text)
{
	const struct ns_hold *hold = &story->stall->hold;
	char device[TEXT_BYTES];

	add_held(story, text);
	prose__add(text, ": earlier segments of this socket still lie with the network device");
	if (hold->head.type && hold->wmem_alloc)
		prose__add(text, " or its queue (%s)",
			   text__bytes(device, sizeof(device), hold->wmem_alloc));
	prose__add(text, ", and TCP small queues lets only about a millisecond's worth lie there.");
}

void tale__tso_defer(const struct story *story, char **text)
{
	const struct ns_hold *hold = &story->stall->hold;

	add_held(story, text);
	prose__add(text,
		   " to fill a larger burst (TSO): it expects an acknowledgement soon that "
		   "lets it send more at once");
	if (hold->head.type)
		prose__add(text, "; %u of %u packets were in flight", in_flight(hold), hold->cwnd);
	prose__add(text, ".");
}

void tale__autocork(const struct story *story, char **text)
{
	add_held(story, text);
	prose__add(text,
		   " to join it with later writes (automatic corking): an earlier segment of this "
		   "socket had not left the device yet.");
}

void tale__sndbuf(const struct story *story, char **text)
{
	const struct ns_hold *hold = &story->stall->hold;
	char queued[TEXT_BYTES], room[TEXT_BYTES], operation[48];

	tale__whose(story, text);
	if (story->stall->wait.ring &&
	    story__operation(operation, sizeof(operation), &story->stall->wait))
		prose__add(text, "%s waited for its %s through ring %u", story->waiter, operation,
			   story->stall->wait.ring);
	else
		prose__add(text, "%s waited inside a write on %s", story->waiter, story->fd);
	tale__connection(story, text);
	if (story->stall->wait.ring && story->stall->wait.op_known)
		prose__add(text, ", which waited");
	prose__add(text, " for room in the socket's send buffer");
	if (hold->head.type && hold->sndbuf)
		prose__add(text, ", in which %s of %s were taken",
			   text__bytes(queued, sizeof(queued), hold->wmem_queued),
			   text__bytes(room, sizeof(room), hold->sndbuf));
	prose__add(text,
		   ". Room comes as %s acknowledges, and that takes a round trip and, when "
		   "its window is full, a program there that reads.",
		   story->other);
	tale__chain(story, text);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Writes, their call sites, and why TCP did not send them, in words. */
#include "user/render/words/words_parts.h"

#define SEND_MSG_MORE   0x8000u
#define NONAGLE_NODELAY 1u
#define NONAGLE_CORK    2u

/* b - a where that is positive in sequence space. */
static uint32_t distance(uint32_t a, uint32_t b)
{
	return (int32_t)(b - a) > 0 ? b - a : 0;
}

void words__send(const struct scene *scene, struct words *words)
{
	const struct ns_send *send = &scene->record->send;
	uint32_t unsent = distance(send->snd_nxt, send->write_seq);
	uint32_t before = distance(send->snd_una, send->write_seq - send->bytes);

	print_to(words->what, "%s", send->via == NS_VIA_CALL ? "write" : "uring send");
	if (send->fd != NS_FD_UNKNOWN)
		add_to(words->what, " ", "fd %u", send->fd);
	text__bytes(words->amount, sizeof(words->amount), send->bytes);
	if (unsent > 0)
		print_to(words->note, "%s not sent yet", bytes_text(unsent));
	else if (before > 0)
		print_to(words->note, "sent at once, behind %s unacknowledged", bytes_text(before));
	else
		print_to(words->note, "sent at once (nothing unacknowledged)");
	if (send->msg_flags & SEND_MSG_MORE)
		add_to(words->note, ", ", "MSG_MORE");
}

/* What waits in the device, by the name of the limit. */
static void describe_device(const struct ns_hold *hold, const char *limit, struct words *words)
{
	print_to(words->note, "HELD by %s: %s are in the device", limit,
		 hold->wmem_alloc ? bytes_text(hold->wmem_alloc) : "earlier bytes");
}

/* Packets that count against the window; older kernels' records have those sent alone. */
static uint32_t in_flight(const struct ns_hold *hold)
{
	return hold->in_flight ? hold->in_flight : hold->packets_out;
}

static void describe_reason(const struct ns_hold *hold, struct words *words)
{
	const char *held = bytes_text(hold->end - hold->seq), *mss = count_text(hold->mss);

	switch (hold->reason) {
	case NS_HOLD_NAGLE:
		print_to(words->note, "HELD by Nagle: %s unacknowledged, %s < mss %s",
			 bytes_text(hold->unacked), held, mss);
		break;
	case NS_HOLD_CORK:
		print_to(words->note, "HELD by TCP_CORK: %s < mss %s", held, mss);
		break;
	case NS_HOLD_MSG_MORE:
		print_to(words->note, "HELD by MSG_MORE: %s < mss %s, more announced", held, mss);
		break;
	case NS_HOLD_RWND:
		print_to(words->note, "HELD by the peer's window: %s of %s in flight",
			 bytes_text(hold->unacked), bytes_text(hold->snd_wnd));
		break;
	case NS_HOLD_ZERO_WINDOW:
		print_to(words->note,
			 "HELD by the peer's window, which is closed: the peer does not read");
		break;
	case NS_HOLD_CWND:
		print_to(words->note, "HELD by the congestion window: %u of %u packets in flight",
			 in_flight(hold), hold->cwnd);
		break;
	case NS_HOLD_PACING:
		print_to(words->note, "HELD by pacing");
		if (hold->pacing_rate)
			add_to(words->note, ": ", "%s a second", bytes_text(hold->pacing_rate));
		if (hold->pacing_us)
			add_to(words->note, ", ", "the next segment may go in %s",
			       duration_text(hold->pacing_us * 1000ull));
		break;
	case NS_HOLD_TSQ:
		describe_device(hold, "TCP small queues", words);
		break;
	case NS_HOLD_AUTOCORK:
		describe_device(hold, "auto-corking", words);
		break;
	case NS_HOLD_TSO_DEFER:
		print_to(words->note,
			 "HELD by TSO deferral, to fill a burst: %u of %u packets in flight",
			 in_flight(hold), hold->cwnd);
		break;
	case NS_HOLD_SNDBUF:
		if (hold->sndbuf)
			print_to(words->note, "HELD by the send buffer: %s of %s taken",
				 bytes_text(hold->wmem_queued), bytes_text(hold->sndbuf));
		else
			print_to(words->note, "HELD by the send buffer, which is full");
		break;
	default:
		print_to(words->note, "HELD, reason not seen");
	}
}

/* What else could have held it: the reader shall see that it did not. */
static void describe_state(const struct ns_hold *hold, struct words *words)
{
	bool nodelay = hold->nonagle & NONAGLE_NODELAY, cork = hold->nonagle & NONAGLE_CORK;

	add_to(words->aside, ", ", "%s",
	       nodelay && cork ? "TCP_NODELAY and TCP_CORK on"
	       : nodelay       ? "TCP_NODELAY on"
	       : cork          ? "TCP_CORK on"
			       : "TCP_NODELAY off");
	if (hold->cwnd > 0)
		add_to(words->aside, ", ", "%u of %u packets in flight", hold->packets_out,
		       hold->cwnd);
	if (hold->snd_wnd > 0)
		add_to(words->aside, ", ", "window %s", bytes_text(hold->snd_wnd));
	if (hold->srtt_us > 0)
		add_to(words->aside, ", ", "rtt %s", duration_text(hold->srtt_us * 1000ull));
	/* What is far above the path's own time is the other end's delay. */
	if (hold->min_rtt_us > 0 && hold->srtt_us / 4 > hold->min_rtt_us)
		add_to(words->aside, " ", "(least %s)", duration_text(hold->min_rtt_us * 1000ull));
}

void words__hold(const struct scene *scene, struct words *words)
{
	const struct ns_hold *hold = &scene->record->hold;

	words->colour = COLOUR_HELD;
	text__bytes(words->amount, sizeof(words->amount), hold->end - hold->seq);
	if (hold->begun == NS_BEGUN_CHANGED)
		print_to(words->what, "still not sent");
	if (hold->seq == hold->end) { /* all is in flight: what cannot be written is held */
		print_to(words->what, "no room to write");
		words->amount[0] = '\0';
	}
	describe_reason(hold, words);
	describe_state(hold, words);
}

void words__call(const struct scene *scene, struct words *words)
{
	const struct ns_call *call = &scene->record->call;

	static const char *const of[] = {"write",    "read", "write", "wait", "release of a lock",
					 "computing"};

	if (call->bytes)
		text__bytes(words->amount, sizeof(words->amount), call->bytes);
	print_to(words->note, "call site of its %s: stack %u%s", of[call->what], call->stack_id,
		 call->truncated ? ", cut off" : "");
}

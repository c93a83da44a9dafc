// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Writes, their call sites, and why TCP did not send them, in words. */
#include <stdio.h>

#include "user/render/words/words_parts.h"

#define SEND_MSG_MORE   0x8000u
#define NONAGLE_NODELAY 1u
#define NONAGLE_CORK    2u

/* b - a where that is positive in sequence space. */
static uint32_t distance(uint32_t a, uint32_t b)
{
	return (int32_t)(b - a) > 0 ? b - a : 0;
}

void words__send(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_send *send = &record->send;
	uint32_t unsent = distance(send->snd_nxt, send->write_seq);
	uint32_t before = distance(send->snd_una, send->write_seq - send->bytes);
	const char *more = send->msg_flags & SEND_MSG_MORE ? ", MSG_MORE" : "";
	char bytes[TEXT_BYTES], fd[24] = "";

	(void)scene;
	if (send->fd != NS_FD_UNKNOWN)
		snprintf(fd, sizeof(fd), " fd %u", send->fd);
	snprintf(words->what, sizeof(words->what), "%s%s",
		 send->via == NS_VIA_CALL ? "write" : "uring send", fd);
	text__bytes(words->amount, sizeof(words->amount), send->bytes);
	if (unsent > 0)
		snprintf(words->note, sizeof(words->note), "%s not sent yet%s",
			 text__bytes(bytes, sizeof(bytes), unsent), more);
	else if (before > 0)
		snprintf(words->note, sizeof(words->note),
			 "sent at once, behind %s unacknowledged%s",
			 text__bytes(bytes, sizeof(bytes), before), more);
	else
		snprintf(words->note, sizeof(words->note),
			 "sent at once (nothing unacknowledged)%s", more);
}

/* The figures of a hold as text, made once for all reasons. */
struct hold_text {
	char held[TEXT_BYTES];
	char unacked[TEXT_BYTES];
	char mss[TEXT_COUNT];
	char window[TEXT_BYTES];
};

typedef void (*hold_fn)(const struct ns_hold *hold, const struct hold_text *text, char *dst,
			size_t size);

static void by_nothing_known(const struct ns_hold *hold, const struct hold_text *text, char *dst,
			     size_t size)
{
	(void)hold;
	(void)text;
	snprintf(dst, size, "HELD, reason not seen");
}

static void by_nagle(const struct ns_hold *hold, const struct hold_text *text, char *dst,
		     size_t size)
{
	(void)hold;
	snprintf(dst, size, "HELD by Nagle: %s unacknowledged, %s < mss %s", text->unacked,
		 text->held, text->mss);
}

static void by_cork(const struct ns_hold *hold, const struct hold_text *text, char *dst,
		    size_t size)
{
	(void)hold;
	snprintf(dst, size, "HELD by TCP_CORK: %s < mss %s", text->held, text->mss);
}

static void by_msg_more(const struct ns_hold *hold, const struct hold_text *text, char *dst,
			size_t size)
{
	(void)hold;
	snprintf(dst, size, "HELD by MSG_MORE: %s < mss %s, more announced", text->held, text->mss);
}

static void by_rwnd(const struct ns_hold *hold, const struct hold_text *text, char *dst,
		    size_t size)
{
	(void)hold;
	snprintf(dst, size, "HELD by the peer's window: %s of %s in flight", text->unacked,
		 text->window);
}

static void by_zero_window(const struct ns_hold *hold, const struct hold_text *text, char *dst,
			   size_t size)
{
	(void)hold;
	(void)text;
	snprintf(dst, size, "HELD by the peer's window, which is closed: the peer does not read");
}

/* Packets that count against the window; older kernels' records have those sent alone. */
static uint32_t in_flight(const struct ns_hold *hold)
{
	return hold->in_flight ? hold->in_flight : hold->packets_out;
}

static void by_cwnd(const struct ns_hold *hold, const struct hold_text *text, char *dst,
		    size_t size)
{
	(void)text;
	snprintf(dst, size, "HELD by the congestion window: %u of %u packets in flight",
		 in_flight(hold), hold->cwnd);
}

static void by_pacing(const struct ns_hold *hold, const struct hold_text *text, char *dst,
		      size_t size)
{
	char rate[TEXT_BYTES], wait[TEXT_DURATION];

	(void)text;
	text__bytes(rate, sizeof(rate), hold->pacing_rate);
	text__duration(wait, sizeof(wait), hold->pacing_us * 1000ull);
	snprintf(dst, size, "HELD by pacing%s%s%s%s%s", hold->pacing_rate ? ": " : "",
		 hold->pacing_rate ? rate : "", hold->pacing_rate ? " a second" : "",
		 hold->pacing_us ? ", the next segment may go in " : "",
		 hold->pacing_us ? wait : "");
}

/* What waits in the device, as the name of a limit and the bytes there. */
static void by_device(const struct ns_hold *hold, const char *name, char *dst, size_t size)
{
	char bytes[TEXT_BYTES];

	if (hold->wmem_alloc)
		snprintf(dst, size, "HELD by %s: %s are in the device", name,
			 text__bytes(bytes, sizeof(bytes), hold->wmem_alloc));
	else
		snprintf(dst, size, "HELD by %s: earlier bytes are in the device", name);
}

static void by_tsq(const struct ns_hold *hold, const struct hold_text *text, char *dst, size_t size)
{
	(void)text;
	by_device(hold, "TCP small queues", dst, size);
}

static void by_autocork(const struct ns_hold *hold, const struct hold_text *text, char *dst,
			size_t size)
{
	(void)text;
	by_device(hold, "auto-corking", dst, size);
}

static void by_tso_defer(const struct ns_hold *hold, const struct hold_text *text, char *dst,
			 size_t size)
{
	(void)text;
	snprintf(dst, size, "HELD by TSO deferral, to fill a burst: %u of %u packets in flight",
		 in_flight(hold), hold->cwnd);
}

static void by_sndbuf(const struct ns_hold *hold, const struct hold_text *text, char *dst,
		      size_t size)
{
	char queued[TEXT_BYTES], room[TEXT_BYTES];

	(void)text;
	if (hold->sndbuf)
		snprintf(dst, size, "HELD by the send buffer: %s of %s taken",
			 text__bytes(queued, sizeof(queued), hold->wmem_queued),
			 text__bytes(room, sizeof(room), hold->sndbuf));
	else
		snprintf(dst, size, "HELD by the send buffer, which is full");
}

static const hold_fn reasons[] = {
	[NS_HOLD_UNKNOWN] = by_nothing_known,
	[NS_HOLD_NAGLE] = by_nagle,
	[NS_HOLD_CORK] = by_cork,
	[NS_HOLD_MSG_MORE] = by_msg_more,
	[NS_HOLD_RWND] = by_rwnd,
	[NS_HOLD_ZERO_WINDOW] = by_zero_window,
	[NS_HOLD_CWND] = by_cwnd,
	[NS_HOLD_PACING] = by_pacing,
	[NS_HOLD_TSQ] = by_tsq,
	[NS_HOLD_TSO_DEFER] = by_tso_defer,
	[NS_HOLD_AUTOCORK] = by_autocork,
	[NS_HOLD_SNDBUF] = by_sndbuf,
};

/* Append to dst, with a comma when something stands there. */
static void append(char *dst, size_t size, size_t *used, const char *text)
{
	int len = snprintf(dst + *used, size - *used, "%s%s", *used > 0 ? ", " : "", text);

	*used += len > 0 && *used + (size_t)len < size ? (size_t)len : 0;
}

/* What else could have held it: the reader shall see that it did not. */
static void describe_state(const struct ns_hold *hold, const struct hold_text *text, char *dst,
			   size_t size)
{
	bool nodelay = hold->nonagle & NONAGLE_NODELAY, cork = hold->nonagle & NONAGLE_CORK;
	char piece[96], rtt[TEXT_DURATION], least[TEXT_DURATION];
	size_t used = 0;

	append(dst, size, &used,
	       nodelay && cork ? "TCP_NODELAY and TCP_CORK on"
	       : nodelay       ? "TCP_NODELAY on"
	       : cork          ? "TCP_CORK on"
			       : "TCP_NODELAY off");
	if (hold->cwnd > 0) {
		snprintf(piece, sizeof(piece), "%u of %u packets in flight", hold->packets_out,
			 hold->cwnd);
		append(dst, size, &used, piece);
	}
	if (hold->snd_wnd > 0) {
		snprintf(piece, sizeof(piece), "window %s", text->window);
		append(dst, size, &used, piece);
	}
	if (hold->srtt_us > 0) {
		text__duration(rtt, sizeof(rtt), hold->srtt_us * 1000ull);
		text__duration(least, sizeof(least), hold->min_rtt_us * 1000ull);
		/* What is far above the path's own time is the other end's delay. */
		if (hold->min_rtt_us > 0 && hold->srtt_us / 4 > hold->min_rtt_us)
			snprintf(piece, sizeof(piece), "rtt %s (least %s)", rtt, least);
		else
			snprintf(piece, sizeof(piece), "rtt %s", rtt);
		append(dst, size, &used, piece);
	}
}

void words__hold(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_hold *hold = &record->hold;
	uint32_t reason = hold->reason < sizeof(reasons) / sizeof(reasons[0]) ? hold->reason : 0;
	struct hold_text text;

	(void)scene;
	text__bytes(text.held, sizeof(text.held), hold->end - hold->seq);
	text__bytes(text.unacked, sizeof(text.unacked), hold->unacked);
	text__count(text.mss, sizeof(text.mss), hold->mss);
	text__bytes(text.window, sizeof(text.window), hold->snd_wnd);
	words->colour = COLOUR_HELD;
	snprintf(words->what, sizeof(words->what), "not sent");
	snprintf(words->amount, sizeof(words->amount), "%s", text.held);
	reasons[reason](hold, &text, words->note, sizeof(words->note));
	if (hold->begun == NS_BEGUN_CHANGED)
		snprintf(words->what, sizeof(words->what), "still not sent");
	if (hold->seq == hold->end) { /* all is in flight: what cannot be written is held */
		snprintf(words->what, sizeof(words->what), "no room to write");
		words->amount[0] = '\0';
	}
	describe_state(hold, &text, words->aside, sizeof(words->aside));
}

void words__call(const struct scene *scene, const union record *record, struct words *words)
{
	(void)scene;
	snprintf(words->what, sizeof(words->what), "called");
	text__bytes(words->amount, sizeof(words->amount), record->call.bytes);
	snprintf(words->note, sizeof(words->note), "call site of its write: stack %u%s",
		 record->call.stack_id, record->call.truncated ? ", cut off" : "");
}

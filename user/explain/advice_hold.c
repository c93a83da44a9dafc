// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdlib.h>

#include "user/base/text.h"
#include "user/explain/advice_parts.h"

void advise__cork(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	if (story->stall->reason == NS_HOLD_MSG_MORE)
		advice__give(verdict,
			     "In %s, leave MSG_MORE out of %s of %s on %s: %s, with as many "
			     "segments as now.",
			     story->program,
			     story->by_ring ? "sqe->msg_flags of the last SEND" : "the last write",
			     story->a_message, story->fd, saves);
	else
		advice__give(verdict,
			     "In %s, clear TCP_CORK on %s right after the last write of %s: %s, "
			     "with as many segments as now.",
			     story->program, story->fd, story->a_message, saves);
	advice__give(verdict,
		     "Write the whole %s with one %s and hold nothing back: the same saving, with "
		     "as many segments as now.",
		     story->message, story->by_ring ? "IORING_OP_SENDMSG" : "writev()");
	free(saves);
}

void advise__cwnd(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	if (story->conn && story->conn->totals.retrans)
		advice__give(verdict,
			     "Find the loss on the way to %s first: it is what keeps the window "
			     "small (%s at most).",
			     story->other, saves);
	advice__give(verdict,
		     "Keep one connection to %s open and in use rather than new ones: its window "
		     "has grown already. A pause makes it small again unless "
		     "net.ipv4.tcp_slow_start_after_idle is 0. At most this %s.",
		     story->other_program, saves);
	advice__give(verdict,
		     "Send less, or let the route begin with a larger window (ip route change ... "
		     "initcwnd N), if the path can bear that.");
	free(saves);
}

/* Did somebody at the other end sleep instead of reading, as far as the chain shows? */
static bool reader_was_away(const struct story *story)
{
	for (size_t i = 1; i < story->stall->link_count; i++) {
		const struct stall_link *link = &story->stall->links[i];

		if (link->tid && link->wait.head.type && link->cause != CAUSE_PEER_APP &&
		    link->cause != CAUSE_IDLE)
			return true;
	}
	return false;
}

static void advise_reading(const struct story *story, struct verdict *verdict, const char *saves)
{
	advice__give(verdict,
		     "Let %s read sooner: in a thread of its own, or before it does other work: "
		     "at most this %s.",
		     story->other, saves);
}

void advise__rwnd(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	if (reader_was_away(story)) {
		advise_reading(story, verdict, saves);
	} else {
		advice__give(verdict,
			     "Give the receiver (%s) a larger window: set no SO_RCVBUF there, so "
			     "that the kernel adapts it, or a larger one; or raise the third "
			     "number of net.ipv4.tcp_rmem: at most this %s.",
			     story->other, saves);
		advice__give(verdict,
			     "If the program there reads too slowly, no buffer helps for long: "
			     "see with netstall at that end what it waits for.");
	}
	free(saves);
}

void advise__zero_window(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advise_reading(story, verdict, saves);
	if (!reader_was_away(story))
		advice__give(verdict,
			     "See with netstall at that end what %s does instead of reading.",
			     story->other);
	free(saves);
}

void advise__pacing(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict,
		     "In %s, raise or drop SO_MAX_PACING_RATE on %s, if it is set there: %s.",
		     story->program, story->fd, saves);
	advice__give(verdict,
		     "If the congestion control paces by itself (bbr does), the rate is what it "
		     "measured of the path: ss -ti shows it as pacing_rate.");
	free(saves);
}

void advise__tsq(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict,
		     "Look why the device is behind: its queue (tc -s qdisc), a rate limit there, "
		     "a virtual device whose host is busy: at most this %s.",
		     saves);
	free(saves);
}

void advise__tso_defer(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict,
		     "Write the end of %s together with what goes before it, so that TCP sees "
		     "that nothing follows: at most this %s.",
		     story->a_message, saves);
	free(saves);
}

void advise__autocork(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict, "In %s, write each %s at once (one buffer, or writev()): %s.",
		     story->program, story->message, saves);
	advice__give(verdict,
		     "Or turn automatic corking off for the whole machine "
		     "(net.ipv4.tcp_autocorking=0): the same saving, more segments.");
	free(saves);
}

void advise__sndbuf(const struct story *story, struct verdict *verdict)
{
	char *saves = advice__saving(story);

	advice__give(verdict,
		     "In %s, set no SO_SNDBUF on %s, so that the kernel adapts it, or a larger "
		     "one; or raise the third number of net.ipv4.tcp_wmem. That helps as long as "
		     "%s reads as fast as is written: at most this %s.",
		     story->program, story->fd, story->other, saves);
	advice__give(verdict,
		     "Write without blocking (O_NONBLOCK and poll), so that a slow receiver does "
		     "not stop this thread: the same saving for what else it has to do.");
	free(saves);
}

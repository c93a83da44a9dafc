// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/tale.h"

#include <stdio.h>

#include "user/base/text.h"
#include "user/trace/syscalls.h"

/* " (127.0.0.1:37640 -> 127.0.0.1:7000)" */
static void add_connection(const struct story *story, char **text)
{
	const struct model_conn *conn = model__conn(story->model, story->tally->conn);
	char local[TEXT_ADDRESS], remote[TEXT_ADDRESS];

	prose__add(text, " (%s -> %s)",
		   text__address(local, sizeof(local), conn->id.family, conn->id.laddr,
				 conn->id.lport),
		   text__address(remote, sizeof(remote), conn->id.family, conn->id.raddr,
				 conn->id.rport));
}

/* "0.2 ms apart", "0.2 ms to 3 ms apart" */
static void add_gap(const struct story *story, char **text)
{
	const struct range *gap = &story->tally->gap_ns;
	char least[TEXT_DURATION], most[TEXT_DURATION];

	text__duration(least, sizeof(least), gap->least);
	text__duration(most, sizeof(most), gap->most);
	/* Within a factor of two they are one figure to the reader: the example's. */
	if (gap->most <= 2 * gap->least && story->stall->first.head.type)
		prose__add(
			text, ", %s apart",
			text__duration(least, sizeof(least),
				       story->stall->hold.head.ts - story->stall->first.head.ts));
	else
		prose__add(text, ", %s to %s apart", least, most);
}

/* "client/4242 writes each request in two pieces, 40 B and 136 B, 0.2 ms apart, on fd 7 (...)" */
static void add_writes(const struct story *story, char **text)
{
	const struct tally *tally = story->tally;
	char first[2 * TEXT_BYTES + 8], second[2 * TEXT_BYTES + 8], number[TEXT_COUNT],
		most[TEXT_COUNT];

	if (!story->sender_is_target)
		prose__add(text, "The cause lies at the other end: ");
	if (!tally->first_bytes.most || !tally->second_bytes.most) {
		prose__add(text,
			   "%s writes a small piece on %s while an earlier one is still not "
			   "acknowledged",
			   story->sender, story->fd);
		add_connection(story, text);
		prose__add(text, ".");
		return;
	}
	prose__bytes(first, sizeof(first), &tally->first_bytes);
	prose__bytes(second, sizeof(second), &tally->second_bytes);
	prose__number(number, sizeof(number), 2 + tally->joined.least);
	prose__number(most, sizeof(most), 2 + tally->joined.most);
	prose__add(text, "%s writes each %s in %s", story->sender, story->message, number);
	if (tally->joined.least != tally->joined.most)
		prose__add(text, " to %s", most);
	prose__add(text,
		   tally->joined.most ? " pieces, the first of %s, the second of %s"
				      : " pieces, %s and %s",
		   first, second);
	add_gap(story, text);
	prose__add(text, ", on %s", story->fd);
	add_connection(story, text);
	prose__add(text, ".");
}

static void add_rule(const struct story *story, char **text)
{
	const struct ns_hold *hold = &story->stall->hold;
	const char *rest = story->tally->joined.most ? "the rest" : "the second";
	char held[TEXT_BYTES], mss[TEXT_BYTES];

	prose__add(text, " TCP sends the first at once, but Nagle's algorithm holds %s back", rest);
	if (hold->head.type && hold->mss)
		prose__add(text, ", which does not fill a segment (%s of %s),",
			   text__bytes(held, sizeof(held), story->stall->held_bytes),
			   text__bytes(mss, sizeof(mss), hold->mss));
	prose__add(text, " until the first is acknowledged.");
}

/* "This happened 122 times in 246 writes, 40.5 ms each, 4.94 s in all: 98.8% of the time." */
static void add_frequency(const struct story *story, char **text)
{
	const struct tally *tally = story->tally;
	const struct model_conn *conn = model__conn(story->model, tally->conn);
	uint64_t window = story->report->end_ts - story->report->start_ts;
	char count[TEXT_COUNT], writes[TEXT_COUNT], each[TEXT_DURATION], all[TEXT_DURATION],
		share[TEXT_PERCENT];

	if (tally->count == 1)
		prose__add(text, " This happened once");
	else
		prose__add(text, " This happened %s times",
			   text__count(count, sizeof(count), tally->count));
	if (conn->totals.writes)
		prose__add(text, " in %s write%s",
			   text__count(writes, sizeof(writes), conn->totals.writes),
			   conn->totals.writes == 1 ? "" : "s");
	text__duration(all, sizeof(all), tally->total_ns);
	if (tally->count == 1)
		prose__add(text, " and took %s", all);
	else
		prose__add(text, ", %s each, %s in all",
			   text__duration(each, sizeof(each), tally->total_ns / tally->count), all);
	if (window)
		prose__add(text, ": %s of the time watched",
			   text__percent(share, sizeof(share),
					 (double)tally->total_ns / (double)window));
	prose__add(text, ".");
}

static void add_missing(const struct story *story, char **text)
{
	if (story->stall->missing)
		prose__add(text, " Not seen: %s.", story->stall->missing);
}

static void tell_delack(const struct story *story, char **text)
{
	const struct stall *stall = &story->stall[0];
	char delay[TEXT_DURATION], took[TEXT_DURATION], rtt[TEXT_DURATION];

	add_writes(story, text);
	add_rule(story, text);
	if (stall->confidence == CONFIDENCE_INFERRED && !stall->fire.head.type) {
		prose__add(text,
			   " %s (%s) delays the acknowledgement. Its timer was out of sight, so "
			   "that is deduced: the acknowledgement came after %s without any data "
			   "in it, while a round trip here takes %s.",
			   story->other_end, story->other,
			   text__duration(took, sizeof(took), stall->ack.head.ts - stall->start_ts),
			   text__duration(rtt, sizeof(rtt), 1000ull * stall->hold.min_rtt_us));
	} else {
		prose__add(text,
			   " %s (%s) has nothing to send yet, so its kernel delays the "
			   "acknowledgement",
			   story->other_end, story->other);
		if (stall->arm.head.type && stall->arm.delay_us)
			prose__add(
				text, " by %s",
				text__nominal(delay, sizeof(delay), 1000ull * stall->arm.delay_us));
		prose__add(text,
			   ", in the hope of sending it along with data; it leaves only when that "
			   "timer runs out, and until then both ends wait for each other.");
		add_missing(story, text);
	}
	add_frequency(story, text);
}

static void tell_nagle(const struct story *story, char **text)
{
	add_writes(story, text);
	add_rule(story, text);
	if (story->stall->missing)
		add_missing(story, text);
	else if (2 * story->tally->by_data >= story->tally->count)
		prose__add(text,
			   " %s (%s) sends the acknowledgement together with "
			   "data, when it answers: no timer is in play, the hold lasts as long as "
			   "that answer takes.",
			   story->other_end, story->other);
	else
		prose__add(text,
			   " %s (%s) acknowledges without delay: no timer is in play, "
			   "the hold lasts a round trip.",
			   story->other_end, story->other);
	add_frequency(story, text);
}

static void tell_cork(const struct story *story, char **text)
{
	const struct stall *stall = story->stall;
	bool msg_more = stall->reason == NS_HOLD_MSG_MORE;
	char bytes[2 * TEXT_BYTES + 8];

	if (!story->sender_is_target)
		prose__add(text, "The cause lies at the other end: ");
	prose__add(text, "%s writes ", story->sender);
	if (story->tally->second_bytes.most)
		prose__add(text, "%s ",
			   prose__bytes(bytes, sizeof(bytes), &story->tally->second_bytes));
	if (story->tally->joined.most)
		prose__add(text, "and then more ");
	prose__add(text, "on %s", story->fd);
	add_connection(story, text);
	prose__add(text,
		   msg_more
			   ? " with MSG_MORE, which promises more to come. TCP keeps such bytes "
			     "until a segment is full, until a write without MSG_MORE, or for at "
			     "most 200 ms."
			   : " while the socket is corked (TCP_CORK). TCP keeps such bytes until a "
			     "segment is full, until the program clears TCP_CORK, or for at most "
			     "200 ms.");
	if (stall->ended)
		prose__add(text, " What let them go here: %s.", stall->ended);
	add_missing(story, text);
	add_frequency(story, text);
}

static void tell_held(const struct story *story, char **text)
{
	char bytes[TEXT_BYTES];

	prose__add(text, "%s wrote on %s", story->sender, story->fd);
	add_connection(story, text);
	prose__add(text, ", and TCP held %s of it back.",
		   text__bytes(bytes, sizeof(bytes), story->stall->held_bytes));
	add_missing(story, text);
	add_frequency(story, text);
}

static void tell_wait(const struct story *story, char **text)
{
	const struct ns_wait *wait = &story->stall->wait;
	const char *call = syscall__name(model__session(story->model)->arch, wait->syscall);

	prose__add(text, "%s wrote on %s", story->sender, story->fd);
	add_connection(story, text);
	prose__add(text, " and then waited%s%s for %s.", call ? " in " : "", call ? call : "",
		   story->other);
	add_missing(story, text);
	add_frequency(story, text);
}

void tale__write(const struct story *story, char **text)
{
	switch (story->tally->cause) {
	case CAUSE_NAGLE_DELACK:
		tell_delack(story, text);
		break;
	case CAUSE_NAGLE:
		tell_nagle(story, text);
		break;
	case CAUSE_CORK:
		tell_cork(story, text);
		break;
	default:
		if (story->stall->held_bytes)
			tell_held(story, text);
		else
			tell_wait(story, text);
		break;
	}
}

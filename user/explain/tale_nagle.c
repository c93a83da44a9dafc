// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Nagle's algorithm, with and without a delayed ACK. */
#include "user/base/text.h"
#include "user/explain/tale_parts.h"

/* "0.2 ms apart", "0.2 ms to 3 ms apart" */
static void add_gap(const struct story *story, char **text)
{
	const struct range *gap = &story->tally->gap_ns;
	char least[TEXT_DURATION], most[TEXT_DURATION];

	text__duration(least, sizeof(least), gap->least);
	text__duration(most, sizeof(most), gap->most);
	if (gap->most > 2 * gap->least)
		prose__add(text, ", %s to %s apart", least, most);
	else /* one figure to the reader */
		prose__add(text, ", %s apart",
			   text__duration(most, sizeof(most), (gap->least + gap->most) / 2));
}

/* "client/4242 writes each request in two pieces, 40 B and 136 B, 0.2 ms apart, on fd 7 (...)" */
static void add_writes(const struct story *story, char **text)
{
	const struct tally *tally = story->tally;
	char first[2 * TEXT_BYTES + 8], second[2 * TEXT_BYTES + 8], number[TEXT_COUNT],
		most[TEXT_COUNT];

	tale__whose(story, text);
	if (!tally->first_bytes.most || !tally->second_bytes.most) {
		prose__add(text,
			   "%s %s a small piece on %s while an earlier one is still not "
			   "acknowledged",
			   story->sender,
			   story->by_ring ? "sends through a ring (io_uring)" : "writes",
			   story->fd);
		tale__connection(story, text);
		prose__add(text, ".");
		return;
	}
	prose__bytes(first, sizeof(first), &tally->first_bytes);
	prose__bytes(second, sizeof(second), &tally->second_bytes);
	prose__number(number, sizeof(number), 2 + tally->joined.least);
	prose__number(most, sizeof(most), 2 + tally->joined.most);
	prose__add(text, "%s %s each %s in %s", story->sender,
		   story->by_ring ? "submits" : "writes", story->message, number);
	if (tally->joined.least != tally->joined.most)
		prose__add(text, " to %s", most);
	prose__add(text, story->by_ring ? " sends through a ring (io_uring)" : " pieces");
	prose__add(text, tally->joined.most ? ", the first of %s, the second of %s" : ", %s and %s",
		   first, second);
	add_gap(story, text);
	prose__add(text, ", on %s", story->fd);
	tale__connection(story, text);
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

/* The other end is out of sight, and the timer was this end's: see remote_nagle.h. */
static void tell_from_receiver(const struct story *story, char **text)
{
	const struct stall *stall = story->stall;
	char delay[TEXT_DURATION];

	prose__add(text, "The cause lies at the other end: %s seems to write in small pieces",
		   story->other);
	tale__connection(story, text);
	prose__add(text,
		   ". The first arrives, and Nagle's algorithm there holds the rest back until it "
		   "is acknowledged. %s waits for the rest on %s and has nothing to send yet, so "
		   "its kernel delays that acknowledgement",
		   story->sender, story->fd);
	if (stall->arm.head.type && stall->arm.delay_us)
		prose__add(text, " by %s",
			   text__nominal(delay, sizeof(delay), 1000ull * stall->arm.delay_us));
	prose__add(text,
		   ". When the timer had run out and the acknowledgement had left, the rest "
		   "came one round trip later.");
}

void tale__delack(const struct story *story, char **text)
{
	const struct stall *stall = story->stall;
	char delay[TEXT_DURATION], took[TEXT_DURATION], rtt[TEXT_DURATION];

	if (stall->fire.head.type && stall->fire.head.conn == stall->conn) {
		tell_from_receiver(story, text);
		return;
	}
	add_writes(story, text);
	add_rule(story, text);
	if (stall->confidence == CONFIDENCE_INFERRED && !stall->fire.head.type) {
		prose__add(text,
			   " %s (%s) delays the acknowledgement, by a timer that was out of "
			   "sight",
			   story->other_end, story->other);
		if (stall->ack.head.type && stall->hold.min_rtt_us)
			prose__add(
				text, ": it came after %s, while a round trip here takes %s",
				text__duration(took, sizeof(took),
					       stall->ack.head.ts - stall->start_ts),
				text__duration(rtt, sizeof(rtt), 1000ull * stall->hold.min_rtt_us));
		prose__add(text, ".");
		return;
	}
	prose__add(text,
		   " %s (%s) has nothing to send yet, so its kernel delays the acknowledgement",
		   story->other_end, story->other);
	if (stall->arm.head.type && stall->arm.delay_us)
		prose__add(text, " by %s",
			   text__nominal(delay, sizeof(delay), 1000ull * stall->arm.delay_us));
	prose__add(text,
		   ", in the hope of sending it along with data; it leaves only when that "
		   "timer runs out, and until then both ends wait for each other.");
}

void tale__nagle(const struct story *story, char **text)
{
	add_writes(story, text);
	add_rule(story, text);
	if (story->stall->missing)
		return;
	if (2 * story->tally->by_data >= story->tally->count)
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
}

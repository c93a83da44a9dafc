// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Segments, retransmissions and the delayed-ACK timer in words. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/explain/clauses.h"
#include "user/render/words/words_parts.h"

#define FLAG_FIN 1u
#define FLAG_SYN 2u
#define FLAG_RST 4u

/* a stands behind b in sequence space, which wraps (RFC 9293, 3.4). */
static bool after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

static const char *kind_of_segment(const struct ns_segment *segment)
{
	if (segment->flags & FLAG_RST)
		return "RST";
	if (segment->flags & FLAG_SYN)
		return "SYN";
	if (segment->flags & FLAG_FIN)
		return "FIN";
	return "ACK";
}

/* Did this end send the same bytes before, as far as the stall's steps go back? */
static bool is_retransmit(const struct scene *scene, const struct ns_segment *tx)
{
	for (size_t i = 0; scene->stall && i < scene->stall->step_count; i++) {
		const union event *step = &scene->stall->steps[i];

		if (step->head.type == NS_TX && step->head.conn == tx->head.conn &&
		    step->head.ts < tx->head.ts && !after(tx->end, step->segment.end))
			return true;
	}
	return false;
}

/*
 * Does this ACK, where it arrives, set the held bytes of the stall free? One of these bytes
 * themselves shows that they had left before, unseen.
 */
static bool frees_held(const struct scene *scene, const struct ns_segment *ack)
{
	const struct ns_hold *hold = scene->stall ? &scene->stall->hold : NULL;

	return hold && hold->head.type == NS_HOLD && hold->head.conn == ack->head.conn &&
	       ack->head.ts >= hold->head.ts && !after(hold->seq, ack->ack) &&
	       (scene->stall->exact || ack->ack == hold->seq);
}

static void describe_arrival(const struct scene *scene, const struct ns_segment *rx,
			     struct words *words)
{
	uint32_t bytes = rx->end - rx->seq;
	char unacked[TEXT_BYTES];

	if (bytes > 0) {
		snprintf(words->what, sizeof(words->what), "received");
		text__bytes(words->amount, sizeof(words->amount), bytes);
	} else {
		snprintf(words->what, sizeof(words->what), "%s received", kind_of_segment(rx));
	}
	if (frees_held(scene, rx))
		snprintf(words->note, sizeof(words->note), "acknowledges the %s in flight",
			 text__bytes(unacked, sizeof(unacked), scene->stall->hold.unacked));
}

void words__segment(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_segment *segment = &record->segment;
	uint32_t bytes = segment->end - segment->seq;
	char far[NAME_SIZE];

	if (segment->head.type == NS_RX) {
		describe_arrival(scene, segment, words);
		return;
	}
	name__far_end(far, sizeof(far), scene->report, segment->head.conn);
	if (segment->head.type == NS_TX && bytes > 0) {
		snprintf(words->what, sizeof(words->what), "sent -> %s", far);
		text__bytes(words->amount, sizeof(words->amount), bytes);
		if (is_retransmit(scene, segment)) {
			words->colour = COLOUR_FIRED;
			snprintf(words->note, sizeof(words->note), "RETRANSMISSION");
		}
		return;
	}
	snprintf(words->what, sizeof(words->what), "%s -> %s", kind_of_segment(segment), far);
	if (segment->flags & (FLAG_FIN | FLAG_SYN | FLAG_RST))
		return;
	snprintf(words->note, sizeof(words->note), "no data in it");
}

void words__delack_arm(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_delack *arm = &record->delack;
	char delay[TEXT_DURATION];

	(void)scene;
	snprintf(words->what, sizeof(words->what), "delayed ACK armed");
	if (arm->delay_us > 0)
		snprintf(words->note, sizeof(words->note), "waits %s for data to carry it",
			 text__nominal(delay, sizeof(delay), arm->delay_us * 1000ull));
	else
		snprintf(words->note, sizeof(words->note), "waits for data to carry it");
}

void words__delack_fire(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_delack *fire = &record->delack;
	char comm[TEXT_SAFE(NS_COMM_LEN)], where[96] = "its timer expired";

	(void)scene;
	words->colour = COLOUR_FIRED;
	snprintf(words->what, sizeof(words->what), "delayed ACK FIRED");
	if (fire->comm[0] && strncmp(fire->comm, "swapper/", 8) == 0)
		snprintf(where, sizeof(where), "on an idle CPU");
	else if (fire->comm[0])
		snprintf(where, sizeof(where), "in softirq, interrupting %s",
			 text__safe(comm, sizeof(comm), fire->comm, NS_COMM_LEN));
	snprintf(words->note, sizeof(words->note), "%s%s", where,
		 fire->owned ? "; the socket is in use: its user sends the ACK" : "");
}

/* Where no acknowledgement is shown as what ended it, the analysis says what did. */
static const char *ended_by(const struct scene *scene, const struct ns_release *release)
{
	const struct stall *stall = scene->stall;

	return stall && stall->conn == release->head.conn && !stall->ack.head.type &&
			       !stall->retrans.head.type
		       ? release__text(stall->released_by)
		       : NULL;
}

void words__release(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_release *release = &record->release;
	const char *ended = ended_by(scene, release);
	char far[NAME_SIZE], held[TEXT_DURATION];

	name__far_end(far, sizeof(far), scene->report, release->head.conn);
	snprintf(words->what, sizeof(words->what), "sent -> %s", far);
	if (release->end != release->seq)
		text__bytes(words->amount, sizeof(words->amount), release->end - release->seq);
	text__duration(held, sizeof(held), release->held_ns);
	if (release->inexact)
		snprintf(words->note, sizeof(words->note),
			 "released after at most %s (its transmit was not seen)", held);
	else
		snprintf(words->note, sizeof(words->note), "released after %s%s%s", held,
			 ended ? " by " : "", ended ? ended : "");
}

/* Append to the aside, with a comma when something stands there. */
static void __attribute__((format(printf, 2, 3)))
add_aside(struct words *words, const char *format, ...)
{
	size_t used = strlen(words->aside);
	va_list args;

	if (used > 0 && used + 3 < sizeof(words->aside)) {
		memcpy(words->aside + used, ", ", 3);
		used += 2;
	}
	va_start(args, format);
	vsnprintf(words->aside + used, sizeof(words->aside) - used, format, args);
	va_end(args);
}

void words__retrans(const struct scene *scene, const union record *record, struct words *words)
{
	static const char *const kinds[NS_RETRANS_KINDS] = {
		[NS_RETRANS_UNKNOWN] = "reason not seen",
		[NS_RETRANS_RTO] = "the retransmission timer expired",
		[NS_RETRANS_TLP] = "a tail loss probe",
		[NS_RETRANS_FAST] = "acknowledgements reported the loss",
		[NS_RETRANS_SYN] = "nobody answered the connection request",
	};
	const struct ns_retrans *retrans = &record->retrans;
	char rto[TEXT_DURATION], ago[TEXT_DURATION];

	(void)scene;
	words->colour = COLOUR_FIRED;
	snprintf(words->what, sizeof(words->what), "%s AGAIN",
		 retrans->kind == NS_RETRANS_SYN ? "SYN" : "sent");
	if (retrans->end != retrans->seq)
		text__bytes(words->amount, sizeof(words->amount), retrans->end - retrans->seq);
	snprintf(words->note, sizeof(words->note), "RETRANSMISSION: %s", kinds[retrans->kind]);
	text__duration(rto, sizeof(rto), retrans->rto_us * 1000ull);
	text__duration(ago, sizeof(ago), record->head.ts - retrans->sent_ts);
	if (retrans->end != retrans->seq)
		add_aside(words, "sequence %u to %u", retrans->seq, retrans->end);
	if (retrans->sent_ts)
		add_aside(words, "sent %s before", ago);
	if (retrans->rto_us)
		add_aside(words, "timer of %s", rto);
	if (retrans->retries > 1)
		add_aside(words, "retry %u", retrans->retries);
	if (retrans->arrived)
		add_aside(words, "the segment had arrived, its acknowledgement was lost");
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Segments, retransmissions and the delayed-ACK timer in words. */
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

	if (bytes > 0) {
		print_to(words->what, "received");
		text__bytes(words->amount, sizeof(words->amount), bytes);
	} else {
		print_to(words->what, "%s received", kind_of_segment(rx));
	}
	if (frees_held(scene, rx))
		print_to(words->note, "acknowledges the %s in flight",
			 bytes_text(scene->stall->hold.unacked));
}

void words__segment(const struct scene *scene, struct words *words)
{
	const struct ns_segment *segment = &scene->record->segment;
	uint32_t bytes = segment->end - segment->seq;
	const char *far;

	if (segment->head.type == NS_RX) {
		describe_arrival(scene, segment, words);
		return;
	}
	far = far_end_text(scene->report, segment->head.conn);
	if (segment->head.type == NS_TX && bytes > 0) {
		print_to(words->what, "sent -> %s", far);
		text__bytes(words->amount, sizeof(words->amount), bytes);
		if (is_retransmit(scene, segment)) {
			words->colour = COLOUR_FIRED;
			print_to(words->note, "RETRANSMISSION");
		}
		return;
	}
	print_to(words->what, "%s -> %s", kind_of_segment(segment), far);
	if (!(segment->flags & (FLAG_FIN | FLAG_SYN | FLAG_RST)))
		print_to(words->note, "no data in it");
}

void words__delack_arm(const struct scene *scene, struct words *words)
{
	char delay[TEXT_DURATION];
	uint64_t ns = scene->record->delack.delay_us * 1000ull;

	print_to(words->note, "waits %s%sfor data to carry it",
		 ns ? text__nominal(delay, sizeof(delay), ns) : "", ns ? " " : "");
}

void words__delack_fire(const struct scene *scene, struct words *words)
{
	const struct ns_delack *fire = &scene->record->delack;

	words->colour = COLOUR_FIRED;
	print_to(words->note, "its timer expired");
	if (fire->owned)
		add_to(words->note, "; ", "the socket is in use: its user sends the ACK");
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

void words__release(const struct scene *scene, struct words *words)
{
	const struct ns_release *release = &scene->record->release;
	const char *ended = ended_by(scene, release), *held = duration_text(release->held_ns);

	print_to(words->what, "sent -> %s", far_end_text(scene->report, release->head.conn));
	if (release->end != release->seq)
		text__bytes(words->amount, sizeof(words->amount), release->end - release->seq);
	if (release->inexact)
		print_to(words->note, "released after at most %s (its transmit was not seen)",
			 held);
	else
		print_to(words->note, "released after %s%s%s", held, ended ? " by " : "",
			 ended ? ended : "");
}

/* Of bytes that had arrived: whether an acknowledgement had left by then, as far as was seen. */
static const char *say_acked(const struct scene *scene, const struct ns_retrans *retrans)
{
	const struct stall *stall = scene->stall;

	for (size_t i = 0; stall && i < stall->step_count; i++) {
		const union event *step = &stall->steps[i];

		if ((step->head.type == NS_ACK || step->head.type == NS_TX) &&
		    step->head.conn != retrans->head.conn && step->head.ts < retrans->head.ts &&
		    !seq_after(retrans->end, step->segment.ack))
			return "the segment had arrived, its acknowledgement was lost";
	}
	return "the segment had arrived, its acknowledgement had not";
}

void words__failed(const struct scene *scene, struct words *words)
{
	const struct ns_failed *failed = &scene->record->failed;

	words->colour = COLOUR_FIRED;
	print_to(words->note, "%s after %s%s%s",
		 failed->error ? error_text(failed->error) : "given up",
		 duration_text(failed->head.ts - failed->began_ts), failed->syns > 1 ? ", " : "",
		 failed->syns > 1 ? counted_text(failed->syns, "SYN") : "");
	add_to(words->aside, ", ", "to %s",
	       address_text(failed->family, failed->raddr, failed->rport));
}

void words__listener(const struct scene *scene, struct words *words)
{
	const struct ns_listener *listener = &scene->record->listener;

	add_to(words->aside, ", ", "listen() allows %u", listener->backlog_max);
	if (!listener->drops) {
		print_to(words->what, "listens");
		print_to(words->note, "at :%u", listener->listen_port);
		return;
	}
	words->colour = COLOUR_FIRED;
	print_to(words->note, "%s to :%u dropped",
		 counted_text(listener->drops, "connection attempt"), listener->listen_port);
}

void words__service(const struct scene *scene, struct words *words)
{
	const struct ns_service *service = &scene->record->service;

	print_to(words->note, "%s that closed, %s", counted_text(service->ends, "connection"),
		 counted_text(service->exchanges, "exchange"));
	if (service->opener == NS_OPENER_PEER)
		add_to(words->aside, ", ", "served at :%u", service->port);
	else if (service->opener)
		add_to(words->aside, ", ", "to %s",
		       address_text(service->family, service->addr, service->port));
}

void words__retrans(const struct scene *scene, struct words *words)
{
	static const char *const kinds[NS_RETRANS_KINDS] = {
		[NS_RETRANS_UNKNOWN] = "reason not seen",
		[NS_RETRANS_RTO] = "the retransmission timer expired",
		[NS_RETRANS_TLP] = "a tail loss probe",
		[NS_RETRANS_FAST] = "acknowledgements reported the loss",
		[NS_RETRANS_SYN] = "nobody answered the connection request",
	};
	const struct ns_retrans *retrans = &scene->record->retrans;

	words->colour = COLOUR_FIRED;
	print_to(words->what, "%s AGAIN", retrans->kind == NS_RETRANS_SYN ? "SYN" : "sent");
	print_to(words->note, "RETRANSMISSION: %s", kinds[retrans->kind]);
	if (retrans->end != retrans->seq) {
		text__bytes(words->amount, sizeof(words->amount), retrans->end - retrans->seq);
		add_to(words->aside, ", ", "sequence %u to %u", retrans->seq, retrans->end);
	}
	if (retrans->sent_ts)
		add_to(words->aside, ", ", "sent %s before",
		       duration_text(retrans->head.ts - retrans->sent_ts));
	if (retrans->rto_us)
		add_to(words->aside, ", ", "timer of %s", duration_text(retrans->rto_us * 1000ull));
	if (retrans->retries > 1)
		add_to(words->aside, ", ", "retry %u", retrans->retries);
	if (retrans->arrived)
		add_to(words->aside, ", ", "%s", say_acked(scene, retrans));
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A bounded list of recent records in the order of their times. The kernel sends a
 * history when it matters, so records come late: each is sorted in where it belongs.
 */
#ifndef NETSTALL_MODEL_EVENTS_H
#define NETSTALL_MODEL_EVENTS_H

#include "user/record/record.h"

/* The records of RECORD_EVENT, a thread's sums and its throttles: a tenth of a union record. */
union event {
	struct ns_head head;
	struct ns_send send;
	struct ns_hold hold;
	struct ns_segment segment;
	struct ns_delack delack;
	struct ns_release release;
	struct ns_recv recv;
	struct ns_wait wait;
	struct ns_sums sums;
	struct ns_throttle throttle;
	struct ns_ran ran;
	struct ns_retrans retrans;
	struct ns_uring uring;
};

struct events {
	size_t count;
	size_t size; /* allocated */
	size_t bound;
	uint64_t reasons_from; /* holds and releases from then on stay; 0: they do not */
	union event *v;        /* by time; at the same time by type, which is causal order */
	union event *store;    /* where that lies */
};

enum { SEGMENT_FIN = 1, SEGMENT_SYN = 2, SEGMENT_RST = 4 }; /* ns_segment.flags */

/* An acknowledgement alone: no data, no change of the connection's state. */
static inline bool segment__is_pure_ack(const struct ns_segment *segment)
{
	return segment->seq == segment->end &&
	       !(segment->flags & (SEGMENT_FIN | SEGMENT_SYN | SEGMENT_RST));
}

/* Data that arrived. */
static inline bool event__is_data_in(const union event *event)
{
	return event->head.type == NS_RX && event->segment.seq != event->segment.end;
}

/* A delayed-ACK timer that ran out with an acknowledgement to send. */
static inline bool event__is_delack_due(const union event *event)
{
	enum { ACK_TIMER = 2 }; /* ICSK_ACK_TIMER in icsk_ack.pending */

	return event->head.type == NS_DELACK_FIRE && event->delack.pending & ACK_TIMER;
}

void event__from_record(union event *out, const union record *record);
void event__to_record(union record *out, const union event *event);

/* By time, at the same time by type; 0: they are the same in all bytes. */
int event__compare(const union event *a, const union event *b);

/*
 * Sort an event in; one that is there already, byte by byte, stays one. When the list is
 * full, the last event goes if it is later than precious_ts, else the first one that does not
 * stay; returns false when that lost an event which was precious, of these times. The later
 * half of the list is left as it is: what goes on stays whole. If all of the other half is to stay,
 * the shortest reason there goes, but not the first.
 */
bool events__add(struct events *events, const union event *event, uint64_t precious_from,
		 uint64_t precious_ts);
/* All of from, of which none is precious. */
void events__add_all(struct events *events, const struct events *from);
/* The next event of a type from *i on, which is behind it then; NULL: none. */
const union event *events__next(const struct events *events, uint32_t type, size_t *i);
void events__clear(struct events *events);
/* A hold's reasons stay until it was released and the next one begins. */
void events__keep_reasons(struct events *events, const struct ns_hold *hold);

/* The last held bytes of a connection when nothing among its events shows that they left. */
const struct ns_hold *events__open_hold(const struct events *events);
/* The record that this hold, one of these events, began with: its reason may have changed. */
const struct ns_hold *events__hold_began(const struct events *events, const struct ns_hold *hold);

/* Wrapping sequence numbers: is a behind b? */
static inline bool seq_after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

#endif

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The time line of a stall: from the write that was unacknowledged to the last wake. */
#include <stdlib.h>
#include <string.h>

#include "user/analyze/stall.h"
#include "user/base/xalloc.h"

#define CANDIDATES (2 * INCIDENT_EVENTS + 2) /* two waits */

struct span_of_bytes {
	uint32_t seq;
	uint32_t end;
};

/* Is this segment, sent or received, of these bytes? */
static bool carries(const union event *event, uint32_t type, const struct span_of_bytes *bytes)
{
	return event->head.type == type && seq_after(event->segment.end, bytes->seq) &&
	       seq_after(bytes->end, event->segment.seq);
}

static void earlier(uint64_t *from, const struct events *events, uint32_t type,
		    const struct span_of_bytes *bytes)
{
	for (size_t i = 0; i < events->count; i++) {
		if (carries(&events->v[i], type, bytes) && events->v[i].head.ts < *from)
			*from = events->v[i].head.ts;
	}
}

/* A wait for an answer begins with what was asked. */
static uint64_t last_write(const struct incident *incident, uint64_t before)
{
	uint64_t from = before;

	for (size_t i = 0; i < incident->own.count; i++) {
		const struct ns_head *head = &incident->own.v[i].head;

		if (head->type == NS_SEND && head->ts <= before)
			from = head->ts;
	}
	return from;
}

/*
 * The first write's own segment is older than the record of the write, which is made when
 * the call returns; over loopback it has even arrived by then.
 */
static uint64_t begin_of(const struct incident *incident, const struct stall *stall)
{
	const struct ns_send *first = stall->first.head.type ? &stall->first : &stall->second;
	struct span_of_bytes bytes = {first->write_seq - first->bytes, first->write_seq};
	uint64_t from = stall->start_ts;

	if (!stall->held_bytes && !stall->hold.head.type)
		return last_write(incident, from);
	if (!first->head.type)
		return from;
	if (first->head.ts < from)
		from = first->head.ts;
	if (first != &stall->first)
		return from; /* these bytes are the held ones: their segment is the release */
	earlier(&from, &incident->own, NS_TX, &bytes);
	earlier(&from, &incident->peers, NS_RX, &bytes);
	return from;
}

static bool same(const union event *event, const struct ns_head *head)
{
	return head->type && event->head.type == head->type && event->head.ts == head->ts &&
	       event->head.conn == head->conn;
}

/* What proves the stall, and must stay when there are too many. */
static bool is_proof(const struct finding *finding, const union event *event)
{
	const struct stall *stall = &finding->stall;

	switch (event->head.type) {
	case NS_HOLD:
	case NS_RELEASE:
	case NS_WAIT:
	case NS_RETRANS:
		return true;
	default:
		return same(event, &stall->first.head) || same(event, &stall->second.head) ||
		       same(event, &stall->arm.head) || same(event, &stall->fire.head) ||
		       same(event, &stall->ack.head) || same(event, &finding->peer_ack.head);
	}
}

static int by_time(const void *a, const void *b)
{
	const union event *const *x = a, *const *y = b;

	if ((*x)->head.ts != (*y)->head.ts)
		return (*x)->head.ts < (*y)->head.ts ? -1 : 1;
	if ((*x)->head.type != (*y)->head.type)
		return (*x)->head.type < (*y)->head.type ? -1 : 1;
	return (*x)->head.conn < (*y)->head.conn ? -1 : (*x)->head.conn > (*y)->head.conn;
}

static size_t pick(const union event **picked, size_t count, const struct events *events,
		   uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < events->count && count < CANDIDATES; i++) {
		if (events->v[i].head.ts >= from && events->v[i].head.ts <= to)
			picked[count++] = &events->v[i];
	}
	return count;
}

/* The waits that the stall names, once each. */
static bool is_named(const struct finding *finding, const struct ns_wait *wait)
{
	const struct stall *stall = &finding->stall;

	for (size_t i = 0; i < stall->link_count; i++) {
		if (!memcmp(wait, &stall->links[i].wait, sizeof(*wait)))
			return true;
	}
	return !memcmp(wait, &finding->receiver, sizeof(*wait)) ||
	       !memcmp(wait, &stall->wait, sizeof(*wait));
}

static size_t pick_waits(const union event **picked, size_t count, const struct incident *incident,
			 const struct finding *finding)
{
	for (size_t i = 0; i < incident->waits.count && count < CANDIDATES; i++) {
		const union event *event = &incident->waits.v[i];

		if (is_named(finding, &event->wait))
			picked[count++] = event;
	}
	return count;
}

/* Drop the last of those that prove nothing until the rest fits. */
static size_t thin_out(const union event **picked, size_t count, const struct finding *finding)
{
	size_t excess = count > STALL_STEPS ? count - STALL_STEPS : 0, kept = 0;

	for (size_t i = count; i-- > 0 && excess;) {
		if (is_proof(finding, picked[i]))
			continue;
		picked[i] = NULL;
		excess--;
	}
	for (size_t i = 0; i < count; i++) {
		if (picked[i])
			picked[kept++] = picked[i];
	}
	return kept < STALL_STEPS ? kept : STALL_STEPS;
}

size_t steps__build(const struct incident *incident, const struct finding *finding,
		    union record **steps)
{
	const union event *picked[CANDIDATES];
	uint64_t from = begin_of(incident, &finding->stall), to = finding->stall.end_ts;
	size_t count = 0;

	/* The waits first: they must not fall to the bound. */
	count = pick_waits(picked, count, incident, finding);
	count = pick(picked, count, &incident->own, from, to);
	count = pick(picked, count, &incident->peers, from, to);
	qsort(picked, count, sizeof(picked[0]), by_time);
	count = thin_out(picked, count, finding);
	*steps = xcalloc(count, sizeof(**steps));
	for (size_t i = 0; i < count; i++)
		event__to_record(&(*steps)[i], picked[i]);
	return count;
}

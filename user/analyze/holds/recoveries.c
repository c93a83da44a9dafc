// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/recoveries.h"

#include <stdlib.h>

#include "user/analyze/holds/recovery.h"
#include "user/base/clock.h"
#include "user/base/xalloc.h"

/* One that goes on, or that is over. */
struct recovery {
	uint64_t start_ts; /* when the lost bytes went out for the first time, as far as known */
	uint64_t end_ts;   /* UINT64_MAX: it goes on */
	uint64_t last_ts;  /* of the last segment sent again */
	struct loss loss;
	uint32_t conn;
};

struct recoveries {
	const struct model *model;
	struct incident_queue *incidents;
	size_t count;
	struct recovery current[RECOVERIES]; /* in the order of their beginning */
	size_t done_count;                   /* ever; a ring */
	struct recovery done[RECOVERIES_DONE];
};

struct recoveries *recoveries__new(const struct model *model, struct incident_queue *incidents)
{
	struct recoveries *recoveries = xcalloc(1, sizeof(*recoveries));

	recoveries->model = model;
	recoveries->incidents = incidents;
	return recoveries;
}

void recoveries__free(struct recoveries *recoveries)
{
	free(recoveries);
}

static struct recovery *find(struct recoveries *recoveries, uint32_t conn)
{
	for (size_t i = 0; i < recoveries->count; i++) {
		if (recoveries->current[i].conn == conn)
			return &recoveries->current[i];
	}
	return NULL;
}

static void forget(struct recoveries *recoveries, struct recovery *recovery)
{
	size_t place = (size_t)(recovery - recoveries->current);

	recoveries->count--;
	for (size_t i = place; i < recoveries->count; i++)
		recoveries->current[i] = recoveries->current[i + 1];
}

static void end(struct recoveries *recoveries, struct recovery *recovery, uint64_t ts, uint64_t now)
{
	struct recovery *done = &recoveries->done[recoveries->done_count++ % RECOVERIES_DONE];

	recovery->end_ts = ts > recovery->start_ts ? ts : recovery->start_ts;
	*done = *recovery;
	forget(recoveries, recovery);
	if (done->end_ts - done->start_ts >= model__threshold(recoveries->model))
		incident_queue__begin_recovery(recoveries->incidents, done->conn, done->start_ts,
					       done->end_ts, &done->loss, now);
}

/* Did this event end it? Then when, else 0. */
static uint64_t ended_by(struct recovery *recovery, const union event *event)
{
	switch (event->head.type) {
	case NS_RX:
		recovery->loss.acked = loss__is_acked(&recovery->loss, event->segment.ack);
		return recovery->loss.acked ? event->head.ts : 0;
	case NS_SEND:
		/* It arrived unseen. What was sent again last must have got through. */
		return loss__is_acked(&recovery->loss, event->send.snd_una) ? recovery->last_ts : 0;
	default:
		return 0;
	}
}

/* Records come late: the recovery that this belongs to may be over already. */
static bool is_done(const struct recoveries *recoveries, const struct ns_retrans *retrans)
{
	size_t count =
		recoveries->done_count < RECOVERIES_DONE ? recoveries->done_count : RECOVERIES_DONE;

	for (size_t i = 0; i < count; i++) {
		const struct recovery *done = &recoveries->done[i];

		if (done->conn == retrans->head.conn && retrans->head.ts <= done->end_ts &&
		    (retrans->head.ts >= done->start_ts || retrans->seq == done->loss.seq))
			return true;
	}
	return false;
}

/* Records come late: its end may be recorded before its beginning. */
static void find_end(struct recoveries *recoveries, struct recovery *recovery, uint64_t now)
{
	const struct model_conn *conn = model__conn(recoveries->model, recovery->conn);
	uint64_t ts;

	for (size_t i = 0; conn && i < conn->events.count; i++) {
		const union event *event = &conn->events.v[i];

		ts = event->head.ts > recovery->last_ts ? ended_by(recovery, event) : 0;
		if (!ts)
			continue;
		end(recoveries, recovery, ts, now);
		return;
	}
}

static void begin(struct recoveries *recoveries, const struct ns_retrans *retrans, uint64_t now)
{
	struct recovery *recovery;

	/* A probe whose bytes were not lost mends nothing: whatever waits has another cause. */
	if (retrans->kind == NS_RETRANS_TLP && retrans->arrived)
		return;
	if (is_done(recoveries, retrans))
		return;
	if (recoveries->count == RECOVERIES)
		forget(recoveries, &recoveries->current[0]);
	recovery = &recoveries->current[recoveries->count++];
	*recovery = (struct recovery){.conn = retrans->head.conn,
				      .end_ts = UINT64_MAX,
				      .last_ts = retrans->head.ts,
				      .loss = {.is_syn = retrans->kind == NS_RETRANS_SYN,
					       .seq = retrans->seq,
					       .end = retrans->end}};
	recovery->start_ts =
		recovery__first_sent(recoveries->model, retrans, &recovery->loss.first_sent_seen);
	find_end(recoveries, recovery, now);
}

/*
 * What acknowledgements reported lost does not prolong a recovery: on a path that loses all the
 * time it would have no end, while bytes arrive one round trip after the other.
 */
static void sent_again(struct recoveries *recoveries, const struct ns_retrans *retrans,
		       uint64_t now)
{
	struct recovery *recovery = find(recoveries, retrans->head.conn);

	if (!recovery) {
		begin(recoveries, retrans, now);
		return;
	}
	if (retrans->kind != NS_RETRANS_FAST && seq_after(retrans->end, recovery->loss.end))
		recovery->loss.end = retrans->end;
	if (retrans->head.ts > recovery->last_ts)
		recovery->last_ts = retrans->head.ts;
}

void recoveries__feed(struct recoveries *recoveries, const union record *record, uint64_t now)
{
	struct recovery *recovery;
	union event event;
	uint64_t ts;

	if (record->head.type == NS_RETRANS) {
		sent_again(recoveries, &record->retrans, now);
		return;
	}
	recovery = recoveries->count ? find(recoveries, record->head.conn) : NULL;
	if (!recovery || record->head.ts < recovery->start_ts)
		return;
	if (record->head.type == NS_CLOSE) {
		recovery->loss.closed = true;
		end(recoveries, recovery, record->head.ts, now);
	} else if (record->head.type == NS_RX || record->head.type == NS_SEND) {
		event__from_record(&event, record);
		ts = ended_by(recovery, &event);
		if (ts)
			end(recoveries, recovery, ts, now);
	}
}

void recoveries__close(struct recoveries *recoveries, uint64_t ts, uint64_t now)
{
	while (recoveries->count) {
		recoveries->current[0].loss.open = true;
		end(recoveries, &recoveries->current[0], ts, now);
	}
}

/* At least half of the hold: what only brushes it was held for a reason of its own. */
static bool has(const struct recovery *recovery, const struct incident *hold, uint64_t threshold)
{
	uint64_t common =
		clock__common(recovery->start_ts, recovery->end_ts, hold->start_ts, hold->end_ts);

	return recovery->conn == hold->conn && common &&
	       2 * common >= hold->end_ts - hold->start_ts &&
	       recovery->end_ts - recovery->start_ts >= threshold;
}

bool recoveries__overlap(const struct recoveries *recoveries, const struct incident *hold)
{
	uint64_t threshold = model__threshold(recoveries->model);
	size_t count =
		recoveries->done_count < RECOVERIES_DONE ? recoveries->done_count : RECOVERIES_DONE;

	for (size_t i = 0; i < recoveries->count; i++) {
		if (has(&recoveries->current[i], hold, threshold))
			return true;
	}
	for (size_t i = 0; i < count; i++) {
		if (has(&recoveries->done[i], hold, threshold))
			return true;
	}
	return false;
}

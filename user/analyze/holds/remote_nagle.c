// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/remote_nagle.h"

#include <string.h>

#include "user/analyze/holds/receiver.h"
#include "user/analyze/waits/wait.h"

/* What came one after the other on this end of the connection. */
struct sequel {
	const struct ns_delack *arm;
	const struct ns_delack *fire;
	const struct ns_segment *ack;     /* that it sent */
	const struct ns_segment *arrived; /* the first data behind that */
};

static bool is_pure_ack(const union event *event)
{
	return event->head.type == NS_ACK && segment__is_pure_ack(&event->segment);
}

/*
 * The timer, the acknowledgement, the data, and nothing between them that would have made
 * the other end send: with a write of ours behind the timer the data is its answer.
 */
static bool find_sequel(const struct events *events, uint64_t arrived_ts, struct sequel *sequel)
{
	memset(sequel, 0, sizeof(*sequel));
	for (size_t i = 0; i < events->count && events->v[i].head.ts <= arrived_ts; i++) {
		const union event *event = &events->v[i];

		if (sequel->arrived)
			memset(sequel, 0, sizeof(*sequel));
		if (event->head.type == NS_DELACK_ARM && !sequel->fire) {
			sequel->arm = &event->delack;
		} else if (event__is_delack_due(event)) {
			sequel->fire = &event->delack;
			sequel->ack = NULL;
		} else if (is_pure_ack(event) && sequel->fire && !sequel->ack) {
			sequel->ack = &event->segment;
		} else if (event__is_data_in(event)) {
			sequel->arrived = &event->segment;
		} else if (event->head.type == NS_SEND || event->head.type == NS_TX) {
			memset(sequel, 0, sizeof(*sequel));
		}
	}
	return sequel->fire && sequel->ack && sequel->arrived &&
	       sequel->arrived->head.ts == arrived_ts;
}

static bool is_candidate(const struct model_conn *conn)
{
	return conn && !conn->peer && (!conn->id.head.type || conn->id.role & NS_ROLE_TARGET);
}

/* The data that arrived at ts, or the next behind; 0 none. */
static uint64_t next_data(const struct events *events, uint64_t ts)
{
	for (size_t i = 0; i < events->count; i++) {
		if (events->v[i].head.ts >= ts && event__is_data_in(&events->v[i]))
			return events->v[i].head.ts;
	}
	return 0;
}

static bool takes_part(const union record *record)
{
	switch (record->head.type) {
	case NS_RX:
	case NS_ACK:
	case NS_DELACK_ARM:
	case NS_DELACK_FIRE:
		return true;
	default:
		return false;
	}
}

/* Whichever record of the sequel comes last completes it. */
void remote_nagle__feed(const struct model *model, struct incident_queue *incidents,
			const union record *record, uint64_t now)
{
	const struct model_conn *conn =
		takes_part(record) ? model__conn(model, record->head.conn) : NULL;
	struct sequel sequel;
	uint64_t start, end;

	if (!is_candidate(conn))
		return;
	end = next_data(&conn->events, record->head.ts);
	if (!end || !find_sequel(&conn->events, end, &sequel))
		return;
	start = sequel.arm ? sequel.arm->head.ts : sequel.fire->head.ts;
	if (end - start >= model__threshold(model))
		incident_queue__begin_remote_nagle(incidents, conn->number, start, end, now);
}

/* A target's wait that lasted while the timer ran, and that the data ended. */
static const struct ns_wait *find_wait(const struct model *model, const struct incident *incident,
				       const struct sequel *sequel)
{
	const struct span span = {.conn = incident->conn};
	const struct ns_wait *found = NULL;

	for (size_t i = 0; i < incident->waits.count; i++) {
		const struct ns_wait *wait = &incident->waits.v[i].wait;

		if (!wait->state || !model__is_target(model, wait->head.tgid) ||
		    wait->off_ts >= sequel->fire->head.ts ||
		    wait__woken(wait) < sequel->arrived->head.ts ||
		    !wait__concerns(model, wait, &span))
			continue;
		if (!found || wait__woken(wait) < wait__woken(found))
			found = wait;
	}
	return found;
}

/* Did it come when what the acknowledgement let go had to come? */
static bool in_time(const struct model_conn *conn, const struct ns_wait *wait,
		    const struct sequel *sequel)
{
	uint32_t rtt_us = wait->min_rtt_us ? wait->min_rtt_us : conn->totals.min_rtt_us;
	uint64_t took = sequel->arrived->head.ts - sequel->ack->head.ts, rtt = rtt_us * 1000ull;

	if (!rtt_us || rtt_us == UINT32_MAX)
		return false;
	return 4 * took >= 3 * rtt &&
	       took <= REMOTE_NAGLE_ROUND_TRIPS * rtt + REMOTE_NAGLE_SLACK_NS;
}

static void describe(const struct model *model, const struct sequel *sequel, struct stall *stall)
{
	stall->cause = CAUSE_NAGLE_DELACK;
	stall->confidence = CONFIDENCE_INFERRED;
	stall->inferred = INFERRED_FROM_OWN_TIMER;
	stall->missing = stall__unseen_end(model, stall->conn);
	stall->released_by = RELEASED_BY_OWN_DELAYED_ACK;
	stall->exact = true;
	stall->fire = *sequel->fire;
	if (sequel->arm)
		stall->arm = *sequel->arm;
}

static void cut_slices(struct stall *stall, const struct sequel *sequel, const struct ns_wait *wait)
{
	/* Before the thread waited, nothing delayed it. */
	stall->start_ts = sequel->arm ? sequel->arm->head.ts : wait->off_ts;
	if (wait->off_ts > stall->start_ts)
		stall->start_ts = wait->off_ts;
	stall->end_ts = sequel->ack->head.ts;
	stall__slice(stall, CAUSE_NAGLE_DELACK, stall->end_ts - stall->start_ts);
	receiver__cut(stall, wait);
}

bool remote_nagle__explain(const struct model *model, const struct incident *incident,
			   struct finding *finding)
{
	const struct model_conn *conn = model__conn(model, incident->conn);
	struct stall *stall = &finding->stall;
	const struct ns_wait *wait;
	struct sequel sequel;

	memset(finding, 0, sizeof(*finding));
	/* With the other end in sight, its hold is the better evidence. */
	if (!is_candidate(conn) || !find_sequel(&incident->own, incident->end_ts, &sequel))
		return false;
	wait = find_wait(model, incident, &sequel);
	if (!wait || !in_time(conn, wait, &sequel))
		return false;
	stall->conn = incident->conn;
	describe(model, &sequel, stall);
	cut_slices(stall, &sequel, wait);
	if (stall->end_ts - stall->start_ts < model__threshold(model))
		return false;
	finding->receiver = *wait;
	receiver__find_delayed(model, incident, finding);
	stall__check(stall);
	return true;
}

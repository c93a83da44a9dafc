// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/incident_queue.h"

#include <stdlib.h>

#include "user/analyze/holds/flow.h"
#include "user/base/array.h"
#include "user/base/xalloc.h"

/* Of more waits an incident has only a part (INCIDENT_WAITS): no more are sorted for it. */
#define FOUND_WAITS (2 * INCIDENT_WAITS)

struct incident_queue {
	const struct model *model;
	struct incident *first; /* by the time of their ends */
	size_t count;
	uint64_t early_until; /* those that ended by then are explained early */
	uint64_t lost;
	const union event **found; /* waits of an incident that is being gathered */
	size_t found_count;
	size_t found_room;
};

struct incident_queue *incident_queue__new(const struct model *model)
{
	struct incident_queue *queue = xcalloc(1, sizeof(*queue));

	queue->model = model;
	return queue;
}

void incident_queue__free(struct incident_queue *queue)
{
	struct incident *next;

	if (!queue)
		return;
	for (struct incident *incident = queue->first; incident; incident = next) {
		next = incident->next;
		incident__free(incident);
	}
	free(queue->found);
	free(queue);
}

static void keep(struct incident_queue *queue, struct incident *incident, struct events *events,
		 const union event *event)
{
	if (event->head.ts > incident->end_ts + SETTLE_NS)
		return;
	/* What was before the hold may make room; what was during it is missed. */
	if (!events__add(events, event, incident->start_ts, incident->end_ts))
		queue->lost++;
}

static void keep_all(struct incident_queue *queue, struct incident *incident, struct events *to,
		     const struct events *from)
{
	for (size_t i = 0; i < from->count; i++)
		keep(queue, incident, to, &from->v[i]);
}

/* Only a wait that spans the end can be the receiver's, only a long one the delayed one. */
static bool wait_matters(const struct incident_queue *queue, const struct incident *incident,
			 const struct ns_wait *wait)
{
	if (wait->off_ts >= incident->end_ts + SETTLE_NS || wait->head.ts <= incident->start_ts)
		return false;
	return (wait->off_ts < incident->end_ts && wait->head.ts >= incident->end_ts) ||
	       wait->head.ts - wait->off_ts >= model__threshold(queue->model);
}

/* Owners come late at times: a wait is taken also by the connection that it names. */
static bool wait_is_near(const struct incident_queue *queue, const struct incident *incident,
			 const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(queue->model, incident->conn);
	const struct model_conn *peer = model__peer(queue->model, conn);

	if (wait->head.conn &&
	    (wait->head.conn == incident->conn || (conn && wait->head.conn == conn->peer)))
		return true;
	return (conn && conn->id.head.tgid && conn->id.head.tgid == wait->head.tgid) ||
	       (peer && peer->id.head.tgid && peer->id.head.tgid == wait->head.tgid);
}

static void add_wait(struct incident_queue *queue, struct incident *incident,
		     const union event *event)
{
	keep(queue, incident, &incident->waits, event);
	incident__add_ring(incident, queue->model, &event->wait);
}

static bool is_wanted(const struct incident_queue *queue, const struct incident *incident,
		      const union event *event)
{
	return wait_matters(queue, incident, &event->wait) &&
	       wait_is_near(queue, incident, &event->wait);
}

static void gather_wait(struct incident_queue *queue, struct incident *incident,
			const union event *event)
{
	if (is_wanted(queue, incident, event))
		add_wait(queue, incident, event);
}

/* A step of an operation of a ring that one of the threads waited on. */
static void gather_operation(struct incident *incident, const union event *event)
{
	for (size_t i = 0; i < incident->waits.count; i++) {
		if (incident->waits.v[i].wait.ring != event->uring.ring)
			continue;
		incident__keep_operation(incident, event);
		return;
	}
}

/* Those that ended before the incident began are none of it. */
static void gather_waits_of(struct incident_queue *queue, struct incident *incident,
			    const struct model_thread *thread)
{
	size_t i = thread ? thread->waits.count : 0;

	while (i && thread->waits.v[i - 1].head.ts > incident->start_ts)
		i--;
	for (; thread && i < thread->waits.count; i++) {
		const union event *event = &thread->waits.v[i];

		if (queue->found_count >= FOUND_WAITS) {
			queue->lost += wait_matters(queue, incident, &event->wait) &&
				       event->head.ts <= incident->end_ts;
			continue;
		}
		if (!is_wanted(queue, incident, event))
			continue;
		queue->found = xgrow(queue->found, queue->found_count, &queue->found_room,
				     sizeof(const union event *));
		queue->found[queue->found_count++] = event;
	}
}

static int by_time(const void *a, const void *b)
{
	return event__compare(*(const union event *const *)a, *(const union event *const *)b);
}

static void gather_waits_of_process(struct incident_queue *queue, struct incident *incident,
				    const struct model_conn *conn)
{
	const struct model_thread *thread = NULL;

	if (conn && conn->id.head.tgid)
		thread = model__threads_of(queue->model, conn->id.head.tgid);
	for (; thread && thread->waited_until > incident->start_ts; thread = thread->next_of_owner)
		gather_waits_of(queue, incident, thread);
}

static void gather_waits_on(struct incident_queue *queue, struct incident *incident, uint32_t conn)
{
	const struct waiters *waiters = model__waiters(queue->model, conn);

	for (size_t i = 0; waiters && i < waiters->count; i++)
		gather_waits_of(queue, incident, model__thread(queue->model, waiters->tids[i]));
}

/* In the order of time: each is added at the end, or finds no room there. */
static void gather_known_waits(struct incident_queue *queue, struct incident *incident,
			       const struct model_conn *conn, const struct model_conn *peer)
{
	queue->found_count = 0;
	gather_waits_of_process(queue, incident, conn);
	gather_waits_of_process(queue, incident, peer);
	gather_waits_on(queue, incident, incident->conn);
	if (conn && conn->peer)
		gather_waits_on(queue, incident, conn->peer);
	sort_array(queue->found, queue->found_count, sizeof(*queue->found), by_time);
	for (size_t i = 0; i < queue->found_count; i++)
		add_wait(queue, incident, queue->found[i]);
}

static struct gathered gathered_of(const struct model_conn *conn, const struct model_conn *peer)
{
	return (struct gathered){.owner = conn ? conn->id.head.tgid : 0,
				 .peer = conn ? conn->peer : 0,
				 .peers_owner = peer ? peer->id.head.tgid : 0};
}

/* What came before the incident was known. Again when owner or peer become known. */
static void gather_known(struct incident_queue *queue, struct incident *incident)
{
	const struct model_conn *conn = model__conn(queue->model, incident->conn);
	const struct model_conn *peer = model__peer(queue->model, conn);

	if (conn)
		keep_all(queue, incident, &incident->own, &conn->events);
	if (peer)
		keep_all(queue, incident, &incident->peers, &peer->events);
	incident->gathered = gathered_of(conn, peer);
	gather_known_waits(queue, incident, conn, peer);
}

/* Each record of a connection is kept by each of its incidents. */
static void bound_those_of(struct incident_queue *queue, uint32_t conn)
{
	const struct incident *oldest = NULL;
	size_t count = 0;

	for (const struct incident *i = queue->first; i; i = i->next) {
		if (i->conn != conn)
			continue;
		oldest = oldest ? oldest : i;
		count++;
	}
	if (count > INCIDENTS_OF_CONN && oldest->end_ts > queue->early_until)
		queue->early_until = oldest->end_ts;
}

static bool is_due(const struct incident_queue *queue, uint64_t now)
{
	return queue->first->due_ts <= now || queue->count > INCIDENTS ||
	       queue->first->end_ts <= queue->early_until;
}

static void insert(struct incident_queue *queue, struct incident *incident)
{
	struct incident **place = &queue->first;

	while (*place &&
	       ((*place)->end_ts < incident->end_ts ||
		((*place)->end_ts == incident->end_ts && (*place)->conn < incident->conn)))
		place = &(*place)->next;
	incident->next = *place;
	*place = incident;
	queue->count++;
	gather_known(queue, incident);
}

static void add(struct incident_queue *queue, struct incident *incident, uint64_t now)
{
	incident->due_ts = (incident->end_ts > now ? incident->end_ts : now) + SETTLE_NS;
	if (flow__is(incident))
		incident->due_ts += FLOW_NS;
	insert(queue, incident);
	bound_those_of(queue, incident->conn);
}

void incident_queue__begin(struct incident_queue *queue, const struct ns_release *release,
			   uint64_t now)
{
	bool knows_threshold = model__session(queue->model)->head.type;
	struct incident *incident;

	/* With --all every hold comes, and nearly all are short. */
	if (knows_threshold && release->held_ns < model__threshold(queue->model))
		return;
	incident = incident__new(INCIDENT_HOLD, release->head.conn,
				 release->head.ts - release->held_ns, release->head.ts);
	incident->release = *release;
	add(queue, incident, now);
}

void incident_queue__begin_open(struct incident_queue *queue, uint32_t conn, bool closed,
				uint64_t ts, uint64_t now)
{
	const struct model_conn *known = model__conn(queue->model, conn);
	const struct ns_hold *hold = known ? events__open_hold(&known->events) : NULL;
	struct incident *incident;

	if (hold)
		hold = events__hold_began(&known->events, hold);
	if (!hold || hold->head.ts >= ts)
		return;
	incident = incident__new(INCIDENT_HOLD, conn, hold->head.ts, ts);
	incident->open = true;
	incident->closed = closed;
	add(queue, incident, now);
}

void incident_queue__begin_recovery(struct incident_queue *queue, uint32_t conn, uint64_t start_ts,
				    uint64_t end_ts, const struct loss *loss, uint64_t now)
{
	struct incident *incident = incident__new(INCIDENT_RECOVERY, conn, start_ts, end_ts);

	incident->loss = *loss;
	add(queue, incident, now);
}

void incident_queue__begin_remote_nagle(struct incident_queue *queue, uint32_t conn,
					uint64_t start_ts, uint64_t end_ts, uint64_t now)
{
	struct incident *incident;

	for (incident = queue->first; incident; incident = incident->next) {
		if (incident->kind == INCIDENT_REMOTE_NAGLE && incident->conn == conn &&
		    incident->end_ts == end_ts)
			return; /* known already */
	}
	incident = incident__new(INCIDENT_REMOTE_NAGLE, conn, start_ts, end_ts);
	add(queue, incident, now);
}

static bool is_gathered(const struct incident_queue *queue, const struct incident *incident)
{
	const struct model_conn *conn = model__conn(queue->model, incident->conn);
	struct gathered now = gathered_of(conn, model__peer(queue->model, conn));

	return now.owner == incident->gathered.owner && now.peer == incident->gathered.peer &&
	       now.peers_owner == incident->gathered.peers_owner;
}

/* News of a connection or a process: what was not near before may be now. */
static void gather_again(struct incident_queue *queue, uint32_t conn, uint32_t peer)
{
	for (struct incident *incident = queue->first; incident; incident = incident->next) {
		const struct model_conn *own = model__conn(queue->model, incident->conn);

		if ((incident->conn == conn || incident->conn == peer ||
		     (own && own->peer == conn)) &&
		    !is_gathered(queue, incident))
			gather_known(queue, incident);
	}
}

static void gather_event(struct incident_queue *queue, const union event *event)
{
	uint32_t number = event->head.conn;

	for (struct incident *incident = queue->first; incident; incident = incident->next) {
		const struct model_conn *conn = model__conn(queue->model, incident->conn);

		if (event->head.type == NS_WAIT)
			gather_wait(queue, incident, event);
		else if (incident->conn == number)
			keep(queue, incident, &incident->own, event);
		else if (conn && conn->peer == number)
			keep(queue, incident, &incident->peers, event);
		else if (event->head.type == NS_URING)
			gather_operation(incident, event);
	}
}

void incident_queue__gather(struct incident_queue *queue, const union record *record)
{
	union event event;

	if (!queue->first)
		return;
	if (record->head.type == NS_PEER) {
		gather_again(queue, record->head.conn, record->peer.peer);
	} else if (record->head.type == NS_CONN) {
		gather_again(queue, record->head.conn, 0);
	} else if (record__is_event(record->head.type)) {
		event__from_record(&event, record);
		gather_event(queue, &event);
	}
}

static struct incident *unlink_at(struct incident_queue *queue, struct incident **place)
{
	struct incident *incident = *place;

	*place = incident->next;
	incident->next = NULL;
	queue->count--;
	return incident;
}

/* The hold that followed this one while all of it was still known; NULL: none did. */
static struct incident *take_next_of_flow(struct incident_queue *queue,
					  const struct incident *incident)
{
	for (struct incident **place = &queue->first; *place; place = &(*place)->next) {
		if (flow__goes_on(queue->model, incident, *place))
			return unlink_at(queue, place);
	}
	return NULL;
}

struct incident *incident_queue__take(struct incident_queue *queue, uint64_t now)
{
	struct incident *incident, *next;

	/* In the order of their ends: one that came late holds up those behind it. */
	while (queue->first && is_due(queue, now)) {
		incident = unlink_at(queue, &queue->first);
		next = flow__is(incident) ? take_next_of_flow(queue, incident) : NULL;
		if (!next)
			return incident;
		flow__absorb(incident, next);
		insert(queue, incident);
	}
	return NULL;
}

bool incident_queue__pending(const struct incident_queue *queue, uint32_t conn, uint64_t from,
			     uint64_t to)
{
	for (const struct incident *i = queue->first; i; i = i->next) {
		const struct model_conn *own = model__conn(queue->model, i->conn);

		if ((i->conn == conn || (own && own->peer == conn)) && i->start_ts < to &&
		    i->end_ts > from)
			return true;
	}
	return false;
}

const struct incident *incident_queue__next(const struct incident_queue *queue,
					    const struct incident *incident)
{
	return incident ? incident->next : queue->first;
}

uint64_t incident_queue__lost(const struct incident_queue *queue)
{
	return queue->lost;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/incident.h"

#include <stdlib.h>

#include "user/base/xalloc.h"

struct incident *incident__new(enum incident_kind kind, uint32_t conn, uint64_t start_ts,
			       uint64_t end_ts)
{
	struct incident *incident = xcalloc(1, sizeof(*incident));

	incident->kind = kind;
	incident->conn = conn;
	incident->start_ts = start_ts;
	incident->end_ts = end_ts;
	incident->own.bound = INCIDENT_EVENTS;
	incident->own.reasons_from = start_ts;
	incident->peers.bound = INCIDENT_EVENTS;
	incident->waits.bound = INCIDENT_WAITS;
	incident->rings.bound = INCIDENT_EVENTS;
	return incident;
}

void incident__free(struct incident *incident)
{
	events__clear(&incident->own);
	events__clear(&incident->peers);
	events__clear(&incident->waits);
	events__clear(&incident->rings);
	free(incident);
}

void incident__keep_operation(struct incident *incident, const union event *event)
{
	/* The write that what was held had to wait for is older than the hold. */
	if (event->head.ts + SETTLE_NS >= incident->start_ts &&
	    event->head.ts <= incident->end_ts + SETTLE_NS)
		events__add(&incident->rings, event, 0, incident->end_ts);
}

void incident__add_ring(struct incident *incident, const struct model *model,
			const struct ns_wait *wait)
{
	const struct model_ring *ring = wait->ring ? model__ring(model, wait->ring) : NULL;

	for (size_t i = 0; ring && i < ring->ops.count; i++)
		incident__keep_operation(incident, &ring->ops.v[i]);
}

struct incident *incident__around(const struct model *model, const struct ns_wait *wait)
{
	struct incident *incident =
		incident__new(INCIDENT_WAIT, wait->head.conn, wait->off_ts, wait->head.ts);
	const struct model_conn *conn = model__conn(model, wait->head.conn);
	const struct model_conn *peer = model__peer(model, conn);
	union event event = {.wait = *wait};

	if (wait->head.type)
		events__add(&incident->waits, &event, 0, UINT64_MAX);
	if (conn)
		events__add_all(&incident->own, &conn->events);
	if (peer)
		events__add_all(&incident->peers, &peer->events);
	incident__add_ring(incident, model, wait);
	return incident;
}

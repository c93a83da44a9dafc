/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A hold that is over, or that nothing ended, while its evidence gathers: what its two
 * ends and their threads did comes before, with and after the release. It is explained
 * when the stream is SETTLE_NS past it, or has ended.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_INCIDENT_QUEUE_H
#define NETSTALL_ANALYZE_HOLDS_INCIDENT_QUEUE_H

#include "user/analyze/holds/incident.h"

/* Waiting, of all and of one connection; the oldest is explained early when there are more. */
#define INCIDENTS         1024
#define INCIDENTS_OF_CONN 128
struct incident_queue;

struct incident_queue *incident_queue__new(const struct model *model);
void incident_queue__free(struct incident_queue *queue);
/* A release came: an incident if it is long enough. */
void incident_queue__begin(struct incident_queue *queue, const struct ns_release *release,
			   uint64_t now);
/* The connection (closed) or the window ended at ts, and bytes may still be held. */
void incident_queue__begin_open(struct incident_queue *queue, uint32_t conn, bool closed,
				uint64_t ts, uint64_t now);
/* Lost bytes were acknowledged at end_ts, or not until then. */
void incident_queue__begin_recovery(struct incident_queue *queue, uint32_t conn, uint64_t start_ts,
				    uint64_t end_ts, const struct loss *loss, uint64_t now);
/* Data came at end_ts that an acknowledgement of this end, due since start_ts, may have let go. */
void incident_queue__begin_remote_nagle(struct incident_queue *queue, uint32_t conn,
					uint64_t start_ts, uint64_t end_ts, uint64_t now);
/* Take what belongs to an incident; the model has seen the record already. */
void incident_queue__gather(struct incident_queue *queue, const union record *record);
/* The incident that ended first, when it is due at now (UINT64_MAX: it is); NULL: none. */
struct incident *incident_queue__take(struct incident_queue *queue, uint64_t now);
/* Is one on this connection, from either end, not yet explained that lies in this time? */
bool incident_queue__pending(const struct incident_queue *queue, uint32_t conn, uint64_t from,
			     uint64_t to);
/* Walk those that wait: start with NULL. */
const struct incident *incident_queue__next(const struct incident_queue *queue,
					    const struct incident *incident);
/* Events of incidents that found no room. */
uint64_t incident_queue__lost(const struct incident_queue *queue);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A hold that is over, or that nothing ended, while its evidence gathers: what its two
 * ends and their threads did comes before, with and after the release. It is explained
 * when the stream is SETTLE_NS past it, or has ended.
 */
#ifndef NETSTALL_ANALYZE_INCIDENT_H
#define NETSTALL_ANALYZE_INCIDENT_H

#include "user/model/model.h"

/* Long after anything that the kernel could still say of it, short for who looks on. */
#define SETTLE_NS 50000000ull
/* Before a session told it. */
#define DEFAULT_THRESHOLD_NS 10000000ull

#define INCIDENTS       1024 /* waiting; the oldest is explained early when there are more */
#define INCIDENT_EVENTS 256  /* of one end */
#define INCIDENT_WAITS  256

/* A recovery as far as it is known when it ends. */
struct loss {
	bool known; /* the incident is a recovery, and no hold */
	bool is_syn;
	bool first_sent_seen; /* the start is when the bytes went out, not deduced */
	bool acked;           /* its end is the acknowledgement's arrival */
	bool closed;          /* its end is that of the connection */
	bool open;            /* its end is that of the window */
	uint32_t seq;         /* first lost byte */
	uint32_t end;
};

struct incident {
	struct incident *next;
	uint32_t conn;
	struct loss loss;
	bool answer;               /* data came that a delayed ACK of this end may have let go */
	bool open;                 /* nothing released it: the window or the connection closed */
	bool closed;               /* open: it was the connection */
	struct ns_release release; /* not when open */
	uint64_t start_ts;
	uint64_t end_ts;
	uint64_t due_ts;
	struct events own;   /* of the end that held */
	struct events peers; /* of the other end */
	struct events waits; /* of both ends' threads */
};

struct incidents;

struct incidents *incidents__new(const struct model *model);
void incidents__free(struct incidents *incidents);
/* A release came: an incident if it is long enough. */
void incidents__begin(struct incidents *incidents, const struct ns_release *release, uint64_t now);
/* The connection (closed) or the window ended at ts, and bytes may still be held. */
void incidents__begin_open(struct incidents *incidents, uint32_t conn, bool closed, uint64_t ts,
			   uint64_t now);
/* Lost bytes were acknowledged at end_ts, or that was awaited until then. */
void incidents__begin_recovery(struct incidents *incidents, uint32_t conn, uint64_t start_ts,
			       uint64_t end_ts, const struct loss *loss, uint64_t now);
/* Data came at end_ts that an acknowledgement of this end, due since start_ts, may have let go. */
void incidents__begin_answer(struct incidents *incidents, uint32_t conn, uint64_t start_ts,
			     uint64_t end_ts, uint64_t now);
/* Take what belongs to an incident; the model has seen the record already. */
void incidents__gather(struct incidents *incidents, const union record *record);
/* The incident that ended first, when it is due at now (UINT64_MAX: it is); NULL: none. */
struct incident *incidents__take(struct incidents *incidents, uint64_t now);
/* Is one on this connection, from either end, not yet explained that lies in this time? */
bool incidents__pending(const struct incidents *incidents, uint32_t conn, uint64_t from,
			uint64_t to);
/* Walk those that wait: start with NULL. */
const struct incident *incidents__next(const struct incidents *incidents,
				       const struct incident *incident);
/* Events of incidents that found no room. */
uint64_t incidents__lost(const struct incidents *incidents);

/* No hold: what is known of both ends around a wait, for its time line. */
struct incident *incident__around(const struct model *model, const struct ns_wait *wait);
void incident__free(struct incident *incident);
uint64_t session__threshold(const struct model *model);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One incident, and what happened around it at both ends of its connection. */
#ifndef NETSTALL_ANALYZE_HOLDS_INCIDENT_H
#define NETSTALL_ANALYZE_HOLDS_INCIDENT_H

#include "user/model/model.h"

/* Long after anything that the kernel could still say of it, short for who looks on. */
#define SETTLE_NS 50000000ull

#define INCIDENT_EVENTS 256 /* of one end */
#define INCIDENT_WAITS  256

/* A recovery as far as it is known when it ends. */
struct loss {
	bool is_syn;
	bool first_sent_seen; /* the start is when the bytes went out, not deduced */
	bool acked;           /* its end is the acknowledgement's arrival */
	bool closed;          /* its end is that of the connection */
	bool open;            /* its end is that of the window */
	uint32_t seq;         /* first lost byte */
	uint32_t end;
};

/* A SYN is sent again with seq == end; its answer acknowledges one number more. */
static inline bool loss__is_acked(const struct loss *loss, uint32_t ack)
{
	return seq_after(ack, loss->seq) && !seq_after(loss->end, ack);
}

/* Whose records an incident has; 0: not known. */
struct gathered {
	uint32_t owner;
	uint32_t peer;
	uint32_t peers_owner;
};

enum incident_kind {
	INCIDENT_HOLD,
	INCIDENT_RECOVERY,
	INCIDENT_REMOTE_NAGLE, /* data came that a delayed ACK of this end may have let go */
	INCIDENT_WAIT,         /* what is known around a wait, for its time line */
};

/* The incident queue writes it until it is taken; whoever explains it changes a copy. */
struct incident {
	struct incident *next;
	enum incident_kind kind;
	uint32_t conn;
	struct loss loss;          /* of a recovery */
	bool open;                 /* nothing released it: the window or the connection closed */
	bool closed;               /* open: it was the connection */
	struct ns_release release; /* not when open */
	uint64_t start_ts;
	uint64_t end_ts;
	uint64_t due_ts;
	struct gathered gathered;
	struct events own;   /* of the end that held */
	struct events peers; /* of the other end */
	struct events waits; /* of both ends' threads */
	struct events rings; /* of operations of the rings that these threads waited on */
};

struct incident *incident__new(enum incident_kind kind, uint32_t conn, uint64_t start_ts,
			       uint64_t end_ts);
void incident__free(struct incident *incident);
/* What is known of both ends around a wait. */
struct incident *incident__around(const struct model *model, const struct ns_wait *wait);
/* And what is known of the ring that a wait was on, if it was on one. */
void incident__add_ring(struct incident *incident, const struct model *model,
			const struct ns_wait *wait);
/* A step of an operation, if it is near. It only illustrates: one without room is no loss. */
void incident__keep_operation(struct incident *incident, const union event *event);

#endif

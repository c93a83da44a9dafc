/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is known of processes, threads, connections and stacks, and what happened to
 * each lately. Every table has a bound; what finds no room is counted.
 */
#ifndef NETSTALL_MODEL_MODEL_H
#define NETSTALL_MODEL_MODEL_H

#include "user/model/events.h"
#include "user/model/exchanges.h"
#include "user/model/owners.h"
#include "user/model/stacks.h"

#define MODEL_CONNS         262144
#define MODEL_THREADS       16384
#define MODEL_PROCESSES     16384
#define MODEL_STACKS        8192 /* numbers held; the live source names none that is half as old */
#define MODEL_STACK_BYTES   (16u << 20) /* of the texts that reports show */
#define MODEL_CONN_EVENTS   64          /* recent records kept of a connection */
#define MODEL_THREAD_WAITS  128         /* recent waits kept of a thread */
#define MODEL_THREAD_SUMS   128
#define MODEL_CLOSED        1024 /* closed connections that stay known */
#define MODEL_CLOSED_RECENT 256  /* and of these keep their recent records */
#define MODEL_ENDED         4096 /* ended threads that stay known, and as many processes */
#define MODEL_ENDED_RECENT  1024 /* and of the threads keep their recent records */
#define MODEL_RINGS         4096
#define MODEL_RING_OPS      128 /* recent steps of operations kept of a ring */

/* Only model__feed() writes what follows. Each begins with the number that it is known by. */

struct model_conn {
	uint32_t number;
	uint32_t peer; /* number of the other end, 0 not known */
	bool closed;
	struct ns_conn id;            /* head.type 0: only its events came so far */
	struct ns_conn_totals totals; /* head.type 0: none came */
	struct events events;
};

struct model_thread {
	uint32_t tid;
	uint32_t tgid;
	struct ns_thread_totals totals; /* head.type 0: none came */
	struct events waits;
	struct events sums;  /* as it woke others; and its throttles, NS_THROTTLE, NS_RAN */
	bool asks;           /* it has made a request */
	bool serves;         /* it has served one */
	bool asks_datagrams; /* likewise by datagrams */
	uint64_t asked_ts;   /* when the last one was over that is */
	uint64_t ended;      /* which of all ends of threads was its own; 0: it lives */
	uint64_t comm_ts;
	char comm[NS_COMM_LEN];
	struct model_thread *next_of_owner; /* of one process; see model__threads_of() */
	struct model_thread *before_of_owner;
	uint64_t waited_until;
};

struct model_process {
	uint32_t pid;
	uint32_t ns_pid;
	uint32_t role;   /* 0: only its exit or its listeners came so far */
	uint32_t master; /* whose worker it is, 0 nobody's */
	char container[NS_CONTAINER_LEN];
	bool exited;
	uint64_t ended; /* which of all exits was its own; 0: it lives */
	uint64_t exit_ts;
	bool asks;           /* it has made requests */
	bool asks_datagrams; /* by datagrams, as far as it slept for the answers */
	bool serves;         /* it has served requests */
	bool listens;        /* for connections */
	bool parks;          /* threads that have nothing to do wait in futex: Go's */
	bool has_requests;   /* on connections, of either kind */
	bool has_messages;   /* it has slept on a Unix socket with a name */
	bool reads_messages; /* and was sent something there, where it listens */
	uint64_t comm_ts;
	char comm[NS_COMM_LEN];
};

struct model_ring {
	uint32_t number;
	struct ns_ring id; /* head.type 0: only its operations came so far */
	struct events
		ops; /* NS_URING of any step; those on a connection are among its events too */
};

struct model;

struct model *model__new(void);
void model__free(struct model *model);
void model__feed(struct model *model, const union record *record);

/* NULL when it is not there. */
const struct model_conn *model__conn(const struct model *model, uint32_t number);
/* The other end of a connection, which may be NULL. */
const struct model_conn *model__peer(const struct model *model, const struct model_conn *conn);
const struct model_conn *model__next_conn(const struct model *model, size_t *cursor);
const struct model_thread *model__thread(const struct model *model, uint32_t tid);
const struct model_thread *model__next_thread(const struct model *model, size_t *cursor);
/*
 * The first thread of a process, or of none (0); the others follow by next_of_owner. From one on
 * whose waited_until is before a time, none has a wait that ended behind that time. NULL: none.
 */
const struct model_thread *model__threads_of(const struct model *model, uint32_t pid);
/* The threads that waited on a connection, without those of its owner; NULL: none. */
const struct waiters *model__waiters(const struct model *model, uint32_t conn);
/* What belongs to a process, and to all targets. */
struct owner model__owned(const struct model *model, uint32_t pid);
const struct owned_by_targets *model__owned_by_targets(const struct model *model);
/* The recent waits of a thread by number, in the order of their times; NULL behind the last, and
 * for thread NULL. */
static inline const struct ns_wait *model_thread__wait(const struct model_thread *thread, size_t i)
{
	return thread && i < thread->waits.count ? &thread->waits.v[i].wait : NULL;
}
/* The first time that a thread was kept from running by its quota, in some part of a time; NULL:
 * none, and for thread NULL. */
const struct ns_throttle *model_thread__throttle(const struct model_thread *thread, uint64_t from,
						 uint64_t to);
/* Who ran while the thread waited for a CPU in that time; likewise. */
const struct ns_ran *model_thread__ran(const struct model_thread *thread, uint64_t from,
				       uint64_t to);
const struct model_process *model__process(const struct model *model, uint32_t pid);
const struct model_process *model__next_process(const struct model *model, size_t *cursor);
const struct model_ring *model__ring(const struct model *model, uint32_t number);
/*
 * Text, leaf first; NULL for 0 and what did not come, and for what is gone or finds no room: that
 * is counted. The first lives until the next record, the others as long as the model: the stack of
 * a wait or of who ended it, and that of a call.
 */
const char *model__stack(const struct model *model, uint32_t id);
struct stack_notes *model__stack_notes(const struct model *model, uint32_t id);
const char *model__kept_stack(const struct model *model, uint32_t id);
const char *model__kept_site(const struct model *model, uint32_t id);

/* The recent ones of at least an eighth of the threshold whose end was seen. */
const struct exchanges *model__exchanges(const struct model *model);
/* The served side of an asked one, NULL: not seen. */
const struct ns_exchange *model__served_side(const struct model *model,
					     const struct ns_exchange *asked);
/* Was it answered within the time of the asked one, at the other end of its connection? */
bool model__are_sides(const struct model *model, const struct ns_exchange *asked,
		      const struct ns_exchange *served);
/* head.type 0 before it came. */
const struct ns_session *model__session(const struct model *model);
/* From how long on a wait is a stall, ns. */
uint64_t model__threshold(const struct model *model);
/* Does the way of attaching give this fact (enum ns_fact)? */
bool model__sees(const struct model *model, enum ns_fact fact);
/* By enum ns_lost_kind: what records say, and what found no room here. */
uint64_t model__lost(const struct model *model, uint32_t kind);
/* Of what could hide a stall, that for which there was no room here. */
uint64_t model__hidden_here(const struct model *model);
/* So far nothing was lost that could hide a stall or its cause. */
bool model__is_whole(const struct model *model);
bool model__is_target(const struct model *model, uint32_t pid);

#endif

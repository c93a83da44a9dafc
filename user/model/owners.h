/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What belongs to whom: the threads, connections and workers of a process, also before its own
 * record comes, and the threads that waited on a connection. So nobody goes through all that the
 * model knows for each record. Written by the model alone.
 */
#ifndef NETSTALL_MODEL_OWNERS_H
#define NETSTALL_MODEL_OWNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWNERS_WAITERS 256 /* threads of one connection: the one that came first makes room */

struct model_conn;
struct model_process;
struct model_thread;

struct owner {
	uint32_t pid;
	struct model_thread *threads; /* whoever waited last comes first; see next_of_owner */
	size_t conns;
	size_t accepted; /* of these: opened by the other end */
	size_t workers;
};

/* Of all targets. */
struct owned_by_targets {
	size_t conns;
	size_t accepted;
	size_t readers;    /* processes that listen on a Unix socket, and were sent something */
	size_t requesters; /* processes that had requests */
};

/* Threads by number, in the order in which they first waited there; not those of its owner. */
struct waiters {
	uint32_t conn;
	size_t count;
	size_t room;
	uint32_t *tids;
};

struct owners;

struct owners *owners__new(size_t owners, size_t conns);
void owners__free(struct owners *owners);

/* NULL: nothing belongs to it. */
const struct owner *owners__of(const struct owners *owners, uint32_t pid);
const struct owned_by_targets *owners__targets(const struct owners *owners);
/* NULL: nobody waited there. */
const struct waiters *owners__waiters(const struct owners *owners, uint32_t conn);

/* Around each change of what they are counted by: taken out, changed, added. */
void owners__add_thread(struct owners *owners, struct model_thread *thread);
void owners__take_thread(struct owners *owners, struct model_thread *thread);
void owners__add_conn(struct owners *owners, const struct model_conn *conn);
void owners__take_conn(struct owners *owners, const struct model_conn *conn);
void owners__add_process(struct owners *owners, const struct model_process *process);
void owners__take_process(struct owners *owners, const struct model_process *process);

/* The thread, which is known, has waited up to ts. */
void owners__waited(struct owners *owners, struct model_thread *thread, uint64_t ts);
/* It waited on the connection. False: one found no room, or made room. */
bool owners__add_waiter(struct owners *owners, uint32_t conn, uint32_t tid);
/* Nothing more is asked of the connection. */
void owners__forget_waiters(struct owners *owners, uint32_t conn);

#endif

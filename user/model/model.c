// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/model/model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "user/base/table.h"
#include "user/base/xalloc.h"
#include "user/model/stacks.h"
#include "user/record/losses.h"

/* So long behind a thread's end its sockets may close. */
#define LATE_NS 1000000000ull

/* The last of those that ended, by the table's key. */
struct endings {
	uint32_t keys[MODEL_ENDED];
	uint64_t count; /* ever */
};

struct model {
	struct table *conns;
	struct table *threads;
	struct table *processes;
	struct stacks *stacks;
	struct table *rings;
	struct ns_session session;
	uint64_t lost[NS_LOST_KINDS]; /* as records say */
	uint64_t *lost_here; /* by kind: what found no room, or is gone when it is asked for */
	uint32_t closed[MODEL_CLOSED];
	size_t closed_next;
	struct endings threads_ended;
	struct endings exits;
	struct exchanges *exchanges;
	struct owners *owners;
};

struct model *model__new(void)
{
	struct model *model = xcalloc(1, sizeof(*model));

	model->conns = table__new(MODEL_CONNS);
	model->threads = table__new(MODEL_THREADS);
	model->processes = table__new(MODEL_PROCESSES);
	model->stacks = stacks__new();
	model->rings = table__new(MODEL_RINGS);
	model->exchanges = exchanges__new();
	model->owners = owners__new(MODEL_THREADS + MODEL_CONNS + MODEL_PROCESSES, MODEL_CONNS);
	model->lost_here = xcalloc(NS_LOST_KINDS, sizeof(*model->lost_here));
	return model;
}

static void drop_conn(void *value)
{
	struct model_conn *conn = value;

	events__clear(&conn->events);
	free(conn);
}

static void drop_records(struct model_thread *thread)
{
	events__clear(&thread->waits);
	events__clear(&thread->sums);
}

static void drop_thread(void *value)
{
	drop_records(value);
	free(value);
}

static void drop_ring(void *value)
{
	struct model_ring *ring = value;

	events__clear(&ring->ops);
	free(ring);
}

void model__free(struct model *model)
{
	if (!model)
		return;
	table__free(model->conns, drop_conn);
	table__free(model->threads, drop_thread);
	table__free(model->processes, free);
	stacks__free(model->stacks);
	table__free(model->rings, drop_ring);
	exchanges__free(model->exchanges);
	owners__free(model->owners);
	free(model->lost_here);
	free(model);
}

/* The entry of the key, which it begins with, made when it is new; NULL: no room (counted). */
static void *entry(struct model *model, struct table *table, uint32_t key, size_t size)
{
	void *value = table__get(table, key);

	if (value)
		return value;
	value = xcalloc(1, size);
	memcpy(value, &key, sizeof(key));
	if (table__put(table, key, value))
		return value;
	free(value);
	model->lost_here[NS_LOST_KEPT]++;
	return NULL;
}

static struct model_conn *conn_entry(struct model *model, uint32_t number)
{
	return entry(model, model->conns, number, sizeof(struct model_conn));
}

static void own_thread(struct model *model, struct model_thread *thread, uint32_t tgid)
{
	thread->tgid = tgid;
	owners__add_thread(model->owners, thread);
}

static struct model_thread *thread_entry(struct model *model, const struct ns_head *head)
{
	struct model_thread *thread = table__get(model->threads, head->tid);

	if (!thread) {
		thread = entry(model, model->threads, head->tid, sizeof(struct model_thread));
		if (thread)
			own_thread(model, thread, head->tgid);
		return thread;
	}
	/* Another one of that number: of its own there is little behind its end, and that soon. */
	if (thread->ended && head->ts > thread->totals.head.ts &&
	    ((head->tgid && head->tgid != thread->tgid) ||
	     head->ts - thread->totals.head.ts > LATE_NS)) {
		owners__take_thread(model->owners, thread);
		drop_records(thread);
		*thread = (struct model_thread){.tid = head->tid};
		own_thread(model, thread, head->tgid);
	} else if (!thread->tgid && head->tgid) {
		owners__take_thread(model->owners, thread);
		own_thread(model, thread, head->tgid);
	}
	return thread;
}

static struct model_ring *ring_entry(struct model *model, uint32_t number)
{
	return entry(model, model->rings, number, sizeof(struct model_ring));
}

/* A later value replaces an earlier one; an absent one replaces nothing. */
static void take(uint32_t *known, uint32_t value, uint32_t absent, bool later)
{
	if (value != absent && (later || *known == absent))
		*known = value;
}

static void take_comm(char *known, const char *comm, bool later)
{
	if (*comm && (later || !*known))
		memcpy(known, comm, NS_COMM_LEN);
}

static void learn_conn(struct model *model, const struct ns_conn *record)
{
	struct model_conn *conn = conn_entry(model, record->head.conn);
	struct ns_conn *id;
	bool later;

	if (!conn)
		return;
	id = &conn->id;
	if (!id->head.type) {
		*id = *record;
		owners__add_conn(model->owners, conn);
		return;
	}
	owners__take_conn(model->owners, conn);
	later = record->head.ts >= id->head.ts;
	take(&id->head.tgid, record->head.tgid, 0, later);
	take(&id->fd, record->fd, NS_FD_UNKNOWN, later);
	take(&id->origin, record->origin, 0, later);
	take(&id->opener, record->opener, 0, later);
	take_comm(id->comm, record->comm, later);
	take(&id->role, record->role, 0, later);
	if (later)
		id->head.ts = record->head.ts;
	owners__add_conn(model->owners, conn);
}

/* Nobody is the other end of two, whatever a damaged recording says: what was said first holds. */
static void learn_peer(struct model *model, const struct ns_peer *record)
{
	struct model_conn *one = conn_entry(model, record->head.conn);
	struct model_conn *other = conn_entry(model, record->peer);

	if ((one && one->peer && one->peer != record->peer) ||
	    (other && other->peer && other->peer != record->head.conn))
		return;
	if (one)
		one->peer = record->peer;
	if (other)
		other->peer = record->head.conn;
}

/* The number of the connection that was closed so many before the next one, 0 none. */
static uint32_t *closed_before(struct model *model, size_t closings)
{
	return &model->closed[(model->closed_next + MODEL_CLOSED - closings) % MODEL_CLOSED];
}

/* Closed connections stay known for a while; only the last of them keep their recent records. */
static void learn_close(struct model *model, uint32_t number)
{
	struct model_conn *conn = conn_entry(model, number), *quiet, *oldest;
	uint32_t *place;

	if (!conn || conn->closed)
		return;
	conn->closed = true;
	quiet = table__get(model->conns, *closed_before(model, MODEL_CLOSED_RECENT));
	if (quiet)
		events__clear(&quiet->events);
	place = closed_before(model, MODEL_CLOSED);
	oldest = table__take(model->conns, *place);
	if (oldest) {
		owners__take_conn(model->owners, oldest);
		owners__forget_waiters(model->owners, oldest->number);
		drop_conn(oldest);
	}
	*place = number;
	model->closed_next++;
}

/* Who ended so many before the next one, 0 none. */
static uint32_t *ended_before(struct endings *endings, size_t ends)
{
	return &endings->keys[(endings->count + MODEL_ENDED - ends) % MODEL_ENDED];
}

/* Ended threads and processes stay known for a while, as closed connections do. */
static void forget_thread(struct model *model, struct model_thread *thread)
{
	struct endings *ended = &model->threads_ended;
	uint32_t *place = ended_before(ended, MODEL_ENDED);
	struct model_thread *quiet =
		table__get(model->threads, *ended_before(ended, MODEL_ENDED_RECENT));
	struct model_thread *oldest = table__get(model->threads, *place);

	if (quiet && quiet->ended)
		drop_records(quiet);
	*place = thread->tid;
	thread->ended = ++ended->count;
	if (!oldest || !oldest->ended || oldest->ended + MODEL_ENDED > ended->count)
		return;
	owners__take_thread(model->owners, oldest);
	drop_thread(table__take(model->threads, oldest->tid));
}

static void forget_process(struct model *model, struct model_process *process)
{
	uint32_t *place = ended_before(&model->exits, MODEL_ENDED);
	struct model_process *oldest = table__get(model->processes, *place);

	*place = process->pid;
	process->ended = ++model->exits.count;
	if (!oldest || !oldest->ended || oldest->ended + MODEL_ENDED > model->exits.count)
		return;
	owners__take_process(model->owners, oldest);
	free(table__take(model->processes, oldest->pid));
}

/* Old events that make room are no loss. */
static void keep(struct events *events, size_t bound, const union record *record)
{
	union event event;

	event__from_record(&event, record);
	events->bound = bound;
	events__add(events, &event, 0, UINT64_MAX);
}

static void learn_event(struct model *model, const union record *record)
{
	struct model_conn *conn = conn_entry(model, record->head.conn);

	if (!conn)
		return;
	if (record->head.type == NS_HOLD)
		events__keep_reasons(&conn->events, &record->hold);
	keep(&conn->events, MODEL_CONN_EVENTS, record);
}

/* A process is called as its first thread is: another name since it was met comes with exec(), or
 * is its own wish (prctl). */
static void learn_comm(struct model *model, struct model_thread *thread, const char *comm,
		       uint64_t ts)
{
	struct model_process *process =
		thread->tid == thread->tgid ? table__get(model->processes, thread->tgid) : NULL;

	take_comm(thread->comm, comm, ts >= thread->comm_ts);
	if (ts > thread->comm_ts)
		thread->comm_ts = ts;
	if (!process || !*comm || ts < process->comm_ts)
		return;
	memcpy(process->comm, comm, NS_COMM_LEN);
	process->comm_ts = ts;
}

/* A datagram that waits for an answer is a request. */
static void learn_asking(struct model *model, struct model_thread *thread)
{
	struct model_process *process = table__get(model->processes, thread->tgid);

	thread->asks_datagrams = true;
	if (process)
		process->asks = process->asks_datagrams = true;
}

static void learn_messages(struct model *model, const struct ns_wait *wait)
{
	struct model_process *process = table__get(model->processes, wait->head.tgid);

	if (!process)
		return;
	process->has_messages = true;
	owners__take_process(model->owners, process);
	process->reads_messages |= wait->socket.role == NS_ANSWERS && wait->socket.is_ready;
	owners__add_process(model->owners, process);
}

/* Those of the connection's owner are known as such. */
static void learn_waiter(struct model *model, const struct model_thread *thread, uint32_t number)
{
	const struct model_conn *conn = table__get(model->conns, number);
	bool is_owners = conn && conn->id.head.tgid && conn->id.head.tgid == thread->tgid;

	if (number && !is_owners && !owners__add_waiter(model->owners, number, thread->tid))
		model->lost_here[NS_LOST_KEPT]++;
}

static void learn_wait(struct model *model, const union record *record)
{
	const struct ns_wait *wait = &record->wait;
	struct model_thread *thread = thread_entry(model, &wait->head);

	if (!thread)
		return;
	learn_comm(model, thread, wait->comm, wait->head.ts);
	keep(&thread->waits, MODEL_THREAD_WAITS, record);
	owners__waited(model->owners, thread, wait->head.ts);
	learn_waiter(model, thread, wait->head.conn);
	if (wait->socket.asked_ts && wait->socket.role == NS_ASKS)
		learn_asking(model, thread);
	if (wait->socket.family == AF_UNIX && wait->socket.role)
		learn_messages(model, wait);
}

static void learn_sums(struct model *model, const union record *record)
{
	struct model_thread *thread = thread_entry(model, &record->head);

	if (!thread)
		return;
	learn_comm(model, thread, record->sums.comm, record->head.ts);
	keep(&thread->sums, MODEL_THREAD_SUMS, record);
}

static void learn_throttle(struct model *model, const union record *record)
{
	struct model_thread *thread = thread_entry(model, &record->head);

	if (thread)
		keep(&thread->sums, MODEL_THREAD_SUMS, record);
}

static void learn_thread_totals(struct model *model, const struct ns_thread_totals *record)
{
	struct model_thread *thread = thread_entry(model, &record->head);

	if (!thread)
		return;
	learn_comm(model, thread, record->comm, record->head.ts);
	if (!thread->totals.head.type || record->head.ts >= thread->totals.head.ts)
		thread->totals = *record;
	if (record->ended && !thread->ended)
		forget_thread(model, thread);
}

static void learn_conn_totals(struct model *model, const struct ns_conn_totals *record)
{
	struct model_conn *conn = conn_entry(model, record->head.conn);

	if (conn && (!conn->totals.head.type || record->head.ts >= conn->totals.head.ts))
		conn->totals = *record;
}

static void learn_process(struct model *model, const struct ns_process *record)
{
	struct model_process *process =
		entry(model, model->processes, record->head.tgid, sizeof(*process));
	bool later;

	if (!process)
		return;
	owners__take_process(model->owners, process);
	/* Another one of that number. */
	if (process->exited && record->head.ts > process->exit_ts)
		*process = (struct model_process){.pid = process->pid};
	later = record->head.ts >= process->comm_ts;
	process->role |= record->role;
	take(&process->ns_pid, record->ns_pid, 0, later);
	take(&process->master, record->master, 0, later);
	take_comm(process->comm, record->comm, later);
	if (record->container[0])
		memcpy(process->container, record->container, NS_CONTAINER_LEN);
	if (later)
		process->comm_ts = record->head.ts;
	owners__add_process(model->owners, process);
}

static void learn_listener(struct model *model, const struct ns_head *head)
{
	struct model_process *process =
		entry(model, model->processes, head->tgid, sizeof(struct model_process));

	if (process)
		process->listens = true;
}

/* A thread of Go's scheduler for which there is no goroutine: runtime.stopm(). */
static void learn_call(struct model *model, const struct ns_call *call)
{
	struct model_process *process = table__get(model->processes, call->head.tgid);
	const char *site;

	if (!process || process->parks || call->what != NS_CALL_WAIT)
		return;
	site = stacks__text(model->stacks, call->stack_id, &model->lost_here[NS_LOST_SITES]);
	process->parks = site && strstr(site, "runtime.stopm");
}

static void learn_exit(struct model *model, const struct ns_head *head)
{
	struct model_process *process = table__get(model->processes, head->tgid);

	if (!process)
		return;
	process->exited = true;
	process->exit_ts = head->ts;
	if (!process->ended)
		forget_process(model, process);
}

static void learn_ring(struct model *model, const struct ns_ring *record)
{
	struct model_ring *ring = ring_entry(model, record->ring);

	if (ring && (!ring->id.head.type || record->head.ts >= ring->id.head.ts))
		ring->id = *record;
}

static void learn_operation(struct model *model, const union record *record)
{
	struct model_ring *ring = ring_entry(model, record->uring.ring);

	if (record->head.conn)
		learn_event(model, record);
	if (ring)
		keep(&ring->ops, MODEL_RING_OPS, record);
}

bool model__are_sides(const struct model *model, const struct ns_exchange *asked,
		      const struct ns_exchange *served)
{
	const struct model_conn *conn = model__conn(model, asked->head.conn);

	return conn && conn->peer && conn->peer == served->head.conn &&
	       exchange__is_within(asked, served);
}

/* Those whose end was not seen say nothing of what came behind the first bytes of the answer. */
static void learn_exchange(struct model *model, const struct ns_exchange *exchange)
{
	struct model_process *process = table__get(model->processes, exchange->head.tgid);
	struct model_thread *thread = thread_entry(model, &exchange->head);
	const struct model_conn *conn = model__conn(model, exchange->head.conn);
	uint32_t peer = conn ? conn->peer : 0;

	/* Of quick ones as well: what is slow may be at the other end. */
	if (exchange->side == NS_EXCHANGE_SERVED)
		exchanges__add_served(model->exchanges, exchange, peer);
	if (process && exchange->side == NS_EXCHANGE_ASKED)
		process->asks = true;
	else if (process)
		process->serves = true;
	if (process) {
		owners__take_process(model->owners, process);
		process->has_requests = true;
		owners__add_process(model->owners, process);
	}
	if (thread && exchange->side == NS_EXCHANGE_SERVED)
		thread->serves = true;
	if (thread && exchange->side == NS_EXCHANGE_ASKED) {
		thread->asks = true;
		if (exchange->ended != NS_EXCHANGE_ANSWERED && exchange->head.ts > thread->asked_ts)
			thread->asked_ts = exchange->head.ts;
	}
	if (exchange->ended == NS_EXCHANGE_ANSWERED ||
	    exchange->head.ts - exchange->begin_ts < model__threshold(model) / 8)
		return;
	exchanges__add(model->exchanges, exchange, peer);
}

const struct ns_throttle *model_thread__throttle(const struct model_thread *thread, uint64_t from,
						 uint64_t to)
{
	const union event *event;

	for (size_t i = 0; thread && (event = events__next(&thread->sums, NS_THROTTLE, &i));) {
		if (event->head.ts > from && event->throttle.since_ts < to)
			return &event->throttle;
	}
	return NULL;
}

const struct ns_ran *model_thread__ran(const struct model_thread *thread, uint64_t from,
				       uint64_t to)
{
	const union event *event;

	for (size_t i = 0; thread && (event = events__next(&thread->sums, NS_RAN, &i));) {
		if (event->head.ts > from && event->ran.from_ts < to)
			return &event->ran;
	}
	return NULL;
}

void model__feed(struct model *model, const union record *record)
{
	switch (record->head.type) {
	case NS_SESSION:
		model->session = record->session;
		break;
	case NS_PROCESS:
		learn_process(model, &record->process);
		break;
	case NS_CONN:
		learn_conn(model, &record->conn);
		break;
	case NS_PEER:
		learn_peer(model, &record->peer);
		break;
	case NS_WAIT:
		learn_wait(model, record);
		break;
	case NS_SUMS:
		learn_sums(model, record);
		break;
	case NS_LISTENER:
		learn_listener(model, &record->head);
		break;
	case NS_CALL:
		learn_call(model, &record->call);
		break;
	case NS_THROTTLE:
	case NS_RAN:
		learn_throttle(model, record);
		break;
	case NS_EXCHANGE:
		learn_exchange(model, &record->exchange);
		break;
	case NS_CLOSE:
		learn_close(model, record->head.conn);
		break;
	case NS_CONN_TOTALS:
		learn_conn_totals(model, &record->conn_totals);
		break;
	case NS_THREAD_TOTALS:
		learn_thread_totals(model, &record->thread_totals);
		break;
	case NS_EXIT:
		learn_exit(model, &record->head);
		break;
	case NS_LOST:
		/* Counts only grow: the greatest is the last, in whatever order they come. */
		if (record->lost.count > model->lost[record->lost.kind])
			model->lost[record->lost.kind] = record->lost.count;
		break;
	case NS_STACK:
		stacks__learn(model->stacks, record->stack.id, record->stack.text);
		break;
	case NS_RING:
		learn_ring(model, &record->ring);
		break;
	case NS_URING:
		learn_operation(model, record);
		break;
	default:
		if (record__is_event(record->head.type))
			learn_event(model, record);
		break;
	}
}

/* ---- what is known ---- */

const struct model_conn *model__conn(const struct model *model, uint32_t number)
{
	return table__get(model->conns, number);
}

const struct model_conn *model__peer(const struct model *model, const struct model_conn *conn)
{
	return conn ? model__conn(model, conn->peer) : NULL;
}

const struct model_conn *model__next_conn(const struct model *model, size_t *cursor)
{
	return table__next(model->conns, cursor);
}

const struct model_thread *model__thread(const struct model *model, uint32_t tid)
{
	return table__get(model->threads, tid);
}

const struct model_thread *model__next_thread(const struct model *model, size_t *cursor)
{
	return table__next(model->threads, cursor);
}

const struct model_thread *model__threads_of(const struct model *model, uint32_t pid)
{
	const struct owner *owner = owners__of(model->owners, pid);

	return owner ? owner->threads : NULL;
}

const struct waiters *model__waiters(const struct model *model, uint32_t conn)
{
	return owners__waiters(model->owners, conn);
}

struct owner model__owned(const struct model *model, uint32_t pid)
{
	const struct owner *owner = owners__of(model->owners, pid);

	return owner ? *owner : (struct owner){.pid = pid};
}

const struct owned_by_targets *model__owned_by_targets(const struct model *model)
{
	return owners__targets(model->owners);
}

const struct model_process *model__process(const struct model *model, uint32_t pid)
{
	return table__get(model->processes, pid);
}

const struct model_process *model__next_process(const struct model *model, size_t *cursor)
{
	return table__next(model->processes, cursor);
}

const struct model_ring *model__ring(const struct model *model, uint32_t number)
{
	return table__get(model->rings, number);
}

const struct exchanges *model__exchanges(const struct model *model)
{
	return model->exchanges;
}

const struct ns_exchange *model__served_side(const struct model *model,
					     const struct ns_exchange *asked)
{
	const struct model_conn *conn = model__conn(model, asked->head.conn);
	const struct ns_exchange *served = exchanges__served_side(model->exchanges, asked);

	return served || !conn ? served
			       : exchanges__served_for(model->exchanges, asked, conn->peer);
}

const char *model__stack(const struct model *model, uint32_t id)
{
	return stacks__text(model->stacks, id, &model->lost_here[NS_LOST_STACKS]);
}

struct stack_notes *model__stack_notes(const struct model *model, uint32_t id)
{
	return stacks__notes(model->stacks, id);
}

const char *model__kept_stack(const struct model *model, uint32_t id)
{
	return stacks__keep(model->stacks, id, &model->lost_here[NS_LOST_STACKS]);
}

const char *model__kept_site(const struct model *model, uint32_t id)
{
	return stacks__keep(model->stacks, id, &model->lost_here[NS_LOST_SITES]);
}

const struct ns_session *model__session(const struct model *model)
{
	return &model->session;
}

uint64_t model__threshold(const struct model *model)
{
	const struct ns_session *session = &model->session;

	return session->head.type ? session->threshold_ns : DEFAULT_THRESHOLD_NS;
}

bool model__sees(const struct model *model, enum ns_fact fact)
{
	return !(model->session.missing >> fact & 1);
}

uint64_t model__lost(const struct model *model, uint32_t kind)
{
	return model->lost[kind] + model->lost_here[kind];
}

uint64_t model__hidden_here(const struct model *model)
{
	return losses__hiding(model->lost_here);
}

bool model__is_whole(const struct model *model)
{
	return !losses__hiding(model->lost) && !losses__hiding(model->lost_here);
}

bool model__is_target(const struct model *model, uint32_t pid)
{
	const struct model_process *process = model__process(model, pid);

	return process && process->role & NS_ROLE_TARGET;
}

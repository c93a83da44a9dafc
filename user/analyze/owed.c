// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/owed.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"
#include "user/trace/syscalls.h"

/* A wait, and what its connection had done when the thread went to sleep. */
struct pending {
	struct ns_wait wait;
	uint64_t due_ts;
	uint64_t last_out_ts; /* the last write on it, 0 none */
	uint64_t last_in_ts;  /* the last sign that data came in, 0 none */
};

struct owed {
	const struct model *model;
	const struct incidents *incidents;
	struct pending *pending;
	size_t count;
	size_t size;
	struct span spans[OWED_SPANS];
	size_t span_count; /* ever; the ring keeps the last of them */
	uint64_t longest;
};

struct owed *owed__new(const struct model *model, const struct incidents *incidents)
{
	struct owed *owed = xcalloc(1, sizeof(*owed));

	owed->model = model;
	owed->incidents = incidents;
	return owed;
}

void owed__free(struct owed *owed)
{
	if (!owed)
		return;
	free(owed->pending);
	free(owed);
}

uint64_t owed__longest(const struct owed *owed)
{
	return owed->longest;
}

/*
 * What an event says of who owes whom. Reads are not always hooked: data that arrived,
 * and a delayed ACK that was armed because data arrived, tell of an answer as well.
 */
static void note_act(struct pending *pending, const union event *event)
{
	uint64_t ts = event->head.ts;

	if (ts > pending->wait.off_ts)
		return;
	switch (event->head.type) {
	case NS_SEND:
		if (ts > pending->last_out_ts)
			pending->last_out_ts = ts;
		break;
	case NS_RX:
		if (event->segment.seq == event->segment.end)
			break;
		/* fallthrough */
	case NS_RECV:
	case NS_DELACK_ARM:
		if (ts > pending->last_in_ts)
			pending->last_in_ts = ts;
		break;
	default:
		break;
	}
}

/* In a call that waits for this connection, as far as one can see. */
static bool waits_for(const struct model *model, const struct ns_wait *wait,
		      const struct model_conn *conn)
{
	switch (syscall__wait(model__session(model)->arch, wait->syscall)) {
	case SYSCALL_WAIT_FD:
		return conn->id.fd == NS_FD_UNKNOWN || wait->arg0 == conn->id.fd;
	case SYSCALL_WAIT_MANY:
		return true;
	case SYSCALL_WAIT_OTHER:
		return false;
	}
	return false;
}

/*
 * Without --all, reads are seldom seen: when the thread has slept for the network once since
 * it wrote, that sleep is taken for the one that brought the answer.
 */
static bool slept_since(const struct model *model, const struct pending *pending)
{
	const struct model_thread *thread = model__thread(model, pending->wait.head.tid);
	const struct ns_session *session = model__session(model);

	if (session->verbose || !thread)
		return false;
	for (size_t i = 0; i < thread->waits.count; i++) {
		const struct ns_wait *wait = &thread->waits.v[i].wait;

		if (wait->off_ts >= pending->last_out_ts && wait->head.ts <= pending->wait.off_ts &&
		    wait->head.conn == pending->wait.head.conn &&
		    syscall__waits_for_network(session->arch, wait->syscall))
			return true;
	}
	return false;
}

static bool is_owed(const struct model *model, const struct pending *pending)
{
	const struct ns_wait *wait = &pending->wait;
	const struct model_conn *conn = model__conn(model, wait->head.conn);

	if (!wait->state || !model__is_target(model, wait->head.tgid))
		return false;
	if (!conn || !conn->id.head.type || conn->id.opener != NS_OPENER_SELF)
		return false;
	if (conn->id.head.tgid && conn->id.head.tgid != wait->head.tgid)
		return false;
	return waits_for(model, wait, conn) && pending->last_out_ts &&
	       pending->last_out_ts >= pending->last_in_ts && !slept_since(model, pending);
}

static void begin(struct owed *owed, const struct ns_wait *wait, uint64_t now)
{
	const struct model_conn *conn = model__conn(owed->model, wait->head.conn);
	uint64_t length = wait->head.ts - wait->off_ts, end = wait->head.ts;
	bool knows_threshold = model__session(owed->model)->head.type;
	struct pending pending = {.wait = *wait};

	if (!wait->head.conn || length <= owed->longest)
		return;
	/* With --all every wait comes: the cheap tests first. */
	if (knows_threshold && length < session__threshold(owed->model) &&
	    (!conn || conn->id.opener != NS_OPENER_SELF))
		return;
	for (size_t i = 0; conn && i < conn->events.count; i++)
		note_act(&pending, &conn->events.v[i]);
	if (knows_threshold && length < session__threshold(owed->model)) {
		if (is_owed(owed->model, &pending))
			owed->longest = length;
		return;
	}
	pending.due_ts = (end > now ? end : now) + SETTLE_NS;
	if (owed->count == owed->size) {
		owed->size = owed->size ? 2 * owed->size : 16;
		owed->pending = xreallocarray(owed->pending, owed->size, sizeof(*owed->pending));
	}
	owed->pending[owed->count++] = pending;
}

void owed__feed(struct owed *owed, const union record *record, uint64_t now)
{
	union event event;

	if (!event__fits(record->head.type))
		return;
	if (record->head.type == NS_WAIT) {
		begin(owed, &record->wait, now);
		return;
	}
	if (!owed->count)
		return;
	event__from_record(&event, record);
	for (size_t i = 0; i < owed->count; i++) {
		if (owed->pending[i].wait.head.conn == event.head.conn)
			note_act(&owed->pending[i], &event);
	}
}

void owed__explained(struct owed *owed, const struct stall *stall)
{
	owed->spans[owed->span_count++ % OWED_SPANS] =
		(struct span){.start_ts = stall->start_ts,
			      .end_ts = stall->end_ts,
			      .conn = stall->conn,
			      .peer = stall->peer,
			      .writer_tid = stall->hold.head.tid};
}

/* The parts of a wait that holds account for, merged as they come. */
#define COVERS 64

struct cover {
	const struct owed *owed;
	const struct ns_wait *wait;
	size_t count;
	struct {
		uint64_t start, end;
	} part[COVERS]; /* disjoint, by time */
};

static void add_cover(struct cover *cover, const struct span *span)
{
	uint64_t start =
		span->start_ts > cover->wait->off_ts ? span->start_ts : cover->wait->off_ts;
	uint64_t end = span->end_ts < cover->wait->head.ts ? span->end_ts : cover->wait->head.ts;
	size_t i = 0, joined;

	if (end <= start || !wait__concerns(cover->owed->model, cover->wait, span))
		return;
	while (i < cover->count && cover->part[i].end < start)
		i++;
	for (joined = i; joined < cover->count && cover->part[joined].start <= end; joined++) {
		if (cover->part[joined].start < start)
			start = cover->part[joined].start;
		if (cover->part[joined].end > end)
			end = cover->part[joined].end;
	}
	if (joined == i && cover->count == COVERS)
		return;
	/* Parts i to joined become one. */
	memmove(&cover->part[i + 1], &cover->part[joined],
		(cover->count - joined) * sizeof(cover->part[0]));
	cover->count = cover->count - (joined - i) + 1;
	cover->part[i].start = start;
	cover->part[i].end = end;
}

/* A hold that nobody has ended yet. */
static void add_open_hold(struct cover *cover, const struct model_conn *conn)
{
	const struct ns_hold *hold = conn ? events__open_hold(&conn->events) : NULL;

	if (hold)
		add_cover(cover, &(struct span){.start_ts = hold->head.ts,
						.end_ts = UINT64_MAX,
						.conn = conn->number,
						.peer = conn->peer,
						.writer_tid = hold->head.tid});
}

static void find_cover(const struct owed *owed, const struct ns_wait *wait, struct cover *cover)
{
	const struct model_conn *conn = model__conn(owed->model, wait->head.conn);
	size_t spans = owed->span_count < OWED_SPANS ? owed->span_count : OWED_SPANS;
	const struct incident *incident = NULL;

	cover->owed = owed;
	cover->wait = wait;
	cover->count = 0;
	for (size_t i = 0; i < spans; i++)
		add_cover(cover, &owed->spans[i]);
	while ((incident = incidents__next(owed->incidents, incident))) {
		const struct model_conn *own = model__conn(owed->model, incident->conn);

		if (incident->end_ts - incident->start_ts >= session__threshold(owed->model))
			add_cover(cover, &(struct span){.start_ts = incident->start_ts,
							.end_ts = incident->end_ts,
							.conn = incident->conn,
							.peer = own ? own->peer : 0});
	}
	add_open_hold(cover, conn);
	add_open_hold(cover, conn ? model__conn(owed->model, conn->peer) : NULL);
}

/*
 * The longest part of the wait that no hold accounts for. Nothing when holds account for
 * the wait in substance, at least half of it: one incident is one stall.
 */
static uint64_t unexplained(const struct cover *cover, uint64_t *start)
{
	uint64_t at = cover->wait->off_ts, end = cover->wait->head.ts, longest = 0, covered = 0;

	for (size_t i = 0; i <= cover->count; i++) {
		uint64_t until = i < cover->count ? cover->part[i].start : end;

		if (until - at > longest) {
			longest = until - at;
			*start = at;
		}
		if (i < cover->count) {
			covered += cover->part[i].end - cover->part[i].start;
			at = cover->part[i].end;
		}
	}
	return 2 * covered >= end - cover->wait->off_ts ? 0 : longest;
}

static const char *what_is_missing(const struct model *model)
{
	if (!model__sees(model, NS_FACT_SEND) && !model__sees(model, NS_FACT_DECISION))
		return "what TCP held back: this kernel does not show sends to netstall";
	return "what the other end did meanwhile: nothing was held on this connection";
}

static void fill(const struct owed *owed, const struct ns_wait *wait, uint64_t start,
		 uint64_t length, struct stall *stall)
{
	const struct model_conn *conn = model__conn(owed->model, wait->head.conn);
	uint64_t end = start + length, woken = wait__woken(wait);

	memset(stall, 0, sizeof(*stall));
	stall->cause = CAUSE_UNKNOWN;
	stall->start_ts = start;
	stall->end_ts = end;
	stall->conn = wait->head.conn;
	stall->peer = conn ? conn->peer : 0;
	stall->pid = wait->head.tgid;
	stall->tid = wait->head.tid;
	stall->exact = true;
	stall->wait = *wait;
	stall->missing = what_is_missing(owed->model);
	stall->wait_stack = model__stack(owed->model, wait->stack_id);
	stall->waker_stack = model__stack(owed->model, wait->waker_stack_id);
	woken = woken < start ? start : woken > end ? end : woken;
	stall__slice(stall, CAUSE_UNKNOWN, woken - start);
	stall__slice(stall, CAUSE_RUNQUEUE, end - woken);
	stall__check(stall);
}

static bool judge(const struct owed *owed, const struct pending *pending, struct stall *stall)
{
	struct cover cover;
	uint64_t start = 0, length;

	if (!is_owed(owed->model, pending))
		return false;
	find_cover(owed, &pending->wait, &cover);
	length = unexplained(&cover, &start);
	if (length < session__threshold(owed->model) || !length)
		return false;
	fill(owed, &pending->wait, start, length, stall);
	return true;
}

static bool ended_before(const struct ns_wait *a, const struct ns_wait *b)
{
	return a->head.ts != b->head.ts ? a->head.ts < b->head.ts : a->head.tid < b->head.tid;
}

bool owed__judge(struct owed *owed, uint64_t now, struct stall *stall, bool *is_stall)
{
	struct pending pending;
	size_t next = 0;

	for (size_t i = 1; i < owed->count; i++) {
		if (ended_before(&owed->pending[i].wait, &owed->pending[next].wait))
			next = i;
	}
	if (!owed->count || (owed->pending[next].due_ts > now && owed->count <= OWED_WAITS))
		return false;
	pending = owed->pending[next];
	owed->pending[next] = owed->pending[--owed->count];
	*is_stall = judge(owed, &pending, stall);
	return true;
}

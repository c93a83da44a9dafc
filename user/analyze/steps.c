// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The time line of a stall: from the write that was unacknowledged to the last wake. */
#include <stdlib.h>
#include <string.h>

#include "user/analyze/stall.h"
#include "user/analyze/waits/wait.h"
#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/record/uring_ops.h"

#define CANDIDATES (3 * INCIDENT_EVENTS + INCIDENT_WAITS)

struct span_of_bytes {
	uint32_t seq;
	uint32_t end;
};

/* Is this segment, sent or received, of these bytes? */
static bool carries(const union event *event, uint32_t type, const struct span_of_bytes *bytes)
{
	return event->head.type == type && seq_after(event->segment.end, bytes->seq) &&
	       seq_after(bytes->end, event->segment.seq);
}

static void earlier(uint64_t *from, const struct events *events, uint32_t type,
		    const struct span_of_bytes *bytes)
{
	for (size_t i = 0; i < events->count; i++) {
		if (carries(&events->v[i], type, bytes) && events->v[i].head.ts < *from)
			*from = events->v[i].head.ts;
	}
}

/* The last one until then, of this end; 0: none was seen. */
static uint64_t last_write(const struct events *events, uint64_t until)
{
	uint64_t last = 0;

	for (size_t i = 0; i < events->count; i++) {
		const struct ns_head *head = &events->v[i].head;

		if (head->type == NS_SEND && head->ts <= until)
			last = head->ts;
	}
	return last;
}

/*
 * A wait for an answer begins with what was asked; what a busy thread leaves unread, with the write
 * of that, if it was told: not with an earlier one, which this end has answered.
 */
static uint64_t asked_at(const struct incident *incident, const struct stall *stall)
{
	uint64_t own = last_write(&incident->own, stall->start_ts);
	uint64_t peers = last_write(&incident->peers, stall->start_ts);

	if (stall->cause == CAUSE_SELF)
		return peers > own ? peers : stall->start_ts;
	return own ? own : stall->start_ts;
}

/*
 * The first write's own segment is older than the record of the write, which is made when
 * the call returns; over loopback it has even arrived by then.
 */
static uint64_t begin_of(const struct incident *incident, const struct stall *stall)
{
	const struct ns_send *first = stall->first.head.type ? &stall->first : &stall->second;
	struct span_of_bytes bytes = {first->write_seq - first->bytes, first->write_seq};
	uint64_t from = stall->start_ts;

	if (!stall->held_bytes && !stall->hold.head.type)
		return asked_at(incident, stall);
	if (!first->head.type)
		return from;
	if (first->head.ts < from)
		from = first->head.ts;
	if (first != &stall->first)
		return from; /* these bytes are the held ones: their segment is the release */
	earlier(&from, &incident->own, NS_TX, &bytes);
	earlier(&from, &incident->peers, NS_RX, &bytes);
	return from;
}

static bool same(const union event *event, const struct ns_head *head)
{
	return head->type && event->head.type == head->type && event->head.ts == head->ts &&
	       event->head.conn == head->conn;
}

static bool is_same_wait(const struct ns_wait *a, const struct ns_wait *b)
{
	return a->head.type == b->head.type && a->head.tid == b->head.tid && a->off_ts == b->off_ts;
}

/* The waits that the stall names, once each. */
struct named {
	size_t count;
	union event v[STALL_LINKS + 2];
};

static void name_wait(struct named *named, const struct ns_wait *wait)
{
	for (size_t i = 0; i < named->count; i++) {
		if (is_same_wait(&named->v[i].wait, wait))
			return;
	}
	if (wait->head.type)
		named->v[named->count++] = (union event){.wait = *wait};
}

static void name_waits(struct named *named, const struct finding *finding)
{
	const struct stall *stall = &finding->stall;

	named->count = 0;
	name_wait(named, &finding->receiver);
	name_wait(named, &stall->wait);
	for (size_t i = 0; i < stall->link_count; i++)
		name_wait(named, &stall->links[i].wait);
}

/* ---- operations of io_uring ---- */

/* The completions of the operations that ended the waits which the stall names. */
struct endings {
	size_t count;
	const union event *v[STALL_LINKS + 2];
};

static bool is_of(const union event *event, const struct ns_wait *wait)
{
	const struct ns_uring *op = &event->uring;

	return event->head.type == NS_URING && op->step == NS_URING_DONE &&
	       op->ring == wait->ring && op->user_data == wait->op_user_data &&
	       op->opcode == wait->op_code && op->submit_ts == wait->op_submit_ts &&
	       event->head.ts >= wait->off_ts;
}

/* Of several (a multishot operation's) the one that came with the wake, or right behind it. */
static const union event *ending_in(const struct events *events, const struct ns_wait *wait)
{
	uint64_t from = wait->op_done_ts ? wait->op_done_ts : wait__woken(wait);
	const union event *last = NULL;

	for (size_t i = 0; i < events->count; i++) {
		if (!is_of(&events->v[i], wait))
			continue;
		last = &events->v[i];
		if (last->head.ts >= from)
			break;
	}
	return last;
}

static void add_ending(struct endings *endings, const struct incident *incident,
		       const struct ns_wait *wait)
{
	const struct events *lists[] = {&incident->own, &incident->peers, &incident->rings};
	const union event *found = NULL;

	if (!wait->head.type || !wait->ring || wait->op_known != NS_OP_ENDED)
		return;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && !found; i++)
		found = ending_in(lists[i], wait);
	if (found)
		endings->v[endings->count++] = found;
}

static void find_endings(struct endings *endings, const struct incident *incident,
			 const struct named *named)
{
	endings->count = 0;
	for (size_t i = 0; i < named->count; i++)
		add_ending(endings, incident, &named->v[i].wait);
}

static bool is_ending(const struct endings *endings, const union event *event)
{
	for (size_t i = 0; i < endings->count; i++) {
		if (!memcmp(endings->v[i], event, sizeof(*event)))
			return true;
	}
	return false;
}

/* In one chain (IOSQE_IO_LINK) with what ended a wait: that began behind it, or by its clock. */
static bool is_chained(const struct endings *endings, const struct ns_uring *op)
{
	for (size_t i = 0; i < endings->count; i++) {
		const struct ns_uring *end = &endings->v[i]->uring;

		if (op->step != NS_URING_DONE || op->ring != end->ring ||
		    op->head.ts < end->submit_ts || op->submit_ts > end->head.ts)
			continue;
		if ((end->linked && (op->user_data == end->link_head ||
				     (op->linked && op->link_head == end->link_head))) ||
		    (op->linked && op->link_head == end->user_data))
			return true;
	}
	return false;
}

/* Of the times that a stall's steps are from. */
struct window {
	uint64_t from;
	uint64_t to;
};

static bool has_send_of(const struct events *events, const struct ns_uring *op,
			const struct window *window)
{
	for (size_t i = 0; i < events->count; i++) {
		const struct ns_send *send = &events->v[i].send;

		if (send->head.type == NS_SEND && send->via != NS_VIA_CALL &&
		    send->head.ts >= window->from && send->head.ts <= window->to &&
		    send->head.tid == op->head.tid && send->bytes == op->result &&
		    send->head.ts >= op->submit_ts && send->head.ts <= op->head.ts)
			return true;
	}
	return false;
}

/* A send among the steps that was this operation: it has its name from there. */
static bool is_send(const struct incident *incident, const struct ns_uring *op,
		    const struct window *window)
{
	return op->step == NS_URING_DONE && op->submit_ts && op->how == NS_URING_INLINE &&
	       uring_op__act(op->opcode) == ACT_SENDS &&
	       (has_send_of(&incident->own, op, window) ||
		has_send_of(&incident->peers, op, window));
}

/* What else its rings did is not this stall's matter. */
static size_t pick_operations(const union event **picked, size_t count,
			      const struct incident *incident, const struct endings *endings,
			      const struct window *window)
{
	for (size_t i = 0; i < endings->count && count < CANDIDATES; i++)
		picked[count++] = endings->v[i];
	for (size_t i = 0; i < incident->rings.count && count < CANDIDATES; i++) {
		const struct ns_uring *op = &incident->rings.v[i].uring;

		if (is_chained(endings, op) || is_send(incident, op, window))
			picked[count++] = &incident->rings.v[i];
	}
	return count;
}

/* What proves the stall, and must stay when there are too many. */
static bool is_proof(const struct finding *finding, const struct endings *endings,
		     const union event *event)
{
	const struct stall *stall = &finding->stall;

	switch (event->head.type) {
	case NS_URING:
		return is_ending(endings, event);
	case NS_HOLD:
	case NS_RELEASE:
	case NS_WAIT:
	case NS_RETRANS:
		return true;
	default:
		return same(event, &stall->first.head) || same(event, &stall->second.head) ||
		       same(event, &stall->arm.head) || same(event, &stall->fire.head) ||
		       same(event, &stall->ack.head) || same(event, &finding->peer_ack.head);
	}
}

static int by_time(const void *a, const void *b)
{
	const union event *const *x = a, *const *y = b;

	if ((*x)->head.ts != (*y)->head.ts)
		return (*x)->head.ts < (*y)->head.ts ? -1 : 1;
	if ((*x)->head.type != (*y)->head.type)
		return (*x)->head.type < (*y)->head.type ? -1 : 1;
	if ((*x)->head.conn != (*y)->head.conn)
		return (*x)->head.conn < (*y)->head.conn ? -1 : 1;
	return memcmp(*x, *y, sizeof(**x));
}

/* What two lists have is one step. */
static size_t drop_doubles(const union event **picked, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!kept || memcmp(picked[kept - 1], picked[i], sizeof(*picked[i])) != 0)
			picked[kept++] = picked[i];
	}
	return kept;
}

static size_t pick(const union event **picked, size_t count, const struct events *events,
		   uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < events->count && count < CANDIDATES; i++) {
		if (events->v[i].head.ts >= from && events->v[i].head.ts <= to)
			picked[count++] = &events->v[i];
	}
	return count;
}

/* Drop the last of those that prove nothing until the rest fits. */
static size_t thin_out(const union event **picked, size_t count, const struct finding *finding,
		       const struct endings *endings)
{
	size_t excess = count > STALL_STEPS ? count - STALL_STEPS : 0, kept = 0;

	for (size_t i = count; i-- > 0 && excess;) {
		if (is_proof(finding, endings, picked[i]))
			continue;
		picked[i] = NULL;
		excess--;
	}
	for (size_t i = 0; i < count; i++) {
		if (picked[i])
			picked[kept++] = picked[i];
	}
	return kept < STALL_STEPS ? kept : STALL_STEPS;
}

size_t steps__build(const struct incident *incident, const struct finding *finding,
		    union event **steps)
{
	const union event *picked[CANDIDATES];
	uint64_t from = begin_of(incident, &finding->stall), to = finding->stall.end_ts;
	const struct window window = {from, to};
	struct endings endings;
	struct named named;
	size_t count = 0;

	name_waits(&named, finding);
	find_endings(&endings, incident, &named);
	/* The waits and what ended them first: they must not fall to the bound. */
	for (size_t i = 0; i < named.count; i++)
		picked[count++] = &named.v[i];
	count = pick_operations(picked, count, incident, &endings, &window);
	count = pick(picked, count, &incident->own, from, to);
	count = pick(picked, count, &incident->peers, from, to);
	sort_array(picked, count, sizeof(picked[0]), by_time);
	count = drop_doubles(picked, count);
	count = thin_out(picked, count, finding, &endings);
	*steps = xcalloc(count, sizeof(**steps));
	for (size_t i = 0; i < count; i++)
		(*steps)[i] = *picked[i];
	return count;
}

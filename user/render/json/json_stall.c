// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A stall as JSON: its slices, its chain, its evidence, its stacks. */
#include <string.h>

#include "user/explain/clauses.h"
#include "user/record/syscalls.h"
#include "user/render/json/json_values.h"

json_t *json_value__slices(const struct slice *slices, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *slice = json_object();

		put(slice, "cause", json_string(cause__info(slices[i].cause)->id));
		put(slice, "ms", json_value__ms(slices[i].ns));
		json_array_append_new(array, slice);
	}
	return array;
}

static json_t *part_of(const struct report *report, const struct path *path, size_t number)
{
	const struct path_part *part = &path->parts[number];
	json_t *object = json_object();

	put(object, "parent", number ? json_value__count(part->parent) : json_null());
	put(object, "kind", json_string(path_kind__name(part->kind)));
	put(object, "cause", json_string(cause__info(part->cause)->id));
	put(object, "pid", json_value__number_or_null(part->pid, 0));
	put(object, "tid", json_value__number_or_null(part->tid, 0));
	put(object, "comm", json_value__name(part->comm[0] ? part->comm : NULL, NS_COMM_LEN));
	put(object, "connection", json_value__number_or_null(part->conn, 0));
	put(object, "syscall",
	    json_value__text(syscall__name(report->session.arch, part->syscall)));
	put(object, "count", json_value__count(part->count));
	if (part->waker_tid) {
		put(object, "waker_tid", json_value__number_or_null(part->waker_tid, 0));
		put(object, "waker_comm", json_value__name(part->waker_comm, NS_COMM_LEN));
	}
	put(object, "own_ms", json_value__ms(part->ns));
	put(object, "total_ms", json_value__ms(path__total(path, number)));
	return object;
}

json_t *json_value__parts(const struct report *report, const struct path *path)
{
	json_t *array = json_array();

	for (size_t i = 0; path && i < path->count; i++)
		json_array_append_new(array, part_of(report, path, i));
	return array;
}

static json_t *step_of(const struct report *report, const union event *event)
{
	json_t *step = json_object();
	union record record;

	event__to_record(&record, event);
	json_value__record(step, report, &record);
	return step;
}

/* A record, null when there is none. */
static json_t *record_or_null(const struct report *report, const struct ns_head *head, size_t size)
{
	union record record = {0};
	json_t *object;

	if (!head->type)
		return json_null();
	memcpy(&record, head, size);
	object = json_object();
	json_value__record(object, report, &record);
	return object;
}

static void set_stacks(json_t *object, const char *wait, const char *waker)
{
	json_t *stacks = put_object(object, "stacks");

	put(stacks, "wait", json_value__stack(wait));
	put(stacks, "waker", json_value__stack(waker));
}

static json_t *link_of(const struct report *report, const struct stall_link *link)
{
	json_t *object = json_object();

	put(object, "pid", json_value__number_or_null(link->wait.head.tgid, 0));
	put(object, "tid", json_value__number_or_null(link->wait.head.tid, 0));
	put(object, "connection", json_value__number_or_null(link->wait.head.conn, 0));
	put(object, "cause", json_string(cause__info(link->cause)->id));
	put(object, "start_ms", json_value__time(report, link->start_ts));
	put(object, "duration_ms", json_value__ms(link->end_ts - link->start_ts));
	put(object, "wait", record_or_null(report, &link->wait.head, sizeof(link->wait)));
	set_stacks(object, link->wait_stack, link->waker_stack);
	return object;
}

static json_t *wait_of(const struct report *report, const struct stall_wait *wait)
{
	json_t *object = json_object();

	put(object, "pid", json_value__number_or_null(wait->pid, 0));
	put(object, "tid", json_value__number_or_null(wait->tid, 0));
	put(object, "connection", json_value__number_or_null(wait->conn, 0));
	put(object, "off_ms", json_value__time(report, wait->off_ts));
	put(object, "duration_ms", json_value__ms(wait->end_ts - wait->off_ts));
	return object;
}

static json_t *reader_of(const struct stall_reader *reader)
{
	json_t *object;

	if (!reader->seen)
		return json_null();
	object = json_object();
	put(object, "pid", json_value__count(reader->pid));
	put(object, "tid", json_value__count(reader->tid));
	put(object, "waited_ms", json_value__ms(reader->waited_ns));
	put(object, "computed_ms", json_value__ms(reader->ran_ns));
	put(object, "away_ms", json_value__ms(reader->away_ns));
	put(object, "away",
	    reader->away_ns ? json_string(cause__info(reader->away)->id) : json_null());
	return object;
}

static json_t *listen_queue_of(const struct stall_queue *queue)
{
	json_t *object;

	if (!queue->port)
		return json_null();
	object = json_object();
	put(object, "port", json_value__count(queue->port));
	put(object, "length", json_value__number_or_null(queue->length, 0));
	put(object, "backlog", queue->length ? json_value__count(queue->backlog) : json_null());
	put(object, "somaxconn", json_value__number_or_null(queue->somaxconn, 0));
	return object;
}

json_t *json_value__stall(const struct report *report, const struct stall *stall)
{
	json_t *object = json_object();

	put(object, "id", json_value__count(stall->number));
	put(object, "cause", json_string(cause__info(stall->cause)->id));
	put(object, "confidence", json_string(confidence__name(stall->confidence)));
	put(object, "start_ms", json_value__time(report, stall->start_ts));
	put(object, "duration_ms", json_value__ms(stall->end_ts - stall->start_ts));
	put(object, "connection", json_value__number_or_null(stall->conn, 0));
	put(object, "peer", json_value__number_or_null(stall->peer, 0));
	put(object, "pid", json_value__number_or_null(stall->pid, 0));
	put(object, "tid", json_value__number_or_null(stall->tid, 0));
	put(object, "exact", json_boolean(stall->exact));
	put(object, "open", json_boolean(stall->open));
	if (stall->is_between)
		put(object, "between_requests", json_true());
	put(object, "held_bytes", json_value__count(stall->held_bytes));
	put(object, "held_by",
	    stall->held_bytes || stall->hold.head.type
		    ? json_string(hold_reason__name(stall->reason))
		    : json_null());
	put(object, "released_by", json_value__text(release__text(stall->released_by)));
	put(object, "inferred", json_value__text(inferred__text(stall->inferred)));
	put(object, "missing", json_value__text(missing__text(stall->missing)));
	put(object, "slices", json_value__slices(stall->slices, stall->slice_count));
	put(object, "parts", json_value__parts(report, &stall->path));
	put(object, "reader", reader_of(&stall->reader));
	put(object, "listen_queue", listen_queue_of(&stall->queue));
	put_each(object, "links", i, stall->link_count, link_of(report, &stall->links[i]));
	put_each(object, "waits", i,
		 stall->wait_count < STALL_WAITS ? stall->wait_count : STALL_WAITS,
		 wait_of(report, &stall->waits[i]));
	put(object, "wait_count", json_value__count(stall->wait_count));
	put(object, "retransmits", json_value__count(stall->retransmits));
	put(object, "retransmission",
	    record_or_null(report, &stall->retrans.head, sizeof(stall->retrans)));
	if (stall->throttle.head.type)
		put(object, "throttle",
		    record_or_null(report, &stall->throttle.head, sizeof(stall->throttle)));
	if (stall->ran.head.type)
		put(object, "ran", record_or_null(report, &stall->ran.head, sizeof(stall->ran)));
	put(object, "sites", json_value__sites(&stall->sites));
	put_each(object, "evidence", i, stall->step_count, step_of(report, &stall->steps[i]));
	set_stacks(object, stall->wait_stack, stall->waker_stack);
	return object;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/around.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

struct around {
	uint64_t added; /* ever; the next one's place is this modulo the ring's size */
	union event ring[AROUND_EVENTS];
};

struct around *around__new(void)
{
	return xcalloc(1, sizeof(struct around));
}

void around__free(struct around *around)
{
	free(around);
}

void around__add(struct around *around, const union record *record)
{
	if (!record__is_event(record->head.type))
		return;
	event__from_record(&around->ring[around->added % AROUND_EVENTS], record);
	around->added++;
}

static bool is_its(const struct stall *stall, const union event *event)
{
	const struct ns_head *head = &event->head;

	if (head->conn && (head->conn == stall->conn || head->conn == stall->peer))
		return true;
	if (head->type != NS_WAIT)
		return false;
	for (size_t i = 0; i < stall->link_count; i++)
		if (stall->links[i].wait.head.tid == head->tid)
			return true;
	return stall->tid && head->tid == stall->tid;
}

static void add(struct seconds *seconds, const union event *event)
{
	if (seconds->count == AROUND_SHOWN) {
		seconds->left_out++;
		return;
	}
	seconds->v[seconds->count++] = event;
}

void around__find(const struct around *around, const struct stall *stall, struct seconds *out)
{
	uint64_t kept = around->added < AROUND_EVENTS ? around->added : AROUND_EVENTS;
	uint64_t first = around->added - kept;
	uint64_t from = stall->start_ts > AROUND_BEFORE_NS ? stall->start_ts - AROUND_BEFORE_NS : 0;
	uint64_t to = stall->end_ts + AROUND_AFTER_NS;
	size_t all = 0;

	*out = (struct seconds){.v = xcalloc(AROUND_SHOWN, sizeof(*out->v))};
	out->begins_late = first > 0 && around->ring[first % AROUND_EVENTS].head.ts > from;
	for (uint64_t i = first; i < around->added; i++) {
		uint64_t ts = around->ring[i % AROUND_EVENTS].head.ts;

		all += ts >= from && ts <= to;
	}
	for (uint64_t i = first; i < around->added; i++) {
		const union event *event = &around->ring[i % AROUND_EVENTS];

		if (event->head.ts < from || event->head.ts > to)
			continue;
		if (all <= AROUND_SHOWN || is_its(stall, event))
			add(out, event);
		else
			out->left_out++;
	}
}

void seconds__clear(struct seconds *seconds)
{
	free(seconds->v);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/model/events.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

void event__from_record(union event *out, const union record *record)
{
	memset(out, 0, sizeof(*out)); /* events__add() compares all bytes */
	memcpy(out, record, record__size(record->head.type));
}

void event__to_record(union record *out, const union event *event)
{
	memset(out, 0, sizeof(*out));
	memcpy(out, event, record__size(event->head.type));
}

int event__compare(const union event *a, const union event *b)
{
	if (a->head.ts != b->head.ts)
		return a->head.ts < b->head.ts ? -1 : 1;
	if (a->head.type != b->head.type)
		return a->head.type < b->head.type ? -1 : 1;
	return memcmp(a, b, sizeof(*a));
}

/* Behind the last event that is not later. Nearly always that is the end. */
static size_t place_for(const struct events *events, const union event *event)
{
	size_t low = 0, high = events->count;

	if (!high || event__compare(&events->v[high - 1], event) <= 0)
		return high;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (event__compare(&events->v[middle], event) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * For one more at the end. Where the first one goes for each that comes, the list wanders through
 * twice its length, and is moved back once in a while rather than each time.
 */
static void make_room(struct events *events)
{
	size_t gone = events->v ? (size_t)(events->v - events->store) : 0, most = 2 * events->bound;

	if (gone + events->count < events->size)
		return;
	if (gone && (events->size == most || gone >= events->count)) {
		memmove(events->store, events->v, events->count * sizeof(*events->v));
		events->v = events->store;
		return;
	}
	events->size = events->size ? 2 * events->size : 8;
	if (events->size > most)
		events->size = most;
	events->store = xreallocarray(events->store, events->size, sizeof(*events->v));
	events->v = events->store + gone;
}

/* Why bytes were held, and until when. */
static bool stays(const struct events *events, const union event *event)
{
	return events->reasons_from && event->head.ts >= events->reasons_from &&
	       (event->head.type == NS_HOLD || event->head.type == NS_RELEASE);
}

/* Of reasons the one that was so for the shortest time: the one before it has its time then. */
static size_t shortest(const struct events *events, size_t end)
{
	size_t least = 1;

	for (size_t i = 2; i < end; i++) {
		if (events->v[i + 1].head.ts - events->v[i].head.ts <
		    events->v[least + 1].head.ts - events->v[least].head.ts)
			least = i;
	}
	return least;
}

static size_t first_to_go(const struct events *events)
{
	size_t half = events->bound / 2;

	for (size_t i = 0; i < events->count && i < half; i++) {
		if (!stays(events, &events->v[i]))
			return i;
	}
	return half > 1 && events->count > half ? shortest(events, half) : 0;
}

/* Insert into a full list: one event must go, perhaps the new one. */
static bool replace(struct events *events, size_t place, const union event *event,
		    uint64_t precious_from, uint64_t precious_ts)
{
	size_t last = events->count - 1, goes;
	bool is_old;

	if (place > last && event->head.ts > precious_ts)
		return true; /* the new one is the last, and it may go */
	if (events->v[last].head.ts > precious_ts) {
		memmove(&events->v[place + 1], &events->v[place],
			(last - place) * sizeof(*events->v));
		events->v[place] = *event;
		return true;
	}
	goes = first_to_go(events);
	is_old = events->v[goes].head.ts < precious_from;
	if (!goes && place > last) {
		make_room(events);
		events->v++;
		place--;
	} else if (place > goes) {
		place--;
		memmove(&events->v[goes], &events->v[goes + 1],
			(place - goes) * sizeof(*events->v));
	} else if (stays(events, event) && !stays(events, &events->v[goes])) {
		memmove(&events->v[place + 1], &events->v[place],
			(goes - place) * sizeof(*events->v));
	} else {
		return is_old; /* the new one is the first to go */
	}
	events->v[place] = *event;
	return is_old;
}

bool events__add(struct events *events, const union event *event, uint64_t precious_from,
		 uint64_t precious_ts)
{
	size_t place = place_for(events, event);

	if (place && !event__compare(&events->v[place - 1], event))
		return true;
	if (events->count >= events->bound)
		return replace(events, place, event, precious_from, precious_ts);
	make_room(events);
	memmove(&events->v[place + 1], &events->v[place],
		(events->count - place) * sizeof(*events->v));
	events->v[place] = *event;
	events->count++;
	return true;
}

void events__add_all(struct events *events, const struct events *from)
{
	for (size_t i = 0; i < from->count; i++)
		events__add(events, &from->v[i], 0, UINT64_MAX);
}

const union event *events__next(const struct events *events, uint32_t type, size_t *i)
{
	while (*i < events->count) {
		const union event *event = &events->v[(*i)++];

		if (event->head.type == type)
			return event;
	}
	return NULL;
}

void events__clear(struct events *events)
{
	free(events->store);
	events->store = NULL;
	events->v = NULL;
	events->count = 0;
	events->size = 0;
}

void events__keep_reasons(struct events *events, const struct ns_hold *hold)
{
	size_t i = events->count;
	bool released = !events->reasons_from;

	while (!released && i && events->v[i - 1].head.ts >= events->reasons_from) {
		const struct ns_head *head = &events->v[--i].head;

		released = head->type == NS_RELEASE && head->ts <= hold->head.ts;
	}
	if (released)
		events->reasons_from = hold->head.ts;
}

/* The last byte of what was held; with a full send buffer that may be none, then the next one. */
static uint32_t last_held(const struct ns_hold *hold)
{
	return hold->end == hold->seq ? hold->seq : hold->end - 1;
}

/* Does this later event of the connection show that the byte at seq has left? */
static bool shows_leaving(const union event *event, uint32_t seq)
{
	switch (event->head.type) {
	case NS_TX:
		return seq_after(event->segment.end, seq);
	case NS_RX:
		return seq_after(event->segment.ack, seq);
	case NS_SEND:
		return seq_after(event->send.snd_nxt, seq);
	case NS_RELEASE:
		return true;
	default:
		return false;
	}
}

/* A hold lasts over parts that leave. */
const struct ns_hold *events__open_hold(const struct events *events)
{
	size_t i = events->count;

	while (i && events->v[i - 1].head.type != NS_HOLD)
		i--;
	if (!i)
		return NULL;
	for (size_t later = i; later < events->count; later++) {
		if (shows_leaving(&events->v[later], last_held(&events->v[i - 1].hold)))
			return NULL;
	}
	return &events->v[i - 1].hold;
}

const struct ns_hold *events__hold_began(const struct events *events, const struct ns_hold *hold)
{
	size_t i = events->count;

	while (i && &events->v[i - 1].hold != hold)
		i--;
	/* A rest that stayed behind a release is a hold of its own. */
	for (; i && (hold->begun == NS_BEGUN_CHANGED || hold->begun == NS_BEGUN_LATER); i--) {
		const union event *event = &events->v[i - 1];

		if (event->head.type == NS_RELEASE)
			break;
		if (event->head.type == NS_HOLD)
			hold = &event->hold;
	}
	return hold;
}

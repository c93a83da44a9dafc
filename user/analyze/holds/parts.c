// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/parts.h"

#include <string.h>

#define NO_WAY_NS 10000

static const struct ns_hold *as_hold(const struct incident *incident, size_t i)
{
	const union event *event = &incident->own.v[i];

	return event->head.type == NS_HOLD ? &event->hold : NULL;
}

/*
 * The record that the hold began with. The release says when that was; a trace from elsewhere
 * may be a little off there, but then it names the very bytes.
 */
static const struct ns_hold *find_first(const struct incident *incident)
{
	const struct ns_hold *found = NULL;

	for (size_t i = 0; i < incident->own.count; i++) {
		const struct ns_hold *hold = as_hold(incident, i);

		/* At the very same time another reason may have taken over. */
		if (!hold || hold->begun == NS_BEGUN_CHANGED)
			continue;
		if (hold->head.ts == incident->start_ts)
			return hold;
		if (hold->head.ts <= incident->end_ts && !incident->open &&
		    hold->seq == incident->release.seq)
			found = hold;
	}
	return found;
}

/* There are PARTS of them: the shortest joins the one before it, and so may the one behind. */
static void make_room(struct parts *parts)
{
	size_t least = 1, kept = 1;

	for (size_t i = 2; i < parts->count; i++) {
		if (parts->v[i].end_ts - parts->v[i].start_ts <
		    parts->v[least].end_ts - parts->v[least].start_ts)
			least = i;
	}
	for (size_t i = 1; i < parts->count; i++) {
		if (i == least || parts->v[i].reason == parts->v[kept - 1].reason)
			parts->v[kept - 1].end_ts = parts->v[i].end_ts;
		else
			parts->v[kept++] = parts->v[i];
	}
	parts->count = kept;
}

/* Behind the others, which end there. */
static void append(struct parts *parts, const struct part *part)
{
	struct part *last = parts->count ? &parts->v[parts->count - 1] : NULL;

	if (last)
		last->end_ts = part->start_ts;
	if (last && last->reason == part->reason)
		return;
	if (parts->count == PARTS) {
		make_room(parts);
		last = &parts->v[parts->count - 1];
	}
	/* Room may have been made of the very last. */
	if (!last || last->reason != part->reason)
		parts->v[parts->count++] = *part;
}

/* Between two holds of one flow nothing is held, and what was waits to be acknowledged. */
static void add_way(struct parts *parts, uint64_t start_ts)
{
	struct part *last = &parts->v[parts->count - 1];
	const struct part way = {
		.reason = NS_HOLD_REASONS, .start_ts = start_ts, .cause = CAUSE_NETWORK};

	last->end_ts = start_ts;
	if (last->cause != CAUSE_NETWORK && last->start_ts < start_ts)
		append(parts, &way);
}

static void add(struct parts *parts, const struct ns_hold *hold, uint32_t reason, uint64_t start_ts)
{
	struct part *last = parts->count ? &parts->v[parts->count - 1] : NULL;
	const struct part part = {.hold = hold,
				  .reason = reason,
				  .start_ts = start_ts,
				  .cause = cause__of_hold(reason)};

	/* The next hold began at the very release: there was no way between them. */
	if (last && last->reason == NS_HOLD_REASONS && start_ts - last->start_ts < NO_WAY_NS)
		last = &parts->v[--parts->count - 1];
	if (last && last->reason != reason && last->start_ts == start_ts)
		parts->count--;
	append(parts, &part);
}

void parts__find(const struct incident *incident, struct parts *parts)
{
	const struct ns_hold *first = find_first(incident);
	uint64_t start = first ? first->head.ts : incident->start_ts;

	memset(parts, 0, sizeof(*parts));
	if (first)
		add(parts, first, first->reason, start);
	for (size_t i = 0; i < incident->own.count; i++) {
		const struct ns_hold *hold = as_hold(incident, i);
		const struct ns_head *head = &incident->own.v[i].head;

		if (hold == first || head->ts < start || head->ts >= incident->end_ts)
			continue;
		if (head->type == NS_RELEASE && parts->count)
			add_way(parts, head->ts);
		if (!hold)
			continue;
		/* What held it before that was not seen. */
		if (!parts->count && hold->head.ts > start)
			add(parts, NULL, NS_HOLD_UNKNOWN, start);
		add(parts, hold, hold->reason, hold->head.ts);
	}
	if (!parts->count)
		add(parts, NULL, incident->release.reason, start);
	parts->v[parts->count - 1].end_ts = incident->end_ts;
}

/*
 * A window that closes wholly while bytes are held is a reader that does not read, and was so
 * when what it left was merely too small for the next segment.
 */
static const struct part *closed_part(const struct parts *parts, const struct part *otherwise)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (parts->v[i].cause == CAUSE_ZERO_WINDOW)
			return &parts->v[i];
	}
	return otherwise;
}

const struct part *parts__main(const struct parts *parts)
{
	uint64_t total[CAUSE_COUNT] = {0};
	const struct part *main_part = &parts->v[0];

	for (size_t i = 0; i < parts->count; i++)
		total[parts->v[i].cause] += parts->v[i].end_ts - parts->v[i].start_ts;
	for (size_t i = 1; i < parts->count; i++) {
		if (total[parts->v[i].cause] > total[main_part->cause])
			main_part = &parts->v[i];
	}
	return main_part->cause == CAUSE_RWND ? closed_part(parts, main_part) : main_part;
}

void parts__begin_at(struct parts *parts, uint64_t ts)
{
	size_t gone = 0;

	while (gone + 1 < parts->count && parts->v[gone].end_ts <= ts)
		gone++;
	parts->count -= gone;
	memmove(parts->v, &parts->v[gone], parts->count * sizeof(parts->v[0]));
	parts->v[0].start_ts = ts;
}

void parts__shut_since(struct parts *parts, size_t shut, uint64_t ts)
{
	size_t first = 0;

	while (first < shut && parts->v[first].end_ts <= ts)
		first++;
	if (first == shut)
		return;
	if (parts->v[first].start_ts < ts)
		parts->v[first++].end_ts = ts;
	parts->v[shut].start_ts = first ? parts->v[first - 1].end_ts : parts->v[0].start_ts;
	memmove(&parts->v[first], &parts->v[shut], (parts->count - shut) * sizeof(parts->v[0]));
	parts->count -= shut - first;
}

struct incident part__incident(const struct incident *incident, const struct parts *parts,
			       const struct part *part)
{
	struct incident copy = *incident;

	copy.next = NULL;
	copy.start_ts = part->start_ts;
	copy.end_ts = part->end_ts;
	copy.open = incident->open && part == &parts->v[parts->count - 1];
	return copy;
}

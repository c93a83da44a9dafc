// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/overlap.h"

#include <string.h>

static uint64_t add(struct overlap *overlap, const struct span *span)
{
	const struct ns_wait *wait = overlap->wait;
	uint64_t start = span->start_ts > wait->off_ts ? span->start_ts : wait->off_ts;
	uint64_t end = span->end_ts < wait->head.ts ? span->end_ts : wait->head.ts;
	uint64_t length;
	size_t i = 0, joined;

	if (end <= start || !wait__concerns(overlap->model, wait, span))
		return 0;
	length = end - start;
	while (i < overlap->count && overlap->part[i].end < start)
		i++;
	for (joined = i; joined < overlap->count && overlap->part[joined].start <= end; joined++) {
		if (overlap->part[joined].start < start)
			start = overlap->part[joined].start;
		if (overlap->part[joined].end > end)
			end = overlap->part[joined].end;
	}
	if (joined == i && overlap->count == OVERLAP_PARTS)
		return 0;
	/* Parts i to joined become one. */
	memmove(&overlap->part[i + 1], &overlap->part[joined],
		(overlap->count - joined) * sizeof(overlap->part[0]));
	overlap->count = overlap->count - (joined - i) + 1;
	overlap->part[i].start = start;
	overlap->part[i].end = end;
	return length;
}

/* A hold that nobody has ended yet. */
static void add_open_hold(struct overlap *overlap, const struct model_conn *conn)
{
	const struct ns_hold *hold = conn ? events__open_hold(&conn->events) : NULL;

	if (hold)
		hold = events__hold_began(&conn->events, hold);
	if (hold)
		add(overlap, &(struct span){.start_ts = hold->head.ts,
					    .end_ts = UINT64_MAX,
					    .conn = conn->number,
					    .peer = conn->peer,
					    .writer_tid = hold->head.tid});
}

static void add_intervals(struct overlap *overlap, const struct intervals *intervals)
{
	const struct interval *interval;
	size_t cursor = 0;

	while ((interval = intervals__next(intervals, &cursor))) {
		uint64_t length = interval->stall ? add(overlap, &interval->span) : 0;

		if (length > overlap->stall_ns) {
			overlap->stall = interval->stall;
			overlap->cause = interval->cause;
			overlap->stall_ns = length;
			overlap->stall_end = interval->span.end_ts;
		}
	}
}

/* Not yet explained, but long enough for a stall. */
static void add_incidents(struct overlap *overlap, const struct incident_queue *incidents)
{
	const struct incident *incident = NULL;

	while ((incident = incident_queue__next(incidents, incident))) {
		const struct model_conn *own = model__conn(overlap->model, incident->conn);

		if (incident->end_ts - incident->start_ts >= model__threshold(overlap->model))
			add(overlap, &(struct span){.start_ts = incident->start_ts,
						    .end_ts = incident->end_ts,
						    .conn = incident->conn,
						    .peer = own ? own->peer : 0});
	}
}

void overlap__find(struct overlap *overlap, const struct model *model,
		   const struct intervals *intervals, const struct incident_queue *incidents,
		   const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);

	memset(overlap, 0, sizeof(*overlap));
	overlap->model = model;
	overlap->wait = wait;
	add_intervals(overlap, intervals);
	add_incidents(overlap, incidents);
	add_open_hold(overlap, conn);
	add_open_hold(overlap, model__peer(model, conn));
}

uint64_t overlap__total(const struct overlap *overlap)
{
	uint64_t total = 0;

	for (size_t i = 0; i < overlap->count; i++)
		total += overlap->part[i].end - overlap->part[i].start;
	return total;
}

uint64_t overlap__gap(const struct overlap *overlap, uint64_t *start)
{
	uint64_t at = overlap->wait->off_ts, longest = 0;

	*start = at;
	for (size_t i = 0; i <= overlap->count; i++) {
		uint64_t until =
			i < overlap->count ? overlap->part[i].start : overlap->wait->head.ts;

		if (until > at && until - at > longest) {
			longest = until - at;
			*start = at;
		}
		if (i < overlap->count)
			at = overlap->part[i].end;
	}
	return longest;
}

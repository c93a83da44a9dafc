// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/cover.h"

#include <string.h>

static uint64_t add(struct cover *cover, const struct span *span)
{
	const struct ns_wait *wait = cover->wait;
	uint64_t start = span->start_ts > wait->off_ts ? span->start_ts : wait->off_ts;
	uint64_t end = span->end_ts < wait->head.ts ? span->end_ts : wait->head.ts;
	uint64_t length;
	size_t i = 0, joined;

	if (end <= start || !wait__concerns(cover->model, wait, span))
		return 0;
	length = end - start;
	while (i < cover->count && cover->part[i].end < start)
		i++;
	for (joined = i; joined < cover->count && cover->part[joined].start <= end; joined++) {
		if (cover->part[joined].start < start)
			start = cover->part[joined].start;
		if (cover->part[joined].end > end)
			end = cover->part[joined].end;
	}
	if (joined == i && cover->count == COVERS)
		return 0;
	/* Parts i to joined become one. */
	memmove(&cover->part[i + 1], &cover->part[joined],
		(cover->count - joined) * sizeof(cover->part[0]));
	cover->count = cover->count - (joined - i) + 1;
	cover->part[i].start = start;
	cover->part[i].end = end;
	return length;
}

/* A hold that nobody has ended yet. */
static void add_open_hold(struct cover *cover, const struct model_conn *conn)
{
	const struct ns_hold *hold = conn ? events__open_hold(&conn->events) : NULL;

	if (hold)
		hold = events__hold_began(&conn->events, hold);
	if (hold)
		add(cover, &(struct span){.start_ts = hold->head.ts,
					  .end_ts = UINT64_MAX,
					  .conn = conn->number,
					  .peer = conn->peer,
					  .writer_tid = hold->head.tid});
}

static void add_roots(struct cover *cover, const struct roots *roots)
{
	const struct root *root;
	size_t cursor = 0;

	while ((root = roots__next(roots, &cursor))) {
		uint64_t length = root->stall ? add(cover, &root->span) : 0;

		if (length > cover->stall_ns) {
			cover->stall = root->stall;
			cover->cause = root->cause;
			cover->stall_ns = length;
			cover->stall_end = root->span.end_ts;
		}
	}
}

/* Not yet explained, but long enough to be told. */
static void add_incidents(struct cover *cover, const struct incidents *incidents)
{
	const struct incident *incident = NULL;

	while ((incident = incidents__next(incidents, incident))) {
		const struct model_conn *own = model__conn(cover->model, incident->conn);

		if (incident->end_ts - incident->start_ts >= session__threshold(cover->model))
			add(cover, &(struct span){.start_ts = incident->start_ts,
						  .end_ts = incident->end_ts,
						  .conn = incident->conn,
						  .peer = own ? own->peer : 0});
	}
}

void cover__find(struct cover *cover, const struct model *model, const struct roots *roots,
		 const struct incidents *incidents, const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);

	memset(cover, 0, sizeof(*cover));
	cover->model = model;
	cover->wait = wait;
	add_roots(cover, roots);
	add_incidents(cover, incidents);
	add_open_hold(cover, conn);
	add_open_hold(cover, conn ? model__conn(model, conn->peer) : NULL);
}

uint64_t cover__total(const struct cover *cover)
{
	uint64_t total = 0;

	for (size_t i = 0; i < cover->count; i++)
		total += cover->part[i].end - cover->part[i].start;
	return total;
}

uint64_t cover__gap(const struct cover *cover, uint64_t *start)
{
	uint64_t at = cover->wait->off_ts, longest = 0;

	*start = at;
	for (size_t i = 0; i <= cover->count; i++) {
		uint64_t until = i < cover->count ? cover->part[i].start : cover->wait->head.ts;

		if (until > at && until - at > longest) {
			longest = until - at;
			*start = at;
		}
		if (i < cover->count)
			at = cover->part[i].end;
	}
	return longest;
}

uint32_t cover__until(const struct cover *cover, uint64_t ts)
{
	return cover->stall_end == ts ? cover->stall : 0;
}

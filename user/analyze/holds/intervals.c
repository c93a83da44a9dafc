// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

struct intervals {
	struct interval *v; /* a ring */
	size_t count;       /* ever added */
	size_t unreported[INTERVALS_UNREPORTED];
	size_t unreported_count; /* ever */
};

struct intervals *intervals__new(void)
{
	struct intervals *intervals = xcalloc(1, sizeof(*intervals));

	intervals->v = xcalloc(INTERVALS, sizeof(*intervals->v));
	return intervals;
}

static void drop_evidence(struct interval *interval)
{
	if (interval->incident)
		incident__free(interval->incident);
	free(interval->finding);
	interval->incident = NULL;
	interval->finding = NULL;
}

void intervals__free(struct intervals *intervals)
{
	if (!intervals)
		return;
	for (size_t i = 0; i < INTERVALS; i++)
		drop_evidence(&intervals->v[i]);
	free(intervals->v);
	free(intervals);
}

static struct interval *add(struct intervals *intervals, const struct stall *stall)
{
	struct interval *interval = &intervals->v[intervals->count++ % INTERVALS];

	drop_evidence(interval);
	memset(interval, 0, sizeof(*interval));
	interval->span = (struct span){.start_ts = stall->start_ts,
				       .end_ts = stall->end_ts,
				       .conn = stall->conn,
				       .peer = stall->peer,
				       .writer_tid = stall->hold.head.tid};
	interval->cause = stall->cause;
	interval->is_peers = stall->inferred == INFERRED_FROM_OWN_TIMER;
	interval->slice_count = stall->slice_count;
	memcpy(interval->slices, stall->slices, sizeof(interval->slices));
	return interval;
}

void intervals__add(struct intervals *intervals, const struct stall *stall)
{
	add(intervals, stall)->stall = stall->number;
}

void intervals__add_unreported(struct intervals *intervals, const struct finding *finding,
			       struct incident *incident)
{
	struct interval *interval = add(intervals, &finding->stall);
	size_t *place = &intervals->unreported[intervals->unreported_count % INTERVALS_UNREPORTED];

	if (intervals->unreported_count >= INTERVALS_UNREPORTED)
		drop_evidence(&intervals->v[*place % INTERVALS]);
	intervals->unreported_count++;
	*place = intervals->count - 1;
	interval->incident = incident;
	interval->finding = xmemdup(finding, sizeof(*finding));
}

struct interval *intervals__first(const struct intervals *intervals, uint32_t conn, uint64_t from,
				  uint64_t to)
{
	size_t count = intervals->count < INTERVALS ? intervals->count : INTERVALS;
	struct interval *first = NULL;

	for (size_t i = 0; conn && i < count; i++) {
		struct interval *interval = &intervals->v[i];

		if (interval->span.conn != conn && interval->span.peer != conn)
			continue;
		if (interval->span.end_ts <= from || interval->span.start_ts >= to)
			continue;
		if (!first || interval->span.start_ts < first->span.start_ts)
			first = interval;
	}
	return first;
}

bool intervals__extend(struct intervals *intervals, uint32_t stall, enum cause cause,
		       uint64_t end_ts)
{
	size_t count = intervals->count < INTERVALS ? intervals->count : INTERVALS;

	for (size_t i = 0; i < count; i++) {
		struct interval *interval = &intervals->v[i];

		if (interval->stall != stall || interval->cause != cause)
			continue;
		interval->span.end_ts = end_ts;
		return true;
	}
	return false;
}

const struct interval *intervals__next(const struct intervals *intervals, size_t *cursor)
{
	size_t count = intervals->count < INTERVALS ? intervals->count : INTERVALS;

	return *cursor < count ? &intervals->v[(*cursor)++] : NULL;
}

void interval__reported(struct interval *interval, uint32_t stall)
{
	interval->stall = stall;
	drop_evidence(interval);
}

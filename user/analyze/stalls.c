// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/stalls.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/tally.h"
#include "user/base/array.h"
#include "user/base/xalloc.h"

/* So many come before the list is cut again. */
#define STALLS_MORE (REPORT_STALLS / 4)
/* Of a stall that has just ended more may come to be known, and somebody may look at it. */
#define STALLS_RECENT (REPORT_STALLS / 8)
/* Of each cause these stay however short they were: the first, and the first seen whole. */
#define FIRSTS       16
#define FIRSTS_WHOLE 4

struct stalls {
	struct report *report;
	size_t brief_size;
};

struct stalls *stalls__new(struct report *report)
{
	struct stalls *stalls = xcalloc(1, sizeof(*stalls));

	stalls->report = report;
	/* Pages that no stall touches cost nothing. */
	report->stalls = xcalloc(REPORT_STALLS + STALLS_MORE, sizeof(*report->stalls));
	return stalls;
}

void stalls__free(struct stalls *stalls)
{
	struct report *report;

	if (!stalls)
		return;
	report = stalls->report;
	for (size_t i = 0; i < report->stall_count; i++)
		free(report->stalls[i].steps);
	free(report->stalls);
	free(report->briefs);
	free(stalls);
}

/* ---- which of them stay ---- */

struct entry {
	size_t at; /* in the list */
	enum cause cause;
	uint32_t conn;
	uint64_t ns;
	bool first;
	size_t rank; /* among those of its connection, then of its cause */
};

static int by_connection(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by = compare_u64(x->cause, y->cause);

	by = by ? by : compare_u64(x->conn, y->conn);
	by = by ? by : compare_u64(y->ns, x->ns);
	return by ? by : compare_u64(x->at, y->at);
}

static int by_worth(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by = compare_u64(x->cause, y->cause);

	by = by ? by : compare_u64(y->first, x->first);
	by = by ? by : compare_u64(x->rank, y->rank);
	by = by ? by : compare_u64(y->ns, x->ns);
	return by ? by : compare_u64(x->at, y->at);
}

static int by_rank(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by = compare_u64(x->rank, y->rank);

	return by ? by : compare_u64(x->cause, y->cause);
}

struct firsts {
	unsigned any[CAUSE_COUNT];
	unsigned whole[CAUSE_COUNT];
};

static bool is_first(struct firsts *firsts, const struct stall *stall)
{
	bool first = firsts->any[stall->cause]++ < FIRSTS;

	return (stall__is_whole(stall) && firsts->whole[stall->cause]++ < FIRSTS_WHOLE) || first;
}

static void number(struct entry *entries, size_t count, bool by_conn)
{
	for (size_t i = 0; i < count; i++) {
		bool goes_on = i && entries[i - 1].cause == entries[i].cause &&
			       (!by_conn || entries[i - 1].conn == entries[i].conn);

		entries[i].rank = goes_on ? entries[i - 1].rank + 1 : 0;
	}
}

/* The first count stalls of the list, those that are to stay first. */
static struct entry *rank(const struct report *report, size_t count)
{
	struct entry *entries = xcalloc(count, sizeof(*entries));
	struct firsts of_run = {0}, of_judged = {0};

	for (size_t i = 0; i < count; i++) {
		const struct stall *stall = &report->stalls[i];

		entries[i] = (struct entry){.at = i,
					    .cause = stall->cause,
					    .conn = stall->conn,
					    .ns = stall->end_ts - stall->start_ts,
					    .first = is_first(&of_run, stall)};
		if (report->judged_from && stall->start_ts >= report->judged_from)
			entries[i].first |= is_first(&of_judged, stall);
	}
	sort_array(entries, count, sizeof(*entries), by_connection);
	number(entries, count, true);
	sort_array(entries, count, sizeof(*entries), by_worth);
	number(entries, count, false);
	sort_array(entries, count, sizeof(*entries), by_rank);
	return entries;
}

static void add_brief(struct stalls *stalls, const struct stall *stall)
{
	struct report *report = stalls->report;

	if (report->brief_count == REPORT_BRIEFS)
		return;
	report->briefs = xgrow(report->briefs, report->brief_count, &stalls->brief_size,
			       sizeof(*report->briefs));
	report->briefs[report->brief_count++] = stall__brief(stall);
}

static void leave_out(struct stalls *stalls, struct stall *stall)
{
	add_brief(stalls, stall);
	stalls->report->stalls_not_kept++;
	stalls->report->step_count -= stall->step_count;
	free(stall->steps);
}

/* Cut the list to REPORT_STALLS; the last ones, so many, stay. */
static void cut(struct stalls *stalls, size_t recent)
{
	struct report *report = stalls->report;
	size_t count = report->stall_count - recent, kept = 0;
	bool *goes = xcalloc(report->stall_count, sizeof(*goes));
	struct entry *entries = rank(report, count);

	for (size_t i = REPORT_STALLS - recent; i < count; i++)
		goes[entries[i].at] = true;
	for (size_t i = 0; i < report->stall_count; i++) {
		if (goes[i])
			leave_out(stalls, &report->stalls[i]);
		else if (kept++ != i)
			report->stalls[kept - 1] = report->stalls[i];
	}
	report->stall_count = kept;
	free(entries);
	free(goes);
}

/* ---- the list ---- */

struct stall *stalls__add(struct stalls *stalls)
{
	struct report *report = stalls->report;

	if (report->stall_count == REPORT_STALLS + STALLS_MORE)
		cut(stalls, STALLS_RECENT);
	return &report->stalls[report->stall_count++];
}

struct stall *stalls__find(struct stalls *stalls, uint32_t number)
{
	const struct stall *stall = report__stall(stalls->report, number);

	return stall ? &stalls->report->stalls[stall - stalls->report->stalls] : NULL;
}

bool stalls__has_room_for_steps(const struct stalls *stalls)
{
	return stalls->report->step_count + STALL_STEPS <= REPORT_STEPS;
}

void stalls__close(struct stalls *stalls)
{
	if (stalls->report->stall_count > REPORT_STALLS)
		cut(stalls, 0);
}

/* All of them: those that are listed, and the briefs of the others. */
struct stall_brief stalls__at(const struct report *report, size_t at)
{
	return at < report->stall_count ? stall__brief(&report->stalls[at])
					: report->briefs[at - report->stall_count];
}

static bool is_of(const struct stall_brief *brief, const struct report_cause *cause)
{
	return brief->cause == cause->cause && !(brief->traits & STALL_PACE) == !cause->is_pace;
}

uint64_t *stalls__durations(const struct report *report, const struct report_cause *cause,
			    const struct cause_end *at, size_t *count)
{
	size_t most = report->stall_count + report->brief_count;
	uint64_t *durations;

	*count = 0;
	durations = xcalloc(most + 1, sizeof(*durations));
	for (size_t i = 0; i < most; i++) {
		struct stall_brief brief = stalls__at(report, i);

		if (is_of(&brief, cause) &&
		    (!at || report__cause_end(report, cause, brief.conn) == at))
			durations[(*count)++] = brief.ns;
	}
	sort_values(durations, *count);
	return durations;
}

/* ---- the time that they cover ---- */

static int by_start(const void *a, const void *b)
{
	return compare_u64(((const struct span *)a)->start_ts, ((const struct span *)b)->start_ts);
}

bool stalls__cut(const struct report *report, const struct stall_brief *brief, struct span *span)
{
	uint64_t end_ts = brief->start_ts + brief->ns;

	span->start_ts = brief->start_ts > report->start_ts ? brief->start_ts : report->start_ts;
	span->end_ts = end_ts < report->end_ts ? end_ts : report->end_ts;
	return span->start_ts < span->end_ts;
}

size_t spans__merge(struct span *spans, size_t count)
{
	size_t merged = 0;

	sort_array(spans, count, sizeof(*spans), by_start);
	for (size_t i = 0; i < count; i++) {
		if (merged && spans[i].start_ts <= spans[merged - 1].end_ts) {
			if (spans[i].end_ts > spans[merged - 1].end_ts)
				spans[merged - 1].end_ts = spans[i].end_ts;
		} else {
			spans[merged++] = spans[i];
		}
	}
	return merged;
}

uint64_t spans__covered(struct span *spans, size_t count)
{
	uint64_t covered = 0;

	count = spans__merge(spans, count);
	for (size_t i = 0; i < count; i++)
		covered += spans[i].end_ts - spans[i].start_ts;
	return covered;
}

uint64_t stalls__covered(const struct report *report, const struct report_cause *cause,
			 const uint32_t *conn, bool in_requests)
{
	size_t all = report->stall_count + report->brief_count, count = 0;
	struct span *spans = xcalloc(all + 1, sizeof(*spans));
	uint64_t covered;

	for (size_t i = 0; i < all; i++) {
		struct stall_brief brief = stalls__at(report, i);

		if (is_of(&brief, cause) && !(in_requests && brief.traits & STALL_BETWEEN) &&
		    (!conn || brief.conn == *conn))
			count += stalls__cut(report, &brief, &spans[count]);
	}
	covered = spans__covered(spans, count);
	free(spans);
	return covered;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Nothing was found: how much that says. */
#include <stdlib.h>

#include "user/analyze/conns.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/sight.h"
#include "user/explain/story.h"
#include "user/explain/verdict.h"
#include "user/record/losses.h"

struct watched {
	uint64_t conns;
	uint64_t writes;
	uint64_t exchanges; /* 0: not counted */
	uint64_t operations;
	uint64_t threads;
};

static struct watched count_watched(const struct report *report)
{
	const struct conn_sums sums = conn_sums__of(report);
	struct watched watched = {
		.conns = sums.targets, .writes = sums.writes, .exchanges = sums.exchanges};

	for (size_t i = 0; i < report->uring_count; i++)
		watched.operations += report->uring[i].completed;
	for (size_t i = 0; i < report->thread_count; i++)
		watched.threads += !!(report->threads[i].role & NS_ROLE_TARGET);
	return watched;
}

/* "64 connections", "1 thread" */
static void add_counted(char **text, uint64_t number, const char *what)
{
	char count[TEXT_COUNT];

	prose__add(text, "%s %s%s", text__count(count, sizeof(count), number), what,
		   number == 1 ? "" : "s");
}

static void add_watched(char **text, const struct report *report, const struct watched *watched)
{
	char window[TEXT_DURATION];

	prose__add(text, "Watched %s: ",
		   text__duration(window, sizeof(window), report->end_ts - report->start_ts));
	add_counted(text, watched->conns, "connection");
	prose__add(text, ", ");
	if (watched->exchanges)
		add_counted(text, watched->exchanges, "exchange");
	else
		add_counted(text, watched->writes, "write");
	prose__add(text, ", ");
	if (watched->operations) {
		add_counted(text, watched->operations, "io_uring operation");
		prose__add(text, ", ");
	}
	add_counted(text, watched->threads, "thread");
	sight__add_lost(text, report);
}

static void add_why_no_evidence(char **text, const struct report *report,
				const struct watched *watched)
{
	char count[TEXT_COUNT];

	if (!watched->conns && report->children)
		prose__add(text,
			   "This program had no TCP connection, and %s of its children had: "
			   "--children traces these too. ",
			   text__count(count, sizeof(count), report->children));
	else if (!watched->conns)
		prose__add(text,
			   "No TCP connection of this program was seen, so nothing can be said of "
			   "it. ");
	else if (losses__hiding(report->lost))
		prose__add(text, "Events were lost, and a stall may have been among them. ");
	else
		prose__add(text,
			   "Not everything was in sight, and a stall may have been where it was "
			   "not. ");
}

static void add_longest(char **text, const struct report *report)
{
	char longest[TEXT_DURATION];

	if (report->longest_wait_ns && report->longest_wait_cause != CAUSE_UNKNOWN)
		prose__add(text, "; the longest wait with work owed was %s (%s).",
			   text__duration(longest, sizeof(longest), report->longest_wait_ns),
			   cause__info(report->longest_wait_cause)->id);
	else if (report->longest_wait_ns)
		prose__add(text, "; the longest wait with work owed was %s.",
			   text__duration(longest, sizeof(longest), report->longest_wait_ns));
	else
		prose__add(text, "; no wait with work owed reached %s.",
			   text__nominal(longest, sizeof(longest), report__threshold(report)));
}

void verdict__write_silence(struct verdict *verdict, const struct report *report)
{
	struct watched watched = count_watched(report);

	if (watched.conns && report->complete) {
		verdict->title = xstrdup("Nothing held this program back on the network.");
	} else {
		verdict->title = xstrdup("Nothing was found, but that is no evidence here.");
		add_why_no_evidence(&verdict->text, report, &watched);
	}
	add_watched(&verdict->text, report, &watched);
	add_longest(&verdict->text, report);
	if (sight__has_waits(report)) {
		prose__add(&verdict->text, " ");
		sight__add_waits(&verdict->text, report);
	}
}

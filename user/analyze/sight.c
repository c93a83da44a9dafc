// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/sight.h"

#include "user/analyze/incident.h"
#include "user/analyze/story.h"
#include "user/base/text.h"

uint64_t sight__lost(const struct report *report)
{
	return report->lost[NS_LOST_RINGBUF] + report->lost[NS_LOST_DAMAGED] +
	       report->lost[NS_LOST_KEPT] + report->lost[NS_LOST_TORN] + report->lost[NS_LOST_DONE];
}

static void add_unwatched(char **text, const struct report *report)
{
	static const struct {
		enum ns_lost_kind kind;
		const char *one, *many;
	} kinds[] = {
		{NS_LOST_CONNS, "connection", "connections"},
		{NS_LOST_THREADS, "thread", "threads"},
		{NS_LOST_PROCESSES, "process", "processes"},
		{NS_LOST_RINGS, "io_uring ring", "io_uring rings"},
		{NS_LOST_OPS, "io_uring operation", "io_uring operations"},
	};
	char count[TEXT_COUNT];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint64_t lost = report->lost[kinds[i].kind];

		if (lost)
			prose__add(text, ", %s %s not watched for want of room",
				   text__count(count, sizeof(count), lost),
				   lost == 1 ? kinds[i].one : kinds[i].many);
	}
}

static void add_invisible(char **text, const struct report *report)
{
	static const struct {
		enum ns_fact fact;
		const char *what;
	} facts[] = {
		{NS_FACT_SEND, "sends"},
		{NS_FACT_TRANSMIT, "transmits"},
		{NS_FACT_SCHED, "waits of threads"},
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (report->session.missing >> facts[i].fact & 1)
			prose__add(text, ", %s not visible on this kernel", facts[i].what);
	}
}

uint64_t sight__threshold(const struct report *report)
{
	return report->session.head.type ? report->session.threshold_ns : DEFAULT_THRESHOLD_NS;
}

void sight__add_gaps(char **text, const struct report *report)
{
	add_unwatched(text, report);
	add_invisible(text, report);
}

bool sight__has_waits(const struct report *report)
{
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (report->waited_ns[i])
			return true;
	}
	return false;
}

/* "What it waits for, in waits of 10 ms and more: idle 71%, peer-app 29%." */
void sight__add_waits(char **text, const struct report *report)
{
	char threshold[TEXT_DURATION], share[TEXT_PERCENT];
	bool told[CAUSE_COUNT] = {false};
	uint64_t whole = 0;

	for (size_t i = 0; i < CAUSE_COUNT; i++)
		whole += report->waited_ns[i];
	if (!sight__has_waits(report))
		return;
	prose__add(text, "What it waits for, in waits of %s and more:",
		   text__nominal(threshold, sizeof(threshold), sight__threshold(report)));
	for (size_t n = 0; n < CAUSE_COUNT; n++) {
		size_t most = CAUSE_COUNT;

		for (size_t i = 0; i < CAUSE_COUNT; i++) {
			if (!told[i] && report->waited_ns[i] &&
			    (most == CAUSE_COUNT || report->waited_ns[i] > report->waited_ns[most]))
				most = i;
		}
		if (most == CAUSE_COUNT)
			break;
		told[most] = true;
		prose__add(text, "%s %s %s", n ? "," : "", cause__info((enum cause)most)->id,
			   text__percent(share, sizeof(share),
					 (double)report->waited_ns[most] / (double)whole));
	}
	prose__add(text, ".");
}

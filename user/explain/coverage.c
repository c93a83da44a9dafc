// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/coverage.h"

#include "user/base/text.h"
#include "user/explain/context.h"
#include "user/record/facts.h"
#include "user/record/losses.h"

static void add_invisible(char **text, const struct report *report)
{
	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		if (report->session.missing >> fact & 1 && fact__row(fact)->finds_stalls)
			builder__add(text, ", %s not visible on this kernel",
				     fact__row(fact)->words);
	}
}

void coverage__add_lost(char **text, const struct report *report)
{
	uint64_t events = losses__events(report->lost);
	bool any = false;

	builder__add(text, ", %s lost", counted_text(events, "event"));
	for (uint32_t kind = 0; events && kind < NS_LOST_KINDS; kind++) {
		const struct loss_kind *loss = loss_kind(kind);
		uint64_t lost = report->lost[kind];

		if (!loss || loss->no_event || !lost)
			continue;
		builder__add(text, "%s%s %s", any ? ", " : " (", count_text(lost),
			     lost == 1 ? loss->one : loss->many);
		any = true;
	}
	if (any)
		builder__add(text, ")");
	add_invisible(text, report);
}

bool coverage__has_waits(const struct report *report)
{
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (report->waited_ns[i])
			return true;
	}
	return false;
}

/* "What it waits for, in waits of 10 ms and more: idle 71%, peer-app 29%." */
void coverage__add_waits(char **text, const struct report *report)
{
	bool told[CAUSE_COUNT] = {false};
	uint64_t whole = 0;

	for (size_t i = 0; i < CAUSE_COUNT; i++)
		whole += report->waited_ns[i];
	if (!coverage__has_waits(report))
		return;
	builder__add(text, "What it waits for, in waits of %s and more:",
		     nominal_text(report__threshold(report)));
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
		builder__add(text, "%s %s %s", n ? "," : "", cause__info((enum cause)most)->id,
			     part_text(report->waited_ns[most], whole));
	}
	builder__add(text, ".");
}

/* A hundredth of the time is enough for a stall to have been there. */
bool coverage__is_unfollowed(const struct report *report)
{
	return report->unfollowed_ns &&
	       100 * report->unfollowed_ns >= report->end_ts - report->start_ts;
}

bool coverage__is_network_free(const struct report *report)
{
	if (!report->complete || report__cause(report, CAUSE_UNKNOWN) ||
	    coverage__is_unfollowed(report))
		return false;
	for (size_t i = 0; i < report->cause_count; i++) {
		if (cause__rank(report->causes[i].cause) == CAUSE_RANK_NETWORK)
			return false;
	}
	return true;
}

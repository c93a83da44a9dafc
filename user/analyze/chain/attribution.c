// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/chain/attribution.h"

#include <string.h>

void attribution__clear(struct attribution *attribution)
{
	attribution->stretch_count = 0;
	attribution->link_count = 0;
	memset(attribution, 0, offsetof(struct attribution, stretches));
}

/* The shortest of two or more joins the one before it. */
static void join_shortest(struct stretch *stretches, size_t *count)
{
	size_t least = 1;

	for (size_t i = 2; i < *count; i++) {
		if (stretches[i].end_ts - stretches[i].start_ts <
		    stretches[least].end_ts - stretches[least].start_ts)
			least = i;
	}
	stretches[least - 1].end_ts = stretches[least].end_ts;
	memmove(&stretches[least], &stretches[least + 1],
		(--*count - least) * sizeof(stretches[0]));
}

void attribution__add(struct attribution *attribution, uint64_t start_ts, uint64_t end_ts,
		      enum cause cause)
{
	struct stretch *stretches = attribution->stretches;
	size_t *count = &attribution->stretch_count;

	attribution->ns[cause] += end_ts - start_ts;
	if (*count && stretches[*count - 1].cause == cause) {
		stretches[*count - 1].end_ts = end_ts;
		return;
	}
	if (*count == ATTRIBUTION_STRETCHES)
		join_shortest(stretches, count);
	stretches[(*count)++] =
		(struct stretch){.start_ts = start_ts, .end_ts = end_ts, .cause = cause};
}

void attribution__add_interval(struct attribution *attribution, struct interval *interval,
			       uint64_t ns)
{
	if (interval->stall) {
		attribution->reported_ns += ns;
		if (ns > attribution->reported_longest_ns) {
			attribution->reported = interval;
			attribution->reported_longest_ns = ns;
		}
	}
	if (ns > attribution->interval_ns) {
		attribution->interval = interval;
		attribution->interval_ns = ns;
	}
}

void attribution__missing(struct attribution *attribution, enum stall_missing what)
{
	if (!attribution->missing)
		attribution->missing = what;
}

void attribution__infer(struct attribution *attribution, enum stall_inferred from)
{
	attribution->confidence = CONFIDENCE_INFERRED;
	if (!attribution->inferred)
		attribution->inferred = from;
}

enum cause attribution__main_cause(const struct attribution *attribution)
{
	enum cause best = CAUSE_UNKNOWN;

	for (size_t i = 0; i < attribution->stretch_count; i++) {
		if (attribution->ns[attribution->stretches[i].cause] > attribution->ns[best])
			best = attribution->stretches[i].cause;
	}
	/* One of many stretches, all of them short, may have none left. */
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (attribution->ns[i] > attribution->ns[best])
			best = (enum cause)i;
	}
	return best;
}

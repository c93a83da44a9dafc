// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/chain/attribution.h"

#include <string.h>

void attribution__clear(struct attribution *attribution)
{
	attribution->slice_count = 0;
	attribution->link_count = 0;
	attribution->path.count = 0;
	memset(attribution, 0, offsetof(struct attribution, slices));
}

void attribution__add(struct attribution *attribution, enum cause cause, uint64_t ns)
{
	attribution->ns[cause] += ns;
	slices__add(attribution->slices, &attribution->slice_count, ATTRIBUTION_SLICES, cause, ns);
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

enum cause attribution__main_cause(const struct attribution *attribution)
{
	enum cause best = CAUSE_UNKNOWN;

	for (size_t i = 0; i < attribution->slice_count; i++) {
		if (attribution->ns[attribution->slices[i].cause] > attribution->ns[best])
			best = attribution->slices[i].cause;
	}
	/* One of many slices, all of them short, may have none left. */
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (attribution->ns[i] > attribution->ns[best])
			best = (enum cause)i;
	}
	return best;
}

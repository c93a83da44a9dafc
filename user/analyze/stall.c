// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/stall.h"

#include <assert.h>

void stall__slice(struct stall *stall, enum cause cause, uint64_t ns)
{
	struct slice *last = stall->slice_count ? &stall->slices[stall->slice_count - 1] : NULL;

	if (!ns)
		return;
	if (last && last->cause == cause) {
		last->ns += ns;
		return;
	}
	assert(stall->slice_count < STALL_SLICES);
	stall->slices[stall->slice_count].cause = cause;
	stall->slices[stall->slice_count].ns = ns;
	stall->slice_count++;
}

void stall__check(const struct stall *stall)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < stall->slice_count; i++)
		sum += stall->slices[i].ns;
	assert(stall->end_ts >= stall->start_ts);
	assert(sum == stall->end_ts - stall->start_ts);
	(void)sum; /* with NDEBUG */
}

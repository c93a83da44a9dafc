// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* When a wait ended, and how much of it lies within a time: by its record alone. */
#include "user/analyze/stall.h"

uint64_t wait__woken(const struct ns_wait *wait)
{
	/* A wake before the switch-out is a thread that was woken on its way to sleep. */
	if (!wait->wake_ts || wait->wake_ts > wait->head.ts)
		return wait->head.ts;
	return wait->wake_ts < wait->off_ts ? wait->off_ts : wait->wake_ts;
}

uint64_t wait__overlap(const struct ns_wait *wait, uint64_t start_ts, uint64_t end_ts)
{
	uint64_t from = wait->off_ts > start_ts ? wait->off_ts : start_ts;
	uint64_t to = wait->head.ts < end_ts ? wait->head.ts : end_ts;

	return to > from ? to - from : 0;
}

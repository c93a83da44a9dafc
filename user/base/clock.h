/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The clocks, in ns. All of netstall's times are CLOCK_MONOTONIC, as the kernel side's are. */
#ifndef NETSTALL_BASE_CLOCK_H
#define NETSTALL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock__ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* What two times, each from and to, have in common. */
static inline uint64_t clock__common(uint64_t from, uint64_t to, uint64_t other_from,
				     uint64_t other_to)
{
	uint64_t begin = from > other_from ? from : other_from;
	uint64_t end = to < other_to ? to : other_to;

	return end > begin ? end - begin : 0;
}

static inline uint64_t clock__now(void)
{
	return clock__ns(CLOCK_MONOTONIC);
}

/* CLOCK_REALTIME - CLOCK_MONOTONIC */
static inline int64_t clock__wall_offset(void)
{
	uint64_t now = clock__now();

	return (int64_t)(clock__ns(CLOCK_REALTIME) - now);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For tests of the time that some work takes: it grows as what it is about, not as its square. */
#ifndef NETSTALL_TESTS_GROWTH_H
#define NETSTALL_TESTS_GROWTH_H

#include "tests/unit/test.h"
#include "user/base/array.h"
#include "user/base/clock.h"

/* Other programs disturb, and never to the better: the best of so many counts. */
#define GROWTH_TRIES 5
/* Half of it should take some 100 ms, under a sanitizer too. */
#define GROWTH_LONGEST_NS 5000000000ull

static inline uint64_t growth__cpu_ns(void (*work)(uint32_t count), uint32_t count)
{
	uint64_t begin = clock__ns(CLOCK_PROCESS_CPUTIME_ID);

	work(count);
	return clock__ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

/* Of twice as many it takes some twice as long; by the square it were four times. */
static inline void assert_grows_linearly(void (*work)(uint32_t count), uint32_t count)
{
	uint64_t half = UINT64_MAX, whole = UINT64_MAX;

	for (int i = 0; i < GROWTH_TRIES; i++) {
		half = min_u64(half, growth__cpu_ns(work, count / 2));
		if (half > GROWTH_LONGEST_NS)
			fail_msg("%u take %.1f ms", count / 2, (double)half / 1e6);
		whole = min_u64(whole, growth__cpu_ns(work, count));
		if (whole < 3 * half)
			return;
	}
	fail_msg("%u take %.1f ms, %u take %.1f ms", count / 2, (double)half / 1e6, count,
		 (double)whole / 1e6);
}

#endif

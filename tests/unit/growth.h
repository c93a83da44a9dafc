/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For tests of the time that some work takes: it grows as what it is about, not as its square. */
#ifndef NETSTALL_TESTS_GROWTH_H
#define NETSTALL_TESTS_GROWTH_H

#include <malloc.h>

#include "tests/unit/test.h"
#include "user/base/array.h"
#include "user/base/clock.h"

/* Other programs disturb, and never to the better: the best of so many counts. */
#define GROWTH_TRIES 5
/* So many fewer: each of them may cost 2.4 times more where all of them leave the caches. */
#define GROWTH_FEWER 8
/* Of as many as that, by the square it were 64 times as long, in proportion 8 times. */
#define GROWTH_MOST 19
/* Those should take some 20 ms, under a sanitizer too. */
#define GROWTH_LONGEST_NS 1000000000ull

static inline uint64_t growth__cpu_ns(void (*work)(uint32_t count), uint32_t count)
{
	uint64_t begin = clock__ns(CLOCK_PROCESS_CPUTIME_ID);

	work(count);
	return clock__ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

static inline void assert_grows_linearly(void (*work)(uint32_t count), uint32_t count)
{
	uint64_t few = UINT64_MAX, all = UINT64_MAX;

	/* Memory that is given back has to be faulted in again: a virtual machine's host takes its
	 * time for that, more for much of it. So only the first try does. */
	mallopt(M_TRIM_THRESHOLD, INT32_MAX);
	mallopt(M_MMAP_MAX, 0);
	for (int i = 0; i < GROWTH_TRIES; i++) {
		few = min_u64(few, growth__cpu_ns(work, count / GROWTH_FEWER));
		if (few > GROWTH_LONGEST_NS)
			break;
		all = min_u64(all, growth__cpu_ns(work, count));
		if (all < GROWTH_MOST * few)
			return;
	}
	fail_msg("%u take %.1f ms, %u take %.1f ms", count / GROWTH_FEWER, (double)few / 1e6, count,
		 (double)all / 1e6);
}

#endif

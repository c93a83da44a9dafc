/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arrays: their length, their order, a place in a sorted one, and the less of two numbers. */
#ifndef NETSTALL_BASE_ARRAY_H
#define NETSTALL_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* For sort_array() and bsearch(). */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* qsort(), which must not be given NULL, not even for none. */
static inline void sort_array(void *v, size_t count, size_t size,
			      int (*compare)(const void *, const void *))
{
	if (count)
		qsort(v, count, size, compare);
}

static inline int compare_values(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline void sort_values(uint64_t *v, size_t count)
{
	sort_array(v, count, sizeof(*v), compare_values);
}

/* Of elements of that size, sorted by the uint64_t that each begins with: how many have at most
 * this one. */
static inline size_t count_up_to(const void *v, size_t count, size_t size, uint64_t most)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)v + middle * size) <= most)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif

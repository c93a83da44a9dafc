/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The order of two numbers, for qsort() and bsearch(). */
#ifndef NETSTALL_BASE_COMPARE_H
#define NETSTALL_BASE_COMPARE_H

#include <stdint.h>

static inline int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

#endif

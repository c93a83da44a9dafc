/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* When a list that has grown too long is gone through again for what may go. */
#ifndef NETSTALL_BASE_TRIM_H
#define NETSTALL_BASE_TRIM_H

#include <stddef.h>
#include <stdint.h>

/*
 * To go through a list takes as long as the list is, and may find nothing that can go. So a share
 * of what was left has to come first, and least at the least: then all that comes pays for all
 * looks, and the list is never longer than by that share. now counts what has come so far; returns
 * the count at which the next look is due.
 */
static inline uint64_t trim__next(uint64_t now, size_t left, uint64_t least)
{
	uint64_t share = left / 4;

	return now + (share > least ? share : least);
}

#endif

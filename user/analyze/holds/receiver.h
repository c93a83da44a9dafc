/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which thread's wait belongs to a hold: the one that the held bytes ended, and the one they
 * delayed. */
#ifndef NETSTALL_ANALYZE_HOLDS_RECEIVER_H
#define NETSTALL_ANALYZE_HOLDS_RECEIVER_H

#include "user/analyze/stall.h"

/* The wait that the held bytes ended, NULL when it was not seen. */
const struct ns_wait *receiver__find(const struct model *model, const struct incident *incident,
				     uint32_t writer_tid);
/* Slices from the stall's end on: until the receiver was woken, and until it ran. */
void receiver__cut(struct stall *stall, const struct ns_wait *receiver);
/*
 * Enter the target's wait that the stall delayed, the receiver's for want of one, with its
 * stacks; for want of both the target among the two ends.
 */
void receiver__find_delayed(const struct model *model, const struct incident *incident,
			    struct finding *finding);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The off-CPU profile by cause: the kernel's sums know the stacks of a wait, the pipeline knows
 * what it was for. Both have it from one program, so the thread and the instant at which it
 * began name the same wait on both sides. Long ones are reported one by one by either side, in any
 * order, and joined here; what was shorter than the threshold has no cause.
 *
 *	by_cause__wait     from the kernel's sums: a long wait, and the key of its sum
 *	by_cause__explain  from the pipeline: what a long wait was for
 *	by_cause__finish
 *	by_cause__shares   a sum, cut by cause
 */
#ifndef NETSTALL_ANALYZE_PROFILE_BY_CAUSE_H
#define NETSTALL_ANALYZE_PROFILE_BY_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analyze/waits/wait_record.h"

#define BY_CAUSE_PENDING 16384 /* waits that one side has reported and the other not */
#define BY_CAUSE_SUMS    65536 /* keys that have long waits */
#define BY_CAUSE_SHARES  (CAUSE_COUNT + 1)

/* A wait of the profile. */
struct by_cause_wait {
	uint32_t key; /* which sum has it; not 0 */
	uint32_t tid; /* as struct wait_record has it */
	uint64_t off_ts;
	uint64_t ns; /* what its sum counts of it: blocked, or waiting for a CPU */
};

/* A part of a sum. */
struct cause_share {
	enum cause cause; /* CAUSE_COUNT: shorter than what is explained */
	uint64_t count;   /* a wait counts where most of its time went */
	uint64_t ns;
};

struct by_cause;

struct by_cause *by_cause__new(void);
void by_cause__free(struct by_cause *by_cause);
void by_cause__wait(struct by_cause *by_cause, const struct by_cause_wait *wait);
void by_cause__explain(struct by_cause *by_cause, const struct wait_record *waited);
/* What has found nothing to join by now is unknown. */
void by_cause__finish(struct by_cause *by_cause);
/*
 * The sum of this key, of count waits and ns in all, by cause, most time first. Returns how
 * many shares there are; their ns sum to ns, their count to count.
 */
size_t by_cause__shares(const struct by_cause *by_cause, uint32_t key, uint64_t count, uint64_t ns,
			struct cause_share out[BY_CAUSE_SHARES]);
/* Long waits that became unknown because a table was full. */
uint64_t by_cause__lost(const struct by_cause *by_cause);

/*
 * A share's cause where the sleeper's kernel stack (NULL: none) says more than the other side did:
 * waits of io_uring's own threads for work are nobody's, and not reported there.
 */
enum cause by_cause__refine(enum cause cause, const char *kernel);

#endif

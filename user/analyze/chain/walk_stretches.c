// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How a walk's stretches are put together. */
#include <string.h>

#include "user/analyze/chain/waker_chain.h"

/*
 * The network's causes pass through every level: that is where a change helps. Of the others
 * each level makes its own: whatever a lock's holder did, for who waits it is the lock.
 */
static enum cause seen_from_above(const struct wrapper *wrapper, enum cause cause)
{
	if (cause__rank(cause) == CAUSE_RANK_NETWORK)
		return cause;
	if (cause == CAUSE_IDLE && wrapper->idle_stays)
		return cause;
	if (cause == CAUSE_RUNQUEUE && wrapper->runqueue_stays)
		return cause;
	return wrapper->cause;
}

/* The shortest of two or more joins the one before it. */
static void join_shortest(struct stretch *stretches, size_t *count)
{
	size_t least = 1;

	for (size_t i = 2; i < *count; i++) {
		if (stretches[i].end_ts - stretches[i].start_ts <
		    stretches[least].end_ts - stretches[least].start_ts)
			least = i;
	}
	stretches[least - 1].end_ts = stretches[least].end_ts;
	memmove(&stretches[least], &stretches[least + 1],
		(--*count - least) * sizeof(stretches[0]));
}

void walk__emit(struct walk *walk, uint64_t until, enum cause cause)
{
	struct attribution *out = walk->out;
	struct stretch *last;

	if (until <= walk->at)
		return;
	for (size_t depth = walk->depth; depth-- > 0;)
		cause = seen_from_above(&walk->wrappers[depth], cause);
	out->ns[cause] += until - walk->at;
	last = out->stretch_count ? &out->stretches[out->stretch_count - 1] : NULL;
	if (last && last->cause == cause) {
		last->end_ts = until;
	} else {
		if (out->stretch_count == ATTRIBUTION_STRETCHES)
			join_shortest(out->stretches, &out->stretch_count);
		out->stretches[out->stretch_count++] =
			(struct stretch){.start_ts = walk->at, .end_ts = until, .cause = cause};
	}
	walk->at = until;
}

void walk__emit_interval(struct walk *walk, uint64_t until, struct interval *interval)
{
	uint64_t start = walk->at, end = interval->span.start_ts;

	for (size_t i = 0; i < interval->slice_count; i++) {
		end += interval->slices[i].ns;
		walk__emit(walk, end < until ? end : until, interval->slices[i].cause);
	}
	if (interval->stall) {
		walk->out->reported_ns += walk->at - start;
		if (walk->at - start > walk->out->reported_longest_ns) {
			walk->out->reported = interval;
			walk->out->reported_longest_ns = walk->at - start;
		}
	}
	if (walk->at - start > walk->out->interval_ns) {
		walk->out->interval = interval;
		walk->out->interval_ns = walk->at - start;
	}
}

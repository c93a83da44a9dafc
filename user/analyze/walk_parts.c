// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How a walk's parts are put together. */
#include "user/analyze/walk.h"

/*
 * The network's causes pass through every level: that is where a change helps. Of the others
 * each level makes its own: whatever a lock's holder did, for who waits it is the lock.
 */
static enum cause seen_from_above(const struct wrapper *wrapper, enum cause cause)
{
	if (cause__info(cause)->rank == CAUSE_RANK_NETWORK)
		return cause;
	if (cause == CAUSE_IDLE && wrapper->idle_stays)
		return cause;
	if (cause == CAUSE_RUNQUEUE && wrapper->runqueue_stays)
		return cause;
	return wrapper->cause;
}

void walk__emit(struct walk *walk, uint64_t until, enum cause cause)
{
	struct blame *out = walk->out;
	struct part *last = out->part_count ? &out->parts[out->part_count - 1] : NULL;

	if (until <= walk->at)
		return;
	for (size_t depth = walk->depth; depth-- > 0;)
		cause = seen_from_above(&walk->wrappers[depth], cause);
	if (last && (last->cause == cause || out->part_count == BLAME_PARTS))
		last->end_ts = until;
	else
		out->parts[out->part_count++] =
			(struct part){.start_ts = walk->at, .end_ts = until, .cause = cause};
	walk->at = until;
}

void walk__emit_root(struct walk *walk, uint64_t until, struct root *root)
{
	uint64_t start = walk->at, end = root->span.start_ts;

	for (size_t i = 0; i < root->slice_count; i++) {
		end += root->slices[i].ns;
		walk__emit(walk, end < until ? end : until, root->slices[i].cause);
	}
	if (root->stall) {
		walk->out->told_ns += walk->at - start;
		if (walk->at - start > walk->out->told_longest_ns) {
			walk->out->told = root;
			walk->out->told_longest_ns = walk->at - start;
		}
	}
	if (walk->at - start > walk->out->root_ns) {
		walk->out->root = root;
		walk->out->root_ns = walk->at - start;
	}
}

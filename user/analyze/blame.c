// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The outside of the walk, and how parts are put together. */
#include "user/analyze/blame.h"

#include <string.h>

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
	if (walk->at - start > walk->out->root_ns) {
		walk->out->root = root;
		walk->out->root_ns = walk->at - start;
	}
}

void blame__wait(const struct model *model, const struct roots *roots, const struct ns_wait *wait,
		 uint64_t from, uint64_t to, struct blame *blame)
{
	struct walk walk = {
		.model = model, .roots = roots, .out = blame, .at = from, .linked = true};

	memset(blame, 0, sizeof(*blame));
	walk__wait(&walk, wait, to);
	walk__emit(&walk, to, CAUSE_UNKNOWN);
}

uint64_t blame__of(const struct blame *blame, enum cause cause)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < blame->part_count; i++) {
		if (blame->parts[i].cause == cause)
			ns += blame->parts[i].end_ts - blame->parts[i].start_ts;
	}
	return ns;
}

enum cause blame__cause(const struct blame *blame)
{
	enum cause best = CAUSE_UNKNOWN;
	uint64_t most = 0;

	for (size_t i = 0; i < blame->part_count; i++) {
		uint64_t ns = blame__of(blame, blame->parts[i].cause);

		if (ns > most) {
			best = blame->parts[i].cause;
			most = ns;
		}
	}
	return best;
}

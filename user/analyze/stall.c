// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/stall.h"

#include <assert.h>
#include <string.h>

static void join_shortest(struct stall *stall)
{
	size_t least = 1;

	for (size_t i = 2; i < stall->slice_count; i++) {
		if (stall->slices[i].ns < stall->slices[least].ns)
			least = i;
	}
	stall->slices[least - 1].ns += stall->slices[least].ns;
	stall->slice_count--;
	memmove(&stall->slices[least], &stall->slices[least + 1],
		(stall->slice_count - least) * sizeof(stall->slices[0]));
}

void stall__slice(struct stall *stall, enum cause cause, uint64_t ns)
{
	struct slice *last;

	if (!ns)
		return;
	if (stall->slice_count == STALL_SLICES && stall->slices[STALL_SLICES - 1].cause != cause)
		join_shortest(stall);
	last = stall->slice_count ? &stall->slices[stall->slice_count - 1] : NULL;
	if (last && last->cause == cause)
		last->ns += ns;
	else
		stall->slices[stall->slice_count++] = (struct slice){.cause = cause, .ns = ns};
}

void stall__check(const struct stall *stall)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < stall->slice_count; i++)
		sum += stall->slices[i].ns;
	assert(stall->end_ts >= stall->start_ts);
	assert(sum == stall->end_ts - stall->start_ts);
	(void)sum; /* with NDEBUG */
}

enum stall_missing stall__unseen_end(const struct model *model, uint32_t conn)
{
	const struct model_conn *known = model__conn(model, conn);

	if (model__lost(model, NS_LOST_CONNS))
		return MISSING_PEER_NO_ROOM;
	if (known && known->id.family &&
	    !memcmp(known->id.laddr, known->id.raddr, sizeof(known->id.laddr)))
		return MISSING_PEER_HERE;
	return MISSING_PEER_FAR;
}

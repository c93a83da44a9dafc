// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/stall.h"

#include <assert.h>
#include <string.h>

static void join_shortest(struct slice *slices, size_t *count)
{
	size_t least = 1;

	for (size_t i = 2; i < *count; i++) {
		if (slices[i].ns < slices[least].ns)
			least = i;
	}
	slices[least - 1].ns += slices[least].ns;
	memmove(&slices[least], &slices[least + 1], (--*count - least) * sizeof(slices[0]));
}

void slices__add(struct slice *slices, size_t *count, size_t bound, enum cause cause, uint64_t ns)
{
	if (!ns)
		return;
	if (*count == bound && slices[bound - 1].cause != cause)
		join_shortest(slices, count);
	if (*count && slices[*count - 1].cause == cause)
		slices[*count - 1].ns += ns;
	else
		slices[(*count)++] = (struct slice){.cause = cause, .ns = ns};
}

void stall__slice(struct stall *stall, enum cause cause, uint64_t ns)
{
	slices__add(stall->slices, &stall->slice_count, STALL_SLICES, cause, ns);
}

void stall__join(struct stall *stall, const struct stall_wait *wait)
{
	for (size_t i = 0; i < stall->wait_count && i < STALL_WAITS; i++) {
		if (stall->waits[i].tid == wait->tid && stall->waits[i].off_ts == wait->off_ts)
			return;
	}
	if (stall->wait_count < STALL_WAITS)
		stall->waits[stall->wait_count] = *wait;
	stall->wait_count++;
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

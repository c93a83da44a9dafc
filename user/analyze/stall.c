// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/stall.h"

#include <assert.h>
#include <string.h>

/* The nearest other one of its cause; count: there is none. */
static size_t find_twin(const struct slice *slices, size_t count, size_t of)
{
	for (size_t away = 1; away < count; away++) {
		if (away <= of && slices[of - away].cause == slices[of].cause)
			return of - away;
		if (of + away < count && slices[of + away].cause == slices[of].cause)
			return of + away;
	}
	return count;
}

static void take_out(struct slice *slices, size_t *count, size_t at)
{
	memmove(&slices[at], &slices[at + 1], (--*count - at) * sizeof(slices[0]));
}

/* Makes room: the shortest that has a twin joins that. What a cause has in all stays as it is. */
static void join_shortest(struct slice *slices, size_t *count)
{
	size_t least = *count, to;

	for (size_t i = 0; i < *count; i++) {
		if ((least == *count || slices[i].ns < slices[least].ns) &&
		    find_twin(slices, *count, i) < *count)
			least = i;
	}
	if (least == *count) { /* more causes than slices */
		slices[*count - 2].ns += slices[*count - 1].ns;
		--*count;
		return;
	}
	to = find_twin(slices, *count, least);
	slices[to].ns += slices[least].ns;
	take_out(slices, count, least);
	if (least && least < *count && slices[least - 1].cause == slices[least].cause) {
		slices[least - 1].ns += slices[least].ns;
		take_out(slices, count, least);
	}
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

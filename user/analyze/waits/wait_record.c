// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/wait_record.h"

#include <string.h>

#include "user/analyze/chain/waker_chain.h"
#include "user/analyze/waits/overlap.h"

enum cause wait_record__main_cause(const struct wait_record *waited)
{
	enum cause best = CAUSE_UNKNOWN;

	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (waited->ns[i] > waited->ns[best])
			best = (enum cause)i;
	}
	return best;
}

static void take(struct wait_record *out, const struct attribution *attribution)
{
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		out->ns[i] += attribution->ns[i];
}

/*
 * A time that an incident explains. The chain leads there mostly, and has the incident's
 * slices. Where it does not (the wait names no connection), the incident has it all the same.
 */
static void take_explained(const struct overlap *overlap, struct wait_record *out,
			   const struct attribution *attribution, uint64_t length)
{
	if (attribution->interval || !overlap->stall)
		take(out, attribution);
	else
		out->ns[overlap->cause] += length;
}

void wait_record__explain(struct waker_chain *chain, const struct overlap *overlap,
			  const struct request_place *place, struct wait_record *out)
{
	const struct ns_wait *wait = overlap->wait;
	uint64_t at = wait->off_ts;
	const struct attribution *attribution;

	memset(out, 0, sizeof(*out));
	out->pid = wait->head.tgid;
	out->tid = wait->head.tid;
	out->off_ts = wait->off_ts;
	out->end_ts = wait->head.ts;
	for (size_t i = 0; i <= overlap->count; i++) {
		uint64_t next = i < overlap->count ? overlap->part[i].start : wait->head.ts;

		if (next > at) {
			attribution = waker_chain__explain(chain, wait, place, at, next);
			take(out, attribution);
		}
		if (i == overlap->count)
			break;
		at = overlap->part[i].end;
		attribution = waker_chain__explain(chain, wait, place, next, at);
		take_explained(overlap, out, attribution, at - next);
	}
}

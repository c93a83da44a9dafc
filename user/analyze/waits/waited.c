// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/waited.h"

#include <string.h>

#include "user/analyze/chain/blame.h"
#include "user/analyze/waits/cover.h"

enum cause waited__main(const struct waited *waited)
{
	enum cause best = CAUSE_UNKNOWN;

	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (waited->ns[i] > waited->ns[best])
			best = (enum cause)i;
	}
	return best;
}

static void take_blame(struct waited *out, const struct blame *blame)
{
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		out->ns[i] += blame->ns[i];
}

/*
 * A time that an incident covers. The chain leads there mostly, and tells the incident's slices
 * apart. Where it does not (the wait names no connection), the incident has it all the same.
 */
static void take_covered(const struct cover *cover, struct waited *out, const struct blame *blame,
			 uint64_t length)
{
	if (blame->root || !cover->stall)
		take_blame(out, blame);
	else
		out->ns[cover->cause] += length;
}

void waited__explain(const struct model *model, const struct roots *roots,
		     const struct cover *cover, const struct ns_wait *wait, struct waited *out)
{
	uint64_t at = wait->off_ts;
	struct blame blame;

	memset(out, 0, sizeof(*out));
	out->pid = wait->head.tgid;
	out->tid = wait->head.tid;
	out->off_ts = wait->off_ts;
	out->end_ts = wait->head.ts;
	for (size_t i = 0; i <= cover->count; i++) {
		uint64_t next = i < cover->count ? cover->part[i].start : wait->head.ts;

		if (next > at) {
			blame__wait(model, roots, wait, at, next, &blame);
			take_blame(out, &blame);
		}
		if (i == cover->count)
			break;
		at = cover->part[i].end;
		blame__wait(model, roots, wait, next, at, &blame);
		take_covered(cover, out, &blame, at - next);
	}
}

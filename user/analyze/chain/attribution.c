// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The outside of the walk. */
#include "user/analyze/chain/attribution.h"

#include <string.h>

#include "user/analyze/chain/waker_chain.h"

void attribution__of_wait(const struct model *model, const struct intervals *intervals,
			  const struct ns_wait *wait, uint64_t from, uint64_t to,
			  struct attribution *attribution)
{
	struct walk walk = {.model = model,
			    .intervals = intervals,
			    .out = attribution,
			    .at = from,
			    .linked = true,
			    .answer = walk__answer,
			    .transit = walk__transit,
			    .ring = walk__ring};

	memset(attribution, 0, sizeof(*attribution));
	walk__wait(&walk, wait, to);
	walk__emit(&walk, to, CAUSE_UNKNOWN);
}

uint64_t attribution__ns(const struct attribution *attribution, enum cause cause)
{
	return attribution->ns[cause];
}

enum cause attribution__main_cause(const struct attribution *attribution)
{
	enum cause best = CAUSE_UNKNOWN;

	for (size_t i = 0; i < attribution->stretch_count; i++) {
		if (attribution->ns[attribution->stretches[i].cause] > attribution->ns[best])
			best = attribution->stretches[i].cause;
	}
	/* One of many stretches, all of them short, may have none left. */
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (attribution->ns[i] > attribution->ns[best])
			best = (enum cause)i;
	}
	return best;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The outside of the walk. */
#include "user/analyze/chain/blame.h"

#include <string.h>

#include "user/analyze/chain/walk.h"

void blame__wait(const struct model *model, const struct roots *roots, const struct ns_wait *wait,
		 uint64_t from, uint64_t to, struct blame *blame)
{
	struct walk walk = {.model = model,
			    .roots = roots,
			    .out = blame,
			    .at = from,
			    .linked = true,
			    .answer = walk__answer,
			    .transit = walk__transit,
			    .ring = walk__ring};

	memset(blame, 0, sizeof(*blame));
	walk__wait(&walk, wait, to);
	walk__emit(&walk, to, CAUSE_UNKNOWN);
}

uint64_t blame__of(const struct blame *blame, enum cause cause)
{
	return blame->ns[cause];
}

enum cause blame__cause(const struct blame *blame)
{
	enum cause best = CAUSE_UNKNOWN;

	for (size_t i = 0; i < blame->stretch_count; i++) {
		if (blame->ns[blame->stretches[i].cause] > blame->ns[best])
			best = blame->stretches[i].cause;
	}
	/* One of many stretches, all of them short, may have none left. */
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		if (blame->ns[i] > blame->ns[best])
			best = (enum cause)i;
	}
	return best;
}

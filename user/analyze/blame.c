// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The outside of the walk. */
#include "user/analyze/blame.h"

#include <string.h>

#include "user/analyze/walk.h"

void blame__wait(const struct model *model, const struct roots *roots, const struct ns_wait *wait,
		 uint64_t from, uint64_t to, struct blame *blame)
{
	struct walk walk = {.model = model,
			    .roots = roots,
			    .out = blame,
			    .at = from,
			    .linked = true,
			    .answer = walk__answer,
			    .transit = walk__transit};

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

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/beyond.h"

#include <string.h>

#include "user/analyze/tally.h"

void beyond__init(struct beyond *beyond, const struct budgets *budgets)
{
	memset(beyond, 0, sizeof(*beyond));
	beyond->budgets = budgets;
}

const struct budget *beyond__stall(struct beyond *beyond, const struct report *so_far,
				   const struct stall *stall)
{
	const unsigned places[] = {stall->cause, CAUSE_COUNT};
	uint64_t elapsed = stall->end_ts > so_far->start_ts ? stall->end_ts - so_far->start_ts : 0;

	if (stall__traits(stall) & STALL_END_GUESSED)
		return NULL;
	for (size_t i = 0; i < 2; i++) {
		beyond->by[places[i]].count++;
		beyond->by[places[i]].ns += stall->end_ts - stall->start_ts;
	}
	/* The total's is the last of them. */
	for (size_t i = 0; i < beyond->budgets->count; i++) {
		const struct budget *budget = &beyond->budgets->v[i];
		bool total = budget->of == BUDGET_OF_TOTAL;
		unsigned at = total ? CAUSE_COUNT : budget->cause;

		if ((total || (!budget->of && budget->cause == stall->cause)) &&
		    budget__is_exceeded(budget, beyond->by[at].count, beyond->by[at].ns,
					elapsed / 1e9))
			return budget;
	}
	return NULL;
}

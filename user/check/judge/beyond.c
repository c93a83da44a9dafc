// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/beyond.h"

#include <string.h>

#include "user/analyze/tally.h"

void beyond__init(struct beyond *beyond, const struct budgets *budgets)
{
	memset(beyond, 0, sizeof(*beyond));
	beyond->budgets = budgets;
}

static bool is_over(const struct beyond *beyond, const struct budget *budget, uint64_t elapsed_ns)
{
	unsigned at = budget->total ? CAUSE_COUNT : budget->cause;

	switch (budget->kind) {
	case BUDGET_COUNT:
		return beyond->by[at].count > budget->count;
	case BUDGET_TIME:
		return beyond->by[at].ns > budget->ns;
	case BUDGET_SHARE:
		break;
	}
	return (double)beyond->by[at].ns > budget->share * (double)elapsed_ns;
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

		if ((budget->total || budget->cause == stall->cause) &&
		    is_over(beyond, budget, elapsed))
			return budget;
	}
	return NULL;
}

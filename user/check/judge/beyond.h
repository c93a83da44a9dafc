/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which stall is the one that goes beyond a budget, while the run goes on: the judgement comes at
 * the end, and a flight recorder cannot wait for it. A share of the time is that of the time so
 * far.
 */
#ifndef NETSTALL_CHECK_JUDGE_BEYOND_H
#define NETSTALL_CHECK_JUDGE_BEYOND_H

#include "user/analyze/report.h"
#include "user/check/judge/budget.h"

struct beyond {
	const struct budgets *budgets; /* must live as long */
	struct {
		uint64_t count;
		uint64_t ns;
	} by[CAUSE_COUNT + 1]; /* total last */
};

void beyond__init(struct beyond *beyond, const struct budgets *budgets);
/*
 * Count a stall; the budget that it is beyond, its own cause's before the total's; NULL: none. A
 * hold whose end was not seen is not counted: nobody knows that it lasted.
 */
const struct budget *beyond__stall(struct beyond *beyond, const struct report *so_far,
				   const struct stall *stall);

#endif

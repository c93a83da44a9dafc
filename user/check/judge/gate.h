/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The judgement: from a report, the budgets and what only the caller knows to a struct outcome.
 * Of several things that hold, the first of these is the verdict:
 *
 *	4  the checked program failed
 *	1  over budget, or significantly worse than the baseline
 *	2  netstall could not do its work
 *	3  inconclusive
 *	0  within budget
 *
 * so that a pipeline that lets 1, 2 or 3 pass never lets a failing test program pass with it,
 * and a proven stall is not excused by events that were lost.
 *
 * Stalls are counted, not timed: each of the report, those beyond the ones that it keeps too. One
 * whose end was not seen itself, so that nobody knows whether it lasted, proves nothing: it makes
 * its gate blind, not over.
 */
#ifndef NETSTALL_CHECK_JUDGE_GATE_H
#define NETSTALL_CHECK_JUDGE_GATE_H

#include "user/check/judge/baseline.h"
#include "user/check/judge/outcome.h"

/* What an inconclusive check exits with; the verdict stays inconclusive. */
enum inconclusive {
	INCONCLUSIVE_OWN,  /* 3 */
	INCONCLUSIVE_PASS, /* 0 */
	INCONCLUSIVE_FAIL, /* 1 */
};

/* "pass", "fail", "3"; false: none of these. */
bool inconclusive__parse(enum inconclusive *mode, const char *text);

/* Totals come with a connection's end, and with session__tell_totals() before the report is read.
 */
struct traffic traffic__of(const struct report *report);

/* All zero but budgets: no exchanges are demanded, everything counts. */
struct gate_options {
	const struct budgets *budgets;
	uint64_t min_exchanges; /* --min-exchanges, by default 1 */
	bool allow_no_traffic;
	enum inconclusive inconclusive;
	/* CLOCK_MONOTONIC ns: stalls that began before are not judged; 0: all are (no --warmup) */
	uint64_t judged_from;
	const struct baseline *baseline; /* to compare with; NULL none */
	const char *baseline_name;       /* its file; kept, not copied */
	double confidence;               /* 0: BASELINE_CONFIDENCE */
};

/* What happened outside of the report. Texts are copied, but for what outcome.h says otherwise. */
struct gate_facts {
	const char *target; /* for people; made safe to print already */
	struct program_outcome program;
	/* Why netstall could not do its work: the attach failed, an output could not be written; a
	 * sentence with the remedy. NULL: it could. */
	const char *unable;
	bool no_target; /* it had gone before the attach */
	bool cut_short; /* a signal ended the window before its time: before -d was over, or the
			 * program; not the usual end of a check without -d */
	/* --baseline names no file, or one that cannot be read: a sentence; NULL none. */
	const char *baseline_problem;
	/* With a warm-up, as it was when that ended; has_before false: not known, so that the
	 * exchanges of the warm-up count as well. */
	struct traffic before;
	bool has_before;
};

/*
 * report is NULL when nothing was traced, else it is to outlive the outcome. Never fails; free it
 * with outcome__free().
 */
struct outcome *outcome__new(const struct report *report, const struct gate_options *options,
			     const struct gate_facts *facts);
void outcome__free(struct outcome *outcome);
/*
 * Afterwards a report of the check itself could not be written: netstall was unable, unless the
 * verdict says worse. The first sentence stays.
 */
void outcome__set_unable(struct outcome *outcome, const char *why);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How much of a cause a check allows: so many stalls, so much time of them together, or such
 * a share of the time watched. And how long a request may take, of the endpoint whose take longest.
 * A cause without a budget is reported, not gated.
 */
#ifndef NETSTALL_CHECK_JUDGE_BUDGET_H
#define NETSTALL_CHECK_JUDGE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "user/analyze/cause.h"

struct refusal {
	char *why;
	size_t size;
};

/* Write why, a clause for people without a full stop, and be false. */
#define refuse(to, ...) (snprintf((to)->why, (to)->size, __VA_ARGS__), false)

enum budget_kind {
	BUDGET_COUNT, /* stalls */
	BUDGET_TIME,  /* ns, summed over the stalls */
	BUDGET_SHARE, /* of the window's length, 0.05 is 5% */
};

enum budget_of {
	BUDGET_OF_CAUSE,
	BUDGET_OF_TOTAL,  /* all causes together */
	BUDGET_OF_MEDIAN, /* requests, each endpoint's median; a time */
	BUDGET_OF_P99,    /* likewise the 99th percentile */
	BUDGET_OF_KINDS
};

#define BUDGETS (CAUSE_COUNT + BUDGET_OF_KINDS - 1) /* that there can be */

struct budget {
	enum budget_of of;
	enum cause cause; /* of one; else it means nothing */
	enum budget_kind kind;
	uint64_t count;
	uint64_t ns;
	double share;
};

struct budgets {
	size_t count;
	/* In the order of enum cause, then of enum budget_of; one for each at most. */
	struct budget v[BUDGETS];
};

/* 0 stalls of each cause whose row says is_gated. */
void budgets__default(struct budgets *budgets);
/*
 * "nagle-delack=0,rto=2,lock=100ms,total=5%,requests.p99=20ms,cork=none": what is named replaces
 * what was there, cause=none takes a gate away; `default` alone keeps what there is, `none` alone
 * takes all away. Units us, ms, s, %; a bare number counts stalls. Returns true; else false and
 * why, a clause for people without a full stop, in why. text is not kept.
 */
bool budgets__parse(struct budgets *budgets, const char *text, char *why, size_t size);
/* "0", "2", "100 ms", "5%" */
char *budget__limit(const struct budget *budget, char *out, size_t size);
/* "nagle-delack", "total", "requests.p50" */
const char *budget__name(const struct budget *budget);
/* Of a window of so many seconds; one without any length has no share but nothing or too much. */
double budget__share(uint64_t ns, double seconds);
/* Is it more than the budget allows, in a window of so many seconds? */
bool budget__is_exceeded(const struct budget *budget, uint64_t count, uint64_t ns, double seconds);
/* Of how long requests take: no stalls are counted. */
bool budget__is_of_requests(const struct budget *budget);
bool budgets__gate(const struct budgets *budgets, enum cause cause);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A check as a list of test results, the same for JUnit and TAP: one for each gate, one for the
 * program, one for the baseline, one for whether the run proves anything.
 */
#ifndef NETSTALL_CHECK_REPORTS_RESULTS_H
#define NETSTALL_CHECK_REPORTS_RESULTS_H

#include "user/check/judge/outcome.h"

enum result_kind {
	RESULT_PASSED,
	RESULT_FAILED,  /* over budget, worse than the baseline, the program failed */
	RESULT_ERROR,   /* netstall could not do its work */
	RESULT_SKIPPED, /* not enough was seen to say */
};

struct result {
	const char *name; /* "nagle-delack", "program", "baseline", "conclusive" */
	enum result_kind kind;
	const char *type;        /* of what is no pass: "over-budget", "blind", ... */
	char *message;           /* a clause or sentence, safe to print */
	char *body;              /* the evidence, lines; NULL none */
	const struct gate *gate; /* NULL: it is none's */
};

struct results {
	size_t count;
	struct result v[CAUSE_COUNT + 4];
};

struct results *results__new(const struct outcome *outcome);
void results__free(struct results *results);
size_t results__count(const struct results *results, enum result_kind kind);

#endif

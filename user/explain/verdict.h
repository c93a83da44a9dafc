/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The report in words: what held the program back, how that came about, what to do. */
#ifndef NETSTALL_EXPLAIN_VERDICT_H
#define NETSTALL_EXPLAIN_VERDICT_H

#include "user/analyze/report.h"

#define VERDICT_ADVICE 6

struct verdict {
	enum cause cause; /* the leading one; meaningful when found */
	bool found;
	/* Each without line breaks; the renderer wraps. */
	char *headline; /* cause, cost, and whose doing it is; when nothing was found the title */
	char *title;    /* a sentence: the cause by name */
	char *text;     /* a paragraph: how it came about, how often, what else */
	char *brief;    /* the same without what the headline says */
	size_t advice_count;
	char *advice[VERDICT_ADVICE]; /* most to be recommended first */
	/* What the advice saves of each stall, or of the median request that it is in, and what
	 * that takes now; 0: the advice claims no saving. */
	uint64_t saves_ns;
	uint64_t saves_of_ns;
	/* Where some of the stalls are at sites.wait, and others at sites.wait_besides: at each. */
	struct {
		uint64_t saves_ns;
		uint32_t stalls;
	} places[2];
	size_t place_count;
	const struct path *path; /* of all stalls that the text is of; NULL none */
	struct call_sites sites;
	char *evidence; /* "All 122 stalls were seen from start to end, 0 events lost."; NULL
			 * when nothing was found: text says it then */
};

/* The report is finished, and outlives the verdict. Up to three other causes are named behind the
 * one that leads, with their share and what helps. */
void verdict__write(struct verdict *verdict, const struct report *report);
/*
 * Whose doing the stalls of a process are, and where: "srv/4243 takes that long to answer: it
 * sleeps 30.1 ms in clock_nanosleep, called in wait (srv.c)". NULL: it has none, or nothing is
 * known.
 */
char *verdict__of_program(const struct report *report, const struct report_program *program);
void verdict__clear(struct verdict *verdict);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The report in words: what held the program back, how that came about, what to do. */
#ifndef NETSTALL_ANALYZE_VERDICT_H
#define NETSTALL_ANALYZE_VERDICT_H

#include "user/analyze/ledger.h"

/* Fill in the report's verdict; the ledger is closed. */
void verdict__write(struct ledger *ledger, const struct model *model);

/* What the sentences are made of: the main stalls of the verdict's cause. */
struct story {
	const struct report *report;
	const struct model *model;
	const struct tally *tally;
	const struct stall *stall; /* the tally's example */
	char sender[96];           /* "client/4242", of the end that held, or waited */
	char other[96];            /* "srv/4243", "10.0.0.2:7000" when it is on another host */
	char fd[16];               /* "fd 7", "its socket" */
	char program[96];          /* "client": where the code is that sends */
	const char *message;       /* "request", "answer": what is sent, as far as one can say */
	const char *a_message;     /* "a request", "an answer" */
	const char *other_end;     /* "The other end", "This end": as the user sees it */
	bool sender_is_target;
};

/* Append to a text on the heap; *text may be NULL at first. */
void prose__add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "40 B", "40 B to 120 B" */
char *prose__bytes(char *dst, size_t size, const struct range *range);
/* "two" to "ten", then digits */
char *prose__number(char *dst, size_t size, uint64_t number);
/* The hold of one stall, on average. */
uint64_t story__held(const struct story *story);

/* What to do, most to be recommended first. */
void advice__write(const struct story *story, struct verdict *verdict);

#endif

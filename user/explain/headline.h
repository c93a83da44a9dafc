/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The leading cause in a line: what it is, what it costs, whose doing it is.
 * "nagle-delack: 91 of 92 replies wait 43.0 ms each (97.0% of 4.05 s): srv/42 writes each ..."
 */
#ifndef NETSTALL_EXPLAIN_HEADLINE_H
#define NETSTALL_EXPLAIN_HEADLINE_H

#include "user/explain/context.h"

/* context NULL: nothing is known of its connection. */
char *headline__write(const struct report *report, const struct report_cause *cause,
		      const struct context *context);

/* "srv/4243 takes that long to answer: it sleeps 30.1 ms in clock_nanosleep" */
void headline__add_why(char **text, const struct context *context);
/* "with srv/4243 (127.0.0.1:7401), 37 times, 20.2 ms each"; the context is of its main tally. */
void headline__add_end(char **text, const struct context *context, const struct cause_end *at);
/* "; likewise with orders/4250 (127.0.0.1:7401), 37 times, 20.2 ms each": of each end behind the
 * first. */
void headline__add_ends(char **text, const struct report *report, const struct report_cause *cause);

#endif

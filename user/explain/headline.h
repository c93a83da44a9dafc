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

#endif

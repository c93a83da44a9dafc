/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How much of the program was in sight: what a verdict may build on. */
#ifndef NETSTALL_EXPLAIN_COVERAGE_H
#define NETSTALL_EXPLAIN_COVERAGE_H

#include "user/analyze/report.h"

/* ", 43 events lost (41 records, 2 connections), segments sent not visible on this kernel" */
void coverage__add_lost(char **text, const struct report *report);
/* Was any wait of at least the threshold seen? */
bool coverage__has_waits(const struct report *report);
/* "What it waits for, in waits of 10 ms and more: idle 71%, peer-app 29%."; else nothing. */
void coverage__add_waits(char **text, const struct report *report);

/* Much of the time was spent on sockets that netstall does not follow. */
bool coverage__is_unfollowed(const struct report *report);
/* No stall was the network's, and all in sight that could be one. */
bool coverage__is_network_free(const struct report *report);

#endif

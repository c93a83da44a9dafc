/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the program uses its connections and CPUs: a table of habits, each with a test and
 * its measures. They cause stalls and cost CPU, but are no stalls themselves.
 */
#ifndef NETSTALL_ANALYZE_REQUESTS_HABITS_H
#define NETSTALL_ANALYZE_REQUESTS_HABITS_H

#include "user/analyze/report.h"

/* Fills report->habits from the totals of its connections and threads. */
void habits__write(struct report *report);
/* "small-writes": part of the JSON contract. */
const char *habit__id(enum habit habit);

#endif

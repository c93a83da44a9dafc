/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which of the processes and threads that have ended a report lists: those that its stalls or
 * connections name, and the last ones.
 */
#ifndef NETSTALL_ANALYZE_ENDED_H
#define NETSTALL_ANALYZE_ENDED_H

#include "user/analyze/report.h"

/* The lists are cut when they have grown too long. */
void ended__keep_within(struct report *report);

#endif

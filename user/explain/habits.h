/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A habit of the program in a sentence. */
#ifndef NETSTALL_EXPLAIN_HABITS_H
#define NETSTALL_EXPLAIN_HABITS_H

#include "user/analyze/report.h"

/* "forwarder/812: 412 wakes a second, and after ..."; the caller frees it. */
char *habit__sentence(const struct report *report, const struct report_habit *habit);

#endif

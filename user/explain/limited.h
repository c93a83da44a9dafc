/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a target had to send and could not for most of the window, by the kernel's own sums
 * (ns_limit): also where each time was too short for a stall.
 */
#ifndef NETSTALL_EXPLAIN_LIMITED_H
#define NETSTALL_EXPLAIN_LIMITED_H

#include "user/analyze/report.h"

/* The target's end that was kept from sending for longest; NULL: none was for half of the window.
 */
const struct report_conn *limited__longest(const struct report *report);
/* "for 95.2% of 4.10 s what client/7 writes waited for srv/8 to read" */
void limited__add_title(char **text, const struct report *report, const struct report_conn *conn);
/* " srv/8 was on a CPU for 99.7% of the time: it computes, ..." */
void limited__add_why(char **text, const struct report *report, const struct report_conn *conn);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Of a whole machine: what the requests of each process come to, the worst first. */
#ifndef NETSTALL_ANALYZE_REQUESTS_PROGRAMS_H
#define NETSTALL_ANALYZE_REQUESTS_PROGRAMS_H

#include "user/analyze/ledger.h"
#include "user/analyze/requests/requests.h"

/* Fills report->programs; stalls, connections and requests are in the report. */
void programs__write(struct report *report, const struct ledger *ledger,
		     const struct requests *requests);
void programs__free(struct report *report);

#endif

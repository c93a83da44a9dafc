/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which of the closed connections a report lists: those that its stalls name, that stalled
 * longest, that had most traffic, and the last ones. The others are sums.
 */
#ifndef NETSTALL_ANALYZE_CONNS_H
#define NETSTALL_ANALYZE_CONNS_H

#include "user/analyze/report.h"

/* The list is cut when it has grown too long. */
void conns__keep_within(struct report *report);
/* Of all connections, listed or not. */
struct conn_sums conn_sums__of(const struct report *report);

#endif

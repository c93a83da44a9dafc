/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections: what is found on them, their sums, and which of the closed ones a report lists:
 * those that its stalls name, that stalled longest, with a finding, that had most traffic, and the
 * last ones. The others are sums, also by endpoint.
 */
#ifndef NETSTALL_ANALYZE_CONNS_H
#define NETSTALL_ANALYZE_CONNS_H

#include "user/analyze/report.h"

/* A row of the requests by endpoint has this connection in its sums. */
bool conns__have_row(const struct report *report, const struct report_conn *conn);

/* A connection and what it is ranked by, of both its ends. */
struct conn_rank {
	const struct report_conn *conn;
	/* 2: a stall, bytes held back or sent again; 1: a delayed ACK fired, the other end was not
	 * seen; 0: nothing. */
	unsigned found;
	uint64_t stalled_ns;
	uint64_t traffic;
};

/* Those that stand for themselves, the worst first: longest stalled, with a finding, most traffic.
 * ranks has room for report->conn_count; returns how many there are. */
size_t conns__rank(const struct report *report, struct conn_rank *ranks);

/* Connections of which the kernel side told but the sum. */
void conns__add_service(struct report *report, const struct ns_service *service);
/* The list is cut when it has grown too long. */
void conns__keep_within(struct report *report);
/* Likewise at the end, when no more comes. */
void conns__close(struct report *report);
/* Of all connections, listed or not. */
struct conn_sums conn_sums__of(const struct report *report);

#endif

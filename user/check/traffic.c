// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What went over the target's connections. */
#include "user/check/gate.h"

static bool is_target(const struct report_conn *conn)
{
	return conn && conn->id.role & NS_ROLE_TARGET;
}

/* Where both ends are targets, the one with the lower number stands for both. */
static bool is_told_by_other_end(const struct report_conn *conn, const struct report_conn *peer)
{
	return is_target(peer) && peer->id.head.conn < conn->id.head.conn;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The kernel's count of bytes received has the other end's FIN in it, as one: that is no traffic.
 */
static bool is_used(const struct ns_conn_totals *totals, uint64_t exchanges)
{
	return totals->bytes_out || totals->bytes_in > TRAFFIC_FIN || exchanges;
}

struct traffic traffic__of(const struct report *report)
{
	struct traffic traffic = {0};

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i];
		const struct report_conn *peer =
			conn->peer ? report__conn(report, conn->peer) : NULL;
		const struct ns_conn_totals *totals = &conn->totals;
		uint64_t exchanges = totals->exchanges;

		if (!is_target(conn) || is_told_by_other_end(conn, peer))
			continue;
		if (is_target(peer))
			exchanges = greater(exchanges, peer->totals.exchanges);
		traffic.exchanges += exchanges;
		traffic.bytes_out += totals->bytes_out;
		traffic.bytes_in += totals->bytes_in;
		if (is_used(totals, exchanges))
			traffic.connections++;
		else
			traffic.attempts++;
	}
	return traffic;
}

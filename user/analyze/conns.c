// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/conns.h"

#include <stdlib.h>

#include "user/analyze/report_update.h"
#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/model/model.h"

/* So many come before the list is cut again. */
#define CLOSED_MORE (REPORT_CLOSED / 4)
/* Of these, which the model knows still, more may be told. */
#define CLOSED_LAST MODEL_CLOSED

/* ---- sums ---- */

static bool is_target(const struct report_conn *conn)
{
	return conn && conn->id.role & NS_ROLE_TARGET;
}

bool report__stands_for_itself(const struct report *report, const struct report_conn *conn)
{
	const struct report_conn *peer = report__peer(report, conn);

	return conn->id.role != NS_ROLE_PEER || !peer || peer->id.role == NS_ROLE_PEER;
}

/* The kernel's count of bytes received has the other end's FIN in it, as one: that is no traffic.
 */
static bool is_used(const struct ns_conn_totals *totals, uint64_t exchanges)
{
	return totals->bytes_out || totals->bytes_in > TRAFFIC_FIN || exchanges;
}

/* Where both ends are targets, the one with the lower number stands for both. */
static void add_traffic(struct traffic *traffic, const struct report_conn *conn,
			const struct report_conn *peer)
{
	const struct ns_conn_totals *totals = &conn->totals;
	uint64_t exchanges = totals->exchanges;

	if (is_target(peer) && peer->id.head.conn < conn->id.head.conn)
		return;
	if (is_target(peer) && peer->totals.exchanges > exchanges)
		exchanges = peer->totals.exchanges;
	traffic->exchanges += exchanges;
	traffic->bytes_out += totals->bytes_out;
	traffic->bytes_in += totals->bytes_in;
	if (is_used(totals, exchanges))
		traffic->connections++;
	else
		traffic->attempts++;
}

static void add(struct conn_sums *sums, const struct report *report, const struct report_conn *conn)
{
	sums->ends++;
	sums->conns += report__stands_for_itself(report, conn);
	if (!is_target(conn))
		return;
	sums->targets++;
	sums->writes += conn->totals.writes;
	sums->exchanges += conn->totals.exchanges;
	/* The kernel samples requests of no others. */
	if (conn->id.opener != NS_OPENER_PEER)
		sums->asked += conn->totals.exchanges;
	add_traffic(&sums->traffic, conn, report__peer(report, conn));
}

struct conn_sums conn_sums__of(const struct report *report)
{
	struct conn_sums sums = report->past;

	for (size_t i = 0; i < report->conn_count; i++)
		add(&sums, report, &report->conns[i]);
	return sums;
}

/* ---- the list ---- */

/* Both ends go together, so that each sum has a connection whole. */
struct entry {
	uint32_t pair; /* the lower of the two numbers */
	size_t at;
	bool stays;
	uint64_t stalled_ns;
	uint64_t traffic;
	uint64_t closing;
};

static int by_closing(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return compare_u64(y->closing, x->closing);
}

static int by_worth(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by = compare_u64(y->stays, x->stays);

	by = by ? by : compare_u64(y->stalled_ns, x->stalled_ns);
	by = by ? by : compare_u64(y->traffic, x->traffic);
	by = by ? by : compare_u64(x->pair, y->pair);
	return by ? by : compare_u64(x->at, y->at);
}

static void name(const struct report *report, bool *named, uint32_t number)
{
	const struct report_conn *conn = number ? report__conn(report, number) : NULL;

	if (conn)
		named[conn - report->conns] = true;
}

/* Those that the listed stalls name. */
static bool *find_named(const struct report *report)
{
	bool *named = xcalloc(report->conn_count, sizeof(*named));

	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *stall = &report->stalls[i];

		name(report, named, stall->conn);
		name(report, named, stall->peer);
		for (size_t k = 0; k < stall->link_count; k++)
			name(report, named, stall->links[k].wait.head.conn);
	}
	return named;
}

static uint64_t traffic_of(const struct report_conn *conn)
{
	return (uint64_t)conn->totals.segs_out + conn->totals.segs_in + conn->totals.writes;
}

static size_t list_closed(const struct report *report, const bool *named, struct entry *entries)
{
	size_t count = 0;

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i],
					 *peer = report__peer(report, conn);
		uint32_t number = conn->id.head.conn;
		struct entry entry = {number,       i, named[i], conn->stalled_ns, traffic_of(conn),
				      conn->closing};

		if (!conn->closed || (peer && !peer->closed))
			continue;
		if (peer) {
			uint64_t traffic = traffic_of(peer);

			entry.pair = number < conn->peer ? number : conn->peer;
			entry.stays |= named[peer - report->conns];
			entry.stalled_ns += peer->stalled_ns;
			entry.traffic = traffic > entry.traffic ? traffic : entry.traffic;
			entry.closing =
				peer->closing > entry.closing ? peer->closing : entry.closing;
		}
		entries[count++] = entry;
	}
	return count;
}

/* What is known of a process's use of the network must not go with its connections. */
static void leave_out(struct report *report, const struct report_conn *conn)
{
	struct report_process *process = report__find_process(report, conn->id.head.tgid);

	add(&report->past, report, conn);
	if (!process)
		return;
	process->past_bytes += conn->totals.bytes_out + conn->totals.bytes_in;
	process->past_exchanges += conn->totals.exchanges;
}

static void cut(struct report *report)
{
	bool *named = find_named(report), *goes = xcalloc(report->conn_count, sizeof(*goes));
	struct entry *entries = xcalloc(report->conn_count, sizeof(*entries));
	size_t count = list_closed(report, named, entries), kept = 0;

	qsort(entries, count, sizeof(*entries), by_closing);
	for (size_t i = 0; i < count && i < CLOSED_LAST; i++)
		entries[i].stays = true;
	qsort(entries, count, sizeof(*entries), by_worth);
	for (size_t i = REPORT_CLOSED; i < count; i++)
		goes[entries[i].at] = entries[i].pair != entries[REPORT_CLOSED - 1].pair;
	for (size_t i = 0; i < report->conn_count; i++) {
		if (goes[i])
			leave_out(report, &report->conns[i]);
	}
	for (size_t i = 0; i < report->conn_count; i++) {
		report->closed_count -= goes[i];
		if (!goes[i])
			report->conns[kept++] = report->conns[i];
	}
	report->conn_count = kept;
	free(entries);
	free(named);
	free(goes);
}

void conns__keep_within(struct report *report)
{
	if (report->closed_count > REPORT_CLOSED + CLOSED_MORE)
		cut(report);
}

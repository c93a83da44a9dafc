// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/conns.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/report_update.h"
#include "user/base/array.h"
#include "user/base/trim.h"
#include "user/base/xalloc.h"
#include "user/model/model.h"

/* At least so many come before the list is cut again. */
#define CLOSED_MORE (REPORT_CLOSED / 4)
/* Of these, which the model knows still, more may be told. */
#define CLOSED_LAST MODEL_CLOSED

/* ---- findings ---- */

/* At this end. */
static bool is_found(const struct report_conn *conn)
{
	const struct ns_conn_totals *totals = &conn->totals;

	if (conn->stalled_by || conn->stalled_ns || totals->retrans)
		return true;
	for (size_t i = 0; i < NS_HOLD_REASONS; i++) {
		if (totals->holds[i])
			return true;
	}
	return false;
}

/*
 * As struct conn_rank says. A delayed ACK that fired did no harm where the other end is seen, and
 * held nothing. Elsewhere nobody knows.
 */
static unsigned finding(const struct report_conn *conn, const struct report_conn *peer)
{
	if (is_found(conn) || (peer && is_found(peer)))
		return 2;
	return !peer && conn->totals.delack_fired;
}

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
	if (report__stands_for_itself(report, conn)) {
		sums->conns++;
		sums->found += finding(conn, report__peer(report, conn)) > 0;
	}
	if (!is_target(conn))
		return;
	sums->targets++;
	sums->writes += conn->totals.writes;
	sums->exchanges += conn->totals.exchanges;
	/* The kernel samples requests of no others. */
	if (request_role__of(&conn->id) == REQUEST_MADE)
		sums->asked += conn->totals.exchanges;
	else
		sums->accepted++;
	add_traffic(&sums->traffic, conn, report__peer(report, conn));
}

struct conn_sums conn_sums__of(const struct report *report)
{
	struct conn_sums sums = report->past;

	for (size_t i = 0; i < report->conn_count; i++)
		add(&sums, report, &report->conns[i]);
	return sums;
}

/* ---- endpoints ---- */

static void add_to_end(struct report *report, enum request_role role,
		       const struct request_end *wanted, uint64_t connections, uint64_t exchanges)
{
	struct past_end *past = report->past_ends, *end = past + report->past_end_count;

	while (past < end && (past->role != role || !request_end__is(&past->end, wanted)))
		past++;
	if (past == report->past_ends + REPORT_PAST_ENDS) {
		report->past_without_end += connections;
		return;
	}
	if (past == end) {
		report->past_end_count++;
		*past = (struct past_end){.role = role, .end = *wanted};
	}
	past->connections += connections;
	past->exchanges += exchanges;
}

static void add_past_end(struct report *report, const struct report_conn *conn)
{
	struct request_end end = report_conn__end(report, conn);

	add_to_end(report, request_role__of(&conn->id), &end, 1, conn->totals.exchanges);
}

/* ---- sums that the kernel side made ---- */

static bool is_service(const struct ns_service *a, const struct ns_service *b)
{
	return a->head.tgid == b->head.tgid && a->opener == b->opener && a->port == b->port &&
	       a->family == b->family && !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* As it was told last. NULL: it was not, and there is no room. */
static struct ns_service *find_service(struct report *report, const struct ns_service *service)
{
	struct ns_service *known, *end;

	if (!report->services)
		report->services = xcalloc(REPORT_SERVICES, sizeof(*report->services));
	end = report->services + report->service_count;
	for (known = report->services; known < end; known++) {
		if (is_service(known, service))
			return known;
	}
	if (report->service_count == REPORT_SERVICES)
		return NULL;
	report->service_count++;
	*known = (struct ns_service){.head = service->head,
				     .opener = service->opener,
				     .family = service->family,
				     .port = service->port};
	memcpy(known->addr, service->addr, sizeof(known->addr));
	return known;
}

/* What has come since it was told last. */
static struct ns_service news_of(struct report *report, const struct ns_service *service)
{
	struct ns_service *known = find_service(report, service), news = *service;

	if (!known)
		return news;
	news.ends -= known->ends;
	news.targets -= known->targets;
	news.accepted -= known->accepted;
	news.exchanges -= known->exchanges;
	news.asked -= known->asked;
	news.writes -= known->writes;
	news.used -= known->used;
	news.attempts -= known->attempts;
	news.used_exchanges -= known->used_exchanges;
	news.bytes_out -= known->bytes_out;
	news.bytes_in -= known->bytes_in;
	if (service->last)
		*known = report->services[--report->service_count];
	else
		*known = *service;
	return news;
}

static void add_to_sums(struct conn_sums *sums, const struct ns_service *news)
{
	sums->ends += news->ends;
	sums->conns += news->targets;
	sums->targets += news->targets;
	sums->writes += news->writes;
	sums->exchanges += news->exchanges;
	sums->asked += news->asked;
	sums->accepted += news->accepted;
	sums->traffic.exchanges += news->used_exchanges;
	sums->traffic.bytes_out += news->bytes_out;
	sums->traffic.bytes_in += news->bytes_in;
	sums->traffic.connections += news->used;
	sums->traffic.attempts += news->attempts;
}

void conns__add_service(struct report *report, const struct ns_service *service)
{
	struct report_process *process = report__find_process(report, service->head.tgid);
	struct ns_service news = news_of(report, service);
	struct request_end end = {.port = news.port};
	bool is_served = news.opener == NS_OPENER_PEER;

	add_to_sums(&report->past, &news);
	if (!process || !news.opener) {
		report->past_without_end += news.targets;
		return;
	}
	memcpy(end.comm, process->comm, sizeof(end.comm));
	if (!is_served) {
		end.family = news.family;
		memcpy(end.addr, news.addr, sizeof(end.addr));
	}
	add_to_end(report, is_served ? REQUEST_SERVED : REQUEST_MADE, &end, news.targets,
		   news.exchanges);
	process->past_bytes += news.bytes_out + news.bytes_in;
	process->past_exchanges += news.exchanges;
}

/* Of its own, or as that of its other end. */
static bool has_row(const struct report *report, const struct report_conn *conn)
{
	struct request_end end;

	if (!is_target(conn))
		return false;
	end = report_conn__end(report, conn);
	for (size_t i = 0; i < report->requests_count; i++) {
		const struct report_requests *row = &report->requests[i];

		if (!row->conn && row->role == request_role__of(&conn->id) &&
		    request_end__is(&row->end, &end))
			return true;
	}
	return false;
}

bool conns__have_row(const struct report *report, const struct report_conn *conn)
{
	return has_row(report, conn) || has_row(report, report__peer(report, conn));
}

/* ---- the worst ---- */

static uint64_t traffic_of(const struct report_conn *conn)
{
	return (uint64_t)conn->totals.segs_out + conn->totals.segs_in + conn->totals.writes;
}

static int worst_first(const void *a, const void *b)
{
	const struct conn_rank *x = a, *y = b;
	int by = compare_u64(y->stalled_ns, x->stalled_ns);

	by = by ? by : compare_u64(y->found, x->found);
	by = by ? by : compare_u64(y->traffic, x->traffic);
	return by ? by : compare_u64(x->conn->id.head.conn, y->conn->id.head.conn);
}

size_t conns__rank(const struct report *report, struct conn_rank *ranks)
{
	size_t count = 0;

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i],
					 *peer = report__peer(report, conn);

		if (!report__stands_for_itself(report, conn))
			continue;
		ranks[count++] = (struct conn_rank){
			.conn = conn,
			.found = finding(conn, peer),
			.stalled_ns = conn->stalled_ns + (peer ? peer->stalled_ns : 0),
			.traffic = traffic_of(conn),
		};
	}
	sort_array(ranks, count, sizeof(*ranks), worst_first);
	return count;
}

/* ---- the list ---- */

/* Both ends go together, so that each sum has a connection whole. */
struct entry {
	uint32_t pair; /* the lower of the two numbers */
	size_t at;
	bool stays;
	unsigned found;
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
	by = by ? by : compare_u64(y->found, x->found);
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

static size_t list_closed(const struct report *report, const bool *named, struct entry *entries)
{
	size_t count = 0;

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i],
					 *peer = report__peer(report, conn);
		uint32_t number = conn->id.head.conn;
		struct entry entry = {.pair = number,
				      .at = i,
				      .stays = named[i],
				      .found = finding(conn, peer),
				      .stalled_ns = conn->stalled_ns,
				      .traffic = traffic_of(conn),
				      .closing = conn->closing};

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
	if (is_target(conn))
		add_past_end(report, conn);
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

	sort_array(entries, count, sizeof(*entries), by_closing);
	for (size_t i = 0; i < count && i < CLOSED_LAST; i++)
		entries[i].stays = true;
	sort_array(entries, count, sizeof(*entries), by_worth);
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

static bool is_too_long(const struct report *report)
{
	return report->closed_count > REPORT_CLOSED + CLOSED_MORE;
}

/* Where the other ends are open, as at the end of any program, a cut takes out none. */
void conns__keep_within(struct report *report)
{
	if (!is_too_long(report) || report->closings < report->conns_cut_at)
		return;
	cut(report);
	report->conns_cut_at = trim__next(report->closings, report->conn_count, CLOSED_MORE);
}

void conns__close(struct report *report)
{
	if (is_too_long(report))
		cut(report);
}

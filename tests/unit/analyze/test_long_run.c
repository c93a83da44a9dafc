// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A long run: 100,000 connections that live 20 ms, each with a stall. Memory stays bounded, also
 * while the report is written; sums stay exact; and what a reader asks first is listed.
 */
#include <malloc.h>

#include "tests/unit/analyze/sink.h"
#include "tests/unit/growth.h"
#include "user/analyze/conns.h"
#include "user/render/render.h"

#define CONNS     100000u
#define APART     2000000ull
#define MOST      (32u << 20) /* bytes on the heap: an event has 392, a stall 7432; 2.6 MB exchanges */
#define RENDERING (1u << 20)
#define CORKED    10000 /* every so many */
#define LONGEST   54321
#define WARMED_UP 60000

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static uint64_t start_of(uint32_t i)
{
	return TEXT_TRACE_ORIGIN_NS + APART * i;
}

static bool is_corked(uint32_t i)
{
	return i % CORKED == CORKED / 2;
}

/* 10 to 20 ms, no two alike, in no order. */
static uint64_t held_of(uint32_t i)
{
	return i == LONGEST ? 45000000 : 10000000 + 100ull * ((i * 7919ull) % CONNS);
}

static void feed_of(struct pipeline *pipeline, union record *record, uint32_t type, size_t size,
		    uint64_t ts, uint32_t conn, uint32_t pid, uint32_t tid)
{
	record->head = (struct ns_head){.type = type,
					.len = (uint32_t)size,
					.ts = ts,
					.conn = conn,
					.tgid = pid,
					.tid = tid};
	assert_int_equal(pipeline__feed(pipeline, record, size), 0);
}

static void feed(struct pipeline *pipeline, union record *record, uint32_t type, size_t size,
		 uint64_t ts, uint32_t conn)
{
	uint32_t pid = conn % 2 ? 10 : 11;

	feed_of(pipeline, record, type, size, ts, conn, pid, pid);
}

/* Of two servers a tenth of the connections asks the other one. */
static uint32_t servers = 2;

static uint32_t port_of(uint32_t conn)
{
	uint32_t i = (conn - 1) / 2;

	return servers == 2 ? 7000 + !(i % 10) : 7000 + i % servers;
}

static void open_end(struct pipeline *pipeline, uint64_t ts, uint32_t conn)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.conn.family = 2;
	record.conn.fd = 7;
	record.conn.role = conn % 2 ? NS_ROLE_TARGET : NS_ROLE_PEER;
	record.conn.opener = conn % 2 ? NS_OPENER_SELF : NS_OPENER_PEER;
	record.conn.rport = port_of(conn);
	strcpy(record.conn.comm, "srv");
	feed(pipeline, &record, NS_CONN, sizeof(record.conn), ts, conn);
}

static void close_end(struct pipeline *pipeline, uint64_t ts, uint32_t conn)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.conn_totals.bytes_out = 100;
	record.conn_totals.writes = 2;
	record.conn_totals.segs_out = 3;
	record.conn_totals.exchanges = 1;
	feed(pipeline, &record, NS_CONN_TOTALS, sizeof(record.conn_totals), ts, conn);
	memset(&record, 0, sizeof(record));
	feed(pipeline, &record, NS_CLOSE, sizeof(record.head), ts, conn);
}

static void feed_held(struct pipeline *pipeline, uint32_t i, uint32_t conn)
{
	uint32_t reason = is_corked(i) ? NS_HOLD_CORK : NS_HOLD_NAGLE;
	union record record;

	memset(&record, 0, sizeof(record));
	record.hold.reason = reason;
	record.hold.seq = 41;
	record.hold.end = 177;
	record.hold.unacked = 40;
	feed(pipeline, &record, NS_HOLD, sizeof(record.hold), start_of(i), conn);
	memset(&record, 0, sizeof(record));
	record.release.held_ns = held_of(i);
	record.release.reason = reason;
	record.release.seq = 41;
	record.release.end = 177;
	feed(pipeline, &record, NS_RELEASE, sizeof(record.release), start_of(i) + held_of(i), conn);
}

static void feed_exchange(struct pipeline *pipeline, uint32_t i, uint32_t conn)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.exchange.side = NS_EXCHANGE_ASKED;
	record.exchange.writes = 2;
	record.exchange.begin_ts = start_of(i) - 10;
	record.exchange.ready_ts = start_of(i);
	record.exchange.weight = 1;
	record.exchange.held_ns = held_of(i);
	record.exchange.hold_reason = NS_HOLD_NAGLE;
	feed(pipeline, &record, NS_EXCHANGE, sizeof(record.exchange),
	     start_of(i) + held_of(i) + 1000, conn);
}

/* Connection 2i + 1, whose other end is 2i + 2. */
static void open_connection(struct pipeline *pipeline, uint32_t i)
{
	uint32_t conn = 2 * i + 1;
	union record record;

	open_end(pipeline, start_of(i) - 2000, conn);
	open_end(pipeline, start_of(i) - 2000, conn + 1);
	memset(&record, 0, sizeof(record));
	record.peer.peer = conn + 1;
	feed(pipeline, &record, NS_PEER, sizeof(record.peer), start_of(i) - 1000, conn);
}

static void feed_connection(struct pipeline *pipeline, uint32_t i)
{
	uint64_t end = start_of(i) + held_of(i) + 2000;
	uint32_t conn = 2 * i + 1;

	open_connection(pipeline, i);
	feed_held(pipeline, i, conn);
	feed_exchange(pipeline, i, conn);
	close_end(pipeline, end, conn);
	close_end(pipeline, end, conn + 1);
}

static void begin(struct pipeline *pipeline)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.session.threshold_ns = 10000000;
	feed(pipeline, &record, NS_SESSION, sizeof(record.session), start_of(0) - 10000, 0);
	memset(&record, 0, sizeof(record));
	record.process.role = NS_ROLE_TARGET;
	feed(pipeline, &record, NS_PROCESS, sizeof(record.process), start_of(0) - 10000, 1);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void assert_cause(const struct report *report, enum cause cause, bool corked)
{
	uint64_t *all = calloc(CONNS, sizeof(*all)), sum = 0;
	const struct report_cause *found = report__cause(report, cause);
	size_t count = 0;

	for (uint32_t i = 0; i < CONNS; i++) {
		if (is_corked(i) == corked) {
			all[count++] = held_of(i);
			sum += held_of(i);
		}
	}
	qsort(all, count, sizeof(*all), by_value);
	assert_non_null(found);
	assert_int_equal(found->count, count);
	assert_int_equal(found->total_ns, sum);
	assert_int_equal(found->p50_ns, all[(count + 1) / 2 - 1]);
	assert_int_equal(found->p99_ns, all[(99 * count + 99) / 100 - 1]);
	assert_int_equal(found->max_ns, all[count - 1]);
	free(all);
}

static bool lists(const struct report *report, uint32_t i)
{
	for (size_t k = 0; k < report->stall_count; k++) {
		if (report->stalls[k].conn == 2 * i + 1)
			return true;
	}
	return false;
}

static void assert_stalls(const struct report *report)
{
	size_t corks = 0, with_steps = 0;

	assert_int_equal(report->stall_count, REPORT_STALLS);
	assert_int_equal(report->stalls_not_kept, CONNS - REPORT_STALLS);
	assert_int_equal(report->brief_count, report->stalls_not_kept);
	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *stall = &report->stalls[i];

		assert_true(!i || report->stalls[i - 1].number < stall->number);
		assert_ptr_equal(report__stall(report, stall->number), stall);
		assert_non_null(report__conn(report, stall->conn));
		corks += stall->cause == CAUSE_CORK;
		with_steps += stall->step_count > 0;
	}
	/* A rare cause is not driven out, nor are the longest, the first, the first judged. */
	assert_int_equal(corks, CONNS / CORKED);
	assert_true(lists(report, LONGEST));
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(lists(report, i));
		assert_true(lists(report, WARMED_UP + i));
	}
	assert_true(with_steps >= REPORT_STALLS / 2);
}

static void assert_connections(const struct report *report)
{
	const struct conn_sums sums = conn_sums__of(report);

	assert_true(report->conn_count <= REPORT_CLOSED + REPORT_CLOSED / 4);
	assert_int_equal(report->conn_count + report->past.ends, 2 * CONNS);
	assert_int_equal(sums.ends, 2 * CONNS);
	assert_int_equal(sums.conns, CONNS);
	assert_int_equal(sums.targets, CONNS);
	assert_int_equal(sums.asked, CONNS);
	assert_int_equal(sums.writes, 2 * CONNS);
	assert_int_equal(sums.traffic.connections, CONNS);
	assert_int_equal(sums.traffic.exchanges, CONNS);
	assert_int_equal(sums.traffic.bytes_out, 100ull * CONNS);
	/* Both ends of a listed connection are listed. */
	for (size_t i = 0; i < report->conn_count; i++)
		assert_non_null(report__conn(report, report->conns[i].peer));
	assert_non_null(report__conn(report, 2 * CONNS));
}

/* Also of those that are no longer listed. */
static void assert_services(const struct report *report)
{
	const struct report_requests *rows = report->requests;

	assert_int_equal(report->past_end_count, 2);
	assert_int_equal(report->past_without_end, 0);
	assert_int_equal(rows[0].count, CONNS);
	assert_int_equal(rows[0].connections, CONNS);
	for (size_t i = 1; i <= 2; i++) {
		uint64_t wanted = rows[i].end.port == 7000 ? CONNS / 10 * 9 : CONNS / 10;

		assert_int_equal(rows[i].connections, wanted);
		assert_int_equal(rows[i].count, wanted);
	}
	assert_int_not_equal(rows[1].end.port, rows[2].end.port);
	assert_int_equal(rows[3].connections, 1);
}

struct writing {
	size_t before;
	size_t most;
	size_t written;
};

static ssize_t watch_heap(void *cookie, const char *text, size_t size)
{
	struct writing *writing = cookie;
	size_t now = in_use();

	(void)text;
	if (now > writing->before && now - writing->before > writing->most)
		writing->most = now - writing->before;
	writing->written += size;
	return (ssize_t)size;
}

static void assert_json_in_pieces(const struct report *report, const struct verdict *verdict)
{
	struct writing writing = {.before = in_use()};
	FILE *out = fopencookie(&writing, "w", (cookie_io_functions_t){.write = watch_heap});

	render__json(out, report, verdict, 0, CONNECTIONS_EACH);
	fclose(out);
	assert_true(writing.written > 2000000);
	assert_true(writing.most < RENDERING);
}

static void test_many_connections_that_stall(void **state)
{
	size_t before = in_use(), most = 0;
	struct seen seen = {0};
	struct pipeline_sink sink = {.on_stall = see_stall, .context = &seen};
	struct pipeline *pipeline = pipeline__new(&sink);
	const struct report *report;
	struct verdict verdict;

	(void)state;
	begin(pipeline);
	for (uint32_t i = 0; i < CONNS; i++) {
		if (i == WARMED_UP)
			pipeline__judge_from(pipeline, start_of(i));
		feed_connection(pipeline, i);
		if (i % 1000 == 0 && in_use() > before + most)
			most = in_use() - before;
	}
	report = pipeline__finish(pipeline);
	if (in_use() > before + most)
		most = in_use() - before;
	assert_true(most < MOST);
	assert_int_equal(seen.stalls, CONNS);
	assert_int_equal(report->lost[NS_LOST_KEPT], 0);
	assert_true(report->complete);
	assert_cause(report, CAUSE_NAGLE, false);
	assert_cause(report, CAUSE_CORK, true);
	assert_stalls(report);
	assert_connections(report);
	verdict__write(&verdict, report);
	assert_non_null(strstr(verdict.text, "more connections"));
	assert_services(report);
	assert_json_in_pieces(report, &verdict);
	verdict__clear(&verdict);
	pipeline__free(pipeline);
}

/* Each connection asks another server: the sums of endpoints are bounded, what has no room counts.
 */
static void test_many_endpoints(void **state)
{
	struct pipeline *pipeline = pipeline__new(&(struct pipeline_sink){0});
	const struct report *report;
	uint64_t sum = 0;

	(void)state;
	servers = CONNS;
	begin(pipeline);
	for (uint32_t i = 0; i < 10000; i++)
		feed_connection(pipeline, i);
	report = pipeline__finish(pipeline);
	servers = 2;
	assert_int_equal(report->past_end_count, REPORT_PAST_ENDS);
	for (size_t i = 0; i < report->past_end_count; i++)
		sum += report->past_ends[i].connections;
	assert_int_equal(sum + report->past_without_end, report->past.targets);
	assert_int_equal(report->requests[0].connections, 10000);
	pipeline__free(pipeline);
}

/* ---- the time that it takes ---- */

#define ENDS      50000
#define PROCESSES 60000
#define STREAMS   1000 /* WAIT_QUEUE_PROVISIONAL is more */

/* So many ends of connections. The clients close first, all of them before the server does. */
static struct pipeline *run_to_end(uint32_t ends, bool server_closes)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	uint64_t end = start_of(ends);

	begin(pipeline);
	for (uint32_t i = 0; i < ends / 2; i++)
		open_connection(pipeline, i);
	for (uint32_t i = 0; i < ends / 2; i++)
		close_end(pipeline, end + i, 2 * i + 1);
	for (uint32_t i = 0; server_closes && i < ends / 2; i++)
		close_end(pipeline, end + ends + i, 2 * i + 2);
	return pipeline;
}

static void close_clients(uint32_t ends)
{
	struct pipeline *pipeline = run_to_end(ends, false);
	const struct report *report = pipeline__finish(pipeline);

	/* None goes without its other end. */
	assert_int_equal(report->conn_count, ends);
	assert_int_equal(report->past.ends, 0);
	pipeline__free(pipeline);
}

static void test_one_side_closes(void **state)
{
	(void)state;
	assert_grows_linearly(close_clients, ENDS);
}

static void test_the_other_side_closes_later(void **state)
{
	struct pipeline *pipeline = run_to_end(ENDS, true);
	const struct report *report = pipeline__finish(pipeline);

	(void)state;
	assert_true(report->conn_count <= REPORT_CLOSED + REPORT_CLOSED / 4);
	assert_int_equal(report->conn_count + report->past.ends, ENDS);
	assert_int_equal(conn_sums__of(report).conns, ENDS / 2);
	for (size_t i = 0; i < report->conn_count; i++)
		assert_non_null(report__conn(report, report->conns[i].peer));
	pipeline__free(pipeline);
}

/* Each has a connection that stays open: somebody else has it too. */
static void end_processes(uint32_t count)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	const struct report *report;
	union record record;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t pid = 1000 + i;

		memset(&record, 0, sizeof(record));
		record.process.role = NS_ROLE_TARGET;
		feed_of(pipeline, &record, NS_PROCESS, sizeof(record.process), start_of(i), 0, pid,
			pid);
		memset(&record, 0, sizeof(record));
		record.conn.family = 2;
		record.conn.role = NS_ROLE_TARGET;
		feed_of(pipeline, &record, NS_CONN, sizeof(record.conn), start_of(i), 1 + i, pid,
			pid);
		memset(&record, 0, sizeof(record));
		record.thread_totals.ended = 1;
		feed_of(pipeline, &record, NS_THREAD_TOTALS, sizeof(record.thread_totals),
			start_of(i), 0, pid, pid);
		memset(&record, 0, sizeof(record));
		feed_of(pipeline, &record, NS_EXIT, sizeof(record.head), start_of(i), 0, pid, pid);
	}
	report = pipeline__finish(pipeline);
	/* Connections name them. */
	assert_int_equal(report->process_count, count);
	assert_int_equal(report->thread_count, count);
	pipeline__free(pipeline);
}

static void test_processes_end_before_their_connections(void **state)
{
	(void)state;
	assert_grows_linearly(end_processes, PROCESSES);
}

static void ask(struct pipeline *pipeline, uint64_t ts, uint32_t conn, uint32_t tid)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.exchange.side = NS_EXCHANGE_ASKED;
	record.exchange.begin_ts = ts - 1000;
	record.exchange.ready_ts = ts - 900;
	record.exchange.writes = 1;
	feed_of(pipeline, &record, NS_EXCHANGE, sizeof(record.exchange), ts, conn, 10, tid);
}

/* It waits for long, for an answer that may go on: that is no stall yet. */
static void begin_stream(struct pipeline *pipeline, uint32_t i)
{
	uint64_t ts = start_of(0) + 10 * i;
	uint32_t tid = 100 + i, conn = 2 * i + 1;
	union record record;

	open_end(pipeline, ts, conn);
	ask(pipeline, ts + 2000, conn, tid);
	memset(&record, 0, sizeof(record));
	record.send.bytes = 10;
	feed_of(pipeline, &record, NS_SEND, sizeof(record.send), ts + 3000, conn, 10, tid);
	memset(&record, 0, sizeof(record));
	record.wait.off_ts = ts + 4000;
	record.wait.wake_ts = ts + 20000000;
	record.wait.state = 1;
	record.wait.conn_basis = NS_CONN_FD;
	record.wait.arg0 = 7;
	feed_of(pipeline, &record, NS_WAIT, sizeof(record.wait), ts + 20001000, conn, 10, tid);
}

/* Meanwhile another thread of that process makes many requests. */
static void ask_beside_streams(uint32_t streams)
{
	uint64_t later = start_of(0) + 500000000;
	struct seen seen = {0};
	struct pipeline_sink sink = {.on_stall = see_stall, .context = &seen};
	struct pipeline *pipeline = pipeline__new(&sink);

	begin(pipeline);
	for (uint32_t i = 0; i < streams; i++)
		begin_stream(pipeline, i);
	pipeline__idle(pipeline, later);
	for (uint32_t i = 0; i < 10 * streams; i++)
		ask(pipeline, later + 10000 * i, 2 * streams + 1, 99);
	assert_int_equal(seen.stalls, 0);
	pipeline__finish(pipeline);
	assert_int_equal(seen.stalls, streams);
	pipeline__free(pipeline);
}

static void test_many_requests_beside_streams(void **state)
{
	(void)state;
	assert_grows_linearly(ask_beside_streams, STREAMS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_connections_that_stall),
		cmocka_unit_test(test_many_endpoints),
		cmocka_unit_test(test_one_side_closes),
		cmocka_unit_test(test_the_other_side_closes_later),
		cmocka_unit_test(test_processes_end_before_their_connections),
		cmocka_unit_test(test_many_requests_beside_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

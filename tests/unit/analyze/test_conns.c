// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What is a finding on a connection, and which connections are the worst. */
#include "tests/unit/test.h"
#include "user/analyze/conns.h"
#include "user/base/array.h"

static struct report_conn conn_of(uint32_t number, uint32_t role, uint32_t peer)
{
	struct report_conn conn = {.peer = peer};

	conn.id.head.conn = number;
	conn.id.role = role;
	return conn;
}

static void test_worst_first(void **state)
{
	static const uint32_t wanted[] = {5, 4, 3, 2, 6, 1};
	struct report_conn conns[] = {
		conn_of(1, NS_ROLE_TARGET, 7), conn_of(2, NS_ROLE_TARGET, 0),
		conn_of(3, NS_ROLE_TARGET, 8), conn_of(4, NS_ROLE_TARGET, 0),
		conn_of(5, NS_ROLE_TARGET, 0), conn_of(6, NS_ROLE_TARGET, 0),
		conn_of(7, NS_ROLE_PEER, 1),   conn_of(8, NS_ROLE_PEER, 3),
	};
	struct report report = {.conns = conns, .conn_count = 8};
	struct conn_rank ranks[8];
	struct conn_sums sums = conn_sums__of(&report);

	(void)state;
	assert_int_equal(sums.conns, 6);
	assert_int_equal(sums.found, 0);
	/* Seen at both ends, and nothing was held: it did no harm. */
	conns[0].totals.delack_fired = 9;
	conns[1].totals.delack_fired = 1;
	/* The other end held bytes. */
	conns[7].totals.holds[NS_HOLD_NAGLE] = 1;
	conns[3].totals.retrans = 1;
	conns[3].totals.segs_out = 100;
	conns[4].stalled_ns = 1;
	conns[5].totals.segs_out = 1000;
	assert_int_equal(conns__rank(&report, ranks), 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(ranks[i].conn->id.head.conn, wanted[i]);
	assert_int_equal(ranks[3].found, 1);
	assert_int_equal(ranks[4].found, 0);
	sums = conn_sums__of(&report);
	assert_int_equal(sums.found, 4);
}

/* The sums that the kernel side made, told twice: the second time they have grown. */
static void test_services(void **state)
{
	static struct report report;
	static struct report_process process = {.pid = 7, .comm = "nginx"};
	struct ns_service served = {.head.tgid = 7,
				    .opener = NS_OPENER_PEER,
				    .family = 2,
				    .port = 80,
				    .ends = 100,
				    .targets = 100,
				    .accepted = 100,
				    .exchanges = 250,
				    .writes = 300,
				    .used = 99,
				    .attempts = 1,
				    .used_exchanges = 250,
				    .bytes_out = 5000,
				    .bytes_in = 700};
	struct ns_service asked = {.head.tgid = 7,
				   .opener = NS_OPENER_SELF,
				   .family = 2,
				   .addr = {0x0100007f},
				   .port = 5432,
				   .ends = 3,
				   .targets = 3,
				   .exchanges = 9,
				   .asked = 9};
	struct ns_service others = {.ends = 103};
	struct ns_service nobodys = {.head.tgid = 8, .opener = NS_OPENER_PEER, .targets = 2};
	struct conn_sums sums;

	(void)state;
	report.processes = &process;
	report.process_count = 1;
	for (unsigned times = 1; times <= 2; times++) {
		conns__add_service(&report, &served);
		conns__add_service(&report, &asked);
		conns__add_service(&report, &others);
		conns__add_service(&report, &nobodys);
		sums = conn_sums__of(&report);
		assert_int_equal(sums.ends, served.ends + 106);
		assert_int_equal(sums.conns, served.targets + 5);
		assert_int_equal(sums.exchanges, served.exchanges + 9);
		assert_int_equal(sums.asked, 9);
		assert_int_equal(sums.accepted, served.accepted);
		assert_int_equal(sums.traffic.connections, served.used);
		assert_int_equal(sums.traffic.attempts, 1);
		assert_int_equal(sums.traffic.bytes_out, served.bytes_out);
		assert_int_equal(report.past_end_count, 2);
		assert_int_equal(report.past_ends[0].role, REQUEST_SERVED);
		assert_int_equal(report.past_ends[0].end.port, 80);
		assert_int_equal(report.past_ends[0].connections, served.targets);
		assert_int_equal(report.past_ends[0].exchanges, served.exchanges);
		assert_string_equal(report.past_ends[1].end.comm, "nginx");
		assert_int_equal(report.past_ends[1].end.addr[0], asked.addr[0]);
		assert_int_equal(report.past_without_end, 2);
		assert_int_equal(process.past_exchanges, served.exchanges + 9);
		served.ends = served.targets = served.accepted = 1100;
		served.exchanges = served.used_exchanges = 2750;
		served.used = 1099;
		served.bytes_out = 55000;
	}
	/* Its process ends: who has its number next begins anew. */
	served.last = 1;
	conns__add_service(&report, &served);
	assert_int_equal(report.service_count, 3);
	served = (struct ns_service){
		.head.tgid = 7, .opener = NS_OPENER_PEER, .family = 2, .port = 80, .targets = 5};
	conns__add_service(&report, &served);
	assert_int_equal(conn_sums__of(&report).conns, 1110);
	free(report.services);
}

static struct report_conn conn_to(uint32_t number, const char *comm, uint32_t opener, uint32_t port)
{
	struct report_conn conn = conn_of(number, NS_ROLE_TARGET, 0);

	conn.id.head.type = NS_CONN;
	conn.id.opener = opener;
	conn.id.family = 2;
	conn.id.raddr[0] = 0x0100007f;
	conn.id.lport = opener == NS_OPENER_PEER ? port : 40000 + number;
	conn.id.rport = opener == NS_OPENER_PEER ? 40000 + number : port;
	memcpy(conn.id.comm, comm, strlen(comm));
	return conn;
}

/* Of who asks it does not matter who it is, but where its own writes are the cause; of who serves
 * it does. */
static void test_same_end(void **state)
{
	struct report_conn conns[] = {
		conn_to(1, "a", NS_OPENER_SELF, 80), conn_to(2, "b", NS_OPENER_SELF, 80),
		conn_to(3, "a", NS_OPENER_SELF, 81), conn_to(4, "a", NS_OPENER_PEER, 80),
		conn_to(5, "a", NS_OPENER_PEER, 80), conn_to(6, "b", NS_OPENER_PEER, 80),
		conn_of(7, NS_ROLE_TARGET, 0), /* not described yet */
	};
	struct report report = {.conns = conns, .conn_count = 7};
	static const struct {
		uint32_t a, b;
		bool same, same_writer;
	} rows[] = {
		{1, 1, true, true},   {1, 2, true, false},  {1, 3, false, false},
		{1, 4, false, false}, {4, 5, true, true},   {4, 6, false, false},
		{7, 7, false, false}, {1, 8, false, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(
			report__have_same_end(&report, CAUSE_PEER_APP, rows[i].a, rows[i].b),
			rows[i].same);
		assert_int_equal(
			report__have_same_end(&report, CAUSE_NAGLE_DELACK, rows[i].a, rows[i].b),
			rows[i].same_writer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worst_first),
		cmocka_unit_test(test_services),
		cmocka_unit_test(test_same_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

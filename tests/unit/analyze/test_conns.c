// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What is a finding on a connection, and which connections are the worst. */
#include "tests/unit/test.h"
#include "user/analyze/conns.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worst_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

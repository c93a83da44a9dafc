// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* However many: memory has bounds, and what found no room is counted. */
#include "tests/unit/analyze/sink.h"
#include "user/model/model.h"

static void test_many_stalls(void **state)
{
	struct seen seen = {0};
	struct pipeline_sink sink = {.on_stall = see_stall, .context = &seen};
	struct pipeline *pipeline = pipeline__new(&sink);
	const uint32_t count = REPORT_STALLS + 5000;
	const struct report *report;
	const struct report_cause *cause;
	size_t with_steps = 0;

	(void)state;
	for (uint32_t i = 0; i < count; i++)
		feed_stall(pipeline, 1 + i % 8, TEXT_TRACE_ORIGIN_NS + 20000000ull * i,
			   10000000 + i);
	report = pipeline__finish(pipeline);
	assert_int_equal(seen.stalls, count);
	assert_int_equal(report->stall_count, REPORT_STALLS);
	assert_int_equal(report->stalls_not_kept, 5000);
	for (size_t i = 0; i < report->stall_count; i++)
		with_steps += report->stalls[i].step_count > 0;
	assert_true(with_steps > 0 && with_steps <= 8 * REPORT_WHOLE_STALLS);
	/* The first ones, and as each is longer than the one before, the last ones. */
	for (uint32_t i = 1; i <= 16; i++)
		assert_non_null(report__stall(report, i));
	for (uint32_t i = count - REPORT_STALLS + 17; i <= count; i++)
		assert_non_null(report__stall(report, i));
	cause = report__cause(report, CAUSE_NAGLE);
	assert_non_null(cause);
	assert_int_equal(cause->count, count);
	/* Exact, by nearest rank: durations are 10 ms and 0 to count - 1 ns. */
	assert_int_equal(cause->p50_ns, 10000000 + (count + 1) / 2 - 1);
	assert_int_equal(cause->p99_ns, 10000000 + (99ull * count + 99) / 100 - 1);
	assert_int_equal(cause->max_ns, 10000000 + count - 1);
	assert_true(cause->share > 0.49 && cause->share < 0.51);
	assert_null(report__cause(report, CAUSE_CORK));
	pipeline__free(pipeline);
}

/* As many at one time as a pipeline can wait for, and more. */
static void test_many_at_once(void **state)
{
	struct seen seen = {0};
	struct pipeline_sink sink = {.on_stall = see_stall, .context = &seen};
	struct pipeline *pipeline = pipeline__new(&sink);

	(void)state;
	for (uint32_t i = 0; i < 3000; i++)
		feed_stall(pipeline, 1 + i, TEXT_TRACE_ORIGIN_NS + i, 15000000);
	assert_true(seen.stalls >= 1900);
	pipeline__finish(pipeline);
	assert_int_equal(seen.stalls, 3000);
	pipeline__free(pipeline);
}

static void test_many_conns(void **state)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	const struct report *report;
	union record record;

	(void)state;
	memset(&record, 0, sizeof(record));
	record.head.type = NS_CONN;
	record.head.len = sizeof(record.conn);
	record.conn.role = NS_ROLE_TARGET;
	record.conn.family = 2;
	for (uint32_t i = 0; i < MODEL_CONNS + 4464; i++) {
		record.head.ts = i;
		record.head.conn = 1 + (i ^ 5); /* not quite in order */
		pipeline__feed(pipeline, &record, record.head.len);
	}
	report = pipeline__finish(pipeline);
	assert_int_equal(report->conn_count, MODEL_CONNS);
	assert_int_equal(report->lost[NS_LOST_KEPT], 4464);
	assert_false(report->complete);
	for (size_t i = 1; i < report->conn_count; i++)
		assert_true(report->conns[i - 1].id.head.conn < report->conns[i].id.head.conn);
	assert_non_null(report__conn(report, 777));
	assert_null(report__conn(report, MODEL_CONNS + 4464));
	pipeline__free(pipeline);
}

/* More addresses that nobody answers at, and more full listen queues, than there are rows. */
static void test_many_doors(void **state)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	const struct report *report;
	union record record;

	(void)state;
	for (uint32_t i = 0; i < 2 * (REPORT_FAILED + 3); i++) {
		memset(&record, 0, sizeof(record));
		record.head.type = NS_FAILED;
		record.head.len = sizeof(record.failed);
		record.head.ts = 1 + i;
		record.head.conn = 1 + i;
		record.head.tgid = 991;
		record.failed.rport = 1 + i / 2;
		record.failed.family = 2;
		pipeline__feed(pipeline, &record, record.head.len);
	}
	for (uint32_t i = 0; i < REPORT_LISTENERS + 3; i++) {
		memset(&record, 0, sizeof(record));
		record.head.type = NS_LISTENER;
		record.head.len = sizeof(record.listener);
		record.head.ts = 1000 + i;
		record.head.tgid = 991;
		record.listener.listen_port = 1 + i;
		record.listener.drops = 5;
		pipeline__feed(pipeline, &record, record.head.len);
	}
	report = pipeline__finish(pipeline);
	assert_int_equal(report->failed_count, REPORT_FAILED);
	assert_int_equal(report->failed_not_kept, 2 * 3);
	assert_int_equal(report->listener_count, REPORT_LISTENERS);
	assert_int_equal(report->drops_not_kept, 5 * 3);
	pipeline__free(pipeline);
}

/* With --all nothing may pile up, whatever the clock of the records says. */
static void test_records_do_not_pile_up(void **state)
{
	struct seen seen = {0};
	struct pipeline_sink sink = {.on_record = see_record, .context = &seen};
	struct pipeline *pipeline = pipeline__new(&sink);
	union record record;

	(void)state;
	memset(&record, 0, sizeof(record));
	record.head.type = NS_RECV;
	record.head.len = sizeof(record.recv);
	record.head.conn = 1;
	record.head.ts = 1000;
	for (uint32_t i = 0; i < 20000; i++) {
		record.head.tid = i;
		pipeline__feed(pipeline, &record, record.head.len);
	}
	assert_true(seen.records >= 20000 - 4096);
	pipeline__finish(pipeline);
	assert_int_equal(seen.records, 20000);
	pipeline__free(pipeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_stalls),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_many_conns),
		cmocka_unit_test(test_many_doors),
		cmocka_unit_test(test_records_do_not_pile_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

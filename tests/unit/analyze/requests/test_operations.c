// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* io_uring's counts: whose they are, which word holds, what they add up to. */
#include "tests/unit/analyze/requests/operations.h"

#include <errno.h>

#include "user/analyze/requests/operations.h"

static const struct report_uring *find(const struct report *report, uint32_t opcode)
{
	for (size_t i = 0; i < report->uring_count; i++)
		if (report->uring[i].opcode == opcode)
			return &report->uring[i];
	fail_msg("no opcode %u in the report", opcode);
	return NULL;
}

#define RECV 27u

/* Running counts: what was said last holds, also when it comes first. */
static void test_last_word_holds(void **state)
{
	static const char *const lines[] = {
		"5 uring-totals tgid=42 opcode=RECV submitted=3 completed=2 finished=2 errors=1 "
		"how_poll=2 max=1 bucket_0=2\n5 uring-error tgid=42 opcode=RECV error=104 count=1\n",
		"9 uring-totals tgid=42 opcode=RECV submitted=9 completed=8 finished=7 errors=2 "
		"how_poll=8 max=1 bucket_0=8\n9 uring-error tgid=42 opcode=RECV error=104 count=2\n",
	};

	(void)state;
	for (int reversed = 0; reversed < 2; reversed++) {
		char text[2048];
		struct pipeline *pipeline;
		const struct report *report;
		const struct report_uring *recv;

		/* The last word is often said twice. */
		snprintf(text, sizeof(text), "%s%s%s%s10 end\n", TARGETS, lines[reversed],
			 lines[!reversed], lines[1]);
		pipeline = pipeline_of(text);
		report = pipeline__finish(pipeline);
		recv = find(report, RECV);
		assert_int_equal(report->uring_count, 1);
		assert_int_equal(recv->submitted, 9);
		assert_int_equal(recv->completed, 8);
		assert_int_equal(recv->finished, 7);
		assert_int_equal(recv->how[NS_URING_POLLED], 8);
		assert_int_equal(recv->error_count, 1);
		assert_int_equal(recv->error[0].error, ECONNRESET);
		assert_int_equal(recv->error[0].count, 2);
		pipeline__free(pipeline);
	}
}

static void test_targets_are_added_up(void **state)
{
	struct pipeline *pipeline = pipeline_of(
		TARGETS
		"9 uring-totals tgid=42 opcode=RECV submitted=5 completed=4 finished=4 "
		"how_poll=3 how_inline=1 max=2 bucket_0=4 overflowed=1\n"
		"9 uring-totals tgid=43 opcode=RECV submitted=2 completed=2 finished=2 "
		"errors=1 how_worker=2 max=3 bucket_0=2\n"
		"9 uring-totals tgid=50 opcode=RECV submitted=70 completed=70 max=9\n"
		"9 uring-totals tgid=50 opcode=ACCEPT submitted=7 completed=7 max=9\n"
		"9 uring-totals tgid=43 opcode=NOP submitted=30 completed=30 finished=30 "
		"how_inline=30 max=0.001 bucket_3=30\n"
		"9 uring-error tgid=43 opcode=RECV error=104 count=1\n"
		"9 uring-error tgid=50 opcode=RECV error=104 count=60\n"
		"9 ring tgid=50 ring=1 fd=3\n9 ring tgid=43 ring=2 fd=4\n"
		"9 ring tgid=42 ring=3 fd=5\n10 end\n");
	const struct report *report = pipeline__finish(pipeline);
	const struct report_uring *recv = find(report, RECV);

	(void)state;
	/* Most completions first, and nothing of the peer. */
	assert_int_equal(report->uring_count, 2);
	assert_int_equal(report->uring[0].opcode, 0);
	assert_int_equal(recv->submitted, 7);
	assert_int_equal(recv->completed, 6);
	assert_int_equal(recv->overflowed, 1);
	assert_int_equal(recv->how[NS_URING_POLLED] + recv->how[NS_URING_INLINE], 4);
	assert_int_equal(recv->how[NS_URING_WORKER], 2);
	assert_int_equal(recv->max_ns, 3000000);
	assert_int_equal(recv->error[0].count, 1);
	assert_int_equal(report->ring_count, 2);
	assert_int_equal(report->rings[0].id.ring, 2);
	assert_int_equal(report->rings[1].id.ring, 3);
	assert_int_equal(report->rings[1].id.head.tgid, 42);
	assert_true(report->complete);
	pipeline__free(pipeline);
}

/* ---- percentiles ---- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* A window that is longer than any of the times. */
#define LATE_NS (1ull << 50)

static union record totals_of(const uint64_t *values, size_t count)
{
	union record record = {.uring_totals = {.head = {.type = NS_URING_TOTALS,
							 .len = sizeof(struct ns_uring_totals),
							 .ts = TEXT_TRACE_ORIGIN_NS + LATE_NS,
							 .tgid = 42},
						.opcode = RECV,
						.submitted = count,
						.completed = count,
						.finished = count}};

	for (size_t i = 0; i < count; i++) {
		record.uring_totals.buckets[ns_uring_bucket(values[i])]++;
		if (values[i] > record.uring_totals.max_ns)
			record.uring_totals.max_ns = values[i];
	}
	return record;
}

static struct pipeline *pipeline_of_times(const uint64_t *values, size_t count)
{
	union record record = totals_of(values, count);
	struct pipeline *pipeline = pipeline_of(TARGETS);

	assert_int_equal(pipeline__feed(pipeline, &record, record.head.len), 0);
	return pipeline;
}

/* Within a sixteenth, or 128 ns. */
static void assert_near(uint64_t told, uint64_t exact)
{
	uint64_t most = exact / 16 > 128 ? exact / 16 : 128;

	if (told > exact + most || told + most < exact)
		fail_msg("%llu for %llu", (unsigned long long)told, (unsigned long long)exact);
}

static void test_percentiles_are_near(void **state)
{
	uint64_t random = 88172645463325252ull, values[1000];

	(void)state;
	for (int round = 0; round < 200; round++) {
		size_t count = 1 + (size_t)random_below(&random, 1000);
		uint64_t most = 1ull << random_below(&random, 34);
		struct pipeline *pipeline;
		const struct report_uring *recv;

		for (size_t i = 0; i < count; i++)
			values[i] = 1 + random_below(&random, most);
		qsort(values, count, sizeof(*values), by_value);
		pipeline = pipeline_of_times(values, count);
		recv = find(pipeline__finish(pipeline), RECV);
		assert_near(recv->p50_ns, values[(count + 1) / 2 - 1]);
		assert_near(recv->p99_ns, values[count - count / 100 - 1]);
		assert_int_equal(recv->max_ns, values[count - 1]);
		assert_true(recv->p50_ns <= recv->p99_ns && recv->p99_ns <= recv->max_ns);
		pipeline__free(pipeline);
	}
}

static void test_percentiles_at_the_edges(void **state)
{
	static const uint64_t one[] = {41234567}, long_ones[] = {1, 20000000000, 30000000000};
	struct pipeline *pipeline = pipeline_of_times(one, 1);
	const struct report_uring *recv = find(pipeline__finish(pipeline), RECV);

	(void)state;
	assert_int_equal(recv->p50_ns, 41234567);
	assert_int_equal(recv->p99_ns, 41234567);
	pipeline__free(pipeline);
	/* The last bucket has no upper end. */
	pipeline = pipeline_of_times(long_ones, 3);
	recv = find(pipeline__finish(pipeline), RECV);
	assert_int_equal(recv->p50_ns, 30000000000);
	pipeline__free(pipeline);
	/* Nothing was timed. */
	pipeline = pipeline_of_times(NULL, 0);
	recv = find(pipeline__finish(pipeline), RECV);
	assert_int_equal(recv->p50_ns + recv->p99_ns + recv->max_ns, 0);
	pipeline__free(pipeline);
}

/* ---- errors ---- */

static void test_most_frequent_errors_are_kept(void **state)
{
	char text[4096];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", TARGETS);
	struct pipeline *pipeline;
	const struct report_uring *recv;

	(void)state;
	for (unsigned error = 1; error <= 20; error++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "9 uring-error tgid=%u opcode=RECV error=%u count=%u\n",
					 42 + error % 2, error, 100 + error);
	snprintf(text + used, sizeof(text) - used,
		 "9 uring-totals tgid=42 opcode=RECV completed=2210 errors=2210\n");
	pipeline = pipeline_of(text);
	recv = find(pipeline__finish(pipeline), RECV);
	assert_int_equal(recv->error_count, REPORT_URING_ERRORS);
	assert_int_equal(recv->error[0].error, 20);
	assert_int_equal(recv->error[0].count, 120);
	assert_int_equal(recv->error[REPORT_URING_ERRORS - 2].error, 6);
	assert_int_equal(recv->error[REPORT_URING_ERRORS - 1].error, 0);
	assert_int_equal(recv->error[REPORT_URING_ERRORS - 1].count, 101 + 102 + 103 + 104 + 105);
	pipeline__free(pipeline);
}

/* As many as there is room for need no rest; but errors whose number the kernel could not keep do.
 */
static void test_errors_without_a_number(void **state)
{
	char text[4096];
	size_t used;
	struct pipeline *pipeline;
	const struct report_uring *recv;

	(void)state;
	for (unsigned unnamed = 0; unnamed < 2; unnamed++) {
		used = (size_t)snprintf(text, sizeof(text), "%s", TARGETS);
		for (unsigned error = 1; error <= REPORT_URING_ERRORS; error++)
			used += (size_t)snprintf(
				text + used, sizeof(text) - used,
				"9 uring-error tgid=42 opcode=RECV error=%u count=2\n", error);
		snprintf(text + used, sizeof(text) - used,
			 "9 uring-totals tgid=42 opcode=RECV completed=99 errors=%u\n",
			 2 * REPORT_URING_ERRORS + unnamed);
		pipeline = pipeline_of(text);
		recv = find(pipeline__finish(pipeline), RECV);
		assert_int_equal(recv->error_count, REPORT_URING_ERRORS);
		assert_int_equal(!recv->error[REPORT_URING_ERRORS - 1].error, unnamed);
		assert_int_equal(recv->error[REPORT_URING_ERRORS - 1].count, unnamed ? 3 : 2);
		pipeline__free(pipeline);
	}
	/* A time-out that ran out is listed, and no error: it makes up for none. */
	pipeline = pipeline_of(TARGETS
			       "9 uring-totals tgid=42 opcode=TIMEOUT completed=6 errors=1\n"
			       "9 uring-error tgid=42 opcode=TIMEOUT error=62 count=5\n");
	recv = find(pipeline__finish(pipeline), 11);
	assert_int_equal(recv->error_count, 2);
	assert_int_equal(recv->error[1].error, 0);
	assert_int_equal(recv->error[1].count, 1);
	pipeline__free(pipeline);
}

/* ---- bounds ---- */

static void test_what_finds_no_room_is_counted(void **state)
{
	struct pipeline *pipeline = pipeline_of(TARGETS);
	union record record = totals_of(NULL, 0);
	const struct report *report;

	(void)state;
	for (uint32_t i = 0; i < OPERATIONS + 10; i++) {
		record.head.tgid = 1000 + i / 3;
		record.uring_totals.opcode = i % 3;
		assert_int_equal(pipeline__feed(pipeline, &record, record.head.len), 0);
	}
	report = pipeline__finish(pipeline);
	assert_int_equal(report->lost[NS_LOST_KEPT], 10);
	assert_false(report->complete);
	pipeline__free(pipeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_word_holds),
		cmocka_unit_test(test_targets_are_added_up),
		cmocka_unit_test(test_percentiles_are_near),
		cmocka_unit_test(test_percentiles_at_the_edges),
		cmocka_unit_test(test_most_frequent_errors_are_kept),
		cmocka_unit_test(test_errors_without_a_number),
		cmocka_unit_test(test_what_finds_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

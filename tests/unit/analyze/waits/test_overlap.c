// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What TCP did meanwhile: which incidents a connection has, and which of them explains a wait. */
#include "tests/unit/feed.h"
#include "user/analyze/waits/overlap.h"

#define MS 1000000ull

static void add(struct intervals *intervals, uint32_t number, uint64_t from_ms, uint64_t to_ms)
{
	struct stall stall = {.number = number,
			      .cause = CAUSE_NAGLE,
			      .conn = 1,
			      .peer = 2,
			      .start_ts = from_ms * MS,
			      .end_ts = to_ms * MS};

	intervals__add(intervals, &stall);
}

static uint32_t first(const struct intervals *intervals, uint32_t conn, uint64_t from_ms,
		      uint64_t to_ms)
{
	const struct interval *interval =
		intervals__first(intervals, conn, from_ms * MS, to_ms * MS);

	return interval ? interval->stall : 0;
}

static void test_intervals_of_a_connection(void **state)
{
	struct intervals *intervals = intervals__new();

	(void)state;
	add(intervals, 1, 50, 60);
	add(intervals, 2, 20, 30);
	/* The earliest, from either end, of the connection alone. */
	assert_int_equal(first(intervals, 1, 0, 100), 2);
	assert_int_equal(first(intervals, 2, 0, 100), 2);
	assert_int_equal(first(intervals, 3, 0, 100), 0);
	assert_int_equal(first(intervals, 0, 0, 100), 0);
	/* What only touches the time lies not in it. */
	assert_int_equal(first(intervals, 1, 30, 100), 1);
	assert_int_equal(first(intervals, 1, 30, 50), 0);
	assert_int_equal(first(intervals, 1, 29, 50), 2);
	intervals__free(intervals);
}

/* The stall of a wait is the one that covers most of it, whichever came last. */
static void test_longest_overlap(void **state)
{
	struct model *model = model__new();
	struct intervals *intervals = intervals__new();
	struct incident_queue *incidents = incident_queue__new(model);
	struct ns_wait wait = {.head = {.type = NS_WAIT, .ts = 100 * MS, .conn = 1, .tid = 10},
			       .off_ts = 10 * MS,
			       .state = 1};
	struct overlap overlap;

	(void)state;
	add(intervals, 1, 0, 15);
	add(intervals, 2, 20, 60);
	add(intervals, 3, 70, 80);
	overlap__find(&overlap, model, intervals, incidents, &wait);
	assert_int_equal(overlap.stall, 2);
	assert_int_equal(overlap.stall_ns, 40 * MS);
	assert_int_equal(overlap.stall_end, 60 * MS);
	assert_int_equal(overlap__total(&overlap), 55 * MS);
	incident_queue__free(incidents);
	intervals__free(intervals);
	model__free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_intervals_of_a_connection),
		cmocka_unit_test(test_longest_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Whether rates differ: the test itself, and the comparison of two baselines by it. */
#include <math.h>

#include "tests/unit/test.h"
#include "user/check/judge/baseline.h"

/* ---- the test ---- */

/*
 * By whole numbers and fractions, in Python:
 *
 *	from fractions import Fraction as F; from math import comb
 *	def p(n0, e0, n1, e1):
 *	    q = F(e1, e0 + e1); n = n0 + n1
 *	    return float(sum(F(comb(n, k)) * q**k * (1 - q)**(n - k) for k in range(n1, n + 1)))
 */
static void test_p_is_exact(void **state)
{
	static const struct {
		uint64_t n0, e0, n1, e1;
		double p;
	} known[] = {
		{0, 1000, 5, 1000, 1.0 / 32},
		{0, 4211, 1, 4211, 0.5},
		{2, 1000, 12, 1000, 6.469726562500e-03},
		{10, 1000, 10, 1000, 5.880985260010e-01},
		{0, 100, 0, 100, 1},
		{3, 100000, 9, 1000, 1.958256118735e-16},
		{50, 1000, 40, 1000, 8.769467751419e-01},
		{1000, 10000, 1200, 10000, 1.090851320396e-05},
		{0, 1, 30, 1, 9.313225746155e-10},
		{20, 1000, 5, 1000, 9.995447397232e-01},
		{7, 1000, 7, 3, 7.216453320846e-15},
		{0, 1000000, 2, 10, 9.999800003000e-11},
		{100, 1000, 0, 1000, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		double p = baseline__p(known[i].n0, known[i].e0, known[i].n1, known[i].e1);

		if (fabs(p - known[i].p) > 1e-10 * known[i].p)
			fail_msg("%zu: %.15g, not %.15g", i, p, known[i].p);
	}
}

/* P(X >= k) and P(X <= k - 1) are one together, on both sides of the mean. */
static void test_p_of_both_directions_add_up(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 40; n++) {
		for (uint64_t k = 0; k < n; k++) {
			double more = baseline__p(n - k - 1, 700, k + 1, 300);
			double less = baseline__p(k, 300, n - k, 700);

			assert_true(fabs(more + less - 1) < 1e-12);
		}
	}
}

static void test_p_at_the_limits_of_numbers(void **state)
{
	uint64_t most = 1ull << 53;
	double p;

	(void)state;
	p = baseline__p(UINT32_MAX, most, UINT32_MAX, most);
	assert_true(p > 0.499 && p < 0.501);
	assert_true(baseline__p(0, most, 1000000, 1) == 0);
	assert_true(baseline__p(0, 1, 1, most) > 0.999);
	p = baseline__p(0, most, 1, 1);
	assert_true(p > 0 && p < 2e-16);
	/* A thousand standard deviations, either way. */
	assert_true(baseline__p(1000000000, 1000, 1100000000, 1000) < 1e-300);
	assert_true(baseline__p(1100000000, 1000, 1000000000, 1000) > 0.999999);
}

/* ---- the comparison ---- */

#define ALL UINT32_MAX

static const struct change *change_of(const struct change *changes, size_t count, enum cause cause)
{
	for (size_t i = 0; i < count; i++) {
		if (changes[i].cause == cause)
			return &changes[i];
	}
	fail_msg("no change of %s", cause__info(cause)->id);
	return NULL;
}

static void test_an_increase_is_worse_and_a_decrease_better(void **state)
{
	struct baseline then = {.threshold_ns = 10,
				.exchanges = 1000,
				.stalls = {[CAUSE_CORK] = 2, [CAUSE_RTO] = 30, [CAUSE_LOCK] = 5}};
	struct baseline now = {.threshold_ns = 10,
			       .exchanges = 2000,
			       .stalls = {[CAUSE_CORK] = 40, [CAUSE_RTO] = 10, [CAUSE_LOCK] = 11}};
	struct change changes[CAUSE_COUNT + 1];
	size_t count = baseline__compare(&then, &now, ALL, 0.99, changes);
	char text[256];

	(void)state;
	assert_int_equal(count, 3);
	assert_int_equal(changes[0].cause, CAUSE_CORK);
	assert_true(changes[0].worse && !changes[0].better);
	assert_string_equal(change__text(&changes[0], text, sizeof(text)),
			    "cork: 20 for each 1,000 exchanges (40 in 2,000), 2 before (2 in "
			    "1,000)");
	assert_true(change_of(changes, count, CAUSE_RTO)->better);
	assert_false(change_of(changes, count, CAUSE_RTO)->worse);
	assert_false(change_of(changes, count, CAUSE_LOCK)->worse);
	assert_false(change_of(changes, count, CAUSE_LOCK)->better);
	assert_false(baseline__stays(&then, &now, ALL, 0.99));
}

static void test_more_stalls_in_as_many_more_exchanges_are_no_change(void **state)
{
	struct baseline then = {
		.threshold_ns = 10, .exchanges = 1000, .stalls = {[CAUSE_CORK] = 20}};
	struct baseline now = {
		.threshold_ns = 10, .exchanges = 50000, .stalls = {[CAUSE_CORK] = 1000}};
	struct change changes[CAUSE_COUNT + 1];

	(void)state;
	assert_int_equal(baseline__compare(&then, &now, ALL, 0.99, changes), 1);
	assert_false(changes[0].worse || changes[0].better);
	assert_true(baseline__stays(&then, &now, ALL, 0.99));
}

/* p is 1/128: enough alone, not with another cause that is compared as well. */
static void test_more_causes_compared_want_more_proof(void **state)
{
	struct baseline then = {.threshold_ns = 10, .exchanges = 1000, .stalls = {[CAUSE_RTO] = 3}};
	struct baseline now = {.threshold_ns = 10,
			       .exchanges = 1000,
			       .stalls = {[CAUSE_CORK] = 7, [CAUSE_RTO] = 3}};
	struct change changes[CAUSE_COUNT + 1];

	(void)state;
	baseline__compare(&then, &now, ALL, 0.99, changes);
	assert_int_equal(changes[0].cause, CAUSE_CORK);
	assert_false(changes[0].worse);
	then.stalls[CAUSE_RTO] = now.stalls[CAUSE_RTO] = 0;
	assert_int_equal(baseline__compare(&then, &now, ALL, 0.99, changes), 1);
	assert_true(changes[0].worse);
	assert_int_equal(baseline__compare(&then, &now, ALL, 0.999, changes), 1);
	assert_false(changes[0].worse);
}

/* Holm: 1/256 passes 0.01 / 2, then 1/128 has only itself left to pass: 0.01. */
static void test_holm_steps_down(void **state)
{
	struct baseline then = {.threshold_ns = 10, .exchanges = 1000, .stalls = {0}};
	struct baseline now = {.threshold_ns = 10,
			       .exchanges = 1000,
			       .stalls = {[CAUSE_CORK] = 7, [CAUSE_RTO] = 8}};
	struct change changes[CAUSE_COUNT + 1];

	(void)state;
	assert_int_equal(baseline__compare(&then, &now, ALL, 0.99, changes), 2);
	assert_int_equal(changes[0].cause, CAUSE_RTO);
	assert_true(changes[0].worse && changes[1].worse);
}

/* More waits of some length prove a busier machine, unless somebody set a budget for them. */
static void test_a_busy_machine_is_not_judged(void **state)
{
	struct outcome outcome = {0};
	struct baseline then = {.threshold_ns = 10, .exchanges = 1000, .stalls = {0}};
	struct baseline now = {.threshold_ns = 10,
			       .exchanges = 1000,
			       .stalls = {[CAUSE_RUNQUEUE] = 500, [CAUSE_LOCK] = 500}};
	struct change changes[CAUSE_COUNT + 1];
	uint32_t judged = baseline__judged(&outcome);

	(void)state;
	assert_int_equal(baseline__compare(&then, &now, judged, 0.99, changes), 2);
	assert_false(changes[0].worse || changes[1].worse);
	assert_true(baseline__stays(&then, &now, judged, 0.99));
	/* Nor does it make the others' proof harder. */
	now.stalls[CAUSE_CORK] = 7;
	baseline__compare(&then, &now, judged, 0.99, changes);
	assert_int_equal(changes[0].cause, CAUSE_CORK);
	assert_true(changes[0].worse);
	assert_false(changes[1].worse || changes[2].worse);
	outcome.gates[0].budget.of = BUDGET_OF_TOTAL;
	outcome.gates[1].budget.cause = CAUSE_LOCK;
	outcome.gate_count = 2;
	baseline__compare(&then, &now, baseline__judged(&outcome), 0.99, changes);
	assert_int_equal(changes[0].cause, CAUSE_LOCK);
	assert_true(changes[0].worse && changes[1].worse && !changes[2].worse);
}

static void test_another_threshold_replaces(void **state)
{
	struct baseline then = {.threshold_ns = 10,
				.exchanges = 1000,
				.stalls = {[CAUSE_CORK] = 2}},
			now = then;

	(void)state;
	assert_true(baseline__stays(&then, &now, ALL, 0.99));
	now.threshold_ns /= 2;
	assert_false(baseline__stays(&then, &now, ALL, 0.99));
}

static struct baseline with(const struct endpoint_time *endpoints, size_t count)
{
	struct baseline baseline = {.threshold_ns = 10, .exchanges = 100};

	memcpy(baseline.endpoints, endpoints, count * sizeof(*endpoints));
	baseline.endpoint_count = count;
	return baseline;
}

#define SERVES(comm, port, count, us)                                                              \
	{                                                                                          \
		REQUEST_SERVED, comm, port, count, 1000ull * (us), CAUSE_TIMER                     \
	}

/* More than twice as long and more than 1 ms above, of 20 requests each: the rest is noise. */
static void test_requests_that_take_longer(void **state)
{
	const struct {
		uint64_t then_us, now_us, count;
		bool worse, better;
	} rows[] = {
		{80, 40300, 1000, true, false},   {80, 40300, 19, false, false},
		{80, 1070, 1000, false, false},   {80, 1090, 1000, true, false},
		{5000, 9900, 1000, false, false}, {5000, 10100, 20, true, false},
		{40300, 80, 1000, false, true},   {40300, 40300, 1000, false, false},
		{0, 2000, 1000, true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct endpoint_time before = SERVES("web", 80, 1000, rows[i].then_us);
		const struct endpoint_time after = SERVES("web", 80, rows[i].count, rows[i].now_us);
		struct baseline then = with(&before, 1), now = with(&after, 1);
		struct request_change changes[REQUEST_CHANGES_MOST];

		assert_int_equal(baseline__compare_requests(&then, &now, changes), 1);
		assert_int_equal(changes[0].worse, rows[i].worse);
		assert_int_equal(changes[0].better, rows[i].better);
		assert_int_equal(baseline__stays(&then, &now, 0, 0.99),
				 !rows[i].worse && !rows[i].better);
	}
}

/* By the port; where that is another, the only one of its program and role. */
static void test_which_endpoints_are_compared(void **state)
{
	const struct endpoint_time before[] = {SERVES("web", 80, 100, 100),
					       SERVES("web", 443, 100, 200),
					       SERVES("db", 5432, 100, 300)};
	const struct endpoint_time after[] = {SERVES("web", 443, 100, 9000),
					      SERVES("web", 8080, 100, 100),
					      SERVES("db", 40111, 100, 300),
					      {REQUEST_MADE, "db", 5432, 100, 1, CAUSE_TIMER}};
	const struct endpoint_time two[] = {SERVES("db", 1, 100, 300), SERVES("db", 2, 100, 300)};
	struct baseline then = with(before, 3), now = with(after, 4), more = with(two, 2);
	struct request_change changes[REQUEST_CHANGES_MOST];
	char text[200];

	(void)state;
	assert_int_equal(baseline__compare_requests(&then, &now, changes), 4);
	assert_int_equal(changes[0].then.port, 443);
	assert_true(changes[0].worse);
	assert_string_equal(
		request_change__text(&changes[0], text, sizeof(text)),
		"requests of web :443: median 9.00 ms (100), 200 us before (100), most of it is timer");
	for (size_t i = 1; i < 4; i++)
		assert_false(changes[i].worse);
	/* Which of them it was, nobody knows. */
	assert_int_equal(baseline__compare_requests(&then, &more, changes), 5);
	for (size_t i = 0; i < 5; i++)
		assert_false(changes[i].worse || changes[i].better);
	assert_false(baseline__stays(&then, &more, 0, 0.99));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_that_take_longer),
		cmocka_unit_test(test_which_endpoints_are_compared),
		cmocka_unit_test(test_p_is_exact),
		cmocka_unit_test(test_p_of_both_directions_add_up),
		cmocka_unit_test(test_p_at_the_limits_of_numbers),
		cmocka_unit_test(test_an_increase_is_worse_and_a_decrease_better),
		cmocka_unit_test(test_more_stalls_in_as_many_more_exchanges_are_no_change),
		cmocka_unit_test(test_more_causes_compared_want_more_proof),
		cmocka_unit_test(test_holm_steps_down),
		cmocka_unit_test(test_a_busy_machine_is_not_judged),
		cmocka_unit_test(test_another_threshold_replaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "user/check/baseline.h"

static const struct baseline example = {
	.threshold_ns = 10000000,
	.exchanges = 4211,
	.stalls = {[CAUSE_CORK] = 2, [CAUSE_NAGLE_DELACK] = 118, [CAUSE_UNKNOWN] = 1},
};

static const char example_text[] =
	"{\n"
	"  \"causes\": {\n"
	"    \"cork\": 2,\n"
	"    \"nagle-delack\": 118,\n"
	"    \"unknown\": 1\n"
	"  },\n"
	"  \"exchanges\": 4211,\n"
	"  \"schema\": \"netstall.baseline/1\",\n"
	"  \"threshold_ns\": 10000000\n"
	"}\n";

/* ---- the file ---- */

static void test_text(void **state)
{
	char *text = baseline__text(&example);

	(void)state;
	assert_string_equal(text, example_text);
	free(text);
}

static void assert_survives(const struct baseline *baseline)
{
	struct baseline again;
	char *text = baseline__text(baseline), *second, why[256] = "";

	if (!baseline__parse(&again, text, strlen(text), why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	assert_memory_equal(&again, baseline, sizeof(again));
	second = baseline__text(&again);
	assert_string_equal(second, text);
	free(text);
	free(second);
}

static void test_text_is_stable_under_save_and_load(void **state)
{
	struct baseline baseline = {.threshold_ns = 1, .exchanges = 1};

	(void)state;
	assert_survives(&example);
	assert_survives(&baseline);
	baseline.exchanges = 1ull << 53;
	for (int cause = 0; cause < CAUSE_COUNT; cause++)
		baseline.stalls[cause] = UINT32_MAX - (uint64_t)cause;
	assert_survives(&baseline);
}

static void assert_refused(const char *text, size_t bytes, const char *expected)
{
	struct baseline baseline = example;
	char why[256] = "";

	assert_false(baseline__parse(&baseline, text, bytes, why, sizeof(why)));
	if (!strstr(why, expected))
		fail_msg("'%s' is not in '%s'", expected, why);
	assert_memory_equal(&baseline, &example, sizeof(example));
}

#define REFUSED(text, expected) assert_refused(text, strlen(text), expected)
#define REST                    "\"schema\":\"netstall.baseline/1\",\"threshold_ns\":1}"

static void test_damaged_files_are_refused(void **state)
{
	(void)state;
	REFUSED("", "it is damaged, at line 1");
	REFUSED("{", "it is damaged, at line 1");
	REFUSED("\x80", "it is damaged");
	REFUSED("[]", "it is no JSON object");
	REFUSED("7", "it is damaged");
	REFUSED("{}", "it has no schema");
	REFUSED("{\"schema\":1}", "it has no schema");
	assert_refused(example_text, sizeof(example_text), "it is damaged"); /* its NUL too */
	for (size_t bytes = 0; bytes < strlen(example_text) - 2; bytes++)
		assert_refused(example_text, bytes, "it is damaged");
}

static void test_other_schemas_are_refused(void **state)
{
	(void)state;
	REFUSED("{\"schema\":\"netstall.baseline/2\",\"exchanges\":1}",
		"its schema is 'netstall.baseline/2', not netstall.baseline/1; save it anew with "
		"--save-baseline");
	REFUSED("{\"schema\":\"\\u001b[2J\"}", "its schema is '\\x1b[2J'");
	REFUSED("{\"causes\":{},\"exchanges\":1,\"exchange\":2," REST, "it has a 'exchange'");
}

static void test_wrong_numbers_are_refused(void **state)
{
	(void)state;
	REFUSED("{\"causes\":{},\"exchanges\":0," REST,
		"its number of exchanges is 0, which cannot be");
	REFUSED("{\"causes\":{},\"exchanges\":-1," REST, "is -1, which cannot be");
	REFUSED("{\"causes\":{},\"exchanges\":9007199254740993," REST, "cannot be");
	REFUSED("{\"causes\":{},\"exchanges\":99999999999999999999," REST, "it is damaged");
	REFUSED("{\"causes\":{},\"exchanges\":1.0," REST,
		"its number of exchanges is no whole number");
	REFUSED("{\"causes\":{},\"exchanges\":\"1\"," REST, "is no whole number");
	REFUSED("{\"causes\":{}," REST, "it has no number of exchanges");
	REFUSED("{\"causes\":{},\"exchanges\":1,\"schema\":\"netstall.baseline/1\"}",
		"it has no threshold_ns");
	REFUSED("{\"causes\":[],\"exchanges\":1," REST, "it has no object of causes");
	REFUSED("{\"exchanges\":1," REST, "it has no object of causes");
	REFUSED("{\"causes\":{\"cork\":-1},\"exchanges\":1," REST,
		"its number of cork stalls is -1, which cannot be");
	REFUSED("{\"causes\":{\"cork\":4294967296},\"exchanges\":1," REST, "cannot be");
	REFUSED("{\"causes\":{\"cork\":null},\"exchanges\":1," REST, "is no whole number");
	REFUSED("{\"causes\":{\"cork\":1,\"cork\":2},\"exchanges\":1," REST, "it is damaged");
	REFUSED("{\"causes\":{\"nagel\":1},\"exchanges\":1," REST,
		"it counts a cause that this netstall does not know, 'nagel'");
}

static void test_a_large_file_is_refused(void **state)
{
	size_t bytes = BASELINE_BYTES + 1;
	char *text = malloc(bytes);

	(void)state;
	memset(text, ' ', bytes);
	memcpy(text, example_text, strlen(example_text));
	assert_refused(text, bytes, "it is larger than the 65536 bytes");
	free(text);
}

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
	struct baseline then = {10, 1000, {[CAUSE_CORK] = 2, [CAUSE_RTO] = 30, [CAUSE_LOCK] = 5}};
	struct baseline now = {10, 2000, {[CAUSE_CORK] = 40, [CAUSE_RTO] = 10, [CAUSE_LOCK] = 11}};
	struct change changes[CAUSE_COUNT + 1];
	size_t count = baseline__compare(&then, &now, 0.99, changes);
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
	assert_false(baseline__stays(&then, &now, 0.99));
}

static void test_more_stalls_in_as_many_more_exchanges_are_no_change(void **state)
{
	struct baseline then = {10, 1000, {[CAUSE_CORK] = 20}};
	struct baseline now = {10, 50000, {[CAUSE_CORK] = 1000}};
	struct change changes[CAUSE_COUNT + 1];

	(void)state;
	assert_int_equal(baseline__compare(&then, &now, 0.99, changes), 1);
	assert_false(changes[0].worse || changes[0].better);
	assert_true(baseline__stays(&then, &now, 0.99));
}

/* p is 1/128: enough alone, not with another cause that is compared as well. */
static void test_more_causes_compared_want_more_proof(void **state)
{
	struct baseline then = {10, 1000, {[CAUSE_RTO] = 3}};
	struct baseline now = {10, 1000, {[CAUSE_CORK] = 7, [CAUSE_RTO] = 3}};
	struct change changes[CAUSE_COUNT + 1];

	(void)state;
	baseline__compare(&then, &now, 0.99, changes);
	assert_int_equal(changes[0].cause, CAUSE_CORK);
	assert_false(changes[0].worse);
	then.stalls[CAUSE_RTO] = now.stalls[CAUSE_RTO] = 0;
	assert_int_equal(baseline__compare(&then, &now, 0.99, changes), 1);
	assert_true(changes[0].worse);
	assert_int_equal(baseline__compare(&then, &now, 0.999, changes), 1);
	assert_false(changes[0].worse);
}

/* Holm: 1/256 passes 0.01 / 2, then 1/128 has only itself left to pass: 0.01. */
static void test_holm_steps_down(void **state)
{
	struct baseline then = {10, 1000, {0}};
	struct baseline now = {10, 1000, {[CAUSE_CORK] = 7, [CAUSE_RTO] = 8}};
	struct change changes[CAUSE_COUNT + 1];

	(void)state;
	assert_int_equal(baseline__compare(&then, &now, 0.99, changes), 2);
	assert_int_equal(changes[0].cause, CAUSE_RTO);
	assert_true(changes[0].worse && changes[1].worse);
}

static void test_the_machine_is_not_judged(void **state)
{
	struct baseline then = {10, 1000, {0}};
	struct baseline now = {10, 1000, {[CAUSE_RUNQUEUE] = 500, [CAUSE_UNKNOWN] = 500}};
	struct change changes[CAUSE_COUNT + 1];

	(void)state;
	assert_int_equal(baseline__compare(&then, &now, 0.99, changes), 2);
	assert_false(changes[0].worse || changes[1].worse);
	assert_true(baseline__stays(&then, &now, 0.99));
	/* Nor does it make the others' proof harder. */
	now.stalls[CAUSE_CORK] = 7;
	baseline__compare(&then, &now, 0.99, changes);
	assert_int_equal(changes[0].cause, CAUSE_CORK);
	assert_true(changes[0].worse);
}

static void test_another_threshold_replaces(void **state)
{
	struct baseline then = example, now = example;

	(void)state;
	assert_true(baseline__stays(&then, &now, 0.99));
	now.threshold_ns /= 2;
	assert_false(baseline__stays(&then, &now, 0.99));
}

/* ---- from a run ---- */

static struct report report = {.session = {.head = {.type = NS_SESSION}, .threshold_ns = 5000000}};

static struct outcome run(void)
{
	struct outcome outcome = {.report = &report, .exchanges = 100};

	outcome.gates[0] = (struct gate){.budget = {.cause = CAUSE_CORK}, .count = 3};
	outcome.gates[1] = (struct gate){.budget = {.total = true}, .count = 7};
	outcome.gate_count = 2;
	outcome.others[0] = (struct gate){.budget = {.cause = CAUSE_LOCK}, .count = 4};
	outcome.other_count = 1;
	return outcome;
}

static void test_a_run_becomes_a_baseline(void **state)
{
	struct outcome outcome = run();
	struct baseline baseline;
	char why[256];

	(void)state;
	outcome.verdict = CHECK_OVER;
	assert_true(baseline__take(&baseline, &outcome, why, sizeof(why)));
	assert_int_equal(baseline.threshold_ns, 5000000);
	assert_int_equal(baseline.exchanges, 100);
	for (int cause = 0; cause < CAUSE_COUNT; cause++)
		assert_int_equal(baseline.stalls[cause], cause == CAUSE_CORK   ? 3
							 : cause == CAUSE_LOCK ? 4
									       : 0);
}

static void assert_not_taken(const struct outcome *outcome, const char *expected)
{
	struct baseline baseline;
	char why[512] = "";

	assert_false(baseline__take(&baseline, outcome, why, sizeof(why)));
	if (!strstr(why, expected))
		fail_msg("'%s' is not in '%s'", expected, why);
}

static void test_a_run_that_proves_nothing_is_no_baseline(void **state)
{
	struct outcome outcome = run();
	struct baseline baseline;
	char text[] = "events were lost: try again", why[512];

	(void)state;
	outcome.verdict = CHECK_PROGRAM_FAILED;
	assert_not_taken(&outcome, "the program failed");
	outcome = run();
	outcome.unable = text;
	assert_not_taken(&outcome, "could not do its work");
	outcome = run();
	outcome.report = NULL;
	assert_not_taken(&outcome, "could not do its work");
	outcome = run();
	outcome.exchanges = 0;
	assert_not_taken(&outcome, "no exchange was seen");
	outcome = run();
	outcome.traffic_of_warmup = true;
	assert_not_taken(&outcome, "without --warmup");
	outcome = run();
	outcome.verdict = CHECK_OVER;
	outcome.doubts[outcome.doubt_count++] = (struct doubt){DOUBT_LOST, text};
	assert_not_taken(&outcome, "the run proves nothing: events were lost");
	/* That the old baseline does not fit is no reason against a new one. */
	outcome.doubts[0].kind = DOUBT_BASELINE;
	assert_true(baseline__take(&baseline, &outcome, why, sizeof(why)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_is_stable_under_save_and_load),
		cmocka_unit_test(test_damaged_files_are_refused),
		cmocka_unit_test(test_other_schemas_are_refused),
		cmocka_unit_test(test_wrong_numbers_are_refused),
		cmocka_unit_test(test_a_large_file_is_refused),
		cmocka_unit_test(test_p_is_exact),
		cmocka_unit_test(test_p_of_both_directions_add_up),
		cmocka_unit_test(test_p_at_the_limits_of_numbers),
		cmocka_unit_test(test_an_increase_is_worse_and_a_decrease_better),
		cmocka_unit_test(test_more_stalls_in_as_many_more_exchanges_are_no_change),
		cmocka_unit_test(test_more_causes_compared_want_more_proof),
		cmocka_unit_test(test_holm_steps_down),
		cmocka_unit_test(test_the_machine_is_not_judged),
		cmocka_unit_test(test_another_threshold_replaces),
		cmocka_unit_test(test_a_run_becomes_a_baseline),
		cmocka_unit_test(test_a_run_that_proves_nothing_is_no_baseline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

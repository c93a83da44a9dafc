// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a judgement is about: the window, the traffic, the baseline. */
#include "tests/unit/check/gate_run.h"

/* ---- the judged window ---- */

static void test_warmup_is_not_judged(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run__stall(&run, CAUSE_CORK, 100, 40);
	/* It began in the warm-up: that it lasts on is not the judged part's doing. */
	run__stall(&run, CAUSE_CORK, 1990, 40);
	run.options.judged_from = START + 2000 * MS;
	run.facts.has_before = true;
	run.facts.before.exchanges = 20;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	assert_true(run.outcome->seconds == 8 && run.outcome->warmup_seconds == 2);
	assert_int_equal(run.outcome->exchanges, 30);
	assert_false(run.outcome->traffic_of_warmup);
	assert_int_equal(gate_of(run.outcome, "cork")->count, 0);
	run__stall(&run, CAUSE_CORK, 2000, 80);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	assert_int_equal(gate_of(run.outcome, "cork")->count, 1);
	assert_int_equal(gate_of(run.outcome, "cork")->total_ns, 80 * MS);
	assert_ptr_equal(gate_of(run.outcome, "cork")->first, &run.stalls[2]);
	/* A share is of the judged window. */
	assert_true(gate_of(run.outcome, "cork")->share > 0.0099 &&
		    gate_of(run.outcome, "cork")->share < 0.0101);
	run__free(&run);
}

static void test_a_warmup_longer_than_the_run(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.options.judged_from = run.report.end_ts + 5000 * MS;
	run.facts.has_before = true;
	run.facts.before = traffic__of(&run.report);
	run__stall(&run, CAUSE_CORK, 100, 40);
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_true(run.outcome->seconds == 0 && run.outcome->warmup_seconds == RUN_SECONDS);
	/* Nothing was judged, and no option makes that a pass. */
	run.options.allow_no_traffic = true;
	run.options.min_exchanges = 0;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_CUT_SHORT, "10.0 s", "--warmup");
	run__free(&run);
}

/* Of those that are not listed it is known when they began, and what they prove. */
static void test_stalls_that_are_not_listed_count(void **state)
{
	struct stall_brief briefs[] = {
		{START + 100 * MS, 30 * MS, 1, CAUSE_CORK, STALL_WHOLE | STALL_ON_CONN},
		{START + 3000 * MS, 50 * MS, 1, CAUSE_CORK, STALL_WHOLE | STALL_ON_CONN},
		{START + 3000 * MS, 70 * MS, 1, CAUSE_CORK, STALL_END_GUESSED | STALL_ON_CONN},
	};
	struct run run;

	(void)state;
	run__init(&run);
	run.options.judged_from = START + 2000 * MS;
	run.facts.has_before = true;
	run.report.briefs = briefs;
	run.report.brief_count = 3;
	run.report.stalls_not_kept = 3;
	run__stall(&run, CAUSE_CORK, 100, 40);
	run__count(&run, CAUSE_CORK, 3, 150 * MS);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	assert_int_equal(gate_of(run.outcome, "cork")->count, 2);
	assert_int_equal(gate_of(run.outcome, "cork")->total_ns, 120 * MS);
	assert_null(gate_of(run.outcome, "cork")->first);
	run.report.brief_count = 1;
	run.report.stalls_not_kept = 1;
	run.report.causes[0].count = 2;
	run.report.causes[0].total_ns = 70 * MS;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__free(&run);
}

static void test_stalls_that_are_not_kept_count(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run__stall(&run, CAUSE_CORK, 100, 40);
	run__count(&run, CAUSE_CORK, 9, 90 * MS);
	run__count(&run, CAUSE_RTO, 2, 400 * MS);
	run.report.stalls_not_kept = 11;
	run__judge(&run);
	assert_verdict(run.outcome, CHECK_OVER, 1);
	assert_int_equal(gate_of(run.outcome, "cork")->count, 10);
	assert_int_equal(gate_of(run.outcome, "cork")->total_ns, 130 * MS);
	assert_int_equal(gate_of(run.outcome, "rto")->count, 2);
	assert_int_equal(gate_of(run.outcome, "rto")->state, GATE_OVER);
	assert_null(gate_of(run.outcome, "rto")->first);
	run__free(&run);
}

/* ---- traffic ---- */

static void test_exchanges_of_either_side(void **state)
{
	struct run run;
	struct traffic traffic;
	struct report_conn *conn;

	(void)state;
	run__init(&run);
	run__conn(&run, NS_ROLE_PEER, 2000, 1000, 50);
	conn = run__conn(&run, NS_ROLE_TARGET, 300, 100, 7);
	conn->peer = 4;
	conn = run__conn(&run, NS_ROLE_TARGET, 100, 300, 8);
	conn->peer = 3;
	traffic = traffic__of(&run.report);
	/* Both ends of the second one are targets: it is one connection. */
	assert_int_equal(traffic.connections, 2);
	assert_int_equal(traffic.exchanges, 50 + 8);
	assert_int_equal(traffic.bytes_out, 1300);
	assert_int_equal(traffic.bytes_in, 2100);
	run__free(&run);
}

/* ---- the baseline ---- */

static void test_worse_than_the_baseline_is_over(void **state)
{
	struct baseline then = {
		.threshold_ns = 10 * MS, .exchanges = 1000, .stalls = {[CAUSE_NAGLE] = 1}};
	struct run run;

	(void)state;
	run__init(&run);
	for (uint64_t i = 0; i < 5; i++)
		run__stall(&run, CAUSE_NAGLE, 100 * i, 40);
	run.options.baseline = &then;
	run.options.baseline_name = "ci/netstall.json";
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	assert_int_equal(run.outcome->change_count, 1);
	assert_true(run.outcome->changes[0].worse);
	assert_true(run.outcome->baseline_confidence == BASELINE_CONFIDENCE);
	assert_string_equal(run.outcome->baseline, "ci/netstall.json");
	/* More than chance is what counts. */
	then.exchanges = 50;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	assert_int_equal(run.outcome->change_count, 1);
	then.exchanges = 200;
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run.options.confidence = 0.9999;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__free(&run);
}

static void test_a_baseline_that_does_not_fit(void **state)
{
	struct baseline then = {.threshold_ns = 5 * MS, .exchanges = 1000, .stalls = {0}};
	struct run run;

	(void)state;
	run__init(&run);
	run.options.baseline = &then;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_BASELINE, "5 ms", "10 ms", "--threshold", "new baseline");
	/* The budgets are another matter. */
	assert_int_equal(gate_of(run.outcome, "cork")->state, GATE_WITHIN);
	then.threshold_ns = 10 * MS;
	run.options.judged_from = START + 1000 * MS;
	run__judge(&run);
	assert_int_equal(run.outcome->reasons[0].kind, REASON_BASELINE);
	assert_says(run.outcome->reasons[0].text, "without --warmup");
	assert_true(run.outcome->traffic_of_warmup);
	run.options.judged_from = 0;
	run.conns[0].totals.exchanges = 0;
	run.options.min_exchanges = 0;
	run__judge(&run);
	assert_int_equal(run.outcome->reason_count, 1);
	assert_says(run.outcome->reasons[0].text, "without an exchange");
	run.options.baseline = NULL;
	run.facts.baseline_problem = "there is no ci.json: make it with --save-baseline ci.json";
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_BASELINE, run.facts.baseline_problem);
	run__free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_warmup_is_not_judged),
		cmocka_unit_test(test_a_warmup_longer_than_the_run),
		cmocka_unit_test(test_stalls_that_are_not_listed_count),
		cmocka_unit_test(test_stalls_that_are_not_kept_count),
		cmocka_unit_test(test_exchanges_of_either_side),
		cmocka_unit_test(test_worse_than_the_baseline_is_over),
		cmocka_unit_test(test_a_baseline_that_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

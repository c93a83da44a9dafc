// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Verdicts and their precedence. Windows and baselines: test_gate_window.c; why inconclusive:
 * test_inconclusive.c.
 */
#include "tests/unit/check/gate_run.h"

/* ---- verdicts ---- */

/* Budgets are for what holds up requests. How long the program sleeps between them is its pace. */
static void test_the_pace_is_in_no_budget(void **state)
{
	struct stall *stall;
	struct run run;

	(void)state;
	run__init(&run);
	stall = run__stall(&run, CAUSE_TIMER, 100, 40);
	run__budget(&run, "timer=0,total=0");
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	stall->is_between = true;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	/* That of a lock is none. */
	stall->cause = CAUSE_LOCK;
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

static void test_a_clean_run_is_within(void **state)
{
	const struct outcome *outcome;
	struct run run;

	(void)state;
	run__init(&run);
	outcome = run__judge(&run);
	assert_verdict(outcome, CHECK_WITHIN, 0);
	assert_int_equal(outcome->gate_count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(outcome->gates[i].state, GATE_WITHIN);
		assert_int_equal(outcome->gates[i].count, 0);
		assert_null(outcome->gates[i].first);
		assert_null(outcome->gates[i].why);
	}
	assert_int_equal(outcome->reason_count, 0);
	assert_int_equal(outcome->exchanges, 50);
	assert_int_equal(outcome->connections, 1);
	assert_true(outcome->seconds == RUN_SECONDS);
	assert_string_equal(outcome->target, "client (4242)");
	run__free(&run);
}

static void test_one_stall_too_many_is_over(void **state)
{
	const struct outcome *outcome;
	struct stall *first;
	struct run run;

	(void)state;
	run__init(&run);
	first = run__stall(&run, CAUSE_NAGLE_DELACK, 100, 40);
	first->missing = MISSING_PEER_FAR;
	run__stall(&run, CAUSE_NAGLE_DELACK, 200, 40);
	run__stall(&run, CAUSE_NAGLE_DELACK, 300, 40);
	outcome = run__judge(&run);
	assert_verdict(outcome, CHECK_OVER, 1);
	assert_int_equal(gate_of(outcome, "nagle-delack")->state, GATE_OVER);
	assert_int_equal(gate_of(outcome, "nagle-delack")->count, 3);
	assert_int_equal(gate_of(outcome, "nagle-delack")->total_ns, 120 * MS);
	/* The first that was seen whole is the one to show. */
	assert_ptr_equal(gate_of(outcome, "nagle-delack")->first, &run.stalls[1]);
	assert_int_equal(gate_of(outcome, "cork")->state, GATE_WITHIN);
	/* It is what it costs: as many as allowed are none too many. */
	run__budget(&run, "nagle-delack=3");
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__budget(&run, "nagle-delack=2");
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

static void test_a_stall_of_a_few_ms_counts(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.session.threshold_ns = 5 * MS;
	run__stall(&run, CAUSE_CORK, 100, 8);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

static void test_causes_without_budget_are_told(void **state)
{
	const struct outcome *outcome;
	struct run run;

	(void)state;
	run__init(&run);
	run__stall(&run, CAUSE_LOCK, 100, 20);
	run__stall(&run, CAUSE_PEER_APP, 200, 500);
	run__stall(&run, CAUSE_LOCK, 800, 30);
	outcome = run__judge(&run);
	assert_verdict(outcome, CHECK_WITHIN, 0);
	assert_int_equal(outcome->other_count, 2);
	assert_int_equal(outcome->others[0].budget.cause, CAUSE_PEER_APP);
	assert_int_equal(outcome->others[1].budget.cause, CAUSE_LOCK);
	assert_int_equal(outcome->others[1].count, 2);
	assert_int_equal(outcome->others[1].total_ns, 50 * MS);
	assert_true(outcome->others[1].share > 0.00499 && outcome->others[1].share < 0.00501);
	assert_ptr_equal(outcome->others[1].first, &run.stalls[0]);
	run__free(&run);
}

static void test_time_share_and_total(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run__stall(&run, CAUSE_LOCK, 100, 60);
	run__stall(&run, CAUSE_DISK, 200, 40);
	run__budget(&run, "lock=60ms,disk=0.4%,total=1%");
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	assert_int_equal(gate_of(run.outcome, "total")->count, 2);
	assert_int_equal(gate_of(run.outcome, "total")->total_ns, 100 * MS);
	run__budget(&run, "lock=59ms");
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	assert_int_equal(gate_of(run.outcome, "disk")->state, GATE_WITHIN);
	run__budget(&run, "lock=60ms,disk=0.39%");
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__budget(&run, "disk=none,total=0.99%");
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__budget(&run, "total=2");
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__budget(&run, "total=1");
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

static void test_without_gates_nothing_is_over(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run__budget(&run, "none");
	run__stall(&run, CAUSE_NAGLE_DELACK, 100, 40);
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	assert_int_equal(run.outcome->other_count, 1);
	run__free(&run);
}

static void test_a_window_without_length(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.end_ts = run.report.start_ts;
	run__budget(&run, "none");
	run__budget(&run, "lock=50%");
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__stall(&run, CAUSE_LOCK, 0, 10);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	assert_true(run.outcome->seconds == 0);
	run__free(&run);
}

/* ---- precedence ---- */

static void test_precedence(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.lost[NS_LOST_RINGBUF] = 5;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	run.facts.unable = "the report could not be written: free some space";
	assert_verdict(run__judge(&run), CHECK_UNABLE, 2);
	assert_string_equal(run.outcome->unable, run.facts.unable);
	run__stall(&run, CAUSE_CORK, 100, 40);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run.facts.program.end = PROGRAM_EXITED;
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run.facts.program.status = 7;
	assert_verdict(run__judge(&run), CHECK_PROGRAM_FAILED, 4);
	/* What it came to otherwise is told all the same. */
	assert_int_equal(gate_of(run.outcome, "cork")->state, GATE_OVER);
	assert_int_equal(gate_of(run.outcome, "rto")->state, GATE_BLIND);
	assert_int_equal(run.outcome->reason_count, 1);
	run__free(&run);
}

static void test_how_programs_fail(void **state)
{
	static const struct {
		struct program_outcome program;
		enum verdict_kind verdict;
	} ends[] = {
		{{.end = PROGRAM_NONE}, CHECK_WITHIN},
		{{.end = PROGRAM_EXITED}, CHECK_WITHIN},
		{{.end = PROGRAM_EXITED, .orphans = 3}, CHECK_WITHIN},
		{{.end = PROGRAM_OUTLIVED, .status = 143}, CHECK_WITHIN},
		{{.end = PROGRAM_EXITED, .status = 1}, CHECK_PROGRAM_FAILED},
		{{.end = PROGRAM_SIGNALLED, .signal = 11, .status = 139}, CHECK_PROGRAM_FAILED},
		{{.end = PROGRAM_SIGNALLED, .signal = 2, .passed_on = true}, CHECK_PROGRAM_FAILED},
		{{.end = PROGRAM_NOT_FOUND, .status = 127}, CHECK_PROGRAM_FAILED},
		{{.end = PROGRAM_NOT_RUN, .status = 126}, CHECK_PROGRAM_FAILED},
		{{.end = PROGRAM_TIMED_OUT}, CHECK_PROGRAM_FAILED},
		{{.end = PROGRAM_NOT_READY}, CHECK_PROGRAM_FAILED},
	};
	struct run run;

	(void)state;
	run__init(&run);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		run.facts.program = ends[i].program;
		run__judge(&run);
		if (run.outcome->verdict != ends[i].verdict)
			fail_msg("end %zu: '%s'", i, verdict_kind__name(run.outcome->verdict));
		assert_int_equal(run.outcome->program.end, ends[i].program.end);
	}
	run__free(&run);
}

static void test_inconclusive_as_asked(void **state)
{
	enum inconclusive mode = INCONCLUSIVE_OWN;
	struct run run;

	(void)state;
	run__init(&run);
	run.report.lost[NS_LOST_CONNS] = 1;
	assert_true(inconclusive__parse(&mode, "pass"));
	run.options.inconclusive = mode;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 0);
	assert_true(inconclusive__parse(&mode, "fail"));
	run.options.inconclusive = mode;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 1);
	assert_true(inconclusive__parse(&mode, "3"));
	run.options.inconclusive = mode;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_false(inconclusive__parse(&mode, "0"));
	assert_false(inconclusive__parse(&mode, ""));
	/* It excuses nothing else. */
	run.options.inconclusive = INCONCLUSIVE_PASS;
	run.facts.unable = "it could not";
	assert_verdict(run__judge(&run), CHECK_UNABLE, 2);
	run.facts.unable = NULL;
	run__stall(&run, CAUSE_RTO, 100, 200);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run.facts.program = (struct program_outcome){.end = PROGRAM_EXITED, .status = 1};
	assert_verdict(run__judge(&run), CHECK_PROGRAM_FAILED, 4);
	run__free(&run);
}

static void test_unable_afterwards(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.options.inconclusive = INCONCLUSIVE_PASS;
	run__judge(&run);
	outcome__set_unable(run.outcome, "cannot write: first");
	outcome__set_unable(run.outcome, "cannot write: second");
	assert_verdict(run.outcome, CHECK_UNABLE, 2);
	assert_string_equal(run.outcome->unable, "cannot write: first");
	run.report.lost[NS_LOST_CONNS] = 1;
	run__judge(&run);
	outcome__set_unable(run.outcome, "cannot write");
	assert_verdict(run.outcome, CHECK_UNABLE, 2);
	run__stall(&run, CAUSE_RTO, 100, 200);
	run__judge(&run);
	outcome__set_unable(run.outcome, "cannot write");
	assert_verdict(run.outcome, CHECK_OVER, 1);
	run__free(&run);
}

/* ---- nothing was traced ---- */

static struct outcome *without_report(struct run *run)
{
	outcome__free(run->outcome);
	run->outcome = outcome__new(NULL, &run->options, &run->facts);
	return run->outcome;
}

static void test_without_a_report(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	assert_verdict(without_report(&run), CHECK_UNABLE, 2);
	assert_int_equal(run.outcome->gate_count, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(run.outcome->gates[i].state, GATE_BLIND);
		assert_non_null(run.outcome->gates[i].why);
	}
	run.facts.unable = "the kernel refused: run it with sudo";
	assert_verdict(without_report(&run), CHECK_UNABLE, 2);
	assert_string_equal(run.outcome->unable, "the kernel refused: run it with sudo");
	run.facts.program = (struct program_outcome){.end = PROGRAM_NOT_FOUND, .status = 127};
	assert_verdict(without_report(&run), CHECK_PROGRAM_FAILED, 4);
	run.facts.unable = NULL;
	/* Though a trace ran beside it. */
	assert_verdict(run__judge(&run), CHECK_PROGRAM_FAILED, 4);
	assert_null(run.outcome->report);
	assert_int_equal(run.outcome->reason_count, 0);
	assert_int_equal(run.outcome->gates[0].state, GATE_BLIND);
	run.facts.program.end = PROGRAM_NONE;
	run.facts.no_target = true;
	assert_verdict(without_report(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_NO_TARGET, "before netstall could attach",
		      "netstall check -- PROGRAM");
	run__free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_clean_run_is_within),
		cmocka_unit_test(test_one_stall_too_many_is_over),
		cmocka_unit_test(test_a_stall_of_a_few_ms_counts),
		cmocka_unit_test(test_causes_without_budget_are_told),
		cmocka_unit_test(test_the_pace_is_in_no_budget),
		cmocka_unit_test(test_time_share_and_total),
		cmocka_unit_test(test_without_gates_nothing_is_over),
		cmocka_unit_test(test_a_window_without_length),
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_how_programs_fail),
		cmocka_unit_test(test_inconclusive_as_asked),
		cmocka_unit_test(test_unable_afterwards),
		cmocka_unit_test(test_without_a_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

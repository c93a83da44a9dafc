// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a check cannot be sure of, kind by kind, and the gates that it makes blind. */
#include <errno.h>

#include "tests/unit/check/gate_run.h"

/* ---- events that were lost ---- */

static void test_every_loss_but_three_makes_it_inconclusive(void **state)
{
	struct run run;

	(void)state;
	for (uint32_t kind = 1; kind < NS_LOST_KINDS; kind++) {
		bool harmless =
			kind == NS_LOST_RELEASES || kind == NS_LOST_SITES || kind == NS_LOST_RUNS;

		run__init(&run);
		run.report.lost[kind] = 1;
		run__judge(&run);
		assert_int_equal(run.outcome->reason_count, !harmless);
		assert_verdict(run.outcome, harmless ? CHECK_WITHIN : CHECK_INCONCLUSIVE,
			       harmless ? 0 : 3);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(run.outcome->gates[i].state,
					 harmless ? GATE_WITHIN : GATE_BLIND);
		run__free(&run);
	}
}

static void test_a_loss_says_what_to_do(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.lost[NS_LOST_RINGBUF] = 4711;
	run__judge(&run);
	assert_reason(run.outcome, REASON_LOST, "4,711 records", "ring buffer full",
		      "-C ringbuf.bytes=33554432");
	assert_ptr_equal(gate_of(run.outcome, "rto")->why, run.outcome->reasons[0].text);
	run__free(&run);
}

static void test_a_loss_does_not_excuse_a_proven_stall(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.lost[NS_LOST_RINGBUF] = 1;
	run__stall(&run, CAUSE_CORK, 100, 40);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	assert_int_equal(gate_of(run.outcome, "cork")->state, GATE_OVER);
	assert_null(gate_of(run.outcome, "cork")->why);
	assert_int_equal(gate_of(run.outcome, "rto")->state, GATE_BLIND);
	run__free(&run);
}

/* ---- what an attach way does not show ---- */

static void blind_to(struct run *run, enum ns_fact fact)
{
	run->report.session.missing = 1u << fact;
	run__judge(run);
}

static void test_a_gate_that_cannot_be_observed(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	blind_to(&run, NS_FACT_RETRANS);
	assert_verdict(run.outcome, CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_BLIND, "rto, syn-retransmit", "segments sent again",
		      "kprobe on kernel 5.10.1",
		      "-C attach=", "--budget rto=none,syn-retransmit=none");
	assert_int_equal(gate_of(run.outcome, "rto")->state, GATE_BLIND);
	assert_int_equal(gate_of(run.outcome, "syn-retransmit")->state, GATE_BLIND);
	assert_int_equal(gate_of(run.outcome, "nagle-delack")->state, GATE_WITHIN);
	assert_int_equal(gate_of(run.outcome, "cork")->state, GATE_WITHIN);
	/* What it says to do helps. */
	run__budget(&run, "rto=none,syn-retransmit=none");
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__free(&run);
}

static void test_a_refused_program_is_named(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.refused[NS_FACT_RETRANS] = (struct ns_refused){.head.type = NS_REFUSED,
								  .step = NS_REFUSED_LOAD,
								  .error = EPERM,
								  .program = "tp_retrans"};
	blind_to(&run, NS_FACT_RETRANS);
	assert_reason(run.outcome, REASON_BLIND, "rto, syn-retransmit", "segments sent again",
		      "the kernel refuses tp_retrans: Operation not permitted",
		      "-C attach=", "--budget rto=none,syn-retransmit=none");
	run__free(&run);
}

static void test_which_gate_needs_what(void **state)
{
	static const struct {
		enum ns_fact fact;
		const char *blind; /* of the default gates, by their first letter */
	} rows[] = {
		{NS_FACT_SEND, "nc"},     {NS_FACT_DECISION, ""},        {NS_FACT_TRANSMIT, "nc"},
		{NS_FACT_RECEIVE, "n"},   {NS_FACT_DELACK_ARM, ""},      {NS_FACT_DELACK_FIRE, "n"},
		{NS_FACT_SCHED, ""},      {NS_FACT_LIFE, "s"},           {NS_FACT_READ, ""},
		{NS_FACT_SENDPAGE, "nc"}, {NS_FACT_RETRANS, "rs"},       {NS_FACT_NAMES, ""},
		{NS_FACT_URING, ""},      {NS_FACT_URING_COURSE, ""},    {NS_FACT_CHILDREN, ""},
		{NS_FACT_DATAGRAM, ""},   {NS_FACT_EARLY_SLEEPS, ""},    {NS_FACT_OPEN_WAITS, ""},
		{NS_FACT_BUSY, ""},       {NS_FACT_SLEEPING_STACKS, ""},
	};
	struct run run;

	(void)state;
	assert_int_equal(sizeof(rows) / sizeof(rows[0]), NS_FACT_COUNT);
	run__init(&run);
	for (size_t i = 0; i < NS_FACT_COUNT; i++) {
		char blind[8] = "";

		blind_to(&run, rows[i].fact);
		for (size_t gate = 0; gate < 4; gate++) {
			if (run.outcome->gates[gate].state == GATE_BLIND)
				strncat(blind, budget__name(&run.outcome->gates[gate].budget), 1);
		}
		assert_string_equal(blind, rows[i].blind);
		assert_int_equal(run.outcome->reason_count, *rows[i].blind != '\0');
	}
	run__budget(&run, "none");
	run__budget(&run, "lock=0,total=5%");
	blind_to(&run, NS_FACT_SCHED);
	assert_int_equal(gate_of(run.outcome, "lock")->state, GATE_BLIND);
	assert_int_equal(gate_of(run.outcome, "total")->state, GATE_BLIND);
	blind_to(&run, NS_FACT_NAMES);
	assert_int_equal(gate_of(run.outcome, "lock")->state, GATE_BLIND);
	assert_int_equal(gate_of(run.outcome, "total")->state, GATE_WITHIN);
	assert_says(run.outcome->reasons[0].text, "CAP_SYSLOG");
	blind_to(&run, NS_FACT_RETRANS);
	assert_verdict(run.outcome, CHECK_WITHIN, 0);
	run__free(&run);
}

static void test_every_gate_blind_at_once_has_room(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		char text[64];

		snprintf(text, sizeof(text), "%s=0", cause__info((enum cause)cause)->id);
		if (cause != CAUSE_IDLE)
			run__budget(&run, text);
	}
	run__budget(&run, "total=0");
	run.report.session.missing = (1u << NS_FACT_COUNT) - 1;
	for (size_t kind = 0; kind < NS_LOST_KINDS; kind++)
		run.report.lost[kind] = UINT64_MAX;
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		struct stall *stall = run__stall(&run, (enum cause)cause, 100, 40);

		stall->held_bytes = 1;
		stall->exact = false;
	}
	run.facts.no_target = run.facts.cut_short = true;
	run.report.conn_count = 0;
	run__judge(&run);
	assert_verdict(run.outcome, CHECK_OVER, 1); /* nagle-delack proves itself */
	assert_true(run.outcome->reason_count <= OUTCOME_REASONS);
	assert_int_equal(run.outcome->gate_count, CAUSE_COUNT - 1 + 1);
	for (size_t i = 0; i < run.outcome->gate_count; i++) {
		const struct gate *gate = &run.outcome->gates[i];

		assert_true(gate->state == GATE_OVER || (gate->state == GATE_BLIND && gate->why));
	}
	run__free(&run);
}

/* ---- the run as a whole ---- */

static void test_no_connection(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.conn_count = 0;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_NO_TRAFFIC, "no TCP connection", "10.0 s",
		      "--allow-no-traffic");
	assert_int_equal(run.outcome->connections, 0);
	run.report.children = 4;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_NO_TRAFFIC, "10.0 s", "4 of its children", "--children");
	run.report.children = 0;
	run.options.allow_no_traffic = true;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__free(&run);
}

static void test_attempts_that_nobody_answered(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.conn_count = 0;
	run__conn(&run, NS_ROLE_TARGET, 0, 0, 0);
	run__conn(&run, NS_ROLE_TARGET, 0, 0, 0);
	/* What somebody else's connection carries is no matter. */
	run__conn(&run, NS_ROLE_CHAIN, 500, 500, 5);
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_NO_TRAFFIC, "2 TCP connections", "10.0 s", "no data",
		      "--allow-no-traffic");
	run__stall(&run, CAUSE_SYN_RETRANSMIT, 100, 1000);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

/* The kernel counts the other end's FIN as a byte: a connection that carried none is idle. */
static void test_an_idle_connection_is_no_traffic(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.report.conn_count = 0;
	run.options.min_exchanges = 0;
	run__conn(&run, NS_ROLE_TARGET, 0, 1, 0);
	run__conn(&run, NS_ROLE_TARGET, 0, 1, 0);
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_int_equal(run.outcome->reasons[0].kind, REASON_NO_TRAFFIC);
	assert_int_equal(run.outcome->connections, 0);
	run__conn(&run, NS_ROLE_TARGET, 0, 2, 0);
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	assert_int_equal(run.outcome->connections, 1);
	/* Used in the warm-up, and only closed after it. */
	run.options.judged_from = START + 1000 * MS;
	run.facts.has_before = true;
	run.facts.before.bytes_in = 3;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	run__free(&run);
}

static void test_a_sender_without_answers(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.conns[0].totals.exchanges = 0;
	run.conns[0].totals.bytes_out = 12000000;
	run.conns[0].totals.bytes_in = 0;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_EXCHANGES, "12.0 MB", "0 B", "--min-exchanges=0");
	/* It is traffic, whatever else is allowed. */
	run.options.allow_no_traffic = true;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	run.options.min_exchanges = 0;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run.options.min_exchanges = 1;
	run__stall(&run, CAUSE_CORK, 100, 200);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

static void test_too_few_exchanges(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.options.min_exchanges = 51;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_EXCHANGES, "50 exchanges", "51", "--min-exchanges");
	run.options.min_exchanges = 50;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	/* Those of the warm-up are not judged, and do not count. */
	run.options.judged_from = START + 1000 * MS;
	run.facts.has_before = true;
	run.facts.before.exchanges = 49;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_says(run.outcome->reasons[0].text, "1 exchange");
	run__free(&run);
}

static void test_cut_short(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.facts.cut_short = true;
	run.report.end_ts = START + 1200 * MS;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_CUT_SHORT, "signal", "1.20 s", "-d");
	assert_int_equal(gate_of(run.outcome, "cork")->state, GATE_BLIND);
	run__stall(&run, CAUSE_CORK, 100, 40);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_loss_but_three_makes_it_inconclusive),
		cmocka_unit_test(test_a_loss_says_what_to_do),
		cmocka_unit_test(test_a_loss_does_not_excuse_a_proven_stall),
		cmocka_unit_test(test_a_gate_that_cannot_be_observed),
		cmocka_unit_test(test_a_refused_program_is_named),
		cmocka_unit_test(test_which_gate_needs_what),
		cmocka_unit_test(test_every_gate_blind_at_once_has_room),
		cmocka_unit_test(test_no_connection),
		cmocka_unit_test(test_attempts_that_nobody_answered),
		cmocka_unit_test(test_an_idle_connection_is_no_traffic),
		cmocka_unit_test(test_a_sender_without_answers),
		cmocka_unit_test(test_too_few_exchanges),
		cmocka_unit_test(test_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

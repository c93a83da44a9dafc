// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Stalls that may have been something else than they look. */
#include "tests/unit/check/gate_run.h"
#include "tests/unit/feed.h"

/* ---- stalls that may have been something else ---- */

static struct stall *inexact(struct run *run, enum cause cause)
{
	struct stall *stall = run__stall(run, cause, 1200, 500);

	stall->held_bytes = 100;
	stall->exact = false;
	stall->missing = MISSING_TRANSMIT_LATE;
	return stall;
}

static void test_an_unseen_end_of_nagle_may_be_a_delayed_ack(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	inexact(&run, CAUSE_NAGLE);
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_UNSEEN_END, "1 nagle stall", "nagle-delack", "1.20 s",
		      "the transmit that ended it", "netstall doctor");
	assert_int_equal(gate_of(run.outcome, "nagle-delack")->state, GATE_BLIND);
	assert_int_equal(gate_of(run.outcome, "cork")->state, GATE_WITHIN);
	/* When it would not be too many, it is no matter. */
	run__budget(&run, "nagle-delack=1");
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__stall(&run, CAUSE_NAGLE_DELACK, 3000, 40);
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	/* And none when the gate is over without it. */
	run__stall(&run, CAUSE_NAGLE_DELACK, 4000, 40);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	assert_int_equal(run.outcome->reason_count, 0);
	run__free(&run);
}

static void test_a_prompt_nagle_hold_is_what_it_is(void **state)
{
	struct stall *stall;
	struct run run;

	(void)state;
	run__init(&run);
	run__stall(&run, CAUSE_NAGLE, 100, 40);
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	/* On another host: judged by its round trips, all that can be seen was. */
	stall = run__stall(&run, CAUSE_NAGLE, 200, 40);
	stall->missing = MISSING_PEER_FAR;
	stall->peer = 0;
	stall->ack.head.type = NS_RX;
	stall->hold.head.type = NS_HOLD;
	stall->hold.min_rtt_us = 20000;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	stall->hold.min_rtt_us = 0;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	stall->hold.min_rtt_us = 20000;
	stall->ack.head.type = 0;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	run__free(&run);
}

static void test_an_unseen_end_proves_nothing(void **state)
{
	struct stall *stall;
	struct run run;

	(void)state;
	run__init(&run);
	stall = inexact(&run, CAUSE_CORK);
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_int_equal(gate_of(run.outcome, "cork")->state, GATE_BLIND);
	assert_int_equal(gate_of(run.outcome, "cork")->count, 1);
	assert_says(run.outcome->reasons[0].text, "its end was not seen");
	/* It still lasted when the window closed: a stall by then. */
	stall->open = true;
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	stall->open = false;
	/* Sent again by a timer: that proves itself. */
	stall->cause = CAUSE_RTO;
	stall->retrans.head.type = NS_RETRANS;
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	/* As does a chain with its delayed ACK, though the transmit behind it was not seen. */
	stall->retrans.head.type = 0;
	stall->cause = CAUSE_NAGLE_DELACK;
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

static void test_an_unseen_end_counts_towards_the_total(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run__budget(&run, "none");
	run__budget(&run, "total=400ms");
	inexact(&run, CAUSE_PACING);
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	run__budget(&run, "total=500ms");
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__free(&run);
}

static void test_an_open_hold_wants_a_longer_check(void **state)
{
	struct stall *stall;
	struct run run;

	(void)state;
	run__init(&run);
	stall = inexact(&run, CAUSE_NAGLE);
	stall->open = true;
	stall->missing = MISSING_END_WINDOW;
	run__judge(&run);
	assert_reason(run.outcome, REASON_UNSEEN_END, "1 nagle stall", "nagle-delack", "1.20 s",
		      "the window closed first", "-d");
	run__free(&run);
}

static void test_an_unknown_stall_may_be_any_gated_cause(void **state)
{
	struct stall *stall;
	struct run run;

	(void)state;
	run__init(&run);
	stall = run__stall(&run, CAUSE_UNKNOWN, 100, 40);
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(run.outcome->gates[i].state, GATE_BLIND);
	assert_int_equal(run.outcome->reason_count, 1);
	/* Without a connection anywhere in it, it was not the network. */
	stall->conn = 0;
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__budget(&run, "lock=0");
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_int_equal(gate_of(run.outcome, "lock")->state, GATE_BLIND);
	assert_int_equal(gate_of(run.outcome, "rto")->state, GATE_WITHIN);
	stall->link_count = 2;
	stall->links[1].wait.head.conn = 9;
	run__judge(&run);
	assert_int_equal(gate_of(run.outcome, "rto")->state, GATE_BLIND);
	/* Who judges them as such knows what they are. */
	run__budget(&run, "none");
	run__budget(&run, "unknown=1");
	assert_verdict(run__judge(&run), CHECK_WITHIN, 0);
	run__free(&run);
}

static void test_a_warmup_and_more_stalls_than_are_kept(void **state)
{
	struct run run;

	(void)state;
	run__init(&run);
	run.options.judged_from = START + 2000 * MS;
	run.facts.has_before = true;
	run__stall(&run, CAUSE_CORK, 100, 40);
	run__count(&run, CAUSE_CORK, 3, 90 * MS);
	run.report.stalls_not_kept = 3;
	assert_verdict(run__judge(&run), CHECK_INCONCLUSIVE, 3);
	assert_reason(run.outcome, REASON_UNSEEN_END, "3 cork stalls", "--warmup");
	assert_int_equal(gate_of(run.outcome, "cork")->count, 3);
	run__stall(&run, CAUSE_CORK, 3000, 40);
	assert_verdict(run__judge(&run), CHECK_OVER, 1);
	run__free(&run);
}

/* ---- whole traces, as the analysis tells them ---- */

static void assert_golden(const char *name, enum verdict_kind verdict, const char *gate,
			  enum gate_state gate_state)
{
	struct pipeline *pipeline = feed__pipeline(feed__golden(name));
	struct outcome *outcome;
	struct run run;

	run__init(&run);
	/* Made by hand, most traces tell of no exchange. */
	run.options.min_exchanges = 0;
	outcome = outcome__new(pipeline__finish(pipeline), &run.options, &run.facts);
	if (outcome->verdict != verdict || gate_of(outcome, gate)->state != gate_state)
		fail_msg("%s: '%s', gate %s is %d, %s", name, verdict_kind__name(outcome->verdict),
			 gate, gate_of(outcome, gate)->state,
			 outcome->reason_count ? outcome->reasons[0].text : "no reason");
	outcome__free(outcome);
	pipeline__free(pipeline);
}

static void test_golden_traces(void **state)
{
	(void)state;
	assert_golden("nagle-delack", CHECK_OVER, "nagle-delack", GATE_OVER);
	assert_golden("server-side", CHECK_OVER, "nagle-delack", GATE_OVER);
	assert_golden("remote-inferred", CHECK_OVER, "nagle-delack", GATE_OVER);
	assert_golden("remote-far", CHECK_WITHIN, "nagle-delack", GATE_WITHIN);
	assert_golden("nagle-prompt", CHECK_WITHIN, "nagle-delack", GATE_WITHIN);
	assert_golden("nagle-data", CHECK_WITHIN, "nagle-delack", GATE_WITHIN);
	assert_golden("harmless-timer", CHECK_WITHIN, "nagle-delack", GATE_WITHIN);
	assert_golden("idle-server", CHECK_WITHIN, "nagle-delack", GATE_WITHIN);
	assert_golden("peer-app", CHECK_WITHIN, "nagle-delack", GATE_WITHIN);
	assert_golden("open-hold", CHECK_INCONCLUSIVE, "nagle-delack", GATE_BLIND);
	assert_golden("open-hold", CHECK_INCONCLUSIVE, "cork", GATE_WITHIN);
	/* A release that was not seen, behind a delayed ACK that was. */
	assert_golden("inexact", CHECK_OVER, "nagle-delack", GATE_OVER);
	/* One stall is proven; what else was lost does not excuse it. */
	assert_golden("lost-events", CHECK_OVER, "nagle-delack", GATE_OVER);
	assert_golden("lost-events", CHECK_OVER, "cork", GATE_BLIND);
	assert_golden("cork", CHECK_OVER, "cork", GATE_OVER);
	assert_golden("msg-more", CHECK_OVER, "cork", GATE_OVER);
	assert_golden("rto", CHECK_OVER, "rto", GATE_OVER);
	assert_golden("syn-retransmit", CHECK_OVER, "syn-retransmit", GATE_OVER);
	assert_golden("tlp", CHECK_WITHIN, "rto", GATE_WITHIN);
	assert_golden("no-connection", CHECK_INCONCLUSIVE, "rto", GATE_BLIND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_unseen_end_of_nagle_may_be_a_delayed_ack),
		cmocka_unit_test(test_a_prompt_nagle_hold_is_what_it_is),
		cmocka_unit_test(test_an_unseen_end_proves_nothing),
		cmocka_unit_test(test_an_unseen_end_counts_towards_the_total),
		cmocka_unit_test(test_an_open_hold_wants_a_longer_check),
		cmocka_unit_test(test_an_unknown_stall_may_be_any_gated_cause),
		cmocka_unit_test(test_a_warmup_and_more_stalls_than_are_kept),
		cmocka_unit_test(test_golden_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

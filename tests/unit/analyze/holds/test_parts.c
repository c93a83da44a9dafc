// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Holds of every reason, and holds whose reason changes: causes, slices, and what ended them. */
#include "tests/unit/analyze/outcome.h"

#define SENT "10 send conn=1 tgid=10 tid=10 bytes=60 write_seq=200 snd_nxt=140 snd_una=100\n"
#define HOLD(reason)                                                                               \
	"10 hold conn=1 tgid=10 tid=10 reason=" reason                                             \
	" seq=140 end=200 unacked=40 mss=1000 nonagle=0 pacing_us=5000\n"
#define ACKED "49.95 rx conn=1 seq=500 end=500 ack=140\n"
#define GONE_BY(reason, more)                                                                      \
	"50 tx conn=1 seq=140 end=200 ack=500\n"                                                   \
	"50 release conn=1 held=40 seq=140 end=200 reason=" reason " " more "\n"

/* A trace with one stall; slices as "15 cork, 25 nagle". */
static void check(const char *text, enum cause cause, const char *slices,
		  enum stall_release released_by, enum stall_missing missing)
{
	struct outcome outcome = analyze(feed__text(text));
	const struct stall *stall = outcome.stall;
	char told[512] = "";
	uint64_t sum = 0;

	assert_int_equal(outcome.report->stall_count, 1);
	for (size_t i = 0; i < stall->slice_count; i++) {
		size_t used = strlen(told);

		snprintf(told + used, sizeof(told) - used, "%s%llu %s", i ? ", " : "",
			 (unsigned long long)stall->slices[i].ns / 1000000,
			 cause__info(stall->slices[i].cause)->id);
		sum += stall->slices[i].ns;
	}
	assert_string_equal(cause__info(stall->cause)->id, cause__info(cause)->id);
	assert_string_equal(told, slices);
	assert_int_equal(sum, stall->end_ts - stall->start_ts);
	assert_int_equal(stall->released_by, released_by);
	assert_int_equal(stall->missing, missing);
	done(&outcome);
}

static void test_every_reason(void **state)
{
	(void)state;
	check(HEAD SENT HOLD("rwnd") ACKED GONE_BY("rwnd", ""), CAUSE_RWND, "40 rwnd",
	      RELEASED_BY_RWND_ACK, MISSING_NOTHING);
	check(HEAD SENT HOLD("zero-window") ACKED GONE_BY("zero-window", ""), CAUSE_ZERO_WINDOW,
	      "40 zero-window", RELEASED_BY_WINDOW_OPENING, MISSING_NOTHING);
	check(HEAD SENT HOLD("cwnd") ACKED GONE_BY("cwnd", ""), CAUSE_CWND, "40 cwnd",
	      RELEASED_BY_CWND_ACK, MISSING_NOTHING);
	check(HEAD SENT HOLD("tso-defer") ACKED GONE_BY("tso-defer", ""), CAUSE_TSO_DEFER,
	      "40 tso-defer", RELEASED_BY_ACK, MISSING_NOTHING);
	check(HEAD SENT HOLD("pacing") GONE_BY("pacing", ""), CAUSE_PACING, "40 pacing",
	      RELEASED_BY_PACING_TIMER, MISSING_NOTHING);
	check(HEAD SENT HOLD("tsq") GONE_BY("tsq", ""), CAUSE_TSQ, "40 tsq", RELEASED_BY_DEVICE,
	      MISSING_NOTHING);
	check(HEAD SENT HOLD("autocork") GONE_BY("autocork", ""), CAUSE_AUTOCORK, "40 autocork",
	      RELEASED_BY_DEVICE, MISSING_NOTHING);
	check(HEAD SENT HOLD("unknown") GONE_BY("unknown", ""), CAUSE_UNKNOWN, "40 unknown",
	      RELEASE_UNSEEN, MISSING_HOLD_REASON);
	/* All in flight, and the writer sleeps: nothing is held, yet it is a hold. */
	check(HEAD
	      "10 hold conn=1 tgid=10 tid=10 reason=sndbuf begun=partly seq=140 end=140 "
	      "unacked=40 wmem_queued=9000 sndbuf=8000\n" ACKED
	      "50 tx conn=1 seq=140 end=200 ack=500\n"
	      "50 release conn=1 held=40 seq=140 end=140 reason=sndbuf\n",
	      CAUSE_SNDBUF, "40 sndbuf", RELEASED_BY_SNDBUF_ACK, MISSING_NOTHING);
}

static void test_what_was_not_seen(void **state)
{
	(void)state;
	check(HEAD SENT HOLD("rwnd") GONE_BY("rwnd", ""), CAUSE_RWND, "40 rwnd", RELEASE_UNSEEN,
	      MISSING_RWND_ACK);
	check(HEAD SENT HOLD("cwnd") GONE_BY("cwnd", ""), CAUSE_CWND, "40 cwnd", RELEASE_UNSEEN,
	      MISSING_CWND_ACK);
	/* One that arrived before the hold did not end it. */
	check(HEAD "9.9 rx conn=1 seq=500 end=500 ack=100\n" SENT HOLD("zero-window")
		      GONE_BY("zero-window", ""),
	      CAUSE_ZERO_WINDOW, "40 zero-window", RELEASE_UNSEEN, MISSING_WINDOW_OPENING);
	check(HEAD SENT HOLD("rwnd") "90 end\n", CAUSE_RWND, "80 rwnd", RELEASE_UNSEEN,
	      MISSING_END_WINDOW);
	check(HEAD SENT HOLD("pacing") "90 close conn=1\n100 end\n", CAUSE_PACING, "80 pacing",
	      RELEASE_UNSEEN, MISSING_END_CLOSE);
	/* The record of the hold is lost, its release is not. */
	check(HEAD GONE_BY("pacing", ""), CAUSE_PACING, "40 pacing", RELEASED_BY_PACING_TIMER,
	      MISSING_HELD_WRITE);
	/* Lost, and its reason changed later: what it was at first cannot be said. */
	check(HEAD "40 hold conn=1 tgid=10 tid=10 reason=cwnd begun=changed seq=140 end=200\n" ACKED
		      GONE_BY("cwnd", ""),
	      CAUSE_UNKNOWN, "30 unknown, 10 cwnd", RELEASED_BY_CWND_ACK, MISSING_HOLD_REASON);
}

#define CHANGED(time, reason)                                                                      \
	time " hold conn=1 tgid=10 tid=10 reason=" reason                                          \
	     " begun=changed seq=140 end=200 unacked=40 mss=1000 min_rtt_us=50\n"

static void test_changing(void **state)
{
	(void)state;
	check(HEAD PEER FIRST SENT HOLD("cork") CHANGED("25", "nagle") FIRE LEFT ARRIVED GONE,
	      CAUSE_NAGLE_DELACK, "15 cork, 25 nagle-delack", RELEASED_BY_DELAYED_ACK,
	      MISSING_NOTHING);
	/* The timer that ran out during the part before has nothing to do with it. */
	check(HEAD PEER FIRST SENT HOLD("cork")
	      "20 delack-fire conn=2 pending=3\n"
	      "20.01 ack conn=2 seq=500 end=500 ack=140\n" CHANGED("25", "nagle") ARRIVED GONE,
	      CAUSE_NAGLE_DELACK, "15 cork, 25 nagle-delack", RELEASED_BY_LATE_ACK,
	      MISSING_PEER_MEANWHILE);
	/* Nagle's part ends with the delayed ACK; then the window is full. */
	check(HEAD PEER FIRST SENT HOLD("nagle")
	      "39.9 delack-fire conn=2 pending=3\n"
	      "39.91 ack conn=2 seq=500 end=500 ack=140\n"
	      "39.95 rx conn=1 seq=500 end=500 ack=140\n" CHANGED("39.95", "cwnd") ARRIVED
		      GONE_BY("cwnd", ""),
	      CAUSE_NAGLE_DELACK, "29 nagle-delack, 10 cwnd", RELEASED_BY_CWND_ACK, MISSING_NOTHING);
	check(HEAD PEER FIRST SENT HOLD(
		      "nagle") "19.95 rx conn=1 seq=500 end=600 ack=140\n" CHANGED("19.95", "cwnd")
		      ARRIVED GONE_BY("cwnd", ""),
	      CAUSE_CWND, "9 nagle, 30 cwnd", RELEASED_BY_CWND_ACK, MISSING_NOTHING);
	/* The same cause twice counts together. */
	check(HEAD SENT HOLD("cwnd") CHANGED("22", "pacing") CHANGED("38", "cwnd")
		      ACKED GONE_BY("cwnd", ""),
	      CAUSE_CWND, "12 cwnd, 16 pacing, 12 cwnd", RELEASED_BY_CWND_ACK, MISSING_NOTHING);
	/* A window that closed in between was closing, and opening, on either side. */
	check(HEAD SENT HOLD("rwnd") CHANGED("22", "zero-window") CHANGED("38", "rwnd")
		      ACKED GONE_BY("rwnd", ""),
	      CAUSE_ZERO_WINDOW, "12 rwnd, 16 zero-window, 12 rwnd", RELEASED_BY_RWND_ACK,
	      MISSING_NOTHING);
	/* A reason that held it for no time at all is no part. */
	check(HEAD SENT HOLD("autocork") CHANGED("10", "pacing") GONE_BY("pacing", ""),
	      CAUSE_PACING, "40 pacing", RELEASED_BY_PACING_TIMER, MISSING_NOTHING);
	/* A part of the bytes left, and the rest still waits for the same. */
	check(HEAD SENT HOLD("pacing")
	      "25 tx conn=1 seq=140 end=170 ack=500\n"
	      "25 hold conn=1 tgid=10 tid=10 reason=pacing begun=later seq=170 end=200\n"
	      "50 tx conn=1 seq=170 end=200 ack=500\n"
	      "50 release conn=1 held=40 seq=170 end=200 reason=pacing\n",
	      CAUSE_PACING, "40 pacing", RELEASED_BY_PACING_TIMER, MISSING_NOTHING);
	/* Nothing ends it: it began where its first record says. */
	check(HEAD SENT HOLD("rwnd") CHANGED("30", "zero-window") "90 end\n", CAUSE_ZERO_WINDOW,
	      "20 rwnd, 60 zero-window", RELEASE_UNSEEN, MISSING_END_WINDOW);
}

/* A rest that stays behind a release is a hold of its own. */
static void test_rest(void **state)
{
	struct outcome outcome = analyze(feed__text(HEAD SENT HOLD(
		"rwnd") "12 tx conn=1 seq=140 end=170 ack=500\n"
			"12 release conn=1 held=2 seq=140 end=200 reason=rwnd\n"
			"12 hold conn=1 tgid=10 tid=10 reason=cwnd begun=later seq=170 end=200\n" ACKED
			"50 tx conn=1 seq=170 end=200 ack=500\n"
			"50 release conn=1 held=38 seq=170 end=200 reason=cwnd\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_CWND);
	assert_int_equal(outcome.stall->start_ts, TEXT_TRACE_ORIGIN_NS + 12000000);
	assert_int_equal(outcome.stall->held_bytes, 30);
	done(&outcome);
}

static void test_options(void **state)
{
	(void)state;
	check(HEAD PEER FIRST SECOND GONE_BY("nagle", "nonagle=5 nonagle_known=1"), CAUSE_NAGLE,
	      "40 nagle", RELEASED_BY_NODELAY, MISSING_NOTHING);
	check(HEAD SENT
	      "10 hold conn=1 tgid=10 tid=10 reason=cork seq=140 end=200 nonagle=2\n" GONE_BY(
		      "cork", "nonagle=0 nonagle_known=1"),
	      CAUSE_CORK, "40 cork", RELEASED_BY_UNCORK, MISSING_NOTHING);
	check(HEAD SENT
	      "10 hold conn=1 tgid=10 tid=10 reason=cork seq=140 end=200 nonagle=2\n" GONE_BY(
		      "cork", "nonagle=2 nonagle_known=1"),
	      CAUSE_CORK, "40 cork", RELEASED_BY_CORK_LIMIT, MISSING_NOTHING);
	/* Nagle's rule no longer applies to a full segment. */
	check(HEAD PEER FIRST SECOND
	      "50 tx conn=1 seq=140 end=1140 ack=500\n"
	      "50 release conn=1 held=40 seq=140 end=200 reason=nagle\n",
	      CAUSE_NAGLE, "40 nagle", RELEASED_BY_FULL_SEGMENT, MISSING_NOTHING);
}

/* More changes than a stall has slices: the short ones go into the others, and all still sums up.
 */
static void test_many_parts(void **state)
{
	static char text[8192];
	struct outcome outcome;
	uint64_t sum = 0;

	(void)state;
	strcpy(text, HEAD SENT HOLD("pacing"));
	for (unsigned i = 0; i < 30; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%u.%u hold conn=1 reason=%s begun=changed seq=140 end=200\n", 11 + i / 10,
			 i % 10, i % 2 ? "pacing" : "tsq");
	strcat(text,
	       "14 hold conn=1 reason=cwnd begun=changed seq=140 end=200\n"
	       "40 hold conn=1 reason=pacing begun=changed seq=140 end=200\n"
	       "42 hold conn=1 reason=rwnd begun=changed seq=140 end=200\n");
	strcat(text, ACKED GONE_BY("rwnd", ""));
	outcome = analyze(feed__text(text));
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_CWND);
	for (size_t i = 0; i < outcome.stall->slice_count; i++) {
		const struct slice *slice = &outcome.stall->slices[i];

		sum += slice->ns;
		if (slice->cause == CAUSE_CWND)
			assert_int_equal(slice->ns, 26000000);
		if (slice->cause == CAUSE_RWND)
			assert_int_equal(slice->ns, 8000000);
	}
	assert_int_equal(sum, 40000000);
	assert_true(outcome.stall->slice_count > 8);
	done(&outcome);
	/* As long as each other. */
	sum = 0;
	strcpy(text, HEAD SENT HOLD("rwnd"));
	for (unsigned i = 0; i < 30; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%u hold conn=1 reason=%s begun=changed seq=140 end=200\n", 11 + i,
			 i % 2 ? "rwnd" : "cwnd");
	strcat(text, ACKED GONE_BY("rwnd", ""));
	outcome = analyze(feed__text(text));
	assert_int_equal(outcome.report->stall_count, 1);
	for (size_t i = 0; i < outcome.stall->slice_count; i++)
		sum += outcome.stall->slices[i].ns;
	assert_int_equal(sum, 40000000);
	assert_true(outcome.stall->slice_count > 8);
	done(&outcome);
}

/* ---- flows: a long message that is held back again and again ---- */

#define FLOW_HOLD(at, reason, seq, end)                                                            \
	at " hold conn=1 tgid=10 tid=10 reason=" reason " begun=later seq=" seq " end=" end        \
	   " unacked=40 mss=1000\n"
#define FLOW_GONE(at, held, reason, seq, end)                                                      \
	at " rx conn=1 seq=500 end=500 ack=" seq " flags=0x10\n" at " tx conn=1 seq=" seq          \
	   " end=" end " ack=500\n" at " release conn=1 held=" held " seq=" seq " end=" end        \
	   " reason=" reason "\n"

static void test_flow(void **state)
{
	(void)state;
	/* The next hold follows before the first is told. */
	check(HEAD FLOW_HOLD("10", "cwnd", "140", "200") FLOW_GONE("50", "40", "cwnd", "140", "200")
		      FLOW_HOLD("70", "cwnd", "200", "260")
			      FLOW_GONE("110", "40", "cwnd", "200", "260"),
	      CAUSE_CWND, "40 cwnd, 20 network, 40 cwnd", RELEASED_BY_CWND_ACK, MISSING_NOTHING);
	/* The first was told long ago when the second, which began at its end, ends. */
	check(HEAD FLOW_HOLD("10", "rwnd", "140", "200")
		      FLOW_GONE("50", "40", "rwnd", "140",
				"200") "390 rx conn=2 seq=1 end=1 ack=1\n" FLOW_HOLD("50", "rwnd",
										     "200", "260")
			      FLOW_GONE("400", "350", "rwnd", "200", "260"),
	      CAUSE_RWND, "390 rwnd", RELEASED_BY_RWND_ACK, MISSING_NOTHING);
}

/* What is held after an answer is another message. */
static void test_two_messages(void **state)
{
	struct outcome outcome =
		analyze(feed__text(HEAD FLOW_HOLD("10", "cwnd", "140", "200") FLOW_GONE(
			"50", "40", "cwnd", "140",
			"200") "60 rx conn=1 seq=500 end=600 ack=200\n" FLOW_HOLD("70", "cwnd",
										  "200", "260")
					   FLOW_GONE("110", "40", "cwnd", "200", "260")));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 2);
	done(&outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flow),         cmocka_unit_test(test_two_messages),
		cmocka_unit_test(test_every_reason), cmocka_unit_test(test_what_was_not_seen),
		cmocka_unit_test(test_changing),     cmocka_unit_test(test_rest),
		cmocka_unit_test(test_options),      cmocka_unit_test(test_many_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

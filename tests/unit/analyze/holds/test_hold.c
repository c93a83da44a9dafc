// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What a hold is taken for: each hand-written trace, and small ones that differ in one fact. */
#include "tests/unit/analyze/outcome.h"

/* The first stall of each hand-written trace. */
static const struct {
	const char *name;
	size_t stalls;
	enum cause cause;
	enum confidence confidence;
	bool exact, open, whole; /* whole: nothing is missing */
	uint32_t pid, tid;
	uint64_t us; /* of the first stall */
} golden_rows[] = {
	{"nagle-delack", 3, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242,
	 40381},
	{"server-side", 2, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4243, 4243,
	 40381},
	{"nagle-data", 1, CAUSE_NAGLE, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242, 24940},
	{"nagle-prompt", 1, CAUSE_NAGLE, CONFIDENCE_OBSERVED, true, false, true, 4242, 0, 23930},
	{"cork", 1, CAUSE_CORK, CONFIDENCE_OBSERVED, true, false, true, 901, 901, 201580},
	{"msg-more", 1, CAUSE_CORK, CONFIDENCE_OBSERVED, true, false, true, 4243, 4243, 62080},
	{"remote-inferred", 2, CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, true, false, false, 991,
	 991, 43200},
	{"remote-far", 1, CAUSE_NAGLE, CONFIDENCE_OBSERVED, true, false, false, 991, 991, 61200},
	{"peer-app", 1, CAUSE_PEER_APP, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242, 80280},
	{"rwnd", 1, CAUSE_RWND, CONFIDENCE_OBSERVED, true, false, true, 4242, 0, 35020},
	{"cork-then-nagle", 1, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4242,
	 4242, 41890},
	{"zero-window", 1, CAUSE_ZERO_WINDOW, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242,
	 250200},
	{"pacing", 1, CAUSE_PACING, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242, 65400},
	{"sndbuf", 1, CAUSE_SNDBUF, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242, 40000},
	{"open-hold", 1, CAUSE_NAGLE, CONFIDENCE_OBSERVED, false, true, false, 4242, 0, 89800},
	{"inexact", 1, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, false, false, false, 4242, 4242,
	 43581},
	{"unseen-softirq", 2, CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, false, false, false, 4242,
	 4242, 43459},
	{"owned-timer", 1, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242,
	 40381},
	{"ipv6", 1, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242, 40381},
	{"both-sides", 1, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4242, 4300,
	 40381},
	{"hostile-comm", 1, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242,
	 40381},
	{"lost-events", 2, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242,
	 40381},
	{"three-pieces", 1, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242,
	 40381},
	{"many-connections", 5, CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, true, false, true, 4243,
	 4243, 40381},
	{"rto-after-probe", 1, CAUSE_RTO, CONFIDENCE_OBSERVED, true, false, true, 4242, 4242,
	 414280},
	{"tlp", 1, CAUSE_TLP, CONFIDENCE_OBSERVED, true, false, true, 991, 991, 224300},
	{"fast-retransmit", 1, CAUSE_FAST_RETRANSMIT, CONFIDENCE_OBSERVED, true, false, true, 4243,
	 4243, 45700},
	{"syn-retransmit", 1, CAUSE_SYN_RETRANSMIT, CONFIDENCE_OBSERVED, true, false, true, 991,
	 991, 1025060},
	{"receiver-inferred", 1, CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, true, false, false, 991,
	 991, 44200},
	{"idle-server", 0, CAUSE_UNKNOWN, CONFIDENCE_OBSERVED, true, false, true, 0, 0, 0},
	{"harmless-timer", 0, CAUSE_UNKNOWN, CONFIDENCE_OBSERVED, true, false, true, 0, 0, 0},
	{"no-connection", 0, CAUSE_UNKNOWN, CONFIDENCE_OBSERVED, true, false, true, 0, 0, 0},
};

static void test_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(golden_rows) / sizeof(golden_rows[0]); i++) {
		struct outcome outcome = analyze(feed__golden(golden_rows[i].name));
		const struct stall *stall = outcome.stall;

		assert_int_equal(outcome.report->stall_count, golden_rows[i].stalls);
		assert_int_equal(!!report__leading(outcome.report), golden_rows[i].stalls > 0);
		if (stall) {
			assert_string_equal(cause__info(stall->cause)->id,
					    cause__info(golden_rows[i].cause)->id);
			assert_int_equal(stall->confidence, golden_rows[i].confidence);
			assert_int_equal(stall->exact, golden_rows[i].exact);
			assert_int_equal(stall->open, golden_rows[i].open);
			assert_int_equal(!stall->missing, golden_rows[i].whole);
			assert_int_equal(stall->pid, golden_rows[i].pid);
			assert_int_equal(stall->tid, golden_rows[i].tid);
			assert_int_equal((stall->end_ts - stall->start_ts) / 1000,
					 golden_rows[i].us);
			assert_int_equal(!stall->inferred,
					 golden_rows[i].confidence == CONFIDENCE_OBSERVED);
		}
		done(&outcome);
	}
}

static void assert_cause(const char *text, enum cause cause, enum confidence confidence,
			 enum stall_missing missing)
{
	struct outcome outcome = analyze(feed__text(text));
	const struct stall *stall = outcome.stall;

	assert_int_equal(outcome.report->stall_count, 1);
	assert_string_equal(cause__info(stall->cause)->id, cause__info(cause)->id);
	assert_int_equal(stall->confidence, confidence);
	assert_int_equal(stall->missing, missing);
	done(&outcome);
}

static void test_links(void **state)
{
	(void)state;
	assert_cause(HEAD PEER FIRST SECOND FIRE LEFT ARRIVED GONE, CAUSE_NAGLE_DELACK,
		     CONFIDENCE_OBSERVED, MISSING_NOTHING);
	/* The first write need not be seen. */
	assert_cause(HEAD PEER SECOND FIRE LEFT ARRIVED GONE, CAUSE_NAGLE_DELACK,
		     CONFIDENCE_OBSERVED, MISSING_NOTHING);
	/* A timer that finds nothing due is none. */
	assert_cause(HEAD PEER FIRST SECOND "49.9 delack-fire conn=2 pending=1\n" LEFT ARRIVED GONE,
		     CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_NOTHING);
	/* One that ran out before the hold has nothing to do with it. */
	assert_cause(HEAD PEER FIRST "9.9 delack-fire conn=2 pending=3\n" SECOND LEFT ARRIVED GONE,
		     CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_NOTHING);
	/* Nor one that ran out after the acknowledgement. */
	assert_cause(HEAD PEER FIRST SECOND LEFT ARRIVED
		     "49.99 delack-fire conn=2 pending=3\n" GONE,
		     CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_NOTHING);
	/* The timer sent another acknowledgement than the one that released. */
	assert_cause(HEAD PEER FIRST SECOND
		     "20 delack-fire conn=2 pending=3\n"
		     "20.01 ack conn=2 seq=500 end=500 ack=120\n"
		     "20.02 rx conn=1 seq=500 end=500 ack=120\n" LEFT ARRIVED GONE,
		     CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_ACK_REASON);
	/* Two timers: the second one it was. */
	assert_cause(HEAD PEER FIRST SECOND
		     "20 delack-fire conn=2 pending=3\n"
		     "20.01 ack conn=2 seq=500 end=500 ack=120\n"
		     "20.02 rx conn=1 seq=500 end=500 ack=120\n" FIRE LEFT ARRIVED GONE,
		     CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, MISSING_NOTHING);
	/* A segment with a FIN is no plain acknowledgement. */
	assert_cause(HEAD PEER FIRST SECOND FIRE LEFT
		     "49.95 rx conn=1 seq=500 end=500 ack=140 flags=0x11\n" GONE,
		     CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_NOTHING);
}

static void test_missing_links(void **state)
{
	(void)state;
	assert_cause(HEAD PEER FIRST SECOND FIRE LEFT GONE, CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED,
		     MISSING_ACK_ARRIVAL);
	assert_cause(HEAD PEER FIRST SECOND FIRE ARRIVED GONE, CAUSE_NAGLE_DELACK,
		     CONFIDENCE_INFERRED, MISSING_ACK_DEPARTURE);
	assert_cause(HEAD PEER FIRST SECOND FIRE GONE, CAUSE_NAGLE, CONFIDENCE_OBSERVED,
		     MISSING_RELEASER);
	assert_cause(HEAD PEER FIRST SECOND GONE, CAUSE_NAGLE, CONFIDENCE_OBSERVED,
		     MISSING_RELEASER);
	/* Of the peer nothing was seen: as if it were on another host. */
	assert_cause(HEAD PEER FIRST SECOND ARRIVED GONE, CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED,
		     MISSING_PEER_MEANWHILE);
	assert_cause(HEAD FIRST SECOND ARRIVED GONE, CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED,
		     MISSING_PEER_HERE);
	assert_cause(
		"0 conn conn=1 tgid=10 role=target local=10.0.0.1:7000 remote=10.0.0.2:80 "
		"opener=self\n" FIRST SECOND ARRIVED GONE,
		CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, MISSING_PEER_FAR);
	assert_cause("0 lost kind=conns count=1\n" HEAD FIRST SECOND ARRIVED GONE,
		     CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, MISSING_PEER_NO_ROOM);
	/* Without a round-trip time there is nothing to deduce from. */
	assert_cause(HEAD
		     "10 hold conn=1 tid=10 reason=nagle seq=140 end=200 unacked=40\n" ARRIVED GONE,
		     CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_ROUND_TRIP_OF_ACK);
	/* A way of attaching that does not see the timer. */
	assert_cause("0 session threshold=10 missing=0x20\n" HEAD
		     "1 session threshold=10 missing=0x20\n" PEER FIRST SECOND LEFT ARRIVED GONE,
		     CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, MISSING_DELACK_HIDDEN);
	/* Lost records may have been the timer. */
	assert_cause(HEAD PEER FIRST SECOND LEFT ARRIVED GONE "51 lost kind=ringbuf count=1\n",
		     CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_DELACK_LOST);
}

#define WITH_TIMER(due)                                                                            \
	"10 hold conn=1 tid=10 reason=nagle seq=140 end=200 unacked=40 ack_due_us=" due "\n"
#define FOUND_GONE "50 release conn=1 held=40 seq=140 end=200 reason=nagle inexact=1\n"
#define ACKS_HELD  "49.99 rx conn=1 seq=500 end=500 ack=200\n"

/* Bytes that went in a softirq run that nobody saw: only the timer's own state is left. */
static void test_release_unseen(void **state)
{
	(void)state;
	assert_cause(HEAD PEER FIRST WITH_TIMER("36000") ACKS_HELD FOUND_GONE, CAUSE_NAGLE_DELACK,
		     CONFIDENCE_INFERRED, MISSING_ACK_AND_TRANSMIT);
	/* Without that state, its arming. */
	assert_cause(HEAD PEER FIRST
		     "9.5 delack-arm conn=2 delay_us=40000\n" SECOND ACKS_HELD FOUND_GONE,
		     CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, MISSING_ACK_AND_TRANSMIT);
	/* It was to run out at another time, or was not armed. */
	assert_cause(HEAD PEER FIRST WITH_TIMER("20000") ACKS_HELD FOUND_GONE, CAUSE_NAGLE,
		     CONFIDENCE_OBSERVED, MISSING_RELEASER);
	assert_cause(HEAD PEER FIRST WITH_TIMER("80000") ACKS_HELD FOUND_GONE, CAUSE_NAGLE,
		     CONFIDENCE_OBSERVED, MISSING_RELEASER);
	assert_cause(HEAD PEER FIRST SECOND ACKS_HELD FOUND_GONE, CAUSE_NAGLE, CONFIDENCE_OBSERVED,
		     MISSING_RELEASER);
	/* The other end wrote meanwhile: its data may have carried the acknowledgement. */
	assert_cause(HEAD PEER FIRST WITH_TIMER(
			     "36000") "40 tx conn=2 seq=500 end=520 ack=140\n" ACKS_HELD FOUND_GONE,
		     CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_RELEASER);
	/* When what it wrote acknowledges the held bytes, it came behind them. */
	assert_cause(
		HEAD PEER FIRST WITH_TIMER(
			"36000") "49.98 tx conn=2 seq=500 end=520 ack=200\n" ACKS_HELD FOUND_GONE,
		CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, MISSING_ACK_AND_TRANSMIT);
	/* A release that was seen needs no such thing: without an arrival it stays Nagle's. */
	assert_cause(HEAD PEER FIRST WITH_TIMER("36000") GONE, CAUSE_NAGLE, CONFIDENCE_OBSERVED,
		     MISSING_RELEASER);
}

static void test_hold_unseen(void **state)
{
	struct outcome outcome = analyze(feed__text(HEAD PEER FIRST FIRE LEFT ARRIVED GONE));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_NAGLE_DELACK);
	assert_int_equal(outcome.stall->hold.head.type, 0);
	assert_int_equal(outcome.stall->held_bytes, 60);
	assert_int_equal(outcome.stall->reason, NS_HOLD_NAGLE);
	assert_int_equal(outcome.stall->end_ts - outcome.stall->start_ts, 40000000);
	assert_int_equal(outcome.stall->missing, MISSING_HELD_WRITE);
	done(&outcome);
}

/* Whether a hold is Nagle's is told by its reason, never by how long it took. */
static void test_no_duration_decides(void **state)
{
	(void)state;
	assert_cause(HEAD PEER FIRST SECOND
		     "14.0 delack-fire conn=2 pending=3\n"
		     "25.01 ack conn=2 seq=500 end=500 ack=140\n"
		     "25.02 rx conn=1 seq=500 end=500 ack=140\n"
		     "25.03 tx conn=1 seq=140 end=200\n"
		     "25.03 release conn=1 held=15.03 seq=140 end=200 "
		     "reason=nagle\n",
		     CAUSE_NAGLE_DELACK, CONFIDENCE_OBSERVED, MISSING_NOTHING);
	/* Exactly 40 ms, and not a timer in sight. */
	assert_cause(HEAD PEER FIRST SECOND LEFT ARRIVED GONE, CAUSE_NAGLE, CONFIDENCE_OBSERVED,
		     MISSING_NOTHING);
}

static void test_threshold(void **state)
{
	struct outcome outcome =
		analyze(feed__text(HEAD PEER FIRST SECOND
				   "19.98 rx conn=1 seq=500 end=500 ack=140\n"
				   "19.999999 tx conn=1 seq=140 end=200\n"
				   "19.999999 release conn=1 held=9.999999 seq=140 end=200 "
				   "reason=nagle\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 0);
	done(&outcome);
	outcome = analyze(feed__text(HEAD PEER FIRST SECOND
				     "19.98 rx conn=1 seq=500 end=500 ack=140\n"
				     "20 tx conn=1 seq=140 end=200\n"
				     "20 release conn=1 held=10 seq=140 end=200 reason=nagle\n"));
	assert_int_equal(outcome.report->stall_count, 1);
	done(&outcome);
}

/* Of a far end alone the time of its acknowledgement is known: up to four round trips it was
 * prompt. */
#define FAR_HOLD(rtt_us)                                                                           \
	"0 session threshold=10\n"                                                                 \
	"0 process tgid=991 role=target\n"                                                         \
	"0 conn conn=1 tgid=991 role=target local=10.0.0.1:1 remote=10.0.0.2:2 fd=5 opener=self\n" \
	"5 send conn=1 tgid=991 tid=991 bytes=21 fd=5 write_seq=1021 snd_nxt=1021 snd_una=1000\n"  \
	"5 send conn=1 tgid=991 tid=991 bytes=9 fd=5 write_seq=1030 snd_nxt=1021 snd_una=1000\n"   \
	"5 hold conn=1 tgid=991 tid=991 reason=nagle seq=1021 end=1030 unacked=21 mss=1448 "       \
	"packets_out=1 min_rtt_us=" rtt_us                                                         \
	"\n"                                                                                       \
	"45 rx conn=1 seq=800 end=800 ack=1021 flags=0x10\n"                                       \
	"45 tx conn=1 seq=1021 end=1030 ack=800\n"                                                 \
	"45 release conn=1 held=40 seq=1021 end=1030 reason=nagle\n"

static void test_four_round_trips(void **state)
{
	(void)state;
	assert_cause(FAR_HOLD("10000"), CAUSE_NAGLE, CONFIDENCE_OBSERVED, MISSING_PEER_FAR);
	assert_cause(FAR_HOLD("9999"), CAUSE_NAGLE_DELACK, CONFIDENCE_INFERRED, MISSING_PEER_FAR);
}

/* What is held while its program still makes the rest of the message is not waited for as yet. */
static void test_held_meanwhile(void **state)
{
	static const char requests[] =
		"5 exchange conn=1 tgid=10 tid=10 side=asked begin=2 ready=2 answer=5 weight=1 "
		"ended=followed\n";
	static const char last[] =
		"%d send conn=1 tgid=10 tid=10 bytes=60 write_seq=260 "
		"snd_nxt=140 snd_una=100\n";
	static const struct {
		int last;
		bool is_of_requests;
		uint64_t us; /* 0: no stall */
	} rows[] = {
		{12, true, 40000}, /* so little is left as it is */
		{30, true, 20000},
		{45, true, 0},
		{45, false, 40000}, /* of a flow nobody knows where a message ends */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096], more[256];
		struct outcome outcome;

		snprintf(more, sizeof(more), last, rows[i].last);
		snprintf(text, sizeof(text), "%s%s%s%s", HEAD PEER,
			 rows[i].is_of_requests ? requests : "", FIRST SECOND, more);
		outcome = analyze(feed__text(strcat(text, FIRE LEFT ARRIVED GONE)));
		if (outcome.report->stall_count != (rows[i].us > 0) ||
		    (outcome.stall &&
		     (outcome.stall->end_ts - outcome.stall->start_ts) / 1000 != rows[i].us))
			fail_msg("row %zu: %zu stalls", i, outcome.report->stall_count);
		done(&outcome);
	}
}

static void test_open_at_close(void **state)
{
	struct outcome outcome =
		analyze(feed__text(HEAD PEER FIRST SECOND "60 close conn=1\n100 end\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_true(outcome.stall->open);
	assert_false(outcome.stall->exact);
	assert_int_equal(outcome.stall->end_ts, TEXT_TRACE_ORIGIN_NS + 60000000);
	assert_int_equal(outcome.stall->missing, MISSING_ACK_BEFORE_CLOSE);
	done(&outcome);
	/* Closed, and then the release comes after all. */
	outcome = analyze(feed__text(HEAD PEER FIRST SECOND FIRE LEFT ARRIVED
				     "60 close conn=1\n" GONE "100 end\n"));
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_NAGLE_DELACK);
	assert_false(outcome.stall->open);
	done(&outcome);
}

static void test_steps(void **state)
{
	struct outcome outcome = analyze(feed__golden("nagle-delack"));
	char line[128], *text;

	(void)state;
	for (size_t i = 0; i < outcome.report->stall_count; i++) {
		const struct stall *stall = &outcome.report->stalls[i];

		assert_int_equal(stall->step_count, 13);
		assert_int_equal(stall->steps[0].head.type, NS_SEND);
		assert_int_equal(stall->steps[0].send.bytes, 40);
		assert_int_equal(stall->steps[12].head.type, NS_WAIT);
		assert_int_equal(stall->first.bytes, 40);
		assert_int_equal(stall->second.bytes, 136);
		assert_int_equal(stall->arm.delay_us, 40000);
		assert_int_equal(stall->fire.head.type, NS_DELACK_FIRE);
		assert_int_equal(stall->ack.head.type, NS_RX);
	}
	done(&outcome);
	/* Many writes join a cork: the proof stays when the steps are too many. */
	text = calloc(1, 20000);
	strcat(text, HEAD PEER
	       "10 send conn=1 tid=10 bytes=1 write_seq=101 snd_nxt=100\n"
	       "10 hold conn=1 tid=10 reason=cork seq=100 end=101\n");
	for (unsigned i = 1; i <= 60; i++) {
		snprintf(line, sizeof(line),
			 "%u send conn=1 tid=10 bytes=1 write_seq=%u snd_nxt=100\n", 10 + i,
			 101 + i);
		strcat(text, line);
	}
	strcat(text,
	       "90 tx conn=1 seq=100 end=161\n"
	       "90 release conn=1 held=80 seq=100 end=161 reason=cork\n");
	outcome = analyze(feed__text(text));
	free(text);
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->joined, 60);
	assert_int_equal(outcome.stall->step_count, STALL_STEPS);
	assert_int_equal(outcome.stall->steps[1].head.type, NS_HOLD);
	assert_int_equal(outcome.stall->steps[STALL_STEPS - 1].head.type, NS_RELEASE);
	done(&outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),           cmocka_unit_test(test_links),
		cmocka_unit_test(test_missing_links),    cmocka_unit_test(test_release_unseen),
		cmocka_unit_test(test_hold_unseen),      cmocka_unit_test(test_no_duration_decides),
		cmocka_unit_test(test_threshold),        cmocka_unit_test(test_open_at_close),
		cmocka_unit_test(test_four_round_trips), cmocka_unit_test(test_steps),
		cmocka_unit_test(test_held_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

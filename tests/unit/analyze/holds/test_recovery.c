// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Losses: what a recovery is named for, where it begins and ends, and what it takes in. */
#include "tests/unit/analyze/outcome.h"

#define AT(ns) (TEXT_TRACE_ORIGIN_NS + (ns))

/* ---- one loss, in lines that a test leaves out or changes ---- */

#define ASKED "10 send conn=1 tgid=10 tid=10 bytes=100 write_seq=200 snd_nxt=200 snd_una=100\n"
#define PROBE "210 retrans conn=1 kind=tlp seq=100 end=200 rto_us=200000 retries=1 sent=10\n"
#define TIMER                                                                                      \
	"410 retrans conn=1 kind=rto seq=100 end=200 rto_us=200000 retries=1 ca_state=4 "          \
	"sent=210\n"
#define GOT_IT      "410.1 rx conn=2 seq=100 end=200 ack=500\n"
#define ACKED       "411 rx conn=1 seq=500 end=500 ack=200 flags=0x10\n"
#define SERVER_RUNS "410.4 wait conn=2 tgid=20 tid=20 off=5 wake=410.2 state=1 syscall=0 arg0=8\n"
#define CLIENT_RUNS "412 wait conn=1 tgid=10 tid=10 off=10.1 wake=411.9 state=1 syscall=0 arg0=7\n"

static void assert_slice(const struct stall *stall, size_t i, enum cause cause, uint64_t us)
{
	assert_true(i < stall->slice_count);
	assert_string_equal(cause__info(stall->slices[i].cause)->id, cause__info(cause)->id);
	assert_int_equal(stall->slices[i].ns / 1000, us);
}

static void test_timer(void **state)
{
	struct outcome outcome = analyze(feed__text(
		HEAD PEER ASKED PROBE TIMER GOT_IT ACKED SERVER_RUNS CLIENT_RUNS "500 end\n"));
	const struct stall *stall = outcome.stall;

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(stall->cause, CAUSE_RTO);
	assert_true(stall->exact);
	assert_false(stall->missing);
	assert_int_equal(stall->retransmits, 2);
	assert_int_equal(stall->retrans.kind, NS_RETRANS_RTO);
	assert_int_equal(stall->start_ts, AT(10000000));
	assert_int_equal(stall->end_ts, AT(410400000));
	assert_int_equal(stall->pid, 10);
	assert_int_equal(stall->tid, 10);
	assert_int_equal(stall->slice_count, 4);
	assert_slice(stall, 0, CAUSE_TLP, 200000);
	assert_slice(stall, 1, CAUSE_RTO, 200000);
	assert_slice(stall, 2, CAUSE_NETWORK, 200);
	assert_slice(stall, 3, CAUSE_RUNQUEUE, 200);
	/* The client's wait is the same incident. */
	assert_int_equal(stall->wait_count, 1);
	done(&outcome);
}

/* Of the other end nothing is seen: until the acknowledgement. */
static void test_unseen_peer(void **state)
{
	struct outcome outcome = analyze(feed__text(HEAD ASKED PROBE ACKED CLIENT_RUNS));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_TLP);
	assert_int_equal(outcome.stall->end_ts, AT(411000000));
	assert_slice(outcome.stall, 0, CAUSE_TLP, 200000);
	assert_slice(outcome.stall, 1, CAUSE_NETWORK, 201000);
	done(&outcome);
}

/* What the first transmission is known by: the kernel's stamp, the send, the timer. */
static void test_begin(void **state)
{
	static const struct {
		const char *text;
		uint64_t start_us;
		enum stall_missing missing;
	} rows[] = {
		{HEAD "210 retrans conn=1 kind=tlp seq=100 end=200 retries=1 sent=9\n" ACKED, 9000,
		 MISSING_NOTHING},
		{HEAD ASKED "210 retrans conn=1 kind=tlp seq=100 end=200 retries=1\n" ACKED, 10000,
		 MISSING_NOTHING},
		{HEAD "12 tx conn=1 seq=100 end=200\n"
		      "210 retrans conn=1 kind=tlp seq=100 end=200 retries=1\n" ACKED,
		 12000, MISSING_NOTHING},
		{HEAD "210 retrans conn=1 kind=rto seq=100 end=200 rto_us=200000 retries=1\n" ACKED,
		 10000, MISSING_FIRST_TRANSMIT},
		{HEAD "210 retrans conn=1 kind=tlp seq=100 end=200 rto_us=200000 retries=1\n" ACKED,
		 210000, MISSING_FIRST_TRANSMIT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome outcome = analyze(feed__text(rows[i].text));

		assert_int_equal(outcome.report->stall_count, 1);
		assert_int_equal(outcome.stall->start_ts, AT(1000 * rows[i].start_us));
		assert_int_equal(outcome.stall->missing, rows[i].missing);
		assert_int_equal(outcome.stall->exact, !rows[i].missing);
		done(&outcome);
	}
}

static void test_end(void **state)
{
	/* The window closes first. */
	struct outcome outcome = analyze(feed__text(HEAD ASKED PROBE "300 end\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_true(outcome.stall->open);
	assert_int_equal(outcome.stall->end_ts, AT(300000000));
	assert_int_equal(outcome.stall->missing, MISSING_END_WINDOW);
	done(&outcome);
	/* The connection does. */
	outcome = analyze(feed__text(HEAD ASKED PROBE "250 close conn=1\n300 end\n"));
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->end_ts, AT(250000000));
	assert_int_equal(outcome.stall->missing, MISSING_ACK_BEFORE_CLOSE);
	done(&outcome);
	/* The acknowledgement came unseen; the next send knows. */
	outcome = analyze(feed__text(HEAD ASKED PROBE "260 send conn=1 tgid=10 tid=10 bytes=10 "
						      "write_seq=210 snd_nxt=210 snd_una=200\n"));
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->end_ts, AT(210000000));
	assert_false(outcome.stall->exact);
	assert_int_equal(outcome.stall->missing, MISSING_LAST_ACK);
	done(&outcome);
	/* An acknowledgement of less does not end it. */
	outcome = analyze(feed__text(HEAD ASKED PROBE
				     "211 rx conn=1 seq=500 end=500 ack=100 flags=0x10\n" ACKED));
	assert_int_equal(outcome.stall->end_ts, AT(411000000));
	done(&outcome);
}

/* Told of by acknowledgements: a stall when a target's thread waited for it. */
static void test_fast(void **state)
{
#define FAST       "40 retrans conn=1 kind=fast seq=100 end=200 rto_us=230000 ca_state=3 sent=10\n"
#define FAST_ACKED "70 rx conn=1 seq=500 end=500 ack=900 flags=0x10\n"
	struct outcome outcome = analyze(feed__text(
		HEAD ASKED FAST FAST_ACKED
		"80 wait conn=1 tgid=10 tid=10 off=10.1 wake=79 state=1 syscall=0 arg0=7\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_FAST_RETRANSMIT);
	assert_slice(outcome.stall, 0, CAUSE_FAST_RETRANSMIT, 30000);
	assert_slice(outcome.stall, 1, CAUSE_NETWORK, 30000);
	done(&outcome);
	outcome = analyze(feed__text(HEAD ASKED FAST FAST_ACKED));
	assert_int_equal(outcome.report->stall_count, 0);
	done(&outcome);
	/* Nobody was seen to wait, but the window held bytes back because of it. */
	outcome = analyze(feed__text(
		HEAD ASKED "12 hold conn=1 tgid=10 tid=10 reason=cwnd seq=900 end=990\n" FAST
			   "70 rx conn=1 seq=500 end=500 ack=900 flags=0x10\n"
			   "70.1 tx conn=1 seq=900 end=990\n"
			   "70.1 release conn=1 held=58.1 seq=900 end=990 reason=cwnd\n"));
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_FAST_RETRANSMIT);
	assert_int_equal(outcome.stall->reason, NS_HOLD_CWND);
	done(&outcome);
	/* Lost again: then the timer is what took most. */
	outcome = analyze(feed__text(
		HEAD ASKED FAST
		"240 retrans conn=1 kind=rto seq=100 end=200 rto_us=200000 retries=1 sent=40\n" ACKED));
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_RTO);
	assert_slice(outcome.stall, 0, CAUSE_FAST_RETRANSMIT, 30000);
	assert_slice(outcome.stall, 1, CAUSE_RTO, 200000);
	done(&outcome);
}

/* The hold behind the loss is the same incident; one that only brushes it is not. */
static void test_hold(void **state)
{
	struct outcome outcome = analyze(feed__text(
		HEAD
		"9.8 send conn=1 tgid=10 tid=10 bytes=40 write_seq=140 snd_nxt=140 "
		"snd_una=100\n" SECOND
		"210 retrans conn=1 kind=rto seq=100 end=140 rto_us=200000 retries=1 sent=9.8\n"
		"211 rx conn=1 seq=500 end=500 ack=140 flags=0x10\n"
		"211.1 tx conn=1 seq=140 end=200 ack=500\n"
		"211.1 release conn=1 held=201.1 seq=140 end=200 reason=nagle\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_RTO);
	assert_int_equal(outcome.stall->hold.head.type, NS_HOLD);
	assert_int_equal(outcome.stall->held_bytes, 60);
	done(&outcome);
	outcome =
		analyze(feed__text(HEAD FIRST SECOND ARRIVED GONE
				   "60 retrans conn=1 kind=tlp seq=140 end=200 retries=1 sent=50\n"
				   "61 rx conn=1 seq=500 end=500 ack=200 flags=0x10\n"));
	assert_int_equal(outcome.report->stall_count, 2);
	assert_int_equal(outcome.report->stalls[0].cause, CAUSE_NAGLE_DELACK);
	assert_int_equal(outcome.report->stalls[1].cause, CAUSE_TLP);
	done(&outcome);
}

/* A probe takes held bytes along, which nothing else would have let go. */
static void test_probe_with_new_bytes(void **state)
{
#define LEFT_UNASKED                                                                               \
	"210 tx conn=1 seq=140 end=200 ack=500\n"                                                  \
	"210 release conn=1 held=200 seq=140 end=200 reason=nagle\n"
#define TOLD                                                                                       \
	"211 retrans conn=1 kind=fast seq=100 end=140 ca_state=3 sent=9.8\n"                       \
	"212 rx conn=1 seq=500 end=500 ack=200 flags=0x10\n"                                       \
	"213 wait conn=1 tgid=10 tid=10 off=10.1 wake=212.9 state=1 syscall=0 arg0=7\n"
	struct outcome outcome = analyze(feed__text(HEAD FIRST SECOND LEFT_UNASKED TOLD));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_TLP);
	assert_slice(outcome.stall, 0, CAUSE_TLP, 200200);
	assert_slice(outcome.stall, 1, CAUSE_FAST_RETRANSMIT, 1000);
	done(&outcome);
	/* A write that filled the segment let them go: no probe. */
	outcome = analyze(
		feed__text(HEAD FIRST SECOND
			   "210 send conn=1 tgid=10 tid=10 bytes=940 write_seq=1140 snd_nxt=1140 "
			   "snd_una=100\n" LEFT_UNASKED TOLD));
	assert_int_equal(outcome.stall->cause, CAUSE_FAST_RETRANSMIT);
	done(&outcome);
}

/* The bytes had arrived, their acknowledgement was lost: nobody was delayed. */
static void test_arrived(void **state)
{
	struct outcome outcome = analyze(feed__text(
		HEAD PEER ASKED
		"210 retrans conn=1 kind=rto seq=100 end=200 rto_us=200000 retries=1 sent=10 "
		"arrived=1\n" ACKED));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 0);
	done(&outcome);
}

static void test_syn(void **state)
{
#define SYN                                                                                        \
	"1010 retrans conn=1 kind=syn seq=70 end=70 rto_us=1000000 retries=1 sent=10\n"            \
	"3010 retrans conn=1 kind=syn seq=70 end=70 rto_us=2000000 retries=2 sent=1010\n"
	struct outcome outcome = analyze(
		feed__text(HEAD SYN "3010.2 rx conn=1 seq=9 end=9 ack=71 flags=0x12\n"
				    "3010.4 wait conn=1 tgid=10 tid=10 off=10.1 wake=3010.3 "
				    "state=1 syscall=42 arg0=7\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_SYN_RETRANSMIT);
	assert_int_equal(outcome.stall->start_ts, AT(10000000));
	assert_int_equal(outcome.stall->retransmits, 2);
	assert_false(outcome.stall->missing);
	assert_int_equal(outcome.stall->released_by, RELEASED_BY_SYN_ANSWER);
	assert_int_equal(outcome.stall->tid, 10);
	done(&outcome);
	/* Nobody ever answers. */
	outcome = analyze(feed__text(HEAD SYN "5000 close conn=1\n6000 end\n"));
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_SYN_RETRANSMIT);
	assert_int_equal(outcome.stall->end_ts, AT(5000000000));
	assert_false(outcome.stall->missing);
	done(&outcome);
}

static void test_short(void **state)
{
	struct outcome outcome =
		analyze(feed__text(HEAD ASKED
				   "14 retrans conn=1 kind=tlp seq=100 end=200 retries=1 sent=10\n"
				   "14.5 rx conn=1 seq=500 end=500 ack=200 flags=0x10\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 0);
	done(&outcome);
}

/* More that go on at once than are followed: the oldest are forgotten, nothing breaks. */
static void test_bound(void **state)
{
	struct pipeline *pipeline = pipeline__new(NULL);
	const struct report *report;
	struct ns_retrans retrans = {.head = {.type = NS_RETRANS, .len = sizeof(retrans)},
				     .kind = NS_RETRANS_RTO,
				     .end = 10,
				     .retries = 1};

	(void)state;
	for (uint32_t i = 1; i <= 1500; i++) {
		retrans.head.conn = i;
		retrans.head.ts = 1000000000ull + i;
		retrans.sent_ts = retrans.head.ts - 200000000;
		assert_int_equal(pipeline__feed(pipeline, &retrans, sizeof(retrans)), 0);
	}
	report = pipeline__finish(pipeline);
	assert_int_equal(report->stall_count + report->stalls_not_kept, 1024);
	pipeline__free(pipeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timer),
		cmocka_unit_test(test_unseen_peer),
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_fast),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_probe_with_new_bytes),
		cmocka_unit_test(test_arrived),
		cmocka_unit_test(test_syn),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests_name("recovery", tests, NULL, NULL);
}

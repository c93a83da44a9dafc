// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Nagle's algorithm at an unseen end, told from this end's delayed ACK. */
#include "tests/unit/analyze/outcome.h"

#define AT(ns) (TEXT_TRACE_ORIGIN_NS + (ns))

#define ARMED "10 delack-arm conn=1 delay_us=40000\n"
#define FIRED "50 delack-fire conn=1 pending=3\n"
#define SENT  "50.1 ack conn=1 seq=500 end=500 ack=140 flags=0x10\n"
#define CAME  "54.2 rx conn=1 seq=140 end=200 ack=500 flags=0x18\n"
#define WAITED                                                                                     \
	"54.5 wait conn=1 tgid=10 tid=10 off=10.2 wake=54.3 state=1 syscall=0 arg0=7 "             \
	"min_rtt_us=4000\n"

static void assert_stalls(const char *text, size_t count)
{
	struct outcome outcome = analyze(feed__text(text));
	size_t found = 0;

	for (size_t i = 0; i < outcome.report->stall_count; i++)
		found += outcome.report->stalls[i].cause == CAUSE_NAGLE_DELACK;
	if (found != count)
		fail_msg("%zu stalls, not %zu, of:\n%s", found, count, text);
	done(&outcome);
}

static void test_whole(void **state)
{
	struct outcome outcome = analyze(feed__text(HEAD ARMED FIRED SENT CAME WAITED));
	const struct stall *stall = outcome.stall;

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(stall->cause, CAUSE_NAGLE_DELACK);
	assert_int_equal(stall->confidence, CONFIDENCE_INFERRED);
	assert_true(stall->inferred);
	assert_int_equal(stall->start_ts, AT(10200000));
	assert_int_equal(stall->end_ts, AT(54500000));
	assert_int_equal(stall->slice_count, 3);
	assert_int_equal(stall->slices[0].ns, 39900000);
	assert_int_equal(stall->slices[1].cause, CAUSE_NETWORK);
	assert_int_equal(stall->slices[2].cause, CAUSE_RUNQUEUE);
	assert_int_equal(stall->wait_count, 1);
	assert_int_equal(stall->tid, 10);
	done(&outcome);
}

/* Each of these takes away what the inference stands on. */
static void test_harmless(void **state)
{
	(void)state;
	/* Long after a round trip, and sooner than one: something else sent it. */
	assert_stalls(HEAD ARMED FIRED SENT
		      "99 rx conn=1 seq=140 end=200 ack=500\n"
		      "99.5 wait conn=1 tgid=10 tid=10 off=10.2 wake=99.1 "
		      "state=1 syscall=0 arg0=7 min_rtt_us=4000\n",
		      0);
	assert_stalls(HEAD ARMED FIRED SENT
		      "51 rx conn=1 seq=140 end=200 ack=500\n"
		      "51.5 wait conn=1 tgid=10 tid=10 off=10.2 wake=51.1 "
		      "state=1 syscall=0 arg0=7 min_rtt_us=4000\n",
		      0);
	/* Nobody waited, or only after the timer. */
	assert_stalls(HEAD ARMED FIRED SENT CAME, 0);
	assert_stalls(HEAD ARMED FIRED SENT CAME
		      "70 wait conn=1 tgid=10 tid=10 off=52 wake=69 "
		      "state=1 syscall=0 arg0=7 min_rtt_us=4000\n",
		      0);
	/* The data is the answer to a request that was sent meanwhile. */
	assert_stalls(HEAD ARMED FIRED SENT
		      "50.2 send conn=1 tgid=10 tid=11 bytes=50 "
		      "write_seq=550 snd_nxt=550 snd_una=500\n" CAME WAITED,
		      0);
	/* The timer found nothing due. */
	assert_stalls(HEAD ARMED "50 delack-fire conn=1 pending=1\n" SENT CAME WAITED, 0);
	/* Its acknowledgement was not seen. */
	assert_stalls(HEAD ARMED FIRED CAME WAITED, 0);
	/* The round trip is not known. */
	assert_stalls(HEAD ARMED FIRED SENT CAME
		      "54.5 wait conn=1 tgid=10 tid=10 off=10.2 wake=54.3 state=1 syscall=0 "
		      "arg0=7\n",
		      0);
	/* Other data came before. */
	assert_stalls(HEAD ARMED FIRED SENT "52 rx conn=1 seq=140 end=150 ack=500\n" CAME WAITED,
		      0);
	/* With the other end in sight its own hold would tell. */
	assert_stalls(HEAD PEER ARMED FIRED SENT CAME WAITED, 0);
}

/* The next timer of the same connection is judged anew. */
static void test_twice(void **state)
{
	(void)state;
	assert_stalls(HEAD ARMED FIRED SENT CAME WAITED
		      "60 delack-arm conn=1 delay_us=40000\n"
		      "100 delack-fire conn=1 pending=3\n"
		      "100.1 ack conn=1 seq=500 end=500 ack=200 flags=0x10\n"
		      "104.3 rx conn=1 seq=200 end=260 ack=500 flags=0x18\n"
		      "104.6 wait conn=1 tgid=10 tid=10 off=60.2 wake=104.4 state=1 syscall=0 "
		      "arg0=7 min_rtt_us=4000\n",
		      2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_harmless),
		cmocka_unit_test(test_twice),
	};

	return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}

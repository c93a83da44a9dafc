// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Holds that follow each other: one flow, unless an answer came between them. */
#include "tests/unit/analyze/outcome.h"

#define FULL(at, until, held, seq, end)                                                            \
	at " hold conn=1 tgid=10 tid=10 reason=rwnd seq=" seq " end=" end                          \
	   " unacked=40 mss=1000\n" until " rx conn=1 seq=500 end=500 ack=" seq                    \
	   " flags=0x10\n" until " tx conn=1 seq=" seq " end=" end " ack=500\n" until              \
	   " release conn=1 held=" held " seq=" seq " end=" end " reason=rwnd\n"
#define ONE   FULL("10", "30", "20", "140", "200")
#define OTHER FULL("45", "75", "30", "200", "300")
#define REQUEST(begin, at, more)                                                                   \
	at " exchange conn=1 tgid=10 tid=10 side=asked writes=1 begin=" begin " ready=" begin      \
	   " bytes_out=60 weight=1 " more "\n"

static void assert_stalls(const char *lines, size_t wanted)
{
	struct outcome outcome = analyze(feed__text(lines));

	assert_int_equal(outcome.report->stall_count, wanted);
	done(&outcome);
}

static void test_flow(void **state)
{
	(void)state;
	assert_stalls(HEAD PEER ONE OTHER, 1);
	assert_stalls(HEAD PEER ONE REQUEST("9", "40", "ended=followed") OTHER, 2);
	/* The answer came behind both; it was another connection's; its end was not seen. */
	assert_stalls(HEAD PEER ONE OTHER REQUEST("9", "80", "ended=followed"), 1);
	assert_stalls(HEAD PEER ONE
		      "40 exchange conn=3 tgid=10 tid=10 side=asked writes=1 begin=32 ready=32 "
		      "bytes_out=60 weight=1 ended=followed\n" OTHER,
		      1);
	assert_stalls(HEAD PEER ONE REQUEST("9", "40", "ended=open") OTHER, 1);
	/* What is held here keeps nobody's answer there: that wait is one of its own. */
	assert_stalls(HEAD PEER ONE
		      "40 exchange conn=3 tgid=10 tid=10 side=asked writes=1 begin=9 ready=9 "
		      "bytes_out=60 weight=1 ended=followed\n" OTHER,
		      2);
}

/* What of a request comes before most of it was held is a stall by itself, what comes behind is
 * not: the reader is at it still. */
static void test_before(void **state)
{
	(void)state;
	assert_stalls(HEAD PEER OTHER REQUEST("20", "75.1", "ended=followed"), 2);
	assert_stalls(HEAD PEER OTHER REQUEST("40", "75.1", "ended=followed"), 1);
	assert_stalls(HEAD PEER OTHER REQUEST("44", "90", "ended=followed"), 1);
}

/* What comes behind another hold is one: there the server begins. */
static void test_behind(void **state)
{
	(void)state;
	assert_stalls(
		HEAD PEER FIRST SECOND FIRE LEFT ARRIVED GONE REQUEST("9", "75", "ended=followed"),
		2);
	assert_stalls(
		HEAD PEER FIRST SECOND FIRE LEFT ARRIVED GONE REQUEST("9", "58", "ended=followed"),
		1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

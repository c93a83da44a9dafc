// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Holds that delay nobody, because the program at the other end had enough to read. */
#include "tests/unit/analyze/outcome.h"

#define RELEASED(reason, more)                                                                     \
	"50 tx conn=1 seq=140 end=200 ack=500\n"                                                   \
	"50 release conn=1 held=40 seq=140 end=200 reason=" reason " " more "\n"
#define HELD(reason)                                                                               \
	"10 send conn=1 tgid=10 tid=10 bytes=60 write_seq=200 snd_nxt=140 snd_una=100\n"           \
	"10 hold conn=1 tgid=10 tid=10 reason=" reason " seq=140 end=200 unacked=40 mss=1000\n"

static void assert_stalls(const char *text, size_t wanted)
{
	struct outcome outcome = analyze(feed__text(text));

	assert_int_equal(outcome.report->stall_count, wanted);
	done(&outcome);
}

static void test_behind(void **state)
{
	(void)state;
	assert_stalls(HEAD PEER FIRST HELD("nagle") RELEASED("nagle", ""), 1);
	assert_stalls(HEAD PEER FIRST HELD("nagle") RELEASED("nagle", "unread=0 unread_known=1"),
		      1);
	assert_stalls(HEAD PEER FIRST HELD("nagle") RELEASED("nagle", "unread=7 unread_known=1"),
		      0);
	/* What was not seen decides nothing. */
	assert_stalls(HEAD PEER FIRST HELD("nagle") RELEASED("nagle", "unread=7"), 1);
	assert_stalls(HEAD PEER FIRST HELD("cwnd") RELEASED("cwnd", "unread=7 unread_known=1"), 0);
	/* The reader is the reason. */
	assert_stalls(HEAD PEER FIRST HELD("rwnd") RELEASED("rwnd", "unread=7 unread_known=1"), 1);
	assert_stalls(HEAD PEER FIRST HELD("zero-window")
			      RELEASED("zero-window", "unread=7 unread_known=1"),
		      1);
}

/* The same with the ends exchanged: the target is the one that reads. */
#define SERVER_HEAD                                                                                \
	"0 session threshold=10 arch=x86_64\n"                                                     \
	"0 process tgid=10 role=peer comm=client\n"                                                \
	"0 process tgid=20 role=target comm=srv\n"                                                 \
	"0 conn conn=1 tgid=10 role=peer local=127.0.0.1:1 remote=127.0.0.1:2 fd=7 opener=self\n"  \
	"0 conn conn=2 tgid=20 role=target local=127.0.0.1:2 remote=127.0.0.1:1 fd=8 opener=peer\n"

static void test_target_reads(void **state)
{
	(void)state;
	assert_stalls(SERVER_HEAD PEER FIRST HELD("rwnd") RELEASED("rwnd", ""), 0);
	assert_stalls(SERVER_HEAD PEER FIRST HELD("zero-window") RELEASED("zero-window", ""), 0);
	assert_stalls(SERVER_HEAD PEER FIRST HELD("nagle") RELEASED("nagle", ""), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_target_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

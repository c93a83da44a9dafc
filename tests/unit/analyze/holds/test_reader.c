// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Holds that delay nobody, because the program at the other end had enough to read. */
#include "tests/unit/analyze/chain/wait_rows.h"

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

/* ---- what the reader did while bytes were held for it ---- */

#define WINDOW                                                                                     \
	HEAD                                                                                       \
	PEER STACKS HELD("zero-window")
#define OPENED RELEASED("zero-window", "unread=0 unread_known=1")
/* The server's thread 20, and how it is known to be the one that reads. */
#define READ(at) at " recv conn=2 tgid=20 tid=20 bytes=40 fd=8\n"
#define WAITS(off, on, conn, stack)                                                                \
	on " wait conn=" conn " tgid=20 tid=20 off=" off " wake=" on                               \
	   " state=1 syscall=0 arg0=8 conn_basis=fd stack_id=" stack " waker_stack_id=2 "
#undef SLEEPS
#define SLEEPS(off, on)                                                                            \
	on " wait tgid=20 tid=20 off=" off " wake=" on                                             \
	   " state=1 syscall=230 stack_id=3 waker_stack_id=4 "
/* It polls several descriptors; stack 4: until its time is up, 2: until one of them has something.
 */
#define POLLS(off, on, waker_stack)                                                                \
	on " wait tgid=20 tid=20 off=" off " wake=" on                                             \
	   " state=1 syscall=7 arg1=2 arg2=20 stack_id=9 waker_stack_id=" waker_stack "\n"
#define MAKES_ROOM(at)    at " ack conn=2 tgid=20 tid=20 seq=500 end=500 ack=140\n"
#define SPENT(run, input) "spent_known=1 run_us=" run " short_input_us=" input " shorts_input=9\n"

static const struct reader_row {
	const char *what;
	const char *lines;
	bool seen;
	unsigned waited_ms, ran_ms, away_ms;
	enum cause away; /* unless away_ms is 0 */
} reader_rows[] = {
	{"waits for data", WINDOW WAITS("5", "49", "2", "1") "\n" OPENED READ("50.1"), true, 39, 1,
	 0, 0},
	{"sleeps", WINDOW SLEEPS("8", "45") "\n" OPENED READ("50.1"), true, 0, 5, 35, CAUSE_TIMER},
	{"sleeps, and is the only thread", WINDOW SLEEPS("8", "50") "\n" OPENED, true, 0, 0, 40,
	 CAUSE_TIMER},
	{"computes", WINDOW WAITS("5", "10", "2", "1") "\n" OPENED READ("50.1"), true, 0, 40, 0, 0},
	{"serves another connection", WINDOW WAITS("5", "48", "3", "1") "\n" OPENED READ("50.1"),
	 true, 0, 2, 38, CAUSE_PEER_APP},
	{"waits for something else, with bytes left unread",
	 WINDOW WAITS("5", "48", "2", "9") "\n" RELEASED("zero-window", "unread=7 unread_known=1")
		 READ("50.1"),
	 true, 0, 2, 38, CAUSE_IDLE},
	{"reads in steps: mostly short waits for data",
	 WINDOW SLEEPS("1", "5") SPENT("100", "0") SLEEPS("55", "60") SPENT("5100", "45000")
		 OPENED READ("50.1"),
	 true, 36, 4, 0, 0},
	{"reads in steps: mostly computing",
	 WINDOW SLEEPS("1", "5") SPENT("100", "0") SLEEPS("55", "60") SPENT("45100", "5000")
		 OPENED READ("50.1"),
	 true, 4, 36, 0, 0},
	{"computes, as far back as it is known",
	 WINDOW SLEEPS("45", "46") SPENT("20000", "0") OPENED READ("50.1"), true, 0, 24, 1,
	 CAUSE_TIMER},
	{"is watched late", WINDOW SLEEPS("45", "46") SPENT("5000", "0") OPENED READ("50.1"), false,
	 0, 0, 0, 0},
	{"polls, its time is up, and it reads: it came by its clock",
	 WINDOW POLLS("11", "30", "4") POLLS("30", "49.8", "4") MAKES_ROOM("49.9") OPENED, true, 0,
	 0, 39, CAUSE_TIMER},
	{"polls again when its time is up: it waits for data",
	 WINDOW POLLS("11", "30", "4") POLLS("30", "50", "2") OPENED READ("50.1"), true, 39, 0, 0,
	 0},
	{"polls, and its time is up without a read", WINDOW POLLS("11", "49", "4") OPENED, true, 38,
	 1, 0, 0},
	{"was not watched", WINDOW OPENED READ("50.1"), false, 0, 0, 0, 0},
};

static unsigned whole_ms(uint64_t ns)
{
	return (unsigned)((ns + 500000) / 1000000);
}

static void test_reader(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reader_rows) / sizeof(reader_rows[0]); i++) {
		const struct reader_row *row = &reader_rows[i];
		struct outcome outcome = analyze(feed__text(row->lines));
		const struct stall_reader *reader;

		if (!outcome.stall)
			fail_msg("%s: no stall", row->what);
		reader = &outcome.stall->reader;
		if (reader->seen != row->seen || whole_ms(reader->waited_ns) != row->waited_ms ||
		    whole_ms(reader->ran_ns) != row->ran_ms ||
		    whole_ms(reader->away_ns) != row->away_ms ||
		    (row->away_ms && reader->away != row->away))
			fail_msg("%s: %d, waited %u, ran %u, away %u for %s", row->what,
				 reader->seen, whole_ms(reader->waited_ns),
				 whole_ms(reader->ran_ns), whole_ms(reader->away_ns),
				 cause__info(reader->away)->id);
		done(&outcome);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_target_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Which waits belong to a hold, and which are stalls of their own. */
#include "tests/unit/analyze/outcome.h"
#include "user/analyze/path.h"
#include "user/analyze/tally.h"

static uint64_t slice_of(const struct stall *stall, enum cause cause)
{
	for (size_t i = 0; i < stall->slice_count; i++) {
		if (stall->slices[i].cause == cause)
			return stall->slices[i].ns;
	}
	return 0;
}

static void test_receiver(void **state)
{
	static const char base[] = HEAD
	PEER FIRST SECOND FIRE LEFT ARRIVED GONE;
	static const struct {
		const char *waits;
		uint64_t network_us, runqueue_us;
	} rows[] = {
		/* read on the peer's descriptor */
		{"50.5 wait tgid=20 tid=20 off=11 wake=50.3 state=1 syscall=0 arg0=8\n", 300, 200},
		/* no wake seen: all of it is the way */
		{"50.5 wait tgid=20 tid=20 off=11 state=1 syscall=0 arg0=8\n", 500, 0},
		/* another descriptor, a lock, a sleep, another process, a preempted thread */
		{"50.5 wait tgid=20 tid=20 off=11 wake=50.3 state=1 syscall=0 arg0=9\n", 0, 0},
		{"50.5 wait tgid=20 tid=20 off=11 wake=50.3 state=1 syscall=202 arg0=8\n", 0, 0},
		{"50.5 wait tgid=20 tid=20 off=11 wake=50.3 state=1 syscall=230 arg0=8\n", 0, 0},
		{"50.5 wait tgid=30 tid=30 off=11 wake=50.3 state=1 syscall=0 arg0=8\n", 0, 0},
		{"50.5 wait tgid=20 tid=20 off=11 wake=50.3 state=0 arg0=8\n", 0, 0},
		/* woken before, begun after, far behind */
		{"50.5 wait tgid=20 tid=20 off=11 wake=49.9 state=1 syscall=0 arg0=8\n", 0, 0},
		{"50.5 wait tgid=20 tid=20 off=50.1 wake=50.3 state=1 syscall=0 arg0=8\n", 0, 0},
		{"150 wait tgid=20 tid=20 off=11 wake=149 state=1 syscall=0 arg0=8\n", 0, 0},
		/* of two pollers the first */
		{"50.9 wait tgid=20 tid=22 off=11 wake=50.7 state=1 syscall=232 arg0=4\n"
		 "50.5 wait tgid=20 tid=21 off=11 wake=50.4 state=1 syscall=232 arg0=5\n",
		 400, 100},
		/* but the one on the very descriptor is better, */
		{"50.9 wait tgid=20 tid=22 off=11 wake=50.7 state=1 syscall=45 arg0=8\n"
		 "50.5 wait tgid=20 tid=21 off=11 wake=50.4 state=1 syscall=232 arg0=5\n",
		 700, 200},
		/* and the one that then read is the best */
		{"50.9 wait tgid=20 tid=22 off=11 wake=50.7 state=1 syscall=232 arg0=4\n"
		 "50.5 wait tgid=20 tid=21 off=11 wake=50.4 state=1 syscall=45 arg0=8\n"
		 "51 recv conn=2 tgid=20 tid=22 bytes=60\n",
		 700, 200},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096];
		struct outcome outcome;

		snprintf(text, sizeof(text), "%s%s", base, rows[i].waits);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, 1);
		assert_int_equal(slice_of(outcome.stall, CAUSE_NAGLE_DELACK), 40000000);
		assert_int_equal(slice_of(outcome.stall, CAUSE_NETWORK) / 1000, rows[i].network_us);
		assert_int_equal(slice_of(outcome.stall, CAUSE_RUNQUEUE) / 1000,
				 rows[i].runqueue_us);
		done(&outcome);
	}
}

/* The client's own wait is the same incident, and no second stall. */
static void test_one_incident(void **state)
{
	static const char base[] = HEAD
	PEER FIRST SECOND FIRE LEFT ARRIVED GONE;
	static const struct {
		const char *waits;
		size_t stalls;
		uint32_t tid;
	} rows[] = {
		{"50.6 wait conn=1 tgid=10 tid=10 off=10.1 wake=50.5 state=1 syscall=0 arg0=7\n", 1,
		 10},
		/* It waits through the hold and as long again. */
		{"89.9 wait conn=1 tgid=10 tid=10 off=10.1 wake=89.8 state=1 syscall=0 arg0=7\n", 1,
		 10},
		/* Long after the hold ended it still waits: that part is another matter, and
		 * the stall was told before this wait was known. */
		{"150 wait conn=1 tgid=10 tid=10 off=10.1 wake=149.8 state=1 syscall=0 arg0=7\n", 2,
		 0},
		/* The wait is on another connection of the thread that wrote. */
		{"50.6 wait conn=3 tgid=10 tid=10 off=10.1 wake=50.5 state=1 syscall=232 arg0=4\n",
		 1, 10},
		/* A thread that has nothing to do with it. */
		{"50.6 wait tgid=10 tid=11 off=10.1 wake=50.5 state=1 syscall=232 arg0=4\n", 1, 0},
		/* The peer's wait does for want of a target's. */
		{"50.6 wait tgid=20 tid=20 off=10.1 wake=50.5 state=1 syscall=0 arg0=8\n", 1, 20},
		/* The target's goes before it. */
		{"50.6 wait tgid=20 tid=20 off=10.1 wake=50.5 state=1 syscall=0 arg0=8\n"
		 "50.8 wait conn=1 tgid=10 tid=10 off=10.1 wake=50.7 state=1 syscall=0 arg0=7\n",
		 1, 10},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096];
		struct outcome outcome;

		snprintf(text, sizeof(text),
			 "0 conn conn=3 tgid=10 role=target local=127.0.0.1:5 remote=127.0.0.1:6 "
			 "opener=self\n9 send conn=3 tgid=10 tid=10 bytes=1 write_seq=1\n%s%s",
			 base, rows[i].waits);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, rows[i].stalls);
		assert_int_equal(outcome.stall->tid, rows[i].tid);
		if (rows[i].stalls == 2) {
			const struct stall *rest = &outcome.report->stalls[1];

			assert_int_equal(rest->cause, CAUSE_PEER_APP);
			assert_int_equal(rest->start_ts, outcome.stall->end_ts);
			assert_int_equal(rest->end_ts, TEXT_TRACE_ORIGIN_NS + 150000000);
			/* Both are the network's: what took longer leads. */
			assert_int_equal(report__leading(outcome.report)->cause, CAUSE_PEER_APP);
		}
		done(&outcome);
	}
}

/*
 * The parent of the program that stalls, a target as well, waits for its end: its wait hangs on
 * three stalls, each of less than half of it, and they are told already.
 */
static void test_whoever_waits_for_the_end(void **state)
{
	struct feed stalls = feed__golden("nagle-delack"), feed = {0};
	struct outcome outcome;
	size_t i = 0;

	(void)state;
	feed__add_line(&feed, "0 process tgid=4000 role=target comm=sh");
	for (; stalls.v[i].head.ts < TEXT_TRACE_ORIGIN_NS + 200000000; i++)
		feed.v[feed.count++] = stalls.v[i];
	feed__add_line(&feed, "127.3 stack id=9 text=do_wait;kernel_wait4;do_syscall_64");
	feed__add_line(&feed,
		       "127.4 wait tgid=4000 tid=4000 off=1 wake=127.3 state=1 syscall=61 "
		       "stack_id=9 waker_tgid=4242 waker_tid=4242 comm=sh waker_comm=client");
	for (; i < stalls.count; i++)
		feed.v[feed.count++] = stalls.v[i];
	feed__free(&stalls);
	outcome = analyze(feed);
	assert_int_equal(outcome.report->stall_count, 3);
	assert_int_equal(report__cause(outcome.report, CAUSE_NAGLE_DELACK)->count, 3);
	done(&outcome);
}

/* Of its child, which is a target too: that nobody waits for, or an answer does. */
static void test_child(void **state)
{
	static const char text[] =
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=20 role=target comm=srv\n"
		"0 process tgid=30 role=target comm=child\n"
		"0 conn conn=2 tgid=20 role=target local=10.0.0.1:7 remote=10.0.0.1:40 opener=peer\n"
		"1 stack id=9 text=do_wait;kernel_wait4;do_syscall_64\n"
		"49 wait tgid=30 tid=30 off=7 wake=48.9 state=1 syscall=230 comm=child\n"
		"50 wait tgid=20 tid=20 off=6 wake=49.9 state=1 syscall=61 stack_id=9 "
		"waker_tgid=30 waker_tid=30 comm=srv waker_comm=child\n";
	static const char served[] =
		"52 exchange conn=2 tgid=20 tid=20 side=served begin=5 ready=5 arrived=5 answer=52 "
		"writes=1 weight=1 ended=followed\n";

	(void)state;
	for (int is_served = 0; is_served <= 1; is_served++) {
		char lines[4096];
		struct outcome outcome;

		snprintf(lines, sizeof(lines), "%s%s", text, is_served ? served : "");
		outcome = analyze(feed__text(lines));
		assert_int_equal(outcome.report->stall_count, is_served);
		if (is_served) {
			assert_int_equal(outcome.stall->cause, CAUSE_IPC);
			assert_int_equal(outcome.stall->tid, 20);
			assert_int_equal(outcome.stall->links[1].cause, CAUSE_TIMER);
		}
		done(&outcome);
	}
}

/* ---- waits that no hold explains ---- */

#define ASKED "5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9\n"

static void test_owed(void **state)
{
	static const struct {
		const char *lines;
		enum cause cause; /* CAUSE_IDLE: no stall */
	} rows[] = {
		{ASKED "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=0 arg0=7\n",
		 CAUSE_PEER_APP},
		{ASKED "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=232 arg0=3\n",
		 CAUSE_PEER_APP},
		/* nothing asked; answered before; data came before */
		{"50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=0 arg0=7\n",
		 CAUSE_IDLE},
		{ASKED "5.5 recv conn=1 tgid=10 tid=10 bytes=9\n"
		       "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=0 arg0=7\n",
		 CAUSE_IDLE},
		{ASKED "5.5 delack-arm conn=1 pending=3\n"
		       "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=232\n",
		 CAUSE_IDLE},
		/* the kernel side knows better whose turn it was */
		{ASKED "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=0 arg0=7 "
		       "turn=read\n",
		 CAUSE_IDLE},
		{"50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=0 arg0=7 "
		 "turn=wrote\n",
		 CAUSE_PEER_APP},
		/* an acknowledgement is no answer */
		{ASKED "5.5 rx conn=1 seq=1 end=1 ack=9\n"
		       "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=0 arg0=7\n",
		 CAUSE_PEER_APP},
		/* another descriptor, another program, too short */
		{ASKED "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=0 arg0=0\n",
		 CAUSE_IDLE},
		{ASKED "50 wait conn=2 tgid=20 tid=20 off=6 wake=49 state=1 syscall=0 arg0=8\n",
		 CAUSE_IDLE},
		{ASKED "15 wait conn=1 tgid=10 tid=10 off=6 wake=14 state=1 syscall=0 arg0=7\n",
		 CAUSE_IDLE},
		/* what it asked does not make it a wait for the answer */
		{ASKED "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=202 arg0=7\n",
		 CAUSE_LOCK},
		{ASKED "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=230 arg0=7\n",
		 CAUSE_TIMER},
		{ASKED "50 wait conn=1 tgid=10 tid=10 off=6 wake=6 state=0 syscall=0 arg0=7\n",
		 CAUSE_RUNQUEUE},
		/* the write came after it fell asleep: another thread's */
		{"50 wait conn=1 tgid=10 tid=10 off=4 wake=49 state=1 syscall=0 arg0=7\n" ASKED,
		 CAUSE_IDLE},
		/* still held when the wait ended, by this end or by the other */
		{ASKED "5 hold conn=1 tid=10 reason=cork seq=4 end=9\n"
		       "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=232\n"
		       "51 tx conn=1 seq=4 end=9\n"
		       "51 release conn=1 held=46 seq=4 end=9 reason=cork\n",
		 CAUSE_CORK},
		{ASKED "7 hold conn=2 tid=20 reason=cork seq=4 end=9\n"
		       "50 wait conn=1 tgid=10 tid=10 off=6 wake=49 state=1 syscall=232\n"
		       "51 tx conn=2 seq=4 end=9\n"
		       "51 release conn=2 held=44 seq=4 end=9 reason=cork\n",
		 CAUSE_CORK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096];
		struct outcome outcome;

		snprintf(text, sizeof(text), "%s%s", HEAD PEER, rows[i].lines);
		outcome = analyze(feed__text(text));
		if (outcome.report->stall_count != (rows[i].cause != CAUSE_IDLE) ||
		    (outcome.stall && outcome.stall->cause != rows[i].cause))
			fail_msg("row %zu: %zu stalls of %s", i, outcome.report->stall_count,
				 outcome.stall ? cause__info(outcome.stall->cause)->id : "-");
		done(&outcome);
	}
}

/* ---- who ends a wait ---- */

#define LOCKED                                                                                     \
	"1 stack id=1 text=futex_wait;do_futex;do_syscall_64\n"                                    \
	"1 stack id=2 text=try_to_wake_up;futex_wake;do_futex;do_syscall_64\n"                     \
	"1 stack id=3 text=try_to_wake_up;complete_signal;__send_signal_locked;__x64_sys_kill\n"   \
	"48 wait tgid=20 tid=20 off=4 wake=47.9 state=1 syscall=230 comm=srv\n"

/* Who kills a process ends its threads' waits for locks, and has held none of these. */
static void test_signal_ends_lock(void **state)
{
	static const char wait[] =
		"50 wait tgid=10 tid=10 off=6 wake=49 state=1 syscall=202 arg1=128 waker_tgid=20 "
		"waker_tid=20 stack_id=1 waker_stack_id=%d comm=client waker_comm=srv\n";
	static const struct {
		int waker_stack;
		size_t links;
		enum stall_missing missing;
	} rows[] = {{2, 2, MISSING_NOTHING}, {3, 1, MISSING_WAKER}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[512], text[4096];
		struct outcome outcome;

		snprintf(line, sizeof(line), wait, rows[i].waker_stack);
		snprintf(text, sizeof(text), "%s%s%s", HEAD, LOCKED, line);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, 1);
		assert_int_equal(outcome.stall->cause, CAUSE_LOCK);
		assert_int_equal(outcome.stall->link_count, rows[i].links);
		assert_int_equal(outcome.stall->missing, rows[i].missing);
		done(&outcome);
	}
}

/* A worker without work that is killed has waited for nobody. */
static void test_signal_ends_idle(void **state)
{
	static const struct {
		int waker_stack;
		size_t stalls;
	} rows[] = {{2, 1}, {3, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096];
		struct outcome outcome;

		snprintf(text, sizeof(text),
			 "%s%s50 wait tgid=10 tid=10 off=6 wake=49 state=1 syscall=202 arg1=137 "
			 "waker_tgid=20 waker_tid=20 stack_id=1 waker_stack_id=%d comm=client "
			 "waker_comm=srv\n",
			 HEAD, LOCKED, rows[i].waker_stack);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, rows[i].stalls);
		done(&outcome);
	}
}

/* Of a thread's wait for a lock it turns out later whether its process's requests pass it by. */
static void test_before_the_first_request(void **state)
{
#define LOCKED_OUT                                                                                 \
	"off=6 wake=49 state=1 syscall=202 arg1=128 waker_tgid=20 waker_tid=20 stack_id=1 "        \
	"waker_stack_id=2 comm=client waker_comm=srv\n"
#define QUICK                                                                                      \
	"side=asked begin=900 ready=900 answer=900.1 writes=1 reads=1 weight=1 ended=followed\n"
	static const struct {
		const char *lines;
		size_t stalls, waits;
	} rows[] = {
		/* no request comes; another thread makes one; it makes one itself */
		{"50 wait tgid=10 tid=11 " LOCKED_OUT, 1, 1},
		{"50 wait tgid=10 tid=11 " LOCKED_OUT "900.1 exchange conn=1 tgid=10 tid=10 " QUICK,
		 0, 0},
		{"50 wait tgid=10 tid=11 " LOCKED_OUT "900.1 exchange conn=1 tgid=10 tid=11 " QUICK,
		 1, 1},
		/* several that wait for the same show one stall, */
		{"50 wait tgid=10 tid=11 " LOCKED_OUT "50.2 wait tgid=10 tid=12 " LOCKED_OUT, 1, 2},
		{"50 wait tgid=10 tid=11 " LOCKED_OUT "50.2 wait tgid=10 tid=12 " LOCKED_OUT
		 "900.1 exchange conn=1 tgid=10 tid=11 " QUICK,
		 1, 2},
		/* one that is background all the same if none of them asks; later it is known at
		   once */
		{"50 wait tgid=10 tid=11 " LOCKED_OUT "50.2 wait tgid=10 tid=12 " LOCKED_OUT
		 "900.1 exchange conn=1 tgid=10 tid=10 " QUICK
		 "950 wait tgid=10 tid=11 off=906 wake=949 state=1 syscall=202 arg1=128\n",
		 0, 0},
		/* nobody waits for the first request for ever */
		{"50 wait tgid=10 tid=11 " LOCKED_OUT "6000 send conn=1 tgid=10 tid=10 bytes=9\n"
		 "6000.1 exchange conn=1 tgid=10 tid=10 side=asked begin=6000 ready=6000 answer=6000.1 writes=1 reads=1 weight=1 ended=followed\n",
		 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096];
		struct outcome outcome;

		snprintf(text, sizeof(text), "%s%s%s", HEAD, LOCKED, rows[i].lines);
		outcome = analyze(feed__text(text));
		if (outcome.report->stall_count != rows[i].stalls ||
		    (outcome.stall && (outcome.stall->cause != CAUSE_LOCK ||
				       outcome.stall->wait_count != rows[i].waits)))
			fail_msg("row %zu: %zu stalls, %u waits of the first", i,
				 outcome.report->stall_count,
				 outcome.stall ? outcome.stall->wait_count : 0);
		assert_int_equal(outcome.report->waited_ns[CAUSE_LOCK] > 0, rows[i].stalls > 0);
		done(&outcome);
	}
}

/* A server that answers by the time-out of its poll() has slept, and was not idle. */
static void test_time_out_before_the_answer(void **state)
{
	static const char text[] = HEAD
	PEER "1 stack id=4 text=try_to_wake_up;hrtimer_wakeup;hrtimer_interrupt\n"
	     "5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9\n"
	     "5.1 recv conn=2 tgid=20 tid=20 bytes=9 fd=8\n"
	     "45.1 wait conn=2 tgid=20 tid=20 off=5.2 wake=45 state=1 syscall=232 arg0=3 turn=read "
	     "waker_stack_id=4 comm=srv\n"
	     "45.2 send conn=2 tgid=20 tid=20 bytes=5 write_seq=5 snd_nxt=5\n"
	     "45.4 wait conn=1 tgid=10 tid=10 off=5.1 wake=45.3 state=1 syscall=0 arg0=7 turn=wrote "
	     "waker_tgid=20 waker_tid=20 comm=client\n";
	struct outcome outcome = analyze(feed__text(text));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_PEER_APP);
	assert_int_equal(outcome.stall->link_count, 2);
	assert_int_equal(outcome.stall->links[1].cause, CAUSE_TIMER);
	assert_int_equal(path__main(&outcome.stall->path, CAUSE_PEER_APP)->cause, CAUSE_TIMER);
	done(&outcome);
}

#define PIECE(off, wake, ts)                                                                       \
#ts " wait conn=1 conn_basis=fd tgid=10 tid=10 off=" #off " wake=" #wake                   \
	    " state=1 syscall=0 arg0=7 turn=wrote waker_tgid=20 waker_tid=20 comm=client\n"

/*
 * An answer in pieces, long after the first of which is known that it was one: a request is one
 * stall, whichever of its waits took longest.
 */
static void test_answer_in_pieces(void **state)
{
	static const char base[] = HEAD
	PEER
		"5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9\n" PIECE(5.1, 25, 25.1)
			PIECE(25.2, 44, 44.1) PIECE(44.2, %d, %d.1) PIECE(%d.2, 300, 300.1)
		"300 exchange conn=2 tgid=20 tid=20 side=served arrived=5.05 begin=5.1 ready=5.1 "
		"answer=25 writes=4 weight=1 ended=followed\n"
		"300.2 exchange conn=1 tgid=10 tid=10 side=asked begin=5 ready=5 answer=25.1 off=5.1 "
		"wake=25 reads=4 weight=1 ended=followed\n"
		"8000 end\n";
	static const int third[] = {60, 290}; /* the last one took longest, or the one before it */

	(void)state;
	for (size_t i = 0; i < sizeof(third) / sizeof(third[0]); i++) {
		char text[4096];
		struct outcome outcome;

		snprintf(text, sizeof(text), base, third[i], third[i], third[i]);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, 1);
		assert_int_equal(outcome.stall->end_ts - outcome.stall->start_ts, 295100000);
		assert_int_equal(outcome.stall->cause, CAUSE_PEER_APP);
		done(&outcome);
	}
}

/* Its server makes a thread for each request, which never sleeps: its sums say what it did. */
static void test_new_thread_answers(void **state)
{
	static const char base[] = HEAD
	PEER "5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9\n"
	     "45 send conn=2 tgid=20 tid=21 bytes=9 write_seq=9 snd_nxt=9\n"
	     "45.01 sums tgid=20 tid=21 on=%s run_us=%u comm=srv\n"
	     "45.2 wait conn=1 conn_basis=fd tgid=10 tid=10 off=5.1 wake=45.01 state=1 syscall=0 "
	     "arg0=7 turn=wrote waker_tgid=20 waker_tid=21 comm=client\n"
	     "200 end\n";
	static const struct {
		const char *on; /* its CPU, since */
		unsigned run_us;
		enum stall_missing missing;
	} rows[] = {
		{"6", 39010, MISSING_NOTHING},
		/* It was watched from too late on. */
		{"40", 5010, MISSING_PEER_THREAD},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096];
		struct outcome outcome;

		snprintf(text, sizeof(text), base, rows[i].on, rows[i].run_us);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, 1);
		assert_int_equal(outcome.stall->cause, CAUSE_PEER_APP);
		assert_int_equal(outcome.stall->missing, rows[i].missing);
		done(&outcome);
	}
}

/* Who asks and who answers are targets both: what the one waits for is what the other does. */
static void test_both_are_targets(void **state)
{
	static const char text[] =
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=10 role=target comm=client\n"
		"0 process tgid=20 role=target comm=srv\n"
		"0 conn conn=1 tgid=10 role=target local=127.0.0.1:1 remote=127.0.0.1:2 fd=7 "
		"opener=self\n"
		"0 conn conn=2 tgid=20 role=target local=127.0.0.1:2 remote=127.0.0.1:1 fd=8 "
		"opener=peer\n" PEER
		"1 stack id=4 text=do_nanosleep;hrtimer_nanosleep\n"
		"1 stack id=5 text=try_to_wake_up;hrtimer_wakeup;hrtimer_interrupt\n"
		"25 wait tgid=20 tid=20 off=6 wake=25 state=1 syscall=230 stack_id=4 "
		"waker_stack_id=5 comm=srv\n"
		"45 exchange conn=2 tgid=20 tid=20 side=served arrived=5.05 begin=5.1 ready=5.1 "
		"answer=45 writes=1 weight=1 ended=followed spent_known=1 run_us=20900\n"
		"45.2 wait conn=1 conn_basis=fd tgid=10 tid=10 off=5.1 wake=45.1 state=1 syscall=0 "
		"arg0=7 turn=wrote waker_tgid=20 waker_tid=20 comm=client\n"
		"45.3 exchange conn=1 tgid=10 tid=10 side=asked begin=5 ready=5 answer=45.2 off=5.1 "
		"wake=45.1 reads=1 weight=1 ended=followed\n"
		"200 end\n";
	struct outcome outcome = analyze(feed__text(text));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	/* It runs for most of that time, and a target has its own causes. */
	assert_int_equal(outcome.stall->cause, CAUSE_SELF);
	assert_int_equal(outcome.stall->pid, 10);
	done(&outcome);
}

/* It fills all buffers, and the server waits for room while the client sleeps as it reads. */
static void test_reads_slowly(void **state)
{
	static const char base[] = HEAD
	PEER "1 stack id=4 text=do_nanosleep;hrtimer_nanosleep\n"
	     "1 stack id=5 text=try_to_wake_up;hrtimer_wakeup;hrtimer_interrupt\n"
	     "1 stack id=6 text=schedule_timeout;wait_woken;sk_stream_wait_memory;"
	     "tcp_sendmsg_locked\n"
	     "1 stack id=7 text=try_to_wake_up;woken_wake_function;__wake_up_common;"
	     "sk_stream_write_space;tcp_check_space;tcp_rcv_established\n"
	     "5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9\n"
	     "45 wait tgid=10 tid=10 off=5.5 wake=44.9 state=1 syscall=230 stack_id=4 "
	     "waker_stack_id=5 comm=client\n"
	     "45.1 wait conn=2 conn_basis=fd tgid=20 tid=20 off=6 wake=45 state=1 syscall=1 "
	     "arg0=8 stack_id=6 waker_stack_id=7 waker_tgid=%d waker_tid=%d comm=srv\n"
	     "85 wait tgid=10 tid=10 off=45.1 wake=84.9 state=1 syscall=230 stack_id=4 "
	     "waker_stack_id=5 comm=client\n"
	     "46 exchange conn=2 tgid=20 tid=20 side=served arrived=5.05 begin=5.1 ready=5.1 "
	     "answer=5.8 writes=1 weight=1 ended=followed\n"
	     "85.1 exchange conn=1 tgid=10 tid=10 side=asked begin=5 ready=5 answer=45 reads=2 "
	     "weight=1 ended=followed spent_known=1 run_us=700\n"
	     "200 end\n";
	struct outcome outcome;
	char text[4096];

	(void)state;
	snprintf(text, sizeof(text), base, 10, 10);
	outcome = analyze(feed__text(text));
	assert_int_equal(outcome.report->stall_count, 2); /* its two sleeps */
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(outcome.report->stalls[i].cause, CAUSE_TIMER);
	done(&outcome);
	/* Room came by itself, as it seems: the server waited for what nobody knows. */
	snprintf(text, sizeof(text), base, 30, 30);
	outcome = analyze(feed__text(text));
	assert_true(outcome.report->stall_count > 0);
	assert_int_equal(outcome.stall->cause, CAUSE_SNDBUF);
	done(&outcome);
}

/*
 * A server's thread at a request waits for the signal of another one, which is no target's stall by
 * itself: for its own time-out, or for its client, which sleeps.
 */
static void test_row_lock(void **state)
{
	static const char text[] =
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=20 role=target comm=backend\n"
		"0 process tgid=21 role=target comm=backend\n"
		"0 process tgid=30 role=peer comm=holder\n"
		"0 conn conn=1 tgid=20 role=target local=10.0.0.1:7 remote=10.0.0.1:40 opener=peer\n"
		"0 conn conn=2 tgid=21 role=target local=10.0.0.1:7 remote=10.0.0.1:41 opener=peer\n"
		"0 conn conn=3 tgid=30 role=peer local=10.0.0.1:41 remote=10.0.0.1:7 opener=self\n"
		"0 peer conn=2 peer=3\n"
		"1 stack id=1 text=try_to_wake_up;hrtimer_wakeup;hrtimer_interrupt\n"
		"1 stack id=2 text=try_to_wake_up;ep_poll_callback;__send_signal_locked\n"
		"1 stack id=3 text=try_to_wake_up;ep_poll_callback;sock_def_readable;tcp_data_queue\n";
	static const struct {
		const char *waits; /* the other one's */
		enum cause cause;
		size_t links;
	} rows[] = {
		{"66 wait tgid=21 tid=21 off=6 wake=65.9 state=1 syscall=232 arg0=3 arg2=60 "
		 "waker_stack_id=1 comm=backend\n",
		 CAUSE_IPC, 2},
		{"65.8 wait tgid=30 tid=30 off=6.2 wake=65.8 state=1 syscall=230 comm=holder\n"
		 "66 wait conn=2 conn_basis=ready tgid=21 tid=21 off=6 wake=65.9 state=1 syscall=232 "
		 "arg0=3 turn=wrote waker_tgid=30 waker_tid=30 waker_stack_id=3 comm=backend "
		 "waker_comm=holder\n",
		 CAUSE_IPC, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char lines[4096];
		struct outcome outcome;

		snprintf(lines, sizeof(lines),
			 "%s%s66.3 wait conn=1 tgid=20 tid=20 off=5 wake=66.2 state=1 syscall=232 "
			 "arg0=3 turn=read waker_tgid=21 waker_tid=21 waker_stack_id=2 "
			 "comm=backend waker_comm=backend\n",
			 text, rows[i].waits);
		outcome = analyze(feed__text(lines));
		assert_int_equal(outcome.report->stall_count, 1);
		assert_int_equal(outcome.stall->cause, rows[i].cause);
		assert_int_equal(outcome.stall->link_count, rows[i].links);
		assert_int_equal(outcome.stall->links[rows[i].links - 1].cause, CAUSE_TIMER);
		done(&outcome);
	}
}

/*
 * A server that waits for requests is idle; that it gets no CPU when one has come is its request's
 * time, whether that is known before the wait is judged or long after. Of another thread's request
 * it is not.
 */
static void test_late_for_a_request(void **state)
{
	static const char base[] =
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=10 role=target comm=srv\n"
		"0 conn conn=5 tgid=10 role=target local=127.0.0.1:9 remote=127.0.0.1:8 fd=9 "
		"opener=peer\n"
		"4 exchange conn=5 tgid=10 tid=10 side=served arrived=2.9 begin=3 ready=3.1 "
		"answer=4 writes=1 weight=1 ended=followed\n"
		"60 wait conn=5 tgid=10 tid=10 off=5 wake=%d state=1 syscall=0 arg0=9\n"
		"61 exchange conn=5 tgid=10 tid=%d side=served arrived=%d begin=%d ready=%d "
		"answer=61 writes=1 weight=1 ended=followed\n"
		"%d end\n";
	static const struct {
		int wake, tid, begin, ready, end;
		enum cause cause; /* CAUSE_IDLE: no stall */
	} rows[] = {
		{40, 10, 40, 60, 61, CAUSE_RUNQUEUE},
		{59, 10, 59, 60, 61, CAUSE_IDLE},
		{40, 11, 40, 60, 61, CAUSE_IDLE},
		{40, 10, 61, 61, 900, CAUSE_IDLE}, /* that came when it was back */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[4096];
		struct outcome outcome;

		snprintf(text, sizeof(text), base, rows[i].wake, rows[i].tid, rows[i].begin,
			 rows[i].begin, rows[i].ready, rows[i].end);
		outcome = analyze(feed__text(text));
		if (outcome.report->stall_count != (rows[i].cause != CAUSE_IDLE) ||
		    (outcome.stall && outcome.stall->cause != rows[i].cause))
			fail_msg("row %zu: %zu stalls of %s", i, outcome.report->stall_count,
				 outcome.stall ? cause__info(outcome.stall->cause)->id : "-");
		done(&outcome);
	}
}

/* A server that gets a request after long, and then no CPU: it was late since the request came. */
static void test_idle_before(void **state)
{
	static const char text[] =
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=20 role=target comm=srv\n"
		"0 conn conn=1 tgid=20 role=target local=10.0.0.1:7 remote=10.0.0.1:40 opener=peer\n"
		"1 stack id=3 text=try_to_wake_up;ep_poll_callback;sock_def_readable;tcp_data_queue\n"
		"825 wait conn=1 conn_basis=ready tgid=20 tid=20 off=5 wake=800 state=1 syscall=232 "
		"arg0=3 turn=wrote waker_tgid=30 waker_tid=30 waker_stack_id=3 comm=srv\n";
	struct outcome outcome = analyze(feed__text(text));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_RUNQUEUE);
	assert_int_equal(slice_of(outcome.stall, CAUSE_RUNQUEUE), 25000000);
	assert_int_equal(slice_of(outcome.stall, CAUSE_IDLE), 0);
	assert_int_equal(outcome.stall->end_ts - outcome.stall->start_ts, 25000000);
	done(&outcome);
}

/* Of the sleeps of several threads the example is of the one that slept longest in all. */
static void test_example_of_several_threads(void **state)
{
	static const char text[] =
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=10 role=target comm=client\n"
		"15 wait tgid=10 tid=11 off=1 wake=15 state=1 syscall=230\n"
		"30 wait tgid=10 tid=12 off=10 wake=30 state=1 syscall=230\n"
		"60 wait tgid=10 tid=12 off=40 wake=60 state=1 syscall=230\n"
		"70 wait tgid=10 tid=13 off=59 wake=70 state=1 syscall=230\n";
	struct outcome outcome = analyze(feed__text(text));
	const struct report_cause *timer = report__cause(outcome.report, CAUSE_TIMER);

	(void)state;
	assert_int_equal(timer->count, 4);
	assert_int_equal(timer->main->example.tid, 12);
	done(&outcome);
}

/* A client's sleep is between its requests, or in one: that is known when its next one is over. */
static void test_between_requests(void **state)
{
#define MADE(begin, ready, end)                                                                    \
	end " exchange conn=1 tgid=10 tid=10 side=asked writes=1 begin=" begin " ready=" ready     \
	    " off=" ready " wake=" end " answer=" end                                              \
	    " ended=followed bytes_out=9 bytes_in=9 "                                              \
	    "reads=1 weight=1\n"
#define SLEEPS "50 wait tgid=10 tid=10 off=20 wake=50 state=1 syscall=230\n"
#define LATER  "900 thread-totals tgid=10 tid=10\n"
	static const struct {
		const char *lines;
		enum cause cause;
		bool is_between;
	} rows[] = {
		{MADE("10", "10", "11") SLEEPS MADE("51", "51", "52") LATER, CAUSE_TIMER, true},
		/* it asks no more */
		{MADE("10", "10", "11") SLEEPS LATER, CAUSE_TIMER, true},
		/* before its first one */
		{SLEEPS MADE("51", "51", "52") LATER, CAUSE_TIMER, true},
		/* between two writes of one, which is over long after the sleep was looked at */
		{MADE("10", "10", "11") SLEEPS
		 "700 thread-totals tgid=10 tid=10\n" MADE("15", "699", "703") LATER,
		 CAUSE_TIMER, false},
		/* it asks nothing */
		{SLEEPS LATER, CAUSE_TIMER, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[2048];
		struct outcome outcome;

		snprintf(text, sizeof(text),
			 "0 session threshold=10 arch=x86_64\n"
			 "0 process tgid=10 role=target comm=client\n"
			 "0 conn conn=1 tgid=10 role=target local=10.0.0.1:40 remote=10.0.0.2:7 "
			 "opener=self\n%s",
			 rows[i].lines);
		outcome = analyze(feed__text(text));
		print_message("row %zu\n", i);
		assert_true(outcome.report->stall_count >= 1);
		assert_int_equal(outcome.stall->cause, rows[i].cause);
		assert_int_equal(outcome.stall->is_between, rows[i].is_between);
		assert_int_equal(report__leading(outcome.report)->is_pace, rows[i].is_between);
		done(&outcome);
	}
#undef MADE
#undef SLEEPS
#undef LATER
}

/* Who sleeps beside a server of a Unix socket serves nobody: it is background, as for TCP. */
static void test_beside_a_server_of_messages(void **state)
{
#define ON_UNIX_SINCE(off)                                                                         \
	"off=" off                                                                                 \
	" wake=30 state=1 syscall=232 arg0=4 socket_family=1 socket_type=1 "                       \
	"socket_path=/run/s comm=srv "
#define ON_UNIX ON_UNIX_SINCE("1")
#define ASLEEP  "off=40 wake=60 state=1 syscall=230\n"
	static const struct {
		const char *lines;
		size_t stalls;
	} rows[] = {
		/* it was asked; nobody came; it asks itself; nobody has such a socket */
		{"30 wait tgid=10 tid=10 " ON_UNIX "socket_role=answers socket_ready=1\n"
		 "60 wait tgid=20 tid=20 " ASLEEP,
		 0},
		{"30 wait tgid=10 tid=10 " ON_UNIX "socket_role=answers\n"
		 "60 wait tgid=20 tid=20 " ASLEEP,
		 1},
		{"30 wait tgid=10 tid=10 " ON_UNIX "socket_role=asks socket_ready=1\n"
		 "60 wait tgid=20 tid=20 " ASLEEP,
		 1},
		{"60 wait tgid=20 tid=20 " ASLEEP, 1},
		/* it was not a target; the server itself sleeps */
		{"30 wait tgid=30 tid=30 " ON_UNIX "socket_role=answers socket_ready=1\n"
		 "60 wait tgid=20 tid=20 " ASLEEP,
		 1},
		{"30 wait tgid=10 tid=10 " ON_UNIX "socket_role=answers socket_ready=1\n"
		 "60 wait tgid=10 tid=10 " ASLEEP,
		 1},
		/* the server slept already when the window began: not for a request, perhaps */
		{"25 wait tgid=10 tid=10 off=1 began=0.5 wake=25 state=1 syscall=230\n"
		 "30 wait tgid=10 tid=10 " ON_UNIX_SINCE(
			 "26") "socket_role=answers socket_ready=1\n",
		 0},
		{"25 wait tgid=10 tid=10 off=1 wake=25 state=1 syscall=230\n"
		 "30 wait tgid=10 tid=10 " ON_UNIX_SINCE(
			 "26") "socket_role=answers socket_ready=1\n",
		 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];
		struct outcome outcome;

		snprintf(text, sizeof(text),
			 "0 session threshold=10 arch=x86_64\n"
			 "0 process tgid=10 role=target comm=srv\n"
			 "0 process tgid=20 role=target comm=writer\n"
			 "0 process tgid=30 role=peer comm=other\n%s",
			 rows[i].lines);
		outcome = analyze(feed__text(text));
		if (outcome.report->stall_count != rows[i].stalls)
			fail_msg("row %zu: %zu stalls", i, outcome.report->stall_count);
		done(&outcome);
	}
}

/*
 * A busy thread answers others first: those are counted, but for its own request and earlier ones.
 * What it did in that time is one stall, of all that lay there.
 */
static void test_others_are_answered(void **state)
{
	static const char conn[] =
		"0 conn conn=%u tgid=10 role=target local=10.0.0.1:80 "
		"remote=10.0.0.2:100%u fd=%u origin=existed opener=peer "
		"comm=srv\n";
	static const char served[] =
		"%u exchange conn=%u tgid=10 tid=10 side=served arrived=%u.1 "
		"begin=%u.2 ready=%u.3 answer=%u reads=1 writes=1 weight=1 "
		"ended=followed spent_known=1 run_us=40000\n";
	char text[4096] =
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=10 role=target comm=srv\n";
	const struct stall *last;
	struct outcome outcome;

	(void)state;
	for (unsigned i = 1; i <= 4; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), conn, i, i, i);
	for (unsigned i = 1; i <= 4; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), served, 40 + 10 * i, i,
			 i == 4 ? 55 : 5, i == 4 ? 55 : 5, i == 4 ? 55 : 5, 40 + 10 * i);
	strcat(text, "400 end\n");
	outcome = analyze(feed__text(text));
	assert_int_equal(outcome.report->stall_count, 2);
	assert_int_equal(outcome.report->causes[0].requests, 4);
	last = &outcome.report->stalls[1];
	assert_int_equal(last->cause, CAUSE_SELF);
	assert_int_equal(last->conn, 4);
	assert_int_equal(last->others, 2); /* at 60 and 70, not that at 50 */
	done(&outcome);
}

/* What the end of the window cut off is an answer that may still come, unless it has waited for
 * long. */
static void test_datagram_at_the_end(void **state)
{
	static const char asked[] =
		"%d wait tgid=10 tid=10 off=%d state=1 syscall=45 arg0=3 "
		"socket_family=2 socket_type=2 socket_protocol=17 "
		"socket_lport=4000 socket_remote=127.0.0.1:5000 "
		"socket_role=asks socket_followed=1 socket_tries=1 "
		"socket_asked=%d %s\n";
	static const struct {
		int end;
		uint32_t unanswered;
	} rows[] = {{100, 0}, {130, 0}, {300, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[2048] =
			"0 session threshold=10 arch=x86_64\n"
			"0 process tgid=10 role=target comm=client\n";
		const struct tally_server *server;
		struct outcome outcome;

		for (int at = 0; at < 80; at += 40)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), asked, at + 40,
				 at + 1, at + 1, "socket_ready=1");
		snprintf(text + strlen(text), sizeof(text) - strlen(text), asked, rows[i].end, 81,
			 81, "ended=lasts");
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d end\n", rows[i].end);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, 3);
		server = tally__server(outcome.report->causes[0].main);
		assert_int_equal(server->answered, 2);
		assert_int_equal(server->unanswered, rows[i].unanswered);
		done(&outcome);
	}
}

/* A thread that asks three at a time waits once: one stall, which holds up all of these requests.
 */
static void test_several_requests(void **state)
{
	static const char ends[] =
		"0 conn conn=%u tgid=10 role=target local=10.0.0.1:100%u remote=10.0.0.2:80 fd=%u "
		"origin=existed opener=self comm=client\n"
		"0 conn conn=%u tgid=20 role=peer local=10.0.0.2:80 remote=10.0.0.1:100%u fd=%u "
		"origin=existed opener=peer comm=srv\n"
		"0 peer conn=%u peer=%u\n";
	static const char waits[] =
		"45 wait tgid=20 tid=20 off=5.2 wake=44.9 state=1 syscall=230 comm=srv\n"
		"45.2 wait conn=1 conn_basis=ready tgid=10 tid=10 off=5.3 wake=45.1 state=1 "
		"syscall=232 arg0=7 turn=wrote waker_tgid=20 waker_tid=20 comm=client\n";
	static const char exchanges[] =
		"45.%u exchange conn=%u tgid=20 tid=20 side=served arrived=5.05 begin=5.1 "
		"ready=5.1 answer=45.%u writes=1 weight=1 ended=followed\n"
		"45.%u exchange conn=%u tgid=10 tid=10 side=asked begin=5 ready=5 answer=45.%u "
		"reads=1 weight=1 ended=followed\n";
	char text[4096] =
		"0 session threshold=10 arch=x86_64\n"
		"0 process tgid=10 role=target comm=client\n"
		"0 process tgid=20 role=peer comm=srv\n";
	struct outcome outcome;

	(void)state;
	for (unsigned i = 1; i <= 5; i += 2)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ends, i, i, i, i + 1, i,
			 i, i + 1, i);
	strcat(text, waits);
	for (unsigned i = 1; i <= 5; i += 2)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), exchanges, i, i + 1, i,
			 i + 3, i, i + 3);
	strcat(text, "400 end\n");
	outcome = analyze(feed__text(text));
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.report->causes[0].count, 1);
	assert_int_equal(outcome.report->causes[0].requests, 3);
	assert_int_equal(outcome.report->causes[0].conns, 3);
	done(&outcome);
}

/* A reply as long as the threshold is a stall; a millionth less, and it is none. */
static void test_reply_at_the_threshold(void **state)
{
	static const char base[] = HEAD
	PEER "5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9\n"
	     "%s exchange conn=1 tgid=10 tid=10 side=asked begin=5 ready=5 answer=%s off=5 "
	     "wake=%s reads=1 weight=1 ended=followed\n"
	     "200 end\n";
	static const struct {
		const char *answer;
		size_t stalls;
	} rows[] = {{"15", 1}, {"14.999999", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *answer = rows[i].answer;
		struct outcome outcome;
		char text[4096];

		snprintf(text, sizeof(text), base, answer, answer, answer);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, rows[i].stalls);
		done(&outcome);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receiver),
		cmocka_unit_test(test_one_incident),
		cmocka_unit_test(test_whoever_waits_for_the_end),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_owed),
		cmocka_unit_test(test_signal_ends_lock),
		cmocka_unit_test(test_signal_ends_idle),
		cmocka_unit_test(test_before_the_first_request),
		cmocka_unit_test(test_time_out_before_the_answer),
		cmocka_unit_test(test_answer_in_pieces),
		cmocka_unit_test(test_new_thread_answers),
		cmocka_unit_test(test_both_are_targets),
		cmocka_unit_test(test_reads_slowly),
		cmocka_unit_test(test_reply_at_the_threshold),
		cmocka_unit_test(test_row_lock),
		cmocka_unit_test(test_late_for_a_request),
		cmocka_unit_test(test_idle_before),
		cmocka_unit_test(test_example_of_several_threads),
		cmocka_unit_test(test_between_requests),
		cmocka_unit_test(test_beside_a_server_of_messages),
		cmocka_unit_test(test_several_requests),
		cmocka_unit_test(test_datagram_at_the_end),
		cmocka_unit_test(test_others_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Waits explained by their chains: across threads, connections and processes. */
#include <unistd.h>

#include "tests/unit/analyze/chain/wait_rows.h"
#include "user/analyze/waits/wait_kind.h"

/* A send is told when its call is over: here the server has read by then, and is at its work. */
#define READ_BEFORE_TOLD                                                                           \
	"4.9 wait conn=2 tgid=20 tid=20 off=1 wake=4.8 state=1 syscall=0 arg0=8 stack_id=1 "       \
	"waker_stack_id=2\n"
#define CHILD "0 process tgid=30 role=target comm=child\n"
#define WAITS_FOR_CHILD(tgid)                                                                      \
	"46 wait tgid=10 tid=10 off=5 wake=45.9 state=1 syscall=61 waker_tgid=" tgid               \
	" waker_tid=" tgid "\n"

#define STREAMED(at) at " send conn=1 tgid=10 tid=11 bytes=65536 write_seq=9 snd_nxt=9\n"
#define STREAM                                                                                     \
	STREAMED("5")                                                                              \
	STREAMED("9")                                                                              \
	STREAMED("14")                                                                             \
	STREAMED("19") STREAMED("24") STREAMED("29") STREAMED("34") STREAMED("39") STREAMED("44")

static const struct row rows[] = {
	{"a server that sleeps", ASKED READS(20) SLEEPS(20, 20) ANSWERED_BY(20), CAUSE_PEER_APP, 2,
	 20, MISSING_NOTHING},
	{"a server that slept already when the send was told",
	 READ_BEFORE_TOLD ASKED "45 wait tgid=20 tid=20 off=4.95 wake=44.9 state=1 syscall=230 "
				"stack_id=3 waker_stack_id=4\n" ANSWERED_BY(20),
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"a server that waited for another connection when the send was told",
	 READ_BEFORE_TOLD ASKED "45 wait conn=3 tgid=20 tid=20 off=4.95 wake=44.9 state=1 "
				"syscall=0 arg0=9 stack_id=1 waker_stack_id=2\n" ANSWERED_BY(20),
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"a server that computes", ASKED READS(20) ANSWERED_BY(20), CAUSE_PEER_APP, 1, 10,
	 MISSING_NOTHING},
	{"a lock whose holder sleeps", SLEEPS(10, 11) LOCKED(12, 11), CAUSE_LOCK, 2, 11,
	 MISSING_NOTHING},
	{"a lock whose holder computes", LOCKED(12, 11), CAUSE_LOCK, 1, 12, MISSING_NOTHING},
	{"a lock, or a time-out there, whose end nobody saw",
	 "46 wait tgid=10 tid=12 off=7 ended=bound state=1 syscall=202 arg1=137 stack_id=5\n",
	 CAUSE_UNKNOWN, 1, 12, MISSING_WAKER},
	{"the same, but its return was seen",
	 "46 wait tgid=10 tid=12 off=7 state=1 syscall=202 arg1=137 stack_id=5\n", CAUSE_UNKNOWN, 1,
	 12, MISSING_WAKER},
	{"a lock whose holder waits for the server",
	 ASKED READS(20) SLEEPS(20, 20) ANSWERED_BY(
		 20) "51 wait tgid=10 tid=12 off=7 wake=50.9 state=1 syscall=202 arg1=128 stack_id=5 "
		     "waker_stack_id=6 waker_tgid=10 waker_tid=10\n",
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"two waiters of one lock", SLEEPS(10, 11) LOCKED(12, 11) LOCKED(13, 11), CAUSE_LOCK, 2, 11,
	 MISSING_NOTHING},
	{"a condition that the server's answer signals",
	 ASKED READS(20) SLEEPS(20, 20) ANSWERED_BY(
		 20) "51 wait tgid=10 tid=12 off=7 wake=50.9 state=1 syscall=202 arg1=137 stack_id=5 "
		     "waker_stack_id=6 waker_tgid=10 waker_tid=10\n",
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"a worker without work",
	 "50 wait tgid=10 tid=12 off=6 wake=49 state=1 syscall=202 arg1=137 stack_id=5 "
	 "waker_stack_id=6 waker_tgid=10 waker_tid=10\n",
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"a pipe whose writer sleeps",
	 SLEEPS(10,
		11) "46 wait tgid=10 tid=12 off=7 wake=45.9 state=1 syscall=0 arg0=5 stack_id=7 "
		    "waker_stack_id=8 waker_tgid=10 waker_tid=11\n",
	 CAUSE_IPC, 2, 11, MISSING_NOTHING},
	{"a pipe whose writer is idle itself",
	 "45 wait conn=5 tgid=10 tid=11 off=5 wake=44.9 state=1 syscall=232 stack_id=9 "
	 "waker_stack_id=2\n"
	 "46 wait tgid=10 tid=12 off=6 wake=45.9 state=1 syscall=0 arg0=5 stack_id=7 "
	 "waker_stack_id=8 waker_tgid=10 waker_tid=11\n",
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"a child that computes", CHILD WAITS_FOR_CHILD("30"), CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"a child that sleeps", CHILD SLEEPS(30, 30) WAITS_FOR_CHILD("30"), CAUSE_TIMER, 1, 30,
	 MISSING_NOTHING},
	{"a child that is not followed", WAITS_FOR_CHILD("30"), CAUSE_IPC, 1, 10, MISSING_NOTHING},
	{"a sleep", SLEEPS(10, 10), CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	{"a sleep that a signal of another thread ends",
	 SLEEPS(10, 11) "45 wait tgid=10 tid=10 off=5 wake=44.95 state=1 syscall=230 stack_id=3 "
			"waker_stack_id=27 waker_tgid=10 waker_tid=11\n",
	 CAUSE_IPC, 2, 11, MISSING_NOTHING},
	{"a sleep whose end another thread merely stood by",
	 "45 wait tgid=10 tid=10 off=5 wake=44.95 state=1 syscall=230 stack_id=3 waker_tgid=20 "
	 "waker_tid=20\n",
	 CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	{"a server whose sleep a signal ends",
	 ASKED READS(20) SLEEPS(
		 10,
		 11) "46 wait tgid=20 tid=20 off=8 wake=45 state=1 syscall=230 "
		     "stack_id=3 waker_stack_id=27 waker_tgid=10 waker_tid=11\n" ANSWERED_BY(20),
	 CAUSE_PEER_APP, 3, 11, MISSING_NOTHING},
	{"a sleep in which the cgroup was frozen",
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=1 syscall=230 stack_id=3 waker_stack_id=29 "
	 "waker_tgid=20 waker_tid=20\n",
	 CAUSE_STOPPED, 1, 10, MISSING_NOTHING},
	{"frozen on the way out of a call",
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=1 syscall=230 stack_id=28 "
	 "waker_stack_id=27 waker_tgid=20 waker_tid=20\n",
	 CAUSE_STOPPED, 1, 10, MISSING_NOTHING},
	{"a write to a file, for the kernel",
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=2 syscall=1 arg0=5 stack_id=30\n",
	 CAUSE_UNKNOWN, 1, 10, MISSING_WHAT_IT_WAITED_FOR},
	{"a poll that timed out",
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=1 syscall=232 stack_id=9 "
	 "waker_stack_id=4\n",
	 CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	{"a poll that timed out while an answer was owed",
	 ASKED "45 wait conn=1 tgid=10 tid=10 off=5.1 wake=44.9 state=1 syscall=232 stack_id=9 "
	       "waker_stack_id=4 turn=wrote\n",
	 CAUSE_PEER_APP, 1, 10, MISSING_NOTHING},
	{"a read from disk",
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=2 syscall=0 arg0=5 stack_id=10 "
	 "waker_stack_id=11\n",
	 CAUSE_DISK, 1, 10, MISSING_NOTHING},
	{"io_uring, nothing else known",
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=1 syscall=426 stack_id=12 "
	 "waker_stack_id=2\n",
	 CAUSE_URING, 1, 10, MISSING_NOTHING},
	{"preempted", "45 wait tgid=10 tid=10 off=5 wake=5 state=0\n", CAUSE_RUNQUEUE, 1, 10,
	 MISSING_NOTHING},
	{"preempted, and its quota used up",
	 "45 throttle tgid=10 tid=10 since=5 quota_us=20000 period_us=100000 cgroup=web\n"
	 "45 wait tgid=10 tid=10 off=5 wake=5 state=0\n",
	 CAUSE_THROTTLED, 1, 10, MISSING_NOTHING},
	{"preempted, and its quota used up at the end of that",
	 "45 throttle tgid=10 tid=10 since=40 quota_us=20000 period_us=100000 cgroup=web\n"
	 "45 wait tgid=10 tid=10 off=5 wake=5 state=0\n",
	 CAUSE_RUNQUEUE, 1, 10, MISSING_NOTHING},
	{"another thread's quota, and another time's",
	 "45 throttle tgid=10 tid=11 since=5 quota_us=20000 period_us=100000 cgroup=web\n"
	 "4 throttle tgid=10 tid=10 since=3 quota_us=20000 period_us=100000 cgroup=web\n"
	 "45 wait tgid=10 tid=10 off=5 wake=5 state=0\n",
	 CAUSE_RUNQUEUE, 1, 10, MISSING_NOTHING},
	{"woken, and not run",
	 ASKED READS(20) "50 wait conn=1 tgid=10 tid=10 off=6 wake=9 state=1 syscall=0 arg0=7 "
			 "turn=wrote stack_id=1 waker_stack_id=2 waker_tgid=20 waker_tid=20\n",
	 CAUSE_RUNQUEUE, 1, 10, MISSING_NOTHING},
	{"stopped", "45 wait tgid=10 tid=10 off=5 wake=44.9 state=4\n", CAUSE_STOPPED, 1, 10,
	 MISSING_STOPPER},
	{"the brake of memory.high",
	 "0.1 stack id=60 text=schedule_timeout;schedule_timeout_killable;mem_cgroup_handle_over_high;"
	 "exit_to_user_mode_loop\n"
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=2 syscall=9 stack_id=60 waker_stack_id=4\n",
	 CAUSE_MEMORY, 1, 10, MISSING_NOTHING},
	{"writing back pages to free them",
	 "0.1 stack id=60 text=io_schedule;folio_wait_bit_common;shrink_lruvec;try_to_free_pages\n"
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=2 syscall=0 arg0=5 stack_id=60\n",
	 CAUSE_MEMORY, 1, 10, MISSING_NOTHING},
	{"accept()",
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=1 syscall=288 arg0=3 waker_stack_id=2\n",
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"a server whose poll times out between requests",
	 "0 conn conn=5 tgid=10 role=target local=127.0.0.1:9 remote=127.0.0.1:8 opener=peer\n"
	 "45 wait tgid=10 tid=10 off=5 wake=44.9 state=1 syscall=232 stack_id=9 "
	 "waker_stack_id=4\n",
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"a reader beside a thread that streams",
	 STREAM "50 wait conn=1 tgid=10 tid=12 off=4 wake=49.9 state=1 syscall=0 arg0=7 turn=wrote "
		"stack_id=1 waker_stack_id=2\n",
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"the same, but it writes itself",
	 STREAM "50 wait conn=1 tgid=10 tid=11 off=4 wake=49.9 state=1 syscall=0 arg0=7 turn=wrote "
		"stack_id=1 waker_stack_id=2\n",
	 CAUSE_PEER_APP, 1, 11, MISSING_NOTHING},
	{"threads that wake one another: a cycle",
	 "46 wait tgid=10 tid=11 off=5 wake=45.9 state=1 syscall=202 arg1=128 stack_id=5 "
	 "waker_stack_id=6 waker_tgid=10 waker_tid=12\n"
	 "46.5 wait tgid=10 tid=12 off=5 wake=46.4 state=1 syscall=202 arg1=128 stack_id=5 "
	 "waker_stack_id=6 waker_tgid=10 waker_tid=11\n",
	 CAUSE_LOCK, 2, 12, MISSING_NOTHING},
};

static void test_chains(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row__judge(&rows[i]);
}

/* ---- a proxy: the hold is on a connection that no target has ---- */

#define PROXY                                                                                      \
	"0 process tgid=30 role=chain comm=backend\n"                                              \
	"0 conn conn=3 tgid=20 role=chain local=127.0.0.1:3 remote=127.0.0.1:4 fd=9 opener=self\n" \
	"0 conn conn=4 tgid=30 role=chain local=127.0.0.1:4 remote=127.0.0.1:3 fd=5 opener=peer\n" \
	"0 peer conn=3 peer=4\n"

#define PROXY_HELD                                                                                 \
	"7 send conn=3 tgid=20 tid=20 bytes=40 write_seq=140 snd_nxt=140 snd_una=100\n"            \
	"7.1 send conn=3 tgid=20 tid=20 bytes=60 write_seq=200 snd_nxt=140 snd_una=100\n"          \
	"7.1 hold conn=3 tgid=20 tid=20 reason=nagle seq=140 end=200 unacked=40 mss=1000 "         \
	"min_rtt_us=50\n"                                                                          \
	"47 delack-fire conn=4 pending=3\n"                                                        \
	"47.01 ack conn=4 seq=500 end=500 ack=140\n"                                               \
	"47.05 rx conn=3 seq=500 end=500 ack=140 flags=0x10\n"                                     \
	"47.1 tx conn=3 seq=140 end=200 ack=500\n"                                                 \
	"47.1 release conn=3 held=40 seq=140 end=200 reason=nagle\n"                               \
	"49 wait conn=3 tgid=20 tid=20 off=7.2 wake=48.9 state=1 syscall=0 arg0=9 turn=wrote "     \
	"stack_id=1 waker_stack_id=2 waker_tgid=30 waker_tid=30\n"

static void test_proxy(void **state)
{
	struct outcome outcome =
		analyze(feed__text(BASE PROXY ASKED READS(20) PROXY_HELD ANSWERED_BY(20)));
	const struct stall *stall = outcome.stall;

	(void)state;
	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(stall->cause, CAUSE_NAGLE_DELACK);
	assert_int_equal(stall->conn, 3); /* where the code is that holds */
	assert_int_equal(stall->pid, 10); /* whom it delayed */
	assert_int_equal(stall->link_count, 2);
	assert_int_equal(stall->links[1].wait.head.tid, 20);
	assert_int_equal(stall->fire.head.type, NS_DELACK_FIRE);
	done(&outcome);
	/* Nobody of the target waited for it: no stall of the target's. */
	outcome = analyze(feed__text(BASE PROXY ASKED READS(20) PROXY_HELD));
	assert_int_equal(outcome.report->stall_count, 0);
	done(&outcome);
}

/* ---- the other end on another host ---- */

#define REMOTE                                                                                     \
	"0 session threshold=10 arch=x86_64\n"                                                     \
	"0 process tgid=10 role=target comm=client\n"                                              \
	"0 conn conn=1 tgid=10 role=target local=10.0.0.1:1 remote=10.0.0.2:2 fd=7 opener=self\n"

static void test_remote(void **state)
{
	static const struct {
		const char *rtt;
		enum cause cause;
		uint64_t network_us;
	} far[] = {
		{"min_rtt_us=100", CAUSE_PEER_APP, 100},
		{"min_rtt_us=38000", CAUSE_NETWORK, 38000},
		{"min_rtt_us=90000", CAUSE_NETWORK, 43900},
		{"", CAUSE_UNKNOWN, MISSING_NOTHING},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
		struct outcome outcome;
		uint64_t network = 0;
		char text[2048];

		snprintf(text, sizeof(text),
			 "%s%s50 wait conn=1 tgid=10 tid=10 off=6 wake=49.9 state=1 syscall=0 "
			 "arg0=7 turn=wrote %s\n",
			 REMOTE, ASKED, far[i].rtt);
		outcome = analyze(feed__text(text));
		assert_int_equal(outcome.report->stall_count, 1);
		assert_int_equal(outcome.stall->cause, far[i].cause);
		if (far[i].cause == CAUSE_UNKNOWN)
			assert_true(outcome.stall->missing);
		else
			assert_int_equal(outcome.stall->confidence, CONFIDENCE_INFERRED);
		for (size_t s = 0; s < outcome.stall->slice_count; s++) {
			if (outcome.stall->slices[s].cause == CAUSE_NETWORK)
				network += outcome.stall->slices[s].ns;
		}
		assert_int_equal(network / 1000, far[i].network_us);
		done(&outcome);
	}
}

/* For its lock, and for what it writes into a pipe: of one sleep these are two causes. */
static void test_two_causes_of_one_sleep(void **state)
{
	struct outcome outcome = analyze(feed__text(
		BASE
		"30.08 wait tgid=10 tid=11 off=9.5 wake=30.05 state=1 syscall=230 "
		"stack_id=3 waker_stack_id=4\n"
		"30.2 wait tgid=10 tid=12 off=10 wake=30.11 state=1 syscall=202 arg1=128 "
		"stack_id=5 waker_stack_id=6 waker_tgid=10 waker_tid=11\n"
		"30.3 wait tgid=10 tid=13 off=10.1 wake=30.21 state=1 syscall=0 arg0=7 "
		"stack_id=7 waker_stack_id=8 waker_tgid=10 waker_tid=11\n"));

	(void)state;
	assert_int_equal(outcome.report->stall_count, 2);
	assert_int_equal(outcome.report->stalls[0].cause, CAUSE_LOCK);
	assert_int_equal(outcome.report->stalls[1].cause, CAUSE_IPC);
	assert_int_equal(outcome.report->stalls[1].tid, 13);
	done(&outcome);
}

/*
 * Waits of one thread that overlap, as only a damaged recording has them, each ended by a thread
 * with as many: what leads nowhere is not followed, else this takes days.
 */
static void test_overlapping_waits(void **state)
{
	enum { THREADS = 4, WAITS = 200, LINE = 160 };
	char *text = malloc((size_t)WAITS * LINE);
	struct outcome outcome;
	size_t used = 0;

	(void)state;
	used += (size_t)snprintf(text, LINE * 20, "%s", BASE);
	for (unsigned i = 0; i < WAITS - 20; i++)
		used += (size_t)snprintf(
			text + used, LINE,
			"%u.5 wait tgid=10 tid=%u off=5.%03u wake=%u.4 state=1 syscall=202 "
			"arg1=128 stack_id=5 waker_stack_id=6 waker_tgid=10 waker_tid=%u\n",
			30 + i / 8, 100 + i % THREADS, i, 30 + i / 8, 100 + (i + 1) % THREADS);
	alarm(60);
	outcome = analyze(feed__text(text));
	alarm(0);
	assert_true(outcome.report->stall_count >= 1);
	done(&outcome);
	free(text);
}

/* A chain of nine: the eighth link is the last. */
static void test_depth(void **state)
{
	struct outcome outcome;
	char text[8192];
	size_t used;

	(void)state;
	used = (size_t)snprintf(text, sizeof(text), "%s", BASE);
	for (unsigned tid = 100; tid < 109; tid++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"%u.5 wait tgid=10 tid=%u off=%u wake=%u.4 state=1 syscall=202 "
			"arg1=128 stack_id=5 waker_stack_id=6 waker_tgid=10 waker_tid=%u\n",
			170 - tid, tid, tid - 95, 170 - tid, tid + 1);
	outcome = analyze(feed__text(text));
	assert_true(outcome.report->stall_count >= 1);
	for (size_t i = 0; i < outcome.report->stall_count; i++) {
		assert_int_equal(outcome.report->stalls[i].cause, CAUSE_LOCK);
		assert_true(outcome.report->stalls[i].link_count <= STALL_LINKS);
	}
	done(&outcome);
}

/* A wait of a hundred waits below it, each with a way there, a program and a way back. */
static void test_many_parts(void **state)
{
	struct outcome outcome;
	char text[24576];
	size_t used;

	(void)state;
	used = (size_t)snprintf(text, sizeof(text), "%s", HEAD STACKS);
	for (unsigned i = 0; i < 100; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"%u wait conn=1 tgid=10 tid=10 off=%u state=1 wake=%u syscall=0 arg0=7 "
			"turn=wrote stack_id=1 waker_stack_id=2 min_rtt_us=1000\n",
			10 * i + 19, 10 * i + 10, 10 * i + 19);
	snprintf(text + used, sizeof(text) - used,
		 "1010 wait tgid=10 tid=12 off=10 wake=1010 state=1 syscall=202 arg1=128 "
		 "stack_id=5 waker_stack_id=6 waker_tgid=10 waker_tid=10\n");
	outcome = analyze(feed__text(text));
	assert_non_null(outcome.stall);
	assert_int_equal(outcome.stall->cause, CAUSE_PEER_APP);
	assert_int_equal(outcome.report->waited_ns[CAUSE_PEER_APP], 800000000);
	assert_int_equal(outcome.report->waited_ns[CAUSE_NETWORK], 100000000);
	assert_int_equal(outcome.report->waited_ns[CAUSE_LOCK], 100000000);
	done(&outcome);
}

/* ---- a loop that looks after its own clock between ---- */

#define LOOPBACK                                                                                   \
	"0 stack id=31 text=try_to_wake_up;ep_poll_callback;sock_def_readable;tcp_data_queue;"     \
	"tcp_v4_rcv;process_backlog;net_rx_action;handle_softirqs;do_softirq;__local_bh_enable_ip\n"
#define LOOKS(written)                                                                             \
	"30 wait tgid=20 tid=20 off=6 wake=29.95 state=1 syscall=232 stack_id=9 "                  \
	"waker_stack_id=4\n"                                                                       \
	"48 wait tgid=20 tid=20 off=30.1 wake=47.95 state=1 syscall=232 stack_id=9 "               \
	"waker_stack_id=31 waker_tgid=40 waker_tid=40 waker_comm=pusher " written "\n"
#define SERVED                                                                                     \
	"49.9 exchange conn=2 tgid=20 tid=20 side=served writes=1 begin=5.1 ready=5.2 off=1 "      \
	"arrived=5.05 answer=49.9 bytes_out=9 bytes_in=9 weight=1 ended=followed\n" ANSWERED_BY(   \
		20) "50.1 exchange conn=1 tgid=10 tid=10 side=asked writes=1 begin=5 ready=5 "     \
		    "off=6 wake=49.9 answer=50 bytes_out=9 bytes_in=9 reads=1 weight=1 "           \
		    "min_rtt_us=30 ended=followed\n"
#define PUSHER       "0 process tgid=40 role=chain comm=pusher\n"
#define PUSHES(more) more SLEEPS(40, 40)
/* It does so because another one let it, after the loop's time-out. */
#define LET_ON(tid, by)                                                                            \
	"30.2 wait tgid=40 tid=" #tid                                                              \
	" off=3 wake=30.05 state=1 syscall=202 arg1=128 stack_id=5 "                               \
	"waker_stack_id=6 waker_tgid=20 waker_tid=" #by "\n"

/* How long the path of the one stall has this thread in this kind of part, of this cause. */
static uint64_t time_of(const char *lines, uint32_t tid, enum path_kind kind, enum cause cause,
			const char *waker)
{
	struct outcome outcome = analyze(feed__text(lines));
	uint64_t ns = 0;

	assert_int_equal(outcome.report->stall_count, 1);
	assert_int_equal(outcome.stall->cause, CAUSE_PEER_APP);
	for (size_t i = 0; i < outcome.stall->path.count; i++) {
		const struct path_part *part = &outcome.stall->path.parts[i];

		if (part->tid == tid && part->kind == kind && part->cause == cause &&
		    !strcmp(part->waker_comm, waker))
			ns += part->ns;
	}
	done(&outcome);
	return ns / 1000000;
}

static void test_looks_between(void **state)
{
	(void)state;
	/* All of the loop's time it waited for who slept all the time. */
	assert_int_equal(time_of(BASE LOOPBACK PUSHER ASKED READS(20) PUSHES("") LOOKS("") SERVED,
				 40, PATH_BLOCKED, CAUSE_TIMER, ""),
			 36);
	/* It had something to do by its clock: its time-out stays its own. */
	assert_int_equal(time_of(BASE LOOPBACK PUSHER ASKED READS(20) PUSHES("")
					 LOOKS("conn_basis=written conn=2") SERVED,
				 20, PATH_BLOCKED, CAUSE_TIMER, ""),
			 23);
	assert_int_equal(time_of(BASE LOOPBACK PUSHER ASKED READS(20) LET_ON(40, 20) LOOKS("")
					 SERVED,
				 20, PATH_BLOCKED, CAUSE_TIMER, ""),
			 23);
	assert_int_equal(time_of(BASE LOOPBACK PUSHER ASKED READS(20) LET_ON(41, 20) LET_ON(40, 41)
					 LOOKS("") SERVED,
				 20, PATH_BLOCKED, CAUSE_TIMER, ""),
			 23);
	/* Of whom nobody watches only the name is known, and when. */
	assert_int_equal(time_of(BASE LOOPBACK ASKED READS(20) LOOKS("") SERVED, 20, PATH_BLOCKED,
				 CAUSE_TIMER, ""),
			 23);
	assert_int_equal(time_of(BASE LOOPBACK ASKED READS(20) LOOKS("") SERVED, 20, PATH_BLOCKED,
				 CAUSE_IDLE, "pusher"),
			 17);
}

static size_t add_named(struct path *path, uint32_t pid, const char *comm)
{
	struct path_part part = {.kind = PATH_RUNS, .pid = pid, .ns = 1, .count = 1};

	snprintf(part.comm, sizeof(part.comm), "%s", comm);
	return path__add(path, &part);
}

static void test_pool_is_one_part(void **state)
{
	struct path path = {.count = 1};

	(void)state;
	assert_int_equal(add_named(&path, 10, "pool-1-thread-1"), 1);
	assert_int_equal(add_named(&path, 10, "pool-1-thread-4"), 1);
	assert_int_equal(add_named(&path, 10, "pool-12-thread-"), 2);
	assert_int_equal(add_named(&path, 10, "worker9"), 3);
	assert_int_equal(add_named(&path, 10, "worker10"), 3);
	assert_int_equal(add_named(&path, 10, "worker"), 4);
	/* Another process of that name. */
	assert_int_equal(add_named(&path, 20, "worker10"), 5);
	assert_int_equal(add_named(&path, 21, "worker10"), 6);
	assert_int_equal(add_named(&path, 20, "worker11"), 5);
	for (uint32_t pid = 22; pid < 22 + PATH_PARTS; pid++)
		add_named(&path, pid, "worker10");
	assert_true(path.count < PATH_PARTS); /* the rest has room */
}

/* Workers that take turns are one; of two that are in one stall each has its own time. */
static void test_workers_in_turn(void **state)
{
	struct path path = {.count = 1}, one = {.count = 1}, two = {.count = 1};

	(void)state;
	add_named(&path, 20, "worker");
	add_named(&one, 21, "worker");
	path__merge(&path, &one);
	assert_int_equal(path.count, 2);
	assert_int_equal(path.parts[1].ns, 2);
	add_named(&two, 20, "worker");
	add_named(&two, 21, "worker");
	path__merge(&path, &two);
	path__merge(&path, &two);
	assert_int_equal(path.count, 3);
	assert_int_equal(path.parts[1].ns, 4);
	assert_int_equal(path.parts[2].ns, 2);
}

static size_t add_wait(struct path *path, size_t parent, uint32_t tid, enum cause cause,
		       uint64_t ns)
{
	struct path_part part = {.kind = PATH_BLOCKED,
				 .cause = cause,
				 .parent = (uint16_t)parent,
				 .pid = 10,
				 .tid = tid,
				 .syscall = 230,
				 .comm = "python3",
				 .ns = ns};

	return path__add(path, &part);
}

/* Three threads sleep in turn under one lock: the sleep of one is a third of what it takes. */
static void test_alike_in_a_queue(void **state)
{
	struct path path = {.count = 1};
	size_t first, second;
	uint32_t threads;

	(void)state;
	first = add_wait(&path, 0, 11, CAUSE_LOCK, 1);
	add_wait(&path, first, 12, CAUSE_TIMER, 30);
	second = add_wait(&path, first, 12, CAUSE_LOCK, 1);
	add_wait(&path, second, 13, CAUSE_TIMER, 29);
	add_wait(&path, add_wait(&path, second, 13, CAUSE_LOCK, 1), 14, CAUSE_TIMER, 28);
	add_wait(&path, second, 12, CAUSE_DISK, 10);
	assert_int_equal(path__share(&path, &path.parts[2], 100), 30);
	assert_int_equal(path__share_of_alike(&path, &path.parts[2], 100, &threads), 87);
	assert_int_equal(threads, 3);
	/* Others of that process, which have another name, are at something else. */
	memcpy(path.parts[4].comm, "logger", sizeof("logger"));
	assert_int_equal(path__share_of_alike(&path, &path.parts[2], 100, &threads), 58);
	assert_int_equal(threads, 2);
}

static void test_stack_names(void **state)
{
	(void)state;
	assert_true(stack__has("schedule;pipe_read;vfs_read", "pipe_read"));
	assert_true(stack__has("schedule;pipe_read.part.0;vfs_read", "pipe_read"));
	assert_true(stack__has("pipe_read+0x12", "pipe_read"));
	assert_false(stack__has("schedule;anon_pipe_read;vfs_read", "pipe_read"));
	assert_false(stack__has("pipe_reader", "pipe_read"));
	assert_false(stack__has("", "pipe_read"));
	assert_false(stack__has(NULL, "pipe_read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_proxy),
		cmocka_unit_test(test_remote),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_many_parts),
		cmocka_unit_test(test_looks_between),
		cmocka_unit_test(test_pool_is_one_part),
		cmocka_unit_test(test_workers_in_turn),
		cmocka_unit_test(test_alike_in_a_queue),
		cmocka_unit_test(test_stack_names),
		cmocka_unit_test(test_two_causes_of_one_sleep),
		cmocka_unit_test(test_overlapping_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

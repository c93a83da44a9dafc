// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Waits on a ring get the cause of the operation that ended them. */
#include "tests/unit/analyze/chain/wait_rows.h"

static const struct row rows[] = {
	{"RECV while the server sleeps",
	 RING_ASKED RING_READS SLEEPS(20, 20)
		 ON_RING("conn=1 turn=wrote waker_stack_id=13 " BY(20, 20),
			 "op_code=RECV op_fd=7 op_file=tcp op_submit=5.1 op_tid=10 op_how=poll"),
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"READ from a socket while the server computes",
	 RING_ASKED RING_READS ON_RING("conn=1 turn=wrote waker_stack_id=13 " BY(20, 20),
				       "op_code=READ op_fd=7 op_file=tcp op_submit=5.1 op_tid=10"),
	 CAUSE_PEER_APP, 1, 10, MISSING_NOTHING},
	{"a server whose ring sleeps for a TIMEOUT before it answers",
	 RING_ASKED RING_READS
	 "45 wait tgid=20 tid=20 off=8 wake=44.9 state=1 syscall=426 ring=2 op_known=1 "
	 "op_code=TIMEOUT op_file=none op_tid=20 stack_id=12 waker_stack_id=14\n" ON_RING(
		 "conn=1 turn=wrote waker_stack_id=13 " BY(20, 20),
		 "op_code=RECV op_fd=7 op_file=tcp op_submit=5.1 op_tid=10"),
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"a server whose submission thread sends the answer",
	 RING_ASKED RING_READS
		 SLEEPS(20, 20) "44 wait tgid=20 tid=22 off=8 wake=43.9 state=1 stack_id=21 comm=iou-sqp-20\n" ON_RING(
			 "conn=1 turn=wrote waker_stack_id=13 waker_comm=iou-sqp-20 " BY(20, 22),
			 "op_code=RECV op_fd=7 op_file=tcp op_submit=5.1 op_tid=10 op_how=poll"),
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"the same, seen by the send alone",
	 RING_ASKED RING_READS
		 SLEEPS(20, 20) "49.8 send conn=2 tgid=20 tid=22 bytes=9 write_seq=9 snd_nxt=9 via=worker\n" ON_RING(
			 "conn=1 turn=wrote waker_stack_id=13",
			 "op_code=RECV op_fd=7 op_file=tcp op_submit=5.1 op_tid=10 op_how=poll"),
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"RECV of a server between requests",
	 SERVES ON_RING("conn=5 turn=wrote waker_stack_id=13",
			"op_code=RECV op_fd=9 op_file=tcp op_submit=5.1 op_tid=10"),
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"the same, completed by another thread's task work",
	 SERVES ON_RING("conn=5 turn=read waker_stack_id=18 " BY(10, 11),
			"op_code=RECV op_fd=9 op_file=tcp op_submit=5.1 op_tid=11 op_by_tid=11"),
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"ACCEPT", ON_RING("waker_stack_id=13", "op_code=ACCEPT op_fd=3 op_file=tcp op_tid=10"),
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"CONNECT",
	 ON_RING("conn=1 waker_stack_id=13", "op_code=CONNECT op_fd=7 op_file=tcp op_tid=10"),
	 CAUSE_NETWORK, 1, 10, MISSING_NOTHING},
	{"SEND that waited for room",
	 ON_RING("conn=1 turn=wrote waker_stack_id=25",
		 "op_code=SEND op_fd=7 op_file=tcp op_tid=10 op_how=poll"),
	 CAUSE_SNDBUF, 1, 10, MISSING_NOTHING},
	{"POLL_ADD that waited for room",
	 ON_RING("conn=1 turn=wrote waker_stack_id=25",
		 "op_code=POLL_ADD op_fd=7 op_file=tcp op_tid=10 op_how=poll"),
	 CAUSE_SNDBUF, 1, 10, MISSING_NOTHING},
	{"a zero-copy send's notification",
	 "49.8 uring tgid=10 tid=10 conn=1 ring=1 step=done opcode=SEND_ZC user_data=3 "
	 "file=tcp fd=7 cqe_flags=8 submit=5\n" ON_RING(
		 "conn=1 turn=wrote waker_stack_id=13",
		 "op_code=SEND_ZC op_user_data=3 op_fd=7 op_file=tcp op_tid=10 op_done=49.8"),
	 CAUSE_NETWORK, 1, 10, MISSING_NOTHING},
	{"TIMEOUT", ON_RING("waker_stack_id=14", "op_code=TIMEOUT op_tid=10"), CAUSE_TIMER, 1, 10,
	 MISSING_NOTHING},
	{"TIMEOUT of a server between requests",
	 SERVES "4 uring tgid=10 tid=10 conn=5 ring=1 step=done opcode=RECV file=tcp result=9\n"
		"4.1 send conn=5 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9 via=uring\n" ON_RING(
			"waker_stack_id=14", "op_code=TIMEOUT op_tid=10"),
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"TIMEOUT of a server that has a request",
	 SERVES ON_RING(
		 "waker_stack_id=14",
		 "op_code=TIMEOUT op_tid=10") "50.1 exchange conn=5 tgid=10 tid=10 side=served writes=1 "
					      "begin=5.2 ready=5.2 off=1 answer=50.05 "
					      "arrived=5.1 bytes_out=9 bytes_in=9 weight=1 ended=followed\n",
	 CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	/* A signal ended it, or the window. */
	{"none of those in flight", PENDING("op_code=255"), CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"none of those in flight, where an answer is due",
	 RING_ASKED PENDING("op_code=255 conn=1 conn_basis=written turn=wrote"), CAUSE_PEER_APP, 1,
	 10, MISSING_NOTHING},
	{"the ACCEPT in flight", PENDING("op_code=ACCEPT op_tid=10"), CAUSE_IDLE, 0, 0,
	 MISSING_NOTHING},
	{"the RECV in flight",
	 RING_ASKED PENDING("op_code=RECV op_file=tcp op_tid=10 conn=1 conn_basis=fd turn=wrote"),
	 CAUSE_PEER_APP, 1, 10, MISSING_NOTHING},
	{"TIMEOUT, no stack", ON_RING("", "op_code=TIMEOUT op_tid=10"), CAUSE_TIMER, 1, 10,
	 MISSING_NOTHING},
	{"RECV that its LINK_TIMEOUT cancelled, by the waker's stack",
	 ON_RING("conn=1 turn=wrote waker_stack_id=15", "op_code=RECV op_file=tcp op_tid=10"),
	 CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	{"the same, by the ring's completions",
	 "49.91 uring tgid=10 tid=10 conn=1 ring=1 step=done opcode=RECV user_data=1 file=tcp "
	 "result=4294967171 submit=5.1\n"
	 "49.92 uring tgid=10 tid=10 ring=1 step=done opcode=LINK_TIMEOUT user_data=2 linked=1 "
	 "link_head=1 result=4294967234 submit=5.11\n" ON_RING(
		 "conn=1 turn=wrote",
		 "op_code=RECV op_user_data=1 op_file=tcp op_tid=10 op_submit=5.1"),
	 CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	{"a read of a file", ON_RING("waker_stack_id=17", "op_code=READ op_file=disk op_tid=10"),
	 CAUSE_DISK, 1, 10, MISSING_NOTHING},
	{"FSYNC by a worker that sleeps in it",
	 "49 wait tgid=10 tid=15 off=7 wake=48.9 state=2 stack_id=19 waker_stack_id=17 "
	 "comm=iou-wrk-10\n" ON_RING("waker_stack_id=18 " BY(10, 15),
				     "op_code=FSYNC op_file=disk op_how=worker op_tid=10 "
				     "op_by_tid=15 op_submit=5.9"),
	 CAUSE_DISK, 2, 15, MISSING_NOTHING},
	{"a pipe whose writer sleeps",
	 SLEEPS(10, 11)
		 ON_RING("waker_stack_id=16 " BY(10, 11),
			 "op_code=READ op_fd=5 op_file=pipe op_how=poll op_tid=10 op_by_tid=11"),
	 CAUSE_IPC, 2, 11, MISSING_NOTHING},
	{"a pipe whose writer computes",
	 ON_RING("waker_stack_id=16 " BY(10, 11),
		 "op_code=READ op_fd=5 op_file=pipe op_how=poll op_tid=10 op_by_tid=11"),
	 CAUSE_IPC, 1, 10, MISSING_NOTHING},
	{"the same, read by a worker",
	 "49 wait tgid=10 tid=15 off=7 wake=48.9 state=1 stack_id=26 comm=iou-wrk-10 "
	 "waker_stack_id=16 waker_tgid=10 waker_tid=11\n" SLEEPS(10, 11)
		 ON_RING("waker_stack_id=18 " BY(10, 15),
			 "op_code=READ op_file=pipe op_how=worker op_tid=10 op_by_tid=15"),
	 CAUSE_IPC, 3, 11, MISSING_NOTHING},
	{"a pipe that another thread submitted, and whose task work completed",
	 SLEEPS(10, 12) ON_RING("waker_stack_id=18 " BY(10, 11),
				"op_code=READ op_file=pipe op_how=poll op_tid=11 op_by_tid=12"),
	 CAUSE_IPC, 2, 12, MISSING_NOTHING},
	{"a Unix socket", ON_RING("waker_stack_id=18", "op_code=RECV op_file=socket op_tid=10"),
	 CAUSE_IPC, 1, 10, MISSING_NOTHING},
	{"a timerfd", ON_RING("waker_stack_id=23", "op_code=READ op_file=other op_tid=10"),
	 CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	{"MSG_RING of a thread that slept",
	 SLEEPS(10, 11) ON_RING("waker_stack_id=24 " BY(10, 11),
				"op_code=MSG_RING op_tid=11 op_by_tid=11"),
	 CAUSE_LOCK, 2, 11, MISSING_NOTHING},
	{"MSG_RING of a thread that had nothing to tell before",
	 ON_RING("waker_stack_id=24 " BY(10, 11), "op_code=MSG_RING op_tid=11 op_by_tid=11"),
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"submitted late, by a thread that slept",
	 SLEEPS(10, 11) ON_RING("conn=1 turn=wrote waker_stack_id=13",
				"op_code=RECV op_file=tcp op_submit=46 op_tid=11"),
	 CAUSE_LOCK, 2, 11, MISSING_NOTHING},
	{"submitted late, by a thread that was busy with its own",
	 ON_RING("conn=1 turn=wrote waker_stack_id=13",
		 "op_code=RECV op_file=tcp op_submit=46 op_tid=11"),
	 CAUSE_IDLE, 0, 0, MISSING_NOTHING},
	{"linked behind an operation that took its time",
	 "46 uring tgid=10 tid=10 ring=1 step=done opcode=READ user_data=1 file=disk submit=5.1 "
	 "how=worker by_tid=15\n"
	 "49.8 uring tgid=10 tid=10 conn=1 ring=1 step=done opcode=SEND user_data=2 file=tcp "
	 "submit=5.11 linked=1 link_head=1 how=inline\n" ON_RING(
		 "conn=1 turn=wrote waker_stack_id=18",
		 "op_code=SEND op_user_data=2 op_file=tcp op_submit=5.11 op_tid=10 op_done=49.8"),
	 CAUSE_DISK, 1, 10, MISSING_NOTHING},
	{"epoll_wait() on what a ring feeds",
	 RING_ASKED RING_READS SLEEPS(
		 20,
		 20) "50 wait conn=1 tgid=10 tid=10 off=6 wake=49.9 state=1 syscall=232 stack_id=9 ring=1 "
		     "waker_stack_id=13 waker_tgid=20 waker_tid=20 turn=wrote op_known=1 op_code=RECV "
		     "op_file=tcp op_submit=5.1\n",
	 CAUSE_PEER_APP, 2, 20, MISSING_NOTHING},
	{"read() of the ring's eventfd",
	 "50 wait tgid=10 tid=10 off=6 wake=49.9 state=1 syscall=0 arg0=6 stack_id=22 ring=1 "
	 "waker_stack_id=14 op_known=1 op_code=TIMEOUT op_submit=5.1\n",
	 CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	{"not known, but completed just before the wake",
	 "49.89 uring tgid=10 tid=10 ring=1 step=done opcode=READ user_data=1 file=disk "
	 "submit=5.1 by_tid=3\n" UNKNOWN "waker_stack_id=18\n",
	 CAUSE_DISK, 1, 10, MISSING_NOTHING},
	{"not known, but completed by the thread itself when it ran again",
	 "49.7 uring tgid=20 tid=20 ring=2 step=done opcode=FSYNC file=disk submit=5.1\n"
	 "50.01 uring tgid=10 tid=10 ring=1 step=done opcode=TIMEOUT user_data=1 submit=5.1 "
	 "by_tid=10\n" UNKNOWN "waker_stack_id=18\n",
	 CAUSE_TIMER, 1, 10, MISSING_NOTHING},
	{"known by its opcode alone, when it was let go",
	 "20 uring tgid=10 tid=10 ring=1 step=done opcode=WRITE user_data=1 file=pipe submit=5.1\n"
	 "49.8 uring tgid=10 tid=10 ring=1 step=done opcode=WRITE user_data=1 file=disk submit=21 "
	 "how=worker by_tid=15\n"
	 "49.85 uring tgid=10 tid=10 ring=1 step=done opcode=READ user_data=2 file=pipe submit=5\n"
	 "50.3 uring tgid=10 tid=10 ring=1 step=done opcode=WRITE user_data=1 file=pipe "
	 "submit=50.1\n" ON_RING("waker_stack_id=18 " BY(10, 15),
				 "op_code=WRITE op_user_data=1 op_flags=0x44 op_by_tid=15"),
	 CAUSE_DISK, 1, 10, MISSING_NOTHING},
	{"known before it was done, which tells its file",
	 "50.1 uring tgid=10 tid=10 ring=1 step=done opcode=WRITE user_data=1 file=disk "
	 "submit=5.1 how=later by_tid=10\n" ON_RING(
		 "waker_stack_id=18",
		 "op_code=WRITE op_user_data=1 op_submit=5.1 op_how=later op_tid=10"),
	 CAUSE_DISK, 1, 10, MISSING_NOTHING},
	{"not known, but a timer woke it", UNKNOWN "waker_stack_id=14\n", CAUSE_TIMER, 1, 10,
	 MISSING_NOTHING},
	{"not known, but the end of block I/O did", UNKNOWN "waker_stack_id=17\n", CAUSE_DISK, 1,
	 10, MISSING_NOTHING},
	{"not known", UNKNOWN "waker_stack_id=18\n", CAUSE_URING, 1, 10, MISSING_OPERATION},
	{"known, but not its file",
	 ON_RING("waker_stack_id=18", "op_code=READ op_submit=5.1 op_tid=10"), CAUSE_URING, 1, 10,
	 MISSING_WHAT_RING_WAITED_FOR},
	{"of a later kernel", ON_RING("waker_stack_id=18", "op_code=200 op_submit=5.1 op_tid=10"),
	 CAUSE_URING, 1, 10, MISSING_WHAT_RING_WAITED_FOR},
	{"a worker thread without work",
	 "50 wait tgid=10 tid=15 off=6 wake=49.9 state=1 stack_id=20 comm=iou-wrk-10\n", CAUSE_IDLE,
	 0, 0, MISSING_NOTHING},
	{"a worker thread, no stacks",
	 "50 wait tgid=10 tid=15 off=6 wake=49.9 state=1 comm=iou-wrk-10\n", CAUSE_IDLE, 0, 0,
	 MISSING_NOTHING},
	{"a worker thread inside an operation",
	 "50 wait tgid=10 tid=15 off=6 wake=49.9 state=2 stack_id=19 comm=iou-wrk-10\n", CAUSE_DISK,
	 1, 15, MISSING_NOTHING},
	{"the submission thread without work",
	 "50 wait tgid=10 tid=16 off=6 wake=49.9 state=1 stack_id=21 comm=iou-sqp-10\n", CAUSE_IDLE,
	 0, 0, MISSING_NOTHING},
};

static void test_operations(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row__judge(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

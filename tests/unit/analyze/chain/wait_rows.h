/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lines of traces in which threads wait, on sockets, locks and rings; rows of such, and what they
 * come to. */
#ifndef NETSTALL_TESTS_WAIT_ROWS_H
#define NETSTALL_TESTS_WAIT_ROWS_H

#include "tests/unit/analyze/outcome.h"

/* Kernel stacks, leaf first. */
#define STACKS                                                                                                                                          \
	"0 stack id=1 text=schedule_timeout;wait_woken;sk_wait_data;tcp_recvmsg_locked\n"                                                               \
	"0 stack id=2 text=try_to_wake_up;sock_def_readable;tcp_data_queue;tcp_v4_rcv\n"                                                                \
	"0 stack id=3 text=do_nanosleep;hrtimer_nanosleep;common_nsleep\n"                                                                              \
	"0 stack id=4 text=try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues\n"                                                                        \
	"0 stack id=5 text=futex_wait_queue;futex_wait;do_futex;__x64_sys_futex\n"                                                                      \
	"0 stack id=6 text=try_to_wake_up;wake_up_q;futex_wake;do_futex;__x64_sys_futex\n"                                                              \
	"0 stack id=7 text=schedule;pipe_read;vfs_read;ksys_read\n"                                                                                     \
	"0 stack id=8 text=try_to_wake_up;__wake_up_sync_key;pipe_write;vfs_write\n"                                                                    \
	"0 stack id=9 text=schedule_hrtimeout_range;ep_poll;do_epoll_wait\n"                                                                            \
	"0 stack id=10 text=io_schedule;folio_wait_bit_common;filemap_read\n"                                                                           \
	"0 stack id=11 text=try_to_wake_up;folio_wake_bit;blk_update_request\n"                                                                         \
	"0 stack id=12 text=schedule;io_cqring_wait;__do_sys_io_uring_enter\n"                                                                          \
	"0 stack id=13 text=try_to_wake_up;io_poll_wake;sock_def_readable;tcp_data_queue;tcp_v4_rcv\n"                                                  \
	"0 stack id=14 text=try_to_wake_up;io_req_local_work_add;io_timeout_fn;__hrtimer_run_queues\n"                                                  \
	"0 stack id=15 text=try_to_wake_up;io_req_local_work_add;io_link_timeout_fn;__hrtimer_run_queues\n"                                             \
	"0 stack id=16 text=try_to_wake_up;io_poll_wake;__wake_up_sync_key;pipe_write;vfs_write\n"                                                      \
	"0 stack id=17 text=try_to_wake_up;io_complete_rw;blk_update_request\n"                                                                         \
	"0 stack id=18 text=try_to_wake_up;io_cqring_wake;io_req_task_complete\n"                                                                       \
	"0 stack id=19 text=io_schedule;folio_wait_bit_common;filemap_read;io_read;io_issue_sqe;io_wq_submit_work;io_worker_handle_work;io_wq_worker\n" \
	"0 stack id=20 text=schedule;schedule_timeout;io_wq_worker;ret_from_fork\n"                                                                     \
	"0 stack id=21 text=schedule;io_sq_thread;ret_from_fork\n"                                                                                      \
	"0 stack id=22 text=schedule;eventfd_read;vfs_read\n"                                                                                           \
	"0 stack id=23 text=try_to_wake_up;io_poll_wake;eventfd_signal;timerfd_tmrproc\n"                                                               \
	"0 stack id=24 text=try_to_wake_up;io_msg_ring;io_issue_sqe;io_submit_sqes\n"                                                                   \
	"0 stack id=25 text=try_to_wake_up;io_poll_wake;sk_stream_write_space;tcp_rcv_established\n"                                                    \
	"0 stack id=26 text=schedule;pipe_read;io_read;io_issue_sqe;io_wq_submit_work;io_worker_handle_work;io_wq_worker\n"                             \
	"0 stack id=27 text=try_to_wake_up;signal_wake_up_state;complete_signal;__send_signal_locked;__x64_sys_kill\n"                                  \
	"0 stack id=28 text=schedule;get_signal;arch_do_signal_or_restart;exit_to_user_mode_loop\n"                                                     \
	"0 stack id=29 text=try_to_wake_up;__thaw_task;freezer_apply_state;freezer_write\n"                                                             \
	"0 stack id=30 text=schedule;synchronize_rcu_normal;kernfs_fop_write_iter;vfs_write;ksys_write\n"

#define BASE                                                                                       \
	HEAD                                                                                       \
	PEER STACKS "0 ring tgid=10 ring=1 fd=4\n"

/* The target accepted a connection. */
#define SERVES                                                                                     \
	"0 conn conn=5 tgid=10 role=target local=127.0.0.1:9 remote=127.0.0.1:8 fd=9 opener=peer\n"

/* Waits by what they are: the client's thread 10 on its answer, others beside it. */
#define ASKED "5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9\n"
#define ANSWERED_BY(tid)                                                                           \
	"50 wait conn=1 tgid=10 tid=10 off=6 wake=49.9 state=1 syscall=0 arg0=7 turn=wrote "       \
	"stack_id=1 waker_stack_id=2 waker_tgid=20 waker_tid=" #tid "\n"
#define READS(tid)                                                                                 \
	"5.2 wait conn=2 tgid=20 tid=" #tid                                                        \
	" off=1 wake=5.1 state=1 syscall=0 arg0=8 stack_id=1 waker_stack_id=2\n"
#define SLEEPS(tgid, tid)                                                                          \
	"45 wait tgid=" #tgid " tid=" #tid                                                         \
	" off=8 wake=44.9 state=1 syscall=230 stack_id=3 waker_stack_id=4\n"
#define LOCKED(tid, by)                                                                            \
	"46 wait tgid=10 tid=" #tid                                                                \
	" off=7 wake=45.9 state=1 syscall=202 arg1=128 stack_id=5 "                                \
	"waker_stack_id=6 waker_tgid=10 waker_tid=" #by "\n"

/* ---- the same on rings ---- */

#define RING_ASKED "5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9 via=uring\n"
#define RING_READS                                                                                 \
	"5.2 wait conn=2 tgid=20 tid=20 off=1 wake=5.1 state=1 syscall=426 ring=2 op_known=1 "     \
	"op_code=RECV op_file=tcp stack_id=12 waker_stack_id=13\n"
/* The client's thread 10, from 6 to 50, and what ended that. */
#define ON_RING(how, operation)                                                                     \
	"50 wait tgid=10 tid=10 off=6 wake=49.9 state=1 syscall=426 arg0=4 stack_id=12 ring=1 " how \
	" op_known=1 " operation "\n"
#define PENDING(operation)                                                                         \
	"50 wait tgid=10 tid=10 off=6 ended=lasts state=1 syscall=426 arg0=4 stack_id=12 ring=1 "  \
	"op_known=2 " operation "\n"
#define BY(tgid, tid) "waker_tgid=" #tgid " waker_tid=" #tid
#define UNKNOWN                                                                                    \
	"50 wait tgid=10 tid=10 off=6 wake=49.9 state=1 syscall=426 arg0=4 stack_id=12 ring=1 "

/* Lines behind BASE, and the one stall that they come to. */
struct row {
	const char *what;
	const char *lines;
	enum cause cause; /* CAUSE_IDLE: no stall */
	size_t links;
	uint32_t last_tid;          /* of its last link */
	enum stall_missing missing; /* MISSING_NOTHING: not asked */
};

static inline void row__judge(const struct row *row)
{
	struct outcome outcome;
	char text[8192];

	snprintf(text, sizeof(text), "%s%s", BASE, row->lines);
	outcome = analyze(feed__text(text));
	if (outcome.report->stall_count != (row->cause != CAUSE_IDLE))
		fail_msg("%s: %zu stalls, the first of %s", row->what, outcome.report->stall_count,
			 outcome.stall ? cause__info(outcome.stall->cause)->id : "-");
	if (outcome.stall) {
		const struct stall *stall = outcome.stall;

		if (stall->cause != row->cause)
			fail_msg("%s: %s", row->what, cause__info(stall->cause)->id);
		/* What the stall is told to be, the sum of the waits has too. */
		if (stall->wait.head.type && !outcome.report->waited_ns[stall->cause])
			fail_msg("%s: nothing of what it waits for is %s", row->what,
				 cause__info(stall->cause)->id);
		if (stall->link_count != row->links)
			fail_msg("%s: %zu links", row->what, stall->link_count);
		if (stall->links[stall->link_count - 1].wait.head.tid != row->last_tid)
			fail_msg("%s: the last link is %u", row->what,
				 stall->links[stall->link_count - 1].wait.head.tid);
		if (row->missing)
			assert_int_equal(stall->missing, row->missing);
		assert_true(stall->missing ||
			    (stall->cause != CAUSE_URING && stall->cause != CAUSE_UNKNOWN));
	}
	done(&outcome);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lines of traces in which threads wait on rings; outcome.h has the rest. */
#ifndef NETSTALL_TESTS_RING_LINES_H
#define NETSTALL_TESTS_RING_LINES_H

#include "tests/unit/analyze/outcome.h"

/* Kernel stacks, leaf first. */
#define STACKS                                                                                     \
	"0 stack id=1 text=schedule;io_cqring_wait;__do_sys_io_uring_enter\n"                      \
	"0 stack id=2 text=try_to_wake_up;io_poll_wake;sock_def_readable;tcp_data_queue;"          \
	"tcp_v4_rcv\n"                                                                             \
	"0 stack id=3 text=do_nanosleep;hrtimer_nanosleep;common_nsleep\n"                         \
	"0 stack id=4 text=try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues\n"                   \
	"0 stack id=5 text=try_to_wake_up;io_req_local_work_add;io_timeout_fn;"                    \
	"__hrtimer_run_queues\n"                                                                   \
	"0 stack id=6 text=try_to_wake_up;io_req_local_work_add;io_link_timeout_fn;"               \
	"__hrtimer_run_queues\n"                                                                   \
	"0 stack id=7 text=try_to_wake_up;io_poll_wake;__wake_up_sync_key;pipe_write;vfs_write\n"  \
	"0 stack id=8 text=try_to_wake_up;io_complete_rw;blk_update_request\n"                     \
	"0 stack id=9 text=try_to_wake_up;io_cqring_wake;io_req_task_complete\n"                   \
	"0 stack id=10 text=io_schedule;folio_wait_bit_common;filemap_read;io_read;io_issue_sqe;"  \
	"io_wq_submit_work;io_worker_handle_work;io_wq_worker\n"                                   \
	"0 stack id=11 text=schedule;schedule_timeout;io_wq_worker;ret_from_fork\n"                \
	"0 stack id=12 text=schedule;io_sq_thread;ret_from_fork\n"                                 \
	"0 stack id=13 text=schedule_hrtimeout_range;ep_poll;do_epoll_wait\n"                      \
	"0 stack id=14 text=schedule;eventfd_read;vfs_read\n"                                      \
	"0 stack id=15 text=try_to_wake_up;io_poll_wake;eventfd_signal;timerfd_tmrproc\n"          \
	"0 stack id=16 text=try_to_wake_up;io_msg_ring;io_issue_sqe;io_submit_sqes\n"              \
	"0 stack id=17 text=try_to_wake_up;io_poll_wake;sk_stream_write_space;"                    \
	"tcp_rcv_established\n"                                                                    \
	"0 stack id=18 text=schedule;pipe_read;io_read;io_issue_sqe;io_wq_submit_work;"            \
	"io_worker_handle_work;io_wq_worker\n"

#define BASE HEAD PEER STACKS "0 ring tgid=10 ring=1 fd=4\n"

/* The target accepted a connection. */
#define SERVES                                                                                     \
	"0 conn conn=5 tgid=10 role=target local=127.0.0.1:9 remote=127.0.0.1:8 fd=9 opener=peer\n"

#define ASKED "5 send conn=1 tgid=10 tid=10 bytes=9 write_seq=9 snd_nxt=9 via=uring\n"
#define READS                                                                                      \
	"5.2 wait conn=2 tgid=20 tid=20 off=1 wake=5.1 state=1 syscall=426 ring=2 op_known=1 "     \
	"op_code=RECV op_file=tcp stack_id=1 waker_stack_id=2\n"
/* The client's thread 10, from 6 to 50, and what ended that. */
#define ON_RING(how, operation)                                                                    \
	"50 wait tgid=10 tid=10 off=6 wake=49.9 state=1 syscall=426 arg0=4 stack_id=1 ring=1 " how \
	" op_known=1 " operation "\n"
#define BY(tgid, tid) "waker_tgid=" #tgid " waker_tid=" #tid
#define SLEEPS(tgid, tid)                                                                          \
	"45 wait tgid=" #tgid " tid=" #tid                                                         \
	" off=8 wake=44.9 state=1 syscall=230 stack_id=3 waker_stack_id=4\n"
#define UNKNOWN                                                                                    \
	"50 wait tgid=10 tid=10 off=6 wake=49.9 state=1 syscall=426 arg0=4 stack_id=1 ring=1 "

#endif

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/waiting_stack.h"

#include <string.h>

static bool is_name(const char *frame, size_t bytes, const char *function, size_t length)
{
	return bytes >= length && !memcmp(frame, function, length) &&
	       (bytes == length || frame[length] == '.' || frame[length] == '+');
}

bool stack__has(const char *stack, const char *function)
{
	size_t length = strlen(function);

	while (stack && *stack) {
		size_t bytes = strcspn(stack, ";");

		if (is_name(stack, bytes, function, length))
			return true;
		stack += bytes + (stack[bytes] == ';');
	}
	return false;
}

/*
 * A function that only one kind of wait has on its stack. In the order of the table, because
 * some stand above others: a poll() of a Unix socket is a poll(), a page that is read from
 * disk for a receive is disk.
 */
struct mark {
	const char *function;
	int meaning;
};

static const struct mark sleeper_marks[] = {
	{"io_schedule", WAITING_DISK},
	{"io_schedule_timeout", WAITING_DISK},
	{"rq_qos_wait", WAITING_DISK},
	{"submit_bio_wait", WAITING_DISK},
	{"folio_wait_bit_common", WAITING_DISK},
	{"jbd2_log_wait_commit", WAITING_DISK},
	{"__iomap_dio_rw", WAITING_DISK},
	{"__blkdev_direct_IO", WAITING_DISK},
	{"io_cqring_wait", WAITING_URING},
	{"ep_poll", WAITING_MANY},
	{"do_epoll_wait", WAITING_MANY},
	{"do_sys_poll", WAITING_MANY},
	{"do_select", WAITING_MANY},
	{"sk_stream_wait_memory", WAITING_SEND},
	{"sk_wait_data", WAITING_RECEIVE},
	{"tcp_recvmsg_locked", WAITING_RECEIVE},
	{"inet_wait_for_connect", WAITING_CONNECT},
	{"__inet_stream_connect", WAITING_CONNECT},
	{"inet_csk_wait_for_connect", WAITING_ACCEPT},
	{"inet_csk_accept", WAITING_ACCEPT},
	{"pipe_read", WAITING_IPC},
	{"anon_pipe_read", WAITING_IPC},
	{"pipe_write", WAITING_IPC},
	{"anon_pipe_write", WAITING_IPC},
	{"wait_for_partner", WAITING_IPC},
	{"unix_stream_data_wait", WAITING_IPC},
	{"unix_stream_read_generic", WAITING_IPC},
	{"unix_wait_for_peer", WAITING_IPC},
	{"unix_accept", WAITING_ACCEPT},
	{"unix_dgram_recvmsg", WAITING_IPC},
	{"__skb_wait_for_more_packets", WAITING_IPC},
	{"sock_alloc_send_pskb", WAITING_IPC},
	{"eventfd_read", WAITING_IPC},
	{"signalfd_read", WAITING_PAUSE},
	{"do_wait", WAITING_CHILD},
	{"do_msgrcv", WAITING_IPC},
	{"do_mq_timedreceive", WAITING_IPC},
	{"do_semtimedop", WAITING_IPC},
	{"hrtimer_nanosleep", WAITING_SLEEP},
	{"do_nanosleep", WAITING_SLEEP},
	{"ptrace_stop", WAITING_STOPPED},
	{"do_signal_stop", WAITING_STOPPED},
	{"sigsuspend", WAITING_PAUSE},
	{"do_sigtimedwait", WAITING_PAUSE},
	{"__x64_sys_pause", WAITING_PAUSE},
	{"rwsem_down_read_slowpath", WAITING_MUTEX},
	{"rwsem_down_write_slowpath", WAITING_MUTEX},
	{"__mutex_lock", WAITING_MUTEX},
	{"flock_lock_inode_wait", WAITING_MUTEX},
	{"fcntl_setlk", WAITING_MUTEX},
	{"__lock_sock", WAITING_MUTEX},
	{"pipe_wait_readable", WAITING_IPC}, /* splice, of io_uring's workers above all */
	{"pipe_wait_writable", WAITING_IPC},
	{"__do_sys_io_uring_enter", WAITING_URING}, /* 5.10 has io_cqring_wait() in it */
	/* Threads of io_uring at the end of all they had to do; a worker's operation stands above.
	 */
	{"io_worker_handle_work", WAITING_UNKNOWN},
	{"io_wq_worker", WAITING_WORK},
	{"io_wqe_worker", WAITING_WORK}, /* before ed29b0b4fd83 (6.4) */
	{"io_sq_thread", WAITING_WORK},
};

/*
 * Interrupts first: what was interrupted stands below them on the same stack. On loopback a
 * segment is received inside the system call of its sender, whose frames stand below it.
 */
static const struct mark waker_marks[] = {
	{"hrtimer_wakeup", WAKER_TIMER},
	{"process_timeout", WAKER_TIMER},
	{"schedule_timeout_wakeup", WAKER_TIMER},
	{"io_timeout_fn", WAKER_TIMER},
	{"io_link_timeout_fn", WAKER_TIMER},
	{"io_cqring_timer_wakeup", WAKER_TIMER},
	{"io_cqring_min_timer_wakeup", WAKER_TIMER},
	{"blk_mq_complete_request", WAKER_DISK},
	{"blk_mq_end_request", WAKER_DISK},
	{"blk_update_request", WAKER_DISK},
	{"bio_endio", WAKER_DISK},
	{"iomap_dio_bio_end_io", WAKER_DISK},
	{"end_page_writeback", WAKER_DISK},
	{"folio_end_writeback", WAKER_DISK},
	{"sk_stream_write_space", WAKER_ROOM},
	{"tcp_v4_rcv", WAKER_NETWORK},
	{"tcp_v6_rcv", WAKER_NETWORK},
	{"tcp_rcv_established", WAKER_NETWORK},
	{"tcp_rcv_state_process", WAKER_NETWORK},
	{"tcp_data_queue", WAKER_NETWORK},
	{"net_rx_action", WAKER_NETWORK},
	/* A timer of another kind may have led to what stands above. */
	{"call_timer_fn", WAKER_TIMER},
	{"__run_timers", WAKER_TIMER},
	{"handle_softirqs", WAKER_INTERRUPT},
	{"__do_softirq", WAKER_INTERRUPT},
	{"irq_exit_rcu", WAKER_INTERRUPT},
	{"common_interrupt", WAKER_INTERRUPT},
};

static int marked(const char *stack, const struct mark *marks, size_t count, int otherwise)
{
	for (size_t i = 0; stack && i < count; i++) {
		if (stack__has(stack, marks[i].function))
			return marks[i].meaning;
	}
	return otherwise;
}

#define MARKED(stack, marks, otherwise)                                                            \
	marked(stack, marks, sizeof(marks) / sizeof(marks[0]), otherwise)

enum waiting waiting__by_stack(const char *stack)
{
	return MARKED(stack, sleeper_marks, WAITING_UNKNOWN);
}

enum waker waker__by_stack_alone(const char *stack)
{
	return MARKED(stack, waker_marks, WAKER_TASK);
}

enum waker waker__by_stack(const struct ns_wait *wait, const char *stack)
{
	if (!wait->wake_ts)
		return WAKER_UNSEEN;
	if (stack)
		return MARKED(stack, waker_marks, wait->waker_tid ? WAKER_TASK : WAKER_INTERRUPT);
	/* Without a stack only a thread of the other process can be told from a bystander. */
	return wait->waker_tid ? WAKER_TASK : WAKER_UNSEEN;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/kernel_stack.h"

#include <string.h>

#include "user/record/kernel_functions.h"

bool frame__is(const char *frame, const char *names)
{
	size_t length = strcspn(frame, ";.+"), name;

	for (;; names += name + 1) {
		name = strcspn(names, "|");
		if (name == length && !memcmp(frame, names, length))
			return true;
		if (!names[name])
			return false;
	}
}

bool stack__has(const char *stack, const char *names)
{
	while (stack && *stack) {
		if (frame__is(stack, names))
			return true;
		stack += strcspn(stack, ";");
		stack += *stack == ';';
	}
	return false;
}

/*
 * Functions that only one kind of wait has on its stack. In the order of the table, because
 * some stand above others: a poll() of a Unix socket is a poll(), a page that is read from
 * disk for a receive is disk.
 */
struct mark {
	const char *functions;
	int meaning;
};

static const struct mark sleeper_marks[] = {
	{KFN_MEMORY, WAIT_MEMORY}, /* what it writes to a disk for that is above */
	{"io_schedule", WAIT_DISK},
	{"io_schedule_timeout", WAIT_DISK},
	{"rq_qos_wait", WAIT_DISK},
	{"submit_bio_wait", WAIT_DISK},
	{"folio_wait_bit_common", WAIT_DISK},
	{"jbd2_log_wait_commit", WAIT_DISK},
	{"__iomap_dio_rw", WAIT_DISK},
	{"__blkdev_direct_IO", WAIT_DISK},
	{"io_cqring_wait", WAIT_URING},
	{"ep_poll", WAIT_MANY},
	{"do_epoll_wait", WAIT_MANY},
	{"do_sys_poll", WAIT_MANY},
	{"do_select", WAIT_MANY},
	{"sk_stream_wait_memory", WAIT_SEND},
	{"sk_wait_data", WAIT_RECEIVE},
	{"tcp_recvmsg_locked", WAIT_RECEIVE},
	{"inet_wait_for_connect", WAIT_CONNECT},
	{"__inet_stream_connect", WAIT_CONNECT},
	{"inet_csk_wait_for_connect", WAIT_ACCEPT},
	{"inet_csk_accept", WAIT_ACCEPT},
	{KFN_PIPE_READ, WAIT_IPC},
	{KFN_PIPE_WRITE, WAIT_IPC},
	{"wait_for_partner", WAIT_IPC},
	{KFN_UNIX_STREAM_READ, WAIT_IPC},
	{"unix_wait_for_peer", WAIT_IPC},
	{"unix_accept", WAIT_ACCEPT},
	{"unix_dgram_recvmsg", WAIT_IPC},
	{"__skb_wait_for_more_packets", WAIT_IPC},
	{"sock_alloc_send_pskb", WAIT_IPC},
	{"eventfd_read", WAIT_IPC},
	{"signalfd_read", WAIT_PAUSE},
	{"do_wait", WAIT_CHILD},
	{"do_msgrcv", WAIT_IPC},
	{"do_mq_timedreceive", WAIT_IPC},
	{"do_semtimedop", WAIT_IPC},
	{"hrtimer_nanosleep", WAIT_SLEEP},
	{"do_nanosleep", WAIT_SLEEP},
	{"ptrace_stop", WAIT_STOPPED},
	{"do_signal_stop", WAIT_STOPPED},
	{"sigsuspend", WAIT_PAUSE},
	{"do_sigtimedwait", WAIT_PAUSE},
	{"__x64_sys_pause", WAIT_PAUSE},
	{"rwsem_down_read_slowpath", WAIT_MUTEX},
	{"rwsem_down_write_slowpath", WAIT_MUTEX},
	{"__mutex_lock", WAIT_MUTEX},
	{"flock_lock_inode_wait", WAIT_MUTEX},
	{"fcntl_setlk", WAIT_MUTEX},
	{"__lock_sock", WAIT_MUTEX},
	{"pipe_wait_readable", WAIT_IPC}, /* splice, of io_uring's workers above all */
	{"pipe_wait_writable", WAIT_IPC},
	{"__do_sys_io_uring_enter", WAIT_URING}, /* 5.10 has io_cqring_wait() in it */
	/* Threads of io_uring at the end of all they had to do; a worker's operation stands above.
	 */
	{"io_worker_handle_work", WAIT_UNKNOWN},
	{KFN_URING_WORKER, WAIT_WORK},
	{"io_sq_thread", WAIT_WORK},
	/* On its way out of the kernel: by the freezer of its cgroup, whose functions are inlined.
	 */
	{"get_signal", WAIT_STOPPED},
};

/*
 * Interrupts first: what was interrupted stands below them on the same stack. On loopback a
 * segment is received inside the system call of its sender, whose frames stand below it.
 */
static const struct mark waker_marks[] = {
	{"hrtimer_wakeup", WAKER_TIMER},
	{"process_timeout", WAKER_TIMER},
	{"schedule_timeout_wakeup", WAKER_TIMER},
	{"timerfd_tmrproc", WAKER_TIMER},
	{"io_timeout_fn", WAKER_TIMER},
	{"io_link_timeout_fn", WAKER_TIMER},
	{KFN_URING_WAIT_LIMIT, WAKER_TIMER},
	{"blk_mq_complete_request", WAKER_DISK},
	{"blk_mq_end_request", WAKER_DISK},
	{"blk_update_request", WAKER_DISK},
	{"bio_endio", WAKER_DISK},
	{"iomap_dio_bio_end_io", WAKER_DISK},
	{KFN_WRITEBACK_END, WAKER_DISK},
	{"sk_stream_write_space", WAKER_ROOM},
	{"tcp_v4_rcv", WAKER_NETWORK},
	{"tcp_v6_rcv", WAKER_NETWORK},
	{"tcp_rcv_established", WAKER_NETWORK},
	{"tcp_rcv_state_process", WAKER_NETWORK},
	{"tcp_data_queue", WAKER_NETWORK},
	{"__udp_enqueue_schedule_skb", WAKER_NETWORK},
	{"__udp4_lib_rcv", WAKER_NETWORK},
	{"__udp6_lib_rcv", WAKER_NETWORK},
	{"net_rx_action", WAKER_NETWORK},
	/* A timer of another kind may have led to what stands above. */
	{KFN_TIMER_SOFTIRQ, WAKER_TIMER},
	{KFN_SOFTIRQ, WAKER_INTERRUPT},
	{KFN_IRQ_EXIT, WAKER_INTERRUPT},
	{"hrtimer_interrupt", WAKER_INTERRUPT},
	{KFN_INTERRUPT, WAKER_INTERRUPT},
};

static int marked(const char *stack, const struct mark *marks, size_t count, int otherwise)
{
	for (size_t i = 0; stack && i < count; i++) {
		if (stack__has(stack, marks[i].functions))
			return marks[i].meaning;
	}
	return otherwise;
}

#define MARKED(stack, marks, otherwise)                                                            \
	marked(stack, marks, sizeof(marks) / sizeof(marks[0]), otherwise)

enum wait_kind wait_kind__by_stack(const char *stack)
{
	return MARKED(stack, sleeper_marks, WAIT_UNKNOWN);
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
	/* Without a stack only a thread is known to be no bystander. */
	return wait->waker_tid ? WAKER_TASK : WAKER_UNSEEN;
}

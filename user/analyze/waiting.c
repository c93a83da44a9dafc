// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waiting.h"

#include <string.h>

#include "user/trace/syscalls.h"

#define TASK_STATE_STOPPED 4

/* include/uapi/linux/futex.h: the operation without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME. */
#define FUTEX_OPERATION   0x7f
#define FUTEX_WAIT        0
#define FUTEX_LOCK_PI     6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_LOCK_PI2    13

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
};

/*
 * Interrupts first: what was interrupted stands below them on the same stack. On loopback a
 * segment is received inside the system call of its sender, whose frames stand below it.
 */
static const struct mark waker_marks[] = {
	{"hrtimer_wakeup", WAKER_TIMER},
	{"process_timeout", WAKER_TIMER},
	{"schedule_timeout_wakeup", WAKER_TIMER},
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

/* glibc takes a mutex by FUTEX_WAIT, and waits on conditions and semaphores by FUTEX_WAIT_BITSET.
 */
static enum waiting of_futex(const struct ns_wait *wait)
{
	switch (wait->arg1 & FUTEX_OPERATION) {
	case FUTEX_WAIT:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		return WAITING_MUTEX;
	default:
		return WAITING_SIGNAL;
	}
}

static enum waiting by_syscall(const struct model *model, const struct ns_wait *wait)
{
	static const struct {
		const char *syscall;
		enum waiting waiting;
	} rows[] = {
		{"connect", WAITING_CONNECT},
		{"accept", WAITING_ACCEPT},
		{"accept4", WAITING_ACCEPT},
		{"io_uring_enter", WAITING_URING},
		{"nanosleep", WAITING_SLEEP},
		{"clock_nanosleep", WAITING_SLEEP},
		{"restart_syscall", WAITING_SLEEP},
		{"wait4", WAITING_CHILD},
		{"waitid", WAITING_CHILD},
		{"msgrcv", WAITING_IPC},
		{"msgsnd", WAITING_IPC},
		{"semop", WAITING_IPC},
		{"semtimedop", WAITING_IPC},
		{"mq_timedreceive", WAITING_IPC},
		{"pause", WAITING_PAUSE},
		{"rt_sigsuspend", WAITING_PAUSE},
		{"rt_sigtimedwait", WAITING_PAUSE},
		{"flock", WAITING_MUTEX},
		{"futex_wait", WAITING_SIGNAL},
		{"futex_waitv", WAITING_SIGNAL},
		{"fsync", WAITING_DISK},
		{"fdatasync", WAITING_DISK},
		{"sync", WAITING_DISK},
		{"io_getevents", WAITING_DISK},
		{"io_pgetevents", WAITING_DISK},
		{"sendto", WAITING_SEND},
		{"sendmsg", WAITING_SEND},
		{"sendmmsg", WAITING_SEND},
		{"write", WAITING_SEND},
		{"writev", WAITING_SEND},
		{"pwritev2", WAITING_SEND},
		{"sendfile", WAITING_SEND},
	};
	const char *arch = model__session(model)->arch;
	const char *name = syscall__name(arch, wait->syscall);

	for (size_t i = 0; name && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!strcmp(name, rows[i].syscall))
			return rows[i].waiting;
	}
	switch (syscall__wait(arch, wait->syscall)) {
	case SYSCALL_WAIT_MANY:
		return WAITING_MANY;
	case SYSCALL_WAIT_FD:
		return WAITING_RECEIVE;
	case SYSCALL_WAIT_OTHER:
		break;
	}
	/* Machines whose system calls have no table here: the connection tells what is left. */
	return !name && wait->head.conn ? WAITING_RECEIVE : WAITING_UNKNOWN;
}

static bool is_syscall(const struct model *model, const struct ns_wait *wait, const char *wanted)
{
	const char *name = syscall__name(model__session(model)->arch, wait->syscall);

	return name && !strcmp(name, wanted);
}

enum waiting waiting__of(const struct model *model, const struct ns_wait *wait)
{
	enum waiting found;

	if (!wait->state)
		return WAITING_PREEMPTED;
	if (wait->state == TASK_STATE_STOPPED)
		return WAITING_STOPPED;
	found = waiting__by_stack(model__stack(model, wait->stack_id));
	if (found != WAITING_UNKNOWN)
		return found;
	if (is_syscall(model, wait, "futex"))
		return of_futex(wait);
	/* The scheduler's own functions, io_schedule() among them, are not on these stacks. */
	if (waker__of(model, wait) == WAKER_DISK)
		return WAITING_DISK;
	return by_syscall(model, wait);
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

enum waker waker__of(const struct model *model, const struct ns_wait *wait)
{
	return waker__by_stack(wait, model__stack(model, wait->waker_stack_id));
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/kernel_stack.h"

#include <string.h>

#include "user/base/array.h"
#include "user/record/kernel_functions.h"

/* Without strcspn(), which is slow for what is so short. */
static size_t frame_length(const char *frame)
{
	const char *end = frame;

	while (*end && *end != ';' && *end != '.' && *end != '+')
		end++;
	return (size_t)(end - frame);
}

static bool is_one_of(const char *frame, size_t length, const char *names)
{
	for (;; names++) {
		if (!strncmp(names, frame, length) && (!names[length] || names[length] == '|'))
			return true;
		names = strchr(names, '|');
		if (!names)
			return false;
	}
}

bool frame__is(const char *frame, const char *names)
{
	return is_one_of(frame, frame_length(frame), names);
}

bool stack__has(const char *stack, const char *names)
{
	while (stack && *stack) {
		size_t length = frame_length(stack);

		if (is_one_of(stack, length, names))
			return true;
		for (stack += length; *stack && *stack++ != ';';)
			;
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
	{"__x64_sys_pause", WAIT_PAUSE}, /* arm64 has ppoll() for it */
	{"rwsem_down_read_slowpath", WAIT_MUTEX},
	{"rwsem_down_write_slowpath", WAIT_MUTEX},
	{"__mutex_lock", WAIT_MUTEX},
	{"flock_lock_inode_wait", WAIT_MUTEX},
	{"fcntl_setlk", WAIT_MUTEX},
	{"__lock_sock", WAIT_MUTEX},
	{"pipe_wait_readable", WAIT_IPC}, /* splice, of io_uring's workers above all */
	{"pipe_wait_writable", WAIT_IPC},
	{KFN_URING_ENTER, WAIT_URING},
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

/* Every stack that is told is looked at: each of its frames is looked up once, by a hash. */
#define SLOTS 256 /* more than twice the names of a table */

struct index {
	const struct mark *marks;
	size_t count;
	bool filled;
	struct {
		const char *name; /* NULL: free */
		size_t length;
		size_t mark; /* the first that has this name */
	} slots[SLOTS];
};

static struct index sleeper_index = {.marks = sleeper_marks, .count = COUNT_OF(sleeper_marks)};
static struct index waker_index = {.marks = waker_marks, .count = COUNT_OF(waker_marks)};

/* Its slot, or the free one that it belongs into. */
static size_t slot_of(const struct index *index, const char *name, size_t length)
{
	uint32_t slot = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		slot = (slot ^ (unsigned char)name[i]) * 16777619u;
	for (slot = (slot ^ slot >> 16) % SLOTS; index->slots[slot].name; slot = (slot + 1) % SLOTS)
		if (index->slots[slot].length == length &&
		    !memcmp(index->slots[slot].name, name, length))
			break;
	return slot;
}

static void fill(struct index *index)
{
	index->filled = true;
	for (size_t mark = 0; mark < index->count; mark++) {
		const char *name = index->marks[mark].functions;

		for (size_t length; *name; name += length, name += *name == '|') {
			size_t slot;

			length = strcspn(name, "|");
			slot = slot_of(index, name, length);
			if (index->slots[slot].name)
				continue;
			index->slots[slot].name = name;
			index->slots[slot].length = length;
			index->slots[slot].mark = mark;
		}
	}
}

static int marked(struct index *index, const char *stack, int otherwise)
{
	size_t first = index->count;

	if (!index->filled)
		fill(index);
	while (stack && *stack) {
		size_t length = frame_length(stack), slot = slot_of(index, stack, length);

		if (index->slots[slot].name && index->slots[slot].mark < first)
			first = index->slots[slot].mark;
		for (stack += length; *stack && *stack++ != ';';)
			;
	}
	return first < index->count ? index->marks[first].meaning : otherwise;
}

enum wait_kind wait_kind__by_stack(const char *stack)
{
	return marked(&sleeper_index, stack, WAIT_UNKNOWN);
}

enum waker waker__by_stack_alone(const char *stack)
{
	return marked(&waker_index, stack, WAKER_TASK);
}

enum waker waker__of(const struct ns_wait *wait, enum waker by_stack)
{
	if (!wait->wake_ts)
		return WAKER_UNSEEN;
	return by_stack == WAKER_TASK && !wait->waker_tid ? WAKER_INTERRUPT : by_stack;
}

enum waker waker__by_stack(const struct ns_wait *wait, const char *stack)
{
	if (stack)
		return waker__of(wait, waker__by_stack_alone(stack));
	if (!wait->wake_ts)
		return WAKER_UNSEEN;
	/* Without a stack only a thread is known to be no bystander. */
	return wait->waker_tid ? WAKER_TASK : WAKER_UNSEEN;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a thread's sleeps are for, and whether it did anything between two of them. Signs of
 * work, the cheap ones first: bytes that the task's own accounting counts (read, write and
 * their kin, of any file), sends on watched sockets. Only a thread that slept without one is
 * looked at closer from then on: recv() shows in its socket's copied_seq alone.
 */
#ifndef NETSTALL_BPF_THREAD_HABITS_BPF_H
#define NETSTALL_BPF_THREAD_HABITS_BPF_H

/* struct pollfd, include/uapi/asm-generic/poll.h */
struct poll_entry {
	__u32 fd;
	__u32 events;
};

/* 0 where the kernel does not count (CONFIG_TASK_IO_ACCOUNTING): then every thread is a suspect. */
static __always_inline __u64 bytes_moved(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->ioac.rchar))
		return 0;
	return task->ioac.rchar + task->ioac.wchar;
}

/* The thread's state after it may have read from this file. */
static __always_inline void see_file(struct task_struct *task, struct ns_thread_state *thread,
				     struct file *file)
{
	struct sock *sk;

	thread->habits.seen_sk = 0;
	thread->habits.seen = NS_SEEN_UNKNOWN;
	if (!is_socket(file)) {
		/* What is taken out of a ring is counted nowhere. */
		if (rings_watched > 0 && ring_of_file(file))
			return;
		if (bpf_core_field_exists(task->ioac.rchar))
			thread->habits.seen = NS_SEEN_NONE; /* its reads are in that accounting */
		return;
	}
	sk = sock_of(file);
	if (!sk || !is_tcp_stream(sk) || BPF_CORE_READ(sk, __sk_common.skc_state) == NS_TCP_LISTEN)
		return;
	thread->habits.seen_sk = (__u64)sk;
	thread->habits.seen_copied = BPF_CORE_READ((struct tcp_sock *)sk, copied_seq);
	thread->habits.seen = NS_SEEN_SOCKET;
}

/* Of poll() the sum of all its sockets' copied_seq: it moves when any of them is read from. */
static __noinline int see_polled(struct task_struct *task, struct ns_thread_state *thread)
{
	struct sock *sk;
	struct file *file;
	__u32 sum = 0, i;

	if (!thread)
		return 0;
	thread->habits.seen = NS_SEEN_UNKNOWN;
	if (!thread->habits.polled[0] || thread->habits.polled_more)
		return 0;
#pragma unroll /* 5.10 refuses a loop that is entered in its middle */
	for (i = 0; i < NS_POLLED; i++) {
		file = thread->habits.polled[i] ? task_file(task, thread->habits.polled[i] - 1)
						: NULL;
		if (!file || !is_socket(file))
			continue;
		sk = sock_of(file);
		if (!sk || !is_tcp_stream(sk))
			return 0;
		sum += BPF_CORE_READ((struct tcp_sock *)sk, copied_seq);
	}
	thread->habits.seen_copied = sum;
	thread->habits.seen = NS_SEEN_POLLED;
	return 0;
}

/* Has nothing come out of the socket that see_file() saw? False when that is not known. */
static __always_inline bool nothing_received(struct task_struct *task,
					     struct ns_thread_state *thread)
{
	struct tcp_sock *tp = (void *)thread->habits.seen_sk;
	__u32 sum = thread->habits.seen_copied;

	if (thread->habits.seen == NS_SEEN_POLLED) {
		see_polled(task, thread);
		return thread->habits.seen == NS_SEEN_POLLED && thread->habits.seen_copied == sum;
	}
	if (thread->habits.seen != NS_SEEN_SOCKET)
		return thread->habits.seen == NS_SEEN_NONE;
	return BPF_CORE_READ(tp, copied_seq) == thread->habits.seen_copied;
}

/* The descriptors that poll() names. In the thread's own context, or its memory is not mapped. */
static __always_inline void note_polled(struct ns_thread_state *thread,
					const struct syscall_args *args, struct poll_entry *entries)
{
	struct poll_entry entry;
	__u32 i;

	thread->habits.polled_more = args->arg1 > NS_POLLED;
#pragma unroll /* 5.10 refuses a loop that is entered in its middle */
	for (i = 0; i < NS_POLLED; i++) {
		thread->habits.polled[i] = 0;
		if (i < args->arg1 && !bpf_probe_read_user(&entry, sizeof(entry), &entries[i]))
			thread->habits.polled[i] = entry.fd + 1;
	}
}

/* Likewise of select(), all below so many: their bits, to be looked at when it was long. */
static __always_inline void note_selected(struct ns_thread_state *thread, __u32 descriptors,
					  __u64 *set)
{
	__u64 word;
	__u32 i;

	thread->habits.polled_more = descriptors > 64 * NS_SELECTED;
#pragma unroll
	for (i = 0; i < NS_SELECTED; i++) {
		word = 0;
		if (descriptors > 64 * i)
			bpf_probe_read_user(&word, sizeof(word), &set[i]);
		if (descriptors < 64 * (i + 1))
			word &= (1ull << (descriptors & 63)) - 1;
		thread->habits.selected[i] = word;
	}
}

/* What a thread takes out of its rings, and puts in, is counted nowhere. */
static __always_inline bool submits_to_rings(struct task_struct *task)
{
	struct task_struct___uring *seen = (void *)task;

	return rings_watched > 0 && BPF_CORE_READ(seen, io_uring);
}

/* A thread goes to sleep to wait for input, in its own context. */
static __noinline int note_input_sleep(struct task_struct *task, struct ns_thread_state *thread,
				       __u32 call)
{
	struct syscall_args args;
	struct pt_regs *regs;
	__u64 moved;

	if (!thread)
		return 0;
	moved = bytes_moved(task);
	if (thread->habits.call && moved == thread->habits.moved && !thread->wrote) {
		if (thread->habits.suspect && !submits_to_rings(task) &&
		    nothing_received(task, thread))
			thread->habits.empty_wakes++;
		thread->habits.suspect = 1;
	}
	if (call_kind(call) == NS_CALL_ON_POLL) {
		regs = task_regs(task);
		read_syscall(regs, &args);
		note_polled(thread, &args, (void *)first_argument(regs));
	} else if (call_kind(call) == NS_CALL_ON_SELECT) {
		regs = task_regs(task);
		note_selected(thread, first_argument(regs), (void *)second_argument(regs));
	}
	thread->habits.moved = moved;
	thread->wrote = 0;
	thread->habits.call = call + 1;
	if (!thread->habits.suspect)
		return 0;
	thread->habits.seen = NS_SEEN_UNKNOWN;
	if (call_kind(call) == NS_CALL_ON_FD)
		see_file(task, thread, task_file(task, first_argument(task_regs(task))));
	else if (call_kind(call) == NS_CALL_ON_POLL)
		see_polled(task, thread);
	return 0;
}

/* A suspect comes back from epoll: what it may read from is what became ready. */
static __noinline int note_ready(struct task_struct *task, struct ns_thread_state *thread)
{
	struct file *ready;

	if (!thread)
		return 0;
	ready = epoll_ready(task_file(task, first_argument(task_regs(task))));
	if (ready)
		see_file(task, thread, ready);
	else
		thread->habits.seen = NS_SEEN_NONE;
	return 0;
}

static __always_inline void count_return(struct task_struct *task, struct ns_thread_state *thread)
{
	__u32 cpu = bpf_get_smp_processor_id();

	thread->habits.migrations += cpu != thread->cpu;
	if (!thread->state)
		return;
	thread->habits.wakes++;
	if (thread->habits.suspect && thread->habits.call &&
	    call_kind(thread->habits.call - 1) == NS_CALL_ON_EPOLL)
		note_ready(task, thread);
}

#endif

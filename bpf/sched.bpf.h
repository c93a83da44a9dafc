/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Threads off the CPU: how long blocked, how long runnable, and who woke them. Times
 * are added up in the kernel; only a wait of at least the threshold becomes a record,
 * and only then stacks are taken: the sleeper's when it is switched in again (its kernel
 * stack is the same then, and short waits pay nothing), the waker's when it wakes.
 *
 * At sched_switch current is still the thread that leaves, so the bodies get the task.
 */
#ifndef NETSTALL_SCHED_BPF_H
#define NETSTALL_SCHED_BPF_H

/* TASK_INTERRUPTIBLE and TASK_UNINTERRUPTIBLE, without the flags beside them (TASK_FREEZABLE, ...).
 */
#define NS_TASK_STATES 3

static __always_inline struct ns_thread_state *watched_thread(struct task_struct *task)
{
	__u32 tid = task->pid, tgid = task->tgid;
	struct ns_thread_state *thread;

	if (!(proc_hint(tgid) & NS_FLAG_THREADS))
		return NULL;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (thread)
		return thread;
	if (!proc_role(tgid) || (only_tid && tid != only_tid))
		return NULL;
	if (bpf_map_update_elem(&threads, &tid, &zero_thread, BPF_NOEXIST)) {
		count_lost(NS_LOST_THREADS);
		return NULL;
	}
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread)
		return NULL;
	thread->tgid = tgid;
	BPF_CORE_READ_STR_INTO(&thread->comm, task, comm);
	return thread;
}

static __always_inline void on_switch_out(struct ns_thread_state *thread, __u32 tid, __u64 now,
					  bool preempted, __u32 state)
{
	struct ns_last_send *last;

	if (thread->since && !thread->off)
		thread->on_cpu_ns += now - thread->since;
	thread->off = 1;
	thread->since = now;
	thread->has_waker = 0;
	if (preempted || !(state & NS_TASK_STATES)) {
		thread->state = 0;
		thread->wake_ts = now;
		thread->involuntary++;
	} else {
		thread->state = state & NS_TASK_STATES;
		thread->wake_ts = 0;
		thread->voluntary++;
	}
	last = &last_send[bpf_get_smp_processor_id() & (NS_CPUS - 1)];
	if (last->tid == tid) {
		thread->conn = last->sk;
		last->tid = 0;
	}
}

static __noinline int note_wait(struct task_struct *task, struct ns_thread_state *thread,
				struct ns_conn_state *conn, __u64 now)
{
	struct ns_wait_raw *out;
	struct syscall_args args;

	if (!thread)
		return 0;
	out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);
	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return 0;
	}
	__builtin_memset(out, 0, sizeof(*out));
	out->wait.head.type = NS_WAIT;
	out->wait.head.len = sizeof(*out);
	out->wait.head.ts = now;
	out->wait.head.conn = conn ? conn->id : 0;
	out->wait.head.cpu = bpf_get_smp_processor_id();
	out->wait.head.tgid = thread->tgid;
	out->wait.head.tid = BPF_CORE_READ(task, pid);
	out->wait.off_ts = thread->since;
	out->wait.wake_ts = thread->wake_ts;
	out->wait.state = thread->state;
	read_syscall(task_regs(task), &args);
	out->wait.syscall = thread->state ? args.number : NS_SYSCALL_NONE;
	out->wait.arg0 = args.arg0;
	if (thread->has_waker) {
		out->wait.waker_tgid = thread->waker_tgid;
		out->wait.waker_tid = thread->waker_tid;
		__builtin_memcpy(out->wait.waker_comm, thread->waker_comm, NS_COMM_LEN);
		__builtin_memcpy(out->waker_stack, thread->waker_stack, sizeof(out->waker_stack));
	}
	BPF_CORE_READ_STR_INTO(&out->wait.comm, task, comm);
	if (now - thread->since >= settings.threshold_ns)
		bpf_get_task_stack(task, out->stack, sizeof(out->stack), 0);
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void on_switch_in(struct task_struct *task, struct ns_thread_state *thread,
					 __u64 now)
{
	struct ns_conn_state *conn = NULL;
	__u64 wake_ts;

	if (!thread->since || !thread->off) {
		thread->since = now;
		thread->off = 0;
		return;
	}
	wake_ts = thread->wake_ts ? thread->wake_ts : now;
	thread->blocked_ns += wake_ts - thread->since;
	thread->runqueue_ns += now - wake_ts;
	if (settings.verbose || now - thread->since >= settings.threshold_ns) {
		if (thread->conn)
			conn = bpf_map_lookup_elem(&conns, &thread->conn);
		if (conn && now - thread->since >= settings.threshold_ns) {
			flush_both(conn);
			watch_both_ends(conn);
		}
		note_wait(task, thread, conn, now);
	}
	/* What it wrote before this sleep is not what the next one is about. */
	if (thread->state)
		thread->conn = 0;
	thread->since = now;
	thread->off = 0;
}

static __always_inline void on_switch(struct task_struct *prev, struct task_struct *next,
				      bool preempted, __u32 state)
{
	struct ns_thread_state *thread = watched_thread(prev);
	__u64 now = 0; /* read once: it is the dearest part */

	if (thread) {
		now = bpf_ktime_get_ns();
		on_switch_out(thread, prev->pid, now, preempted, state);
	}
	thread = watched_thread(next);
	if (thread)
		on_switch_in(next, thread, now ? now : bpf_ktime_get_ns());
}

/* current is whatever runs where the wake-up happens: the stack tells on whose behalf. */
static __always_inline void on_waking(void *ctx, struct task_struct *task)
{
	struct ns_thread_state *thread = watched_thread(task);
	__u64 now, id;

	if (!thread || !thread->off || thread->wake_ts)
		return;
	now = bpf_ktime_get_ns();
	thread->wake_ts = now;
	if (!settings.verbose && now - thread->since < settings.threshold_ns)
		return;
	id = bpf_get_current_pid_tgid();
	thread->waker_tgid = id >> 32;
	thread->waker_tid = id;
	thread->has_waker = 1;
	bpf_get_current_comm(thread->waker_comm, sizeof(thread->waker_comm));
	__builtin_memset(thread->waker_stack, 0, sizeof(thread->waker_stack));
	if (now - thread->since < settings.threshold_ns)
		return;
	bpf_get_stack(ctx, thread->waker_stack, sizeof(thread->waker_stack), 0);
}

#endif

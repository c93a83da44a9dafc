/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sleeps and wakes. At sched_switch current is still the thread that leaves: its stacks are
 * taken there, where its user memory is mapped too, and the waker's at the wake.
 */
#ifndef NETSTALL_BPF_OFFCPU_SLEEP_BPF_H
#define NETSTALL_BPF_OFFCPU_SLEEP_BPF_H

/* include/linux/sched.h */
#define NS_OFFCPU_ASLEEP      3            /* TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE */
#define NS_OFFCPU_STOPPED     (0xc | 0x40) /* __TASK_STOPPED, __TASK_TRACED, TASK_PARKED */
#define NS_OFFCPU_RTLOCK_WAIT 0x1000
#define NS_OFFCPU_SLEEPS      (NS_OFFCPU_ASLEEP | NS_OFFCPU_STOPPED | NS_OFFCPU_RTLOCK_WAIT)

/* A thread that has woken nobody of a chain for so long is let alone. */
#define NS_OFFCPU_FOLLOW_NS 1000000000ull

/* As ns_wait.state. */
static __always_inline __u32 told_state(__u32 state)
{
	if (state & NS_OFFCPU_ASLEEP)
		return state & NS_OFFCPU_ASLEEP;
	return state & NS_OFFCPU_STOPPED ? 4 : state ? 2 : 0;
}

static __noinline int on_switch_in(struct ns_offcpu_thread *thread, __u32 tid, __u64 now)
{
	__u64 off, wake;

	if (!thread)
		return 0;
	off = thread->off_ts;
	wake = thread->wake_ts;
	thread->wake_ts = 0;
	if (!off)
		return 0;
	if (now < off) /* the iterator found it asleep just now, on another CPU */
		now = off;
	if (!thread->state)
		wake = off;
	else if (!wake || wake > now)
		wake = now;
	else if (wake < off) /* woken on its way off the CPU */
		wake = off;
	if (!thread->level)
		add_wait(thread, tid, wake - off, now - wake, now);
	if (is_long(now - off))
		note_long(thread->chain.sleep);
	thread->off_ts = 0;
	if (thread->state)
		thread->woken_ts = wake;
	return 0;
}

/*
 * It runs, and its return was not seen (docs/limits.md: some tasks run no BPF program): its wait
 * ended with the wake, or at the latest now.
 */
static __always_inline void end_wait_unseen(struct ns_offcpu_thread *thread, __u32 tid, __u64 now)
{
	if (thread->off_ts && thread->state)
		on_switch_in(thread, tid, thread->wake_ts ? thread->wake_ts : now);
}

static __always_inline void on_switch_out(void *ctx, struct task_struct *task,
					  struct ns_offcpu_thread *thread, __u64 now, __u32 state)
{
	end_wait_unseen(thread, task->pid, now);
	if (thread->level && (!state || ns_passed(thread->woke_ts, now) > NS_OFFCPU_FOLLOW_NS)) {
		if (state)
			thread->woken_ts = 0;
		return;
	}
	/* In this order: a wake on another CPU that sees the one goes by the other. */
	thread->state = state;
	barrier();
	thread->off_ts = now;
	/* Its last whole wait stays what it was. */
	if (!state && !(settings.state_given && !settings.state))
		return;
	if (!thread->wake_ts)
		clear_hops(&thread->chain);
	thread->chain.sleep = place_of_sleep(ctx, task, told_state(state));
	sample_sleep(thread->chain.sleep, task->flags & NS_PF_KTHREAD);
}

static __always_inline void on_switch(void *ctx, struct task_struct *prev, struct task_struct *next,
				      bool preempted, __u32 state)
{
	struct ns_offcpu_thread *thread = watched_thread(prev);
	__u64 now = 0; /* read once: it is the dearest part but for the stacks */

	if (thread) {
		now = bpf_ktime_get_ns();
		on_switch_out(ctx, prev, thread, now, preempted ? 0 : state & NS_OFFCPU_SLEEPS);
	}
	thread = watched_thread(next);
	if (thread)
		on_switch_in(thread, next->pid, now ? now : bpf_ktime_get_ns());
}

/* A wake that ends a wait, or keeps one from beginning that is on its way. */
static __always_inline bool ends_wait(struct task_struct *task, struct ns_offcpu_thread *thread)
{
	if (thread->wake_ts)
		return false;
	if (thread->off_ts)
		return thread->state;
	/* One that is on its CPU has only prepared to sleep, and will not. */
	return !thread->level && leaves_cpu(task);
}

static __always_inline void on_waking(void *ctx, struct task_struct *task)
{
	struct ns_offcpu_thread *thread = watched_thread(task);
	struct scratch *scratch;
	__u64 now, slept_since;
	bool own = false;

	if (!thread || !ends_wait(task, thread))
		return;
	scratch = scratch_for(SCRATCH_SCHED);
	if (!scratch)
		return;
	now = bpf_ktime_get_ns();
	slept_since = thread->off_ts ? thread->off_ts : now;
	thread->wake_ts = now;
	clear_hops(&thread->chain);
	thread->chain.hops[0].wake = place_of_wake(ctx, scratch, &own);
	thread->chain.hops[0].via = this_cpu()->receiving;
	if (!own)
		return;
	if (scratch->key.user) /* no thread of the kernel */
		sample_wake(thread->chain.hops[0].wake, ns_passed(slept_since, now));
	if (settings.depth > 1)
		chain_of_waker(scratch, thread, slept_since);
}

static __always_inline void forget_thread(__u32 tid)
{
	struct ns_offcpu_thread *thread = known_thread(tid);

	if (thread)
		end_wait_unseen(thread, tid, bpf_ktime_get_ns());
	bpf_map_delete_elem(&threads, &tid);
	if (thread_flags[tid & (NS_OFFCPU_FLAGS - 1)])
		bpf_map_delete_elem(&followed, &tid);
}

static __always_inline void on_exit(struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid), tgid = BPF_CORE_READ(task, tgid);

	if (in_window())
		forget_thread(tid);
	if (BPF_CORE_READ(task, signal, live.counter) > 0 || !is_process_of_target(tgid))
		return;
	tell_process(tgid, 0, 1);
	bpf_map_delete_elem(&procs, &tgid);
}

#endif

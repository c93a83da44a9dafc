/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sleeps and wakes of the profile: thread/sched.bpf.h calls these. At sched_switch current is still
 * the thread that leaves: its stacks are taken there, where its user memory is mapped too, and the
 * waker's at the wake.
 */
#ifndef NETSTALL_BPF_OFFCPU_SLEEP_BPF_H
#define NETSTALL_BPF_OFFCPU_SLEEP_BPF_H

/* A thread that has woken nobody of a chain for so long is let alone. */
#define NS_OFFCPU_FOLLOW_NS 1000000000ull

/* Who waits long as a rule is always looked at: the others are many. */
static __always_inline __u32 weight_of(const struct ns_offcpu_thread *thread, __u64 now)
{
	return thread->quick ? weight_at(now) : 1;
}

static __always_inline void pass_over(const struct ns_offcpu_thread *thread, __u64 blocked,
				      __u64 runnable)
{
	struct ns_offcpu_cpu *cpu = this_cpu();

	cpu->passed++;
	if (thread->level || !is_counted(thread->state, blocked))
		return;
	cpu->others.ns += blocked;
	cpu->others.runqueue_ns += runnable;
	cpu->others.count++;
}

/* left: it has run since, unseen. */
static __noinline int end_sleep(struct task_struct *task, struct ns_offcpu_thread *thread,
				__u64 now, bool left)
{
	__u64 off, wake;

	if (!task || !thread)
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
	thread->quick = wake - off < NS_OFFCPU_SHORT_NS;
	if (!thread->weight && thread->state && thread->quick) {
		pass_over(thread, wake - off, now - wake);
		thread->off_ts = 0;
		thread->woken_ts = 0;
		return 0;
	}
	if (!thread->weight && thread->state && !thread->chain.sleep)
		thread->chain.sleep = place_of_sleeper(SCRATCH_SCHED, task, thread, left);
	if (!thread->level)
		add_wait(thread, task->pid, wake - off, now - wake, now);
	/* Of one that was found late, the next sleep there is looked at. */
	if (thread->weight && is_long(now - off))
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
static __always_inline void end_sleep_unseen(struct task_struct *task,
					     struct ns_offcpu_thread *thread, __u64 now)
{
	if (thread->off_ts && thread->state)
		end_sleep(task, thread, thread->wake_ts ? thread->wake_ts : now, true);
}

/* Inline, as that of a wake: each function of ours is a frame more that a stack is taken through.
 */
static __always_inline void begin_sleep(void *ctx, struct task_struct *task,
					struct ns_offcpu_thread *thread, __u64 now, __u32 state)
{
	state &= NS_OFFCPU_SLEEPS;
	end_sleep_unseen(task, thread, now);
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
	if (!state && !(offcpu.state_given && !offcpu.state))
		return;
	if (!thread->wake_ts)
		clear_hops(&thread->chain);
	thread->weight = weight_of(thread, now);
	if (!thread->weight && state) {
		keep_user_side(ctx, task, thread);
		thread->chain.sleep = NS_OFFCPU_NOWHERE;
		return;
	}
	this_cpu()->looked_at++;
	thread->chain.sleep = place_of_sleep(ctx, task, told_state(state));
	sample_sleep(thread->chain.sleep, task->flags & NS_PF_KTHREAD);
}

/* A wake that ends a wait, or keeps one from beginning that is on its way. */
static __always_inline bool ends_sleep(struct task_struct *task, struct ns_offcpu_thread *thread)
{
	if (thread->wake_ts)
		return false;
	if (thread->off_ts)
		return thread->state;
	/* One that is on its CPU has only prepared to sleep, and will not. */
	return !thread->level && leaves_cpu(task);
}

static __always_inline void note_sleep_wake(void *ctx, struct ns_offcpu_thread *thread, __u64 now)
{
	struct scratch *scratch = scratch_for(SCRATCH_SCHED);
	__u64 slept_since;
	bool own = false;

	if (!scratch)
		return;
	slept_since = thread->off_ts ? thread->off_ts : now;
	thread->wake_ts = now;
	clear_hops(&thread->chain);
	if (!(thread->off_ts ? thread->weight : weight_of(thread, now)) &&
	    ns_passed(slept_since, now) < NS_OFFCPU_SHORT_NS)
		return;
	thread->chain.hops[0].wake = place_of_wake(ctx, scratch, &own);
	thread->chain.hops[0].via = this_cpu()->receiving;
	if (!own)
		return;
	if (scratch->key.user) /* no thread of the kernel */
		sample_wake(thread->chain.hops[0].wake, ns_passed(slept_since, now));
	if (offcpu.depth > 1)
		chain_of_waker(scratch, thread, slept_since);
}

/* It exits, running. */
static __always_inline void forget_sleeper(struct task_struct *task, __u32 tid, __u64 now)
{
	struct ns_offcpu_thread *thread = known_thread(tid);

	if (thread)
		end_sleep_unseen(task, thread, now);
	if (thread_flags[tid & (NS_OFFCPU_FLAGS - 1)])
		bpf_map_delete_elem(&followed, &tid);
}

/* ---- threads that sleep since before we came ---- */

/* Its kernel stack is there to be read, its user stack only by user space, from its registers. */
static __always_inline __u32 place_of_seed(struct task_struct *task, struct scratch *scratch,
					   __u32 state)
{
	struct ns_offcpu_place_key *key = &scratch->key;
	long bytes;

	__builtin_memset(key, 0, sizeof(*key));
	bytes = bpf_get_task_stack(task, scratch->stack.frames, sizeof(scratch->stack), 0);
	key->kind = NS_OFFCPU_SEED;
	key->state = told_state(state);
	key->kernel = intern_stack(SCRATCH_ITER, 0, bytes > 0 ? bytes / sizeof(__u64) : 0);
	key->tgid = task->tgid;
	key->tid = task->pid;
	BPF_CORE_READ_STR_INTO(&key->comm, task, comm);
	return intern_place(scratch);
}

/* Such a thread passes no switch-out: its time counts from off_ts on. False: it does not sleep. */
static __always_inline bool seed_sleeper(struct task_struct *task, struct scratch *scratch,
					 __u32 state, __u64 off_ts)
{
	struct ns_offcpu_thread *fresh = &scratch->thread.offcpu;

	state &= NS_OFFCPU_SLEEPS;
	if (!state)
		return false;
	fresh->off_ts = off_ts;
	fresh->state = state;
	fresh->weight = 1;
	fresh->chain.sleep = place_of_seed(task, scratch, state);
	if (offcpu.unwind_ns)
		note_long(fresh->chain.sleep); /* it may wake up any moment */
	return true;
}

/* It sleeps long enough to be found at it, or is woken and has not run since. */
static __always_inline void find_sleeper(struct task_struct *task, struct ns_offcpu_thread *thread)
{
	__u64 off_ts = thread->off_ts;
	__u32 place;

	if (!off_ts || thread->weight || !thread->state || thread->chain.sleep)
		return;
	place = place_of_sleeper(SCRATCH_ITER, task, thread, false);
	if (thread->off_ts == off_ts)
		thread->chain.sleep = place;
}

/* What user space needs to find its user stack. */
static __always_inline void tell_seed(struct bpf_iter__task *ctx, struct task_struct *task,
				      __u32 place)
{
	struct ns_offcpu_seed out = {.tgid = task->tgid, .tid = task->pid, .place = place};
	struct pt_regs *regs;

	if (!(task->flags & NS_PF_KTHREAD)) {
		regs = task_regs(task);
		read_position(regs, &out.ip, &out.sp);
		out.fp = frame_pointer(regs);
		out.thread = thread_pointer(task);
	}
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
}

#endif

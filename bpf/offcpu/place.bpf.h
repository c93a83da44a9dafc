/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Stacks and places, each once. A stack's key is a hash of all of its 64-bit addresses, so two
 * stacks do not share a slot as in the kernel's own stack maps, where one evicts the other or
 * is lost.
 */
#ifndef NETSTALL_BPF_OFFCPU_PLACE_BPF_H
#define NETSTALL_BPF_OFFCPU_PLACE_BPF_H

/* include/linux/sched.h */
#define NS_OFFCPU_ASLEEP      3            /* TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE */
#define NS_OFFCPU_STOPPED     (0xc | 0x40) /* __TASK_STOPPED, __TASK_TRACED, TASK_PARKED */
#define NS_OFFCPU_RTLOCK_WAIT 0x1000
#define NS_OFFCPU_SLEEPS      (NS_OFFCPU_ASLEEP | NS_OFFCPU_STOPPED | NS_OFFCPU_RTLOCK_WAIT)

/* As ns_wait.state. */
static __always_inline __u32 told_state(__u32 state)
{
	if (state & NS_OFFCPU_ASLEEP)
		return state & NS_OFFCPU_ASLEEP;
	return state & NS_OFFCPU_STOPPED ? 4 : state ? 2 : 0;
}

/*
 * The table's key for count frames in that scratch, from the first one on. Global, as all that
 * loops over frames: verified once, not for each of the many ways to come here.
 */
__noinline __u64 intern_stack(__u32 use, __u32 first, __u32 count)
{
	struct scratch *scratch = offcpu.on ? scratch_for(use) : NULL;
	__u64 hash = 0x9e3779b97f4a7c15ull, skip = first;
	__u64 *frames;
	__u32 i;

	barrier_var(skip);
	if (!scratch || !count || skip > NS_OFFCPU_OWN)
		return NS_OFFCPU_NO_STACK;
	frames = scratch->stack.frames + skip; /* some of the key, which is none yet, may follow */
	for (i = 0; i < NS_OFFCPU_FRAMES; i++) {
		if (i >= count)
			break;
		hash = (hash ^ frames[i]) * 0xff51afd7ed558ccdull;
		hash ^= hash >> 32;
	}
	if (hash <= NS_OFFCPU_LOST_STACK)
		hash += 2;
	if (bpf_map_lookup_elem(&stacks, &hash))
		return hash;
	if (count < NS_OFFCPU_FRAMES)
		frames[count] = 0;
	if (bpf_map_update_elem(&stacks, &hash, frames, BPF_NOEXIST) &&
	    !bpf_map_lookup_elem(&stacks, &hash))
		return NS_OFFCPU_LOST_STACK;
	return hash;
}

/* What CPython runs in the running thread, told when it is new; 0: nothing. */
__noinline __u64 intern_python(__u32 use)
{
	struct scratch *scratch = offcpu.on && pythons_known ? scratch_for(use) : NULL;
	__u64 number = 0x9e3779b97f4a7c15ull;
	struct ns_offcpu_python *out;
	__u8 one = 1;
	__u32 i;

	if (!scratch)
		return 0;
	out = &scratch->python;
	out->count = copy_python(out->frames);
	if (!out->count)
		return 0;
	for (i = 0; i < NS_PYTHON_FRAMES; i++) {
		if (i >= out->count)
			break;
		number = (number ^ out->frames[i].code) * 0xff51afd7ed558ccdull;
		number = (number ^ number >> 32 ^ out->frames[i].instr) * 0xff51afd7ed558ccdull;
	}
	number |= !number;
	if (bpf_map_lookup_elem(&pythons_told, &number))
		return number;
	out->type = NS_OFFCPU_PYTHON;
	out->tgid = bpf_get_current_pid_tgid() >> 32;
	out->number = number;
	/* Without room it is told the next time. */
	if (!bpf_ringbuf_output(&records, out, sizeof(*out), BPF_RB_NO_WAKEUP))
		bpf_map_update_elem(&pythons_told, &number, &one, BPF_ANY);
	return number;
}

/* The number of the place that scratch has the key of. */
static __noinline __u32 intern_place(struct scratch *scratch)
{
	struct ns_offcpu_place fresh = {};
	struct ns_offcpu_place *place;

	if (!scratch)
		return NS_OFFCPU_LOST_PLACE;
	place = bpf_map_lookup_elem(&places, &scratch->key);
	if (!place) {
		fresh.id = cpu_number(places_numbered);
		if (!bpf_map_update_elem(&places, &scratch->key, &fresh, BPF_NOEXIST) &&
		    scratch->key.user)
			tell_process(scratch->key.tgid, 0);
		place = bpf_map_lookup_elem(&places, &scratch->key);
	}
	return place ? place->id : NS_OFFCPU_LOST_PLACE;
}

/* Of the thread that runs, its user side included. */
static __always_inline void fill_thread(void *ctx, struct scratch *scratch, bool kernel_thread)
{
	struct ns_offcpu_place_key *key = &scratch->key;
	__u64 id = bpf_get_current_pid_tgid();
	__u32 count;

	key->tgid = id >> 32;
	key->tid = offcpu.per_thread ? id : 0;
	bpf_get_current_comm(key->comm, sizeof(key->comm));
	if (kernel_thread || !offcpu.user_stacks)
		return;
	count = take_frames(ctx, scratch, BPF_F_USER_STACK);
	key->user = intern_stack(SCRATCH_SCHED, 0, credible_frames(&scratch->stack, count));
	key->python = intern_python(SCRATCH_SCHED);
	if (offcpu.exact_places)
		read_position(current_regs(), &key->ip, &key->sp);
}

/* Where the thread that leaves its CPU, which is still current, goes to sleep. */
static __always_inline __u32 place_of_sleep(void *ctx, struct task_struct *task, __u32 state)
{
	struct scratch *scratch = scratch_for(SCRATCH_SCHED);
	__u32 count, first;

	if (!scratch)
		return NS_OFFCPU_LOST_PLACE;
	__builtin_memset(&scratch->key, 0, sizeof(scratch->key));
	scratch->key.kind = NS_OFFCPU_SLEEP;
	scratch->key.state = state;
	count = take_kernel_frames(ctx, scratch, NS_OFFCPU_AT_SWITCH);
	first = scheduler_frames(scratch, count);
	scratch->key.kernel = intern_stack(SCRATCH_SCHED, first, count - first);
	fill_thread(ctx, scratch, task->flags & NS_PF_KTHREAD);
	return intern_place(scratch);
}

/* Of a sleep that is passed over should it be short: what is not to be had later. */
static __always_inline void keep_user_side(void *ctx, struct task_struct *task,
					   struct ns_offcpu_thread *thread)
{
	struct scratch *scratch = scratch_for(SCRATCH_SCHED);
	__u64 hash;

	if (!scratch || !offcpu.user_stacks)
		return;
	if (!(task->flags & NS_PF_KTHREAD))
		thread->python = intern_python(SCRATCH_SCHED);
	hash = hash_user_frames(task);
	if (hash && hash == thread->user_hash)
		return;
	thread->user_hash = hash;
	thread->user = NS_OFFCPU_NO_STACK;
	if (!(task->flags & NS_PF_KTHREAD))
		thread->user =
			intern_stack(SCRATCH_SCHED, 0,
				     credible_frames(&scratch->stack,
						     take_frames(ctx, scratch, BPF_F_USER_STACK)));
}

/*
 * And it was not short: where the thread sleeps, or slept that comes back just now. left: it has
 * run since, and of its kernel stack nothing is there any more.
 */
static __noinline __u32 place_of_sleeper(__u32 use, struct task_struct *task,
					 const struct ns_offcpu_thread *thread, bool left)
{
	struct scratch *scratch = scratch_for(use);
	struct ns_offcpu_place_key *key;
	__u32 count;
	long bytes;

	if (!scratch || !task || !thread)
		return NS_OFFCPU_LOST_PLACE;
	key = &scratch->key;
	__builtin_memset(key, 0, sizeof(*key));
	bytes = left ? 0
		     : bpf_get_task_stack(task, scratch->stack.frames, sizeof(scratch->stack), 0);
	count = bytes > 0 ? bytes / sizeof(__u64) : 0;
	key->kind = NS_OFFCPU_SLEEP;
	key->state = told_state(thread->state);
	key->kernel = intern_stack(use, 0, count);
	key->user = thread->user;
	key->python = thread->python;
	if (offcpu.exact_places && !(task->flags & NS_PF_KTHREAD))
		read_position(task_regs(task), &key->ip, &key->sp);
	key->tgid = task->tgid;
	key->tid = offcpu.per_thread ? task->pid : 0;
	BPF_CORE_READ_STR_INTO(&key->comm, task, comm);
	return intern_place(scratch);
}

/* *own: the running thread woke, by what it did itself. */
static __always_inline __u32 place_of_wake(void *ctx, struct scratch *scratch, bool *own)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 count, depth;

	__builtin_memset(&scratch->key, 0, sizeof(scratch->key));
	count = take_kernel_frames(ctx, scratch, NS_OFFCPU_AT_WAKING);
	depth = interrupt_depth(SCRATCH_SCHED, count);
	*own = !depth && (__u32)bpf_get_current_pid_tgid();
	scratch->key.kind = *own ? NS_OFFCPU_WAKE : NS_OFFCPU_IRQ;
	scratch->key.kernel = intern_stack(SCRATCH_SCHED, 0, depth ? depth : count);
	if (*own)
		fill_thread(ctx, scratch, BPF_CORE_READ(task, flags) & NS_PF_KTHREAD);
	return intern_place(scratch);
}

#endif

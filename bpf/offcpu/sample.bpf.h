/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies of user stacks, to be unwound in user space: for places of long waits, one each. How
 * long a wait will be is not known when it begins, so a sleeper's stack is copied
 *
 *	when it goes to sleep again where it slept long before, and
 *	while it sleeps, by an iterator, which needs 5.18 (bpf_copy_from_user_task),
 *
 * and its waker's at the wake, in the waker's own context. At the switch-in the next thread's
 * memory is not mapped yet.
 */
#ifndef NETSTALL_BPF_OFFCPU_SAMPLE_BPF_H
#define NETSTALL_BPF_OFFCPU_SAMPLE_BPF_H

#define NS_OFFCPU_MARKS 65536u /* a power of two; places that share one cost a copy more */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} samples SEC(".maps");

__u8 long_places[NS_OFFCPU_MARKS];     /* 1: waits of this place have been long */
__u32 sampled_places[NS_OFFCPU_MARKS]; /* the number of one that has its sample */
__u32 samples_refused;                 /* the ring buffer had no room */

/* Pruned where nothing is to be unwound. */
static __always_inline bool is_long(__u64 ns)
{
	return offcpu.unwind_ns && ns >= offcpu.unwind_ns;
}

static __always_inline void note_long(__u32 place)
{
	long_places[place & (NS_OFFCPU_MARKS - 1)] = 1;
}

static __always_inline bool wants_sample(__u32 place)
{
	return place && place != NS_OFFCPU_LOST_PLACE &&
	       sampled_places[place & (NS_OFFCPU_MARKS - 1)] != place;
}

static __always_inline struct ns_offcpu_sample *begin_copy(struct pt_regs *regs, __u32 place,
							   __u32 tgid)
{
	struct ns_offcpu_sample *out;

	out = bpf_ringbuf_reserve(&samples, sizeof(*out) + offcpu.stack_bytes, 0);
	if (!out) {
		__sync_fetch_and_add(&samples_refused, 1);
		return NULL;
	}
	out->type = NS_OFFCPU_SAMPLE;
	out->place = place;
	out->tgid = tgid;
	out->pad = 0;
	__builtin_memset(out->there, 0, sizeof(out->there));
	__builtin_memset(out->regs, 0, sizeof(out->regs));
	read_call_regs(regs, out->regs);
	out->base = out->regs[NS_REG_SP] & ~(__u64)(NS_OFFCPU_STACK_BLOCK - 1);
	return out;
}

static __always_inline void end_copy(struct ns_offcpu_sample *out, __u32 place)
{
	sampled_places[place & (NS_OFFCPU_MARKS - 1)] = place;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
}

/* The running thread is at this place. */
__noinline int take_sample(__u32 place)
{
	struct ns_offcpu_sample *out;
	__u32 i;

	if (!offcpu.unwind_ns || !wants_sample(place))
		return 0;
	out = begin_copy(current_regs(), place, bpf_get_current_pid_tgid() >> 32);
	if (!out)
		return 0;
	for (i = 0; i < NS_OFFCPU_STACK_BLOCKS; i++) {
		if (i >= offcpu.stack_bytes / NS_OFFCPU_STACK_BLOCK)
			break;
		if (!bpf_probe_read_user(out->stack + i * NS_OFFCPU_STACK_BLOCK,
					 NS_OFFCPU_STACK_BLOCK,
					 (void *)out->base + i * NS_OFFCPU_STACK_BLOCK))
			out->there[i / 64] |= 1ull << (i & 63);
	}
	end_copy(out, place);
	return 0;
}

/* A thread goes to sleep there. */
static __always_inline void sample_sleep(__u32 place, bool kernel_thread)
{
	if (offcpu.unwind_ns && !kernel_thread && long_places[place & (NS_OFFCPU_MARKS - 1)])
		take_sample(place);
}

/* A thread by its own doing ended a wait of so long. */
static __always_inline void sample_wake(__u32 place, __u64 slept)
{
	if (is_long(slept))
		take_sample(place);
}

/* ---- while it sleeps ---- */

static __always_inline bool sleeps_since(const struct ns_offcpu_thread *thread, __u64 off_ts)
{
	return thread->off_ts == off_ts && thread->state && !thread->wake_ts;
}

/* Run by the reader a few times a second. */
SEC("?iter.s/task")
int iter_sleepers(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct ns_offcpu_thread *thread;
	struct ns_offcpu_sample *out;
	__u32 i, place;
	__u64 off_ts;

	if (!task || task->flags & (NS_PF_KTHREAD | NS_PF_EXITING))
		return 0;
	thread = known_thread(task->pid);
	if (!thread)
		return 0;
	off_ts = thread->off_ts;
	place = thread->chain.sleep;
	if (!off_ts || !sleeps_since(thread, off_ts) || !wants_sample(place))
		return 0;
	if (!long_places[place & (NS_OFFCPU_MARKS - 1)] &&
	    bpf_ktime_get_ns() - off_ts < offcpu.unwind_ns)
		return 0;
	out = begin_copy(task_regs(task), place, task->tgid);
	if (!out)
		return 0;
	for (i = 0; i < NS_OFFCPU_STACK_BLOCKS; i++) {
		if (i >= offcpu.stack_bytes / NS_OFFCPU_STACK_BLOCK)
			break;
		if (!bpf_copy_from_user_task(
			    out->stack + i * NS_OFFCPU_STACK_BLOCK, NS_OFFCPU_STACK_BLOCK,
			    (void *)out->base + i * NS_OFFCPU_STACK_BLOCK, task, 0))
			out->there[i / 64] |= 1ull << (i & 63);
	}
	/* What it slept in until then is what was copied. */
	if (sleeps_since(thread, off_ts) && thread->chain.sleep == place)
		end_copy(out, place);
	else
		bpf_ringbuf_discard(out, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif

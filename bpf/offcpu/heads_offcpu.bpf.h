/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of the off-CPU profile: BTF tracepoints, and the iterators that run before. */
#ifndef NETSTALL_BPF_OFFCPU_HEADS_OFFCPU_BPF_H
#define NETSTALL_BPF_OFFCPU_HEADS_OFFCPU_BPF_H

/* From fa2c3254d7cf (5.18) on the state comes as an argument, safe from a wake-up that races. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(offcpu_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	on_switch(ctx, prev, next, preempt, prev_state);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(offcpu_switch_3, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	on_switch(ctx, prev, next, preempt, task_state(prev));
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(offcpu_waking, struct task_struct *task)
{
	on_waking(ctx, task);
	return 0;
}

/* ---- segments that timers send ---- */

SEC("?tp_btf/softirq_entry")
int BPF_PROG(offcpu_softirq_entry, unsigned int vec)
{
	on_softirq_entry(vec);
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(offcpu_softirq_exit, unsigned int vec)
{
	on_softirq_exit(vec);
	return 0;
}

SEC("?tp_btf/net_dev_queue")
int BPF_PROG(offcpu_segment_sent, struct sk_buff *skb)
{
	on_segment_sent(ctx, skb);
	return 0;
}

SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(offcpu_segment_received, struct sk_buff *skb)
{
	on_segment_received(skb);
	return 0;
}

/* ---- life ---- */

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(offcpu_fork, struct task_struct *parent, struct task_struct *child)
{
	on_fork(parent, child);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(offcpu_exec, struct task_struct *task)
{
	on_exec(task);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(offcpu_exit, struct task_struct *task)
{
	on_exit(task);
	return 0;
}

SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(offcpu_cgroup_attach, struct cgroup *to, const char *path, struct task_struct *task)
{
	on_cgroup_attach(to, task);
	return 0;
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
	key->kernel = intern_stack(scratch, bytes > 0 ? bytes / sizeof(__u64) : 0);
	key->tgid = task->tgid;
	key->tid = task->pid;
	BPF_CORE_READ_STR_INTO(&key->comm, task, comm);
	return intern_place(scratch);
}

/* Such a thread passes no switch-out: its time counts from here on. */
static __always_inline bool seed_thread(struct task_struct *task, struct ns_offcpu_seed *out)
{
	__u32 state = task_state(task) & NS_OFFCPU_SLEEPS, tid = task->pid;
	struct scratch *scratch = scratch_for(SCRATCH_ITER);
	struct ns_offcpu_thread *fresh;

	if (!scratch || !state || task->flags & NS_PF_EXITING || !is_target(task))
		return false;
	out->place = place_of_seed(task, scratch, state);
	fresh = &scratch->thread;
	__builtin_memset(fresh, 0, sizeof(*fresh));
	fresh->off_ts = bpf_ktime_get_ns();
	fresh->tgid = task->tgid;
	fresh->state = state;
	fresh->chain.sleep = out->place;
	if (settings.unwind_ns)
		note_long(out->place); /* it may wake up any moment */
	if (!bpf_map_update_elem(&threads, &tid, fresh, BPF_NOEXIST))
		return true;
	/* One that was switched or woken since the attach is known better already. */
	if (!bpf_map_lookup_elem(&threads, &tid))
		count_loss(NS_OFFCPU_LOST_THREADS, 0);
	return false;
}

SEC("?iter/task")
int iter_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct ns_offcpu_seed out = {};
	struct pt_regs *regs;

	if (!task || !seed_thread(task, &out))
		return 0;
	out.tgid = task->tgid;
	out.tid = task->pid;
	if (!(task->flags & NS_PF_KTHREAD)) {
		regs = task_regs(task);
		read_position(regs, &out.ip, &out.sp);
		out.fp = frame_pointer(regs);
	}
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What differs from kernel to kernel. Features are detected by BTF, never by
 * version; each flavour names the commit that it bridges.
 */
#ifndef NETSTALL_BPF_LIB_COMPAT_BPF_H
#define NETSTALL_BPF_LIB_COMPAT_BPF_H

#define NS_PF_EXITING 4          /* include/linux/sched.h */
#define NS_PF_KTHREAD 0x00200000 /* likewise */

/* task_struct.state became __state in 2f064a59a11f ("sched: Change task_struct::state"), 5.14. */
struct task_struct___state {
	long state;
} __attribute__((preserve_access_index));

static __always_inline __u32 task_state(struct task_struct *task)
{
	struct task_struct___state *old = (void *)task;

	if (bpf_core_field_exists(old->state))
		return BPF_CORE_READ(old, state);
	return BPF_CORE_READ(task, __state);
}

/* Woken while it still leaves its CPU: it is off the run queue, its switch-out comes. */
static __always_inline bool leaves_cpu(struct task_struct *task)
{
	/* 152e11f6df29 (6.12) keeps some that sleep on the run queue for a while. */
	if (bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed)
		return true;
	/* An int until 6.12, a byte in 7.x. */
	return !BPF_CORE_READ_BITFIELD_PROBED(task, on_rq);
}

#define NS_ICSK_ACK_TIMER 2 /* icsk_ack.pending, include/net/inet_connection_sock.h */

/*
 * When the delayed ACK is due, in jiffies. icsk_ack.timeout went away with 7.x, which
 * keeps only the timer's own expiry.
 */
struct inet_connection_sock___timeout {
	struct {
		unsigned long timeout;
	} icsk_ack;
} __attribute__((preserve_access_index));

static __always_inline unsigned long delack_due(struct sock *sk)
{
	struct inet_connection_sock___timeout *old = (void *)sk;
	struct inet_connection_sock *icsk = (void *)sk;

	if (bpf_core_field_exists(old->icsk_ack.timeout))
		return BPF_CORE_READ(old, icsk_ack.timeout);
	return BPF_CORE_READ(icsk, icsk_delack_timer.expires);
}

/* hrtimer.state became the flag is_queued in 7.x. */
struct hrtimer___queued {
	bool is_queued;
} __attribute__((preserve_access_index));

static __always_inline bool hrtimer_waits(struct hrtimer *timer)
{
	struct hrtimer___queued *new = (void *)timer;

	if (bpf_core_field_exists(new->is_queued))
		return BPF_CORE_READ(new, is_queued);
	return BPF_CORE_READ(timer, state) & 1; /* HRTIMER_STATE_ENQUEUED */
}

/*
 * Split into two counters for UDP by 51132b99f01c (6.18). Looked for as a field of a structure that
 * each kernel has: for a whole one that is missing libbpf asks the modules, which CAP_BPF may not.
 */
struct udp_sock___split {
	struct {
		struct {
			int counter;
		} drops0, drops1;
	} drop_counters;
} __attribute__((preserve_access_index));

struct sock___drops {
	struct {
		int counter;
	} sk_drops;
} __attribute__((preserve_access_index));

/*
 * Of a listener the SYNs and last ACKs of handshakes that found no room, ever (tcp_listendrop()),
 * and others that came to nothing: user/source/full_queues.h.
 */
static __always_inline __u32 socket_drops(struct sock *sk)
{
	struct sock___drops *whole = (void *)sk;

	return BPF_CORE_READ(whole, sk_drops.counter);
}

/* Datagrams that came and found no room in the UDP socket's receive buffer, ever. */
static __always_inline __u32 datagrams_dropped(struct sock *sk)
{
	struct udp_sock___split *split = (void *)sk;

	if (bpf_core_field_exists(split->drop_counters))
		return BPF_CORE_READ(split, drop_counters.drops0.counter) +
		       BPF_CORE_READ(split, drop_counters.drops1.counter);
	return socket_drops(sk);
}

/*
 * The run queue's clock without time in interrupts and stolen time is clock_task. What it leaves
 * out is in fields of CONFIG_IRQ_TIME_ACCOUNTING and of CONFIG_PARAVIRT_TIME_ACCOUNTING; without
 * the latter, CONFIG_PARAVIRT counts stolen time at each tick.
 */
struct rq___taken {
	__u64 prev_irq_time;
	__u64 prev_steal_time_rq;
	__u64 prev_steal_time;
} __attribute__((preserve_access_index));

#define NS_COUNTS_IRQ     bpf_core_field_exists(((struct rq___taken *)0)->prev_irq_time)
#define NS_STEAL_IN_CLOCK bpf_core_field_exists(((struct rq___taken *)0)->prev_steal_time_rq)
#define NS_STEAL_AT_TICKS bpf_core_field_exists(((struct rq___taken *)0)->prev_steal_time)

/* Plain loads, of the queue that the task is on, or was on last. */
static __always_inline void note_taken(struct task_struct *task, struct ns_taken *taken)
{
	struct cfs_rq *none = NULL;
	struct rq___taken *more;
	__u64 irq_ns = 0;
	struct rq *queue;

	if (!bpf_core_field_exists(task->se.cfs_rq) || !bpf_core_field_exists(none->rq))
		return;
	queue = task->se.cfs_rq->rq;
	more = (void *)queue;
	if (NS_COUNTS_IRQ)
		irq_ns = more->prev_irq_time;
	if (NS_STEAL_IN_CLOCK)
		taken->steal_ns = queue->clock - queue->clock_task - irq_ns;
	else if (NS_STEAL_AT_TICKS)
		taken->steal_ns = more->prev_steal_time;
	taken->irq_ns = irq_ns;
	taken->clock = queue->clock;
	taken->queue = (__u64)queue;
}

/* bpf_task_pt_regs() came with dd6e10fbd9fb ("bpf: Add bpf_task_pt_regs() helper"), 5.15. */
enum bpf_func_id___pt_regs { BPF_FUNC_task_pt_regs___pt_regs = 0xffff };

#define NS_THREAD_SIZE 16384 /* x86-64 and arm64 with 4 KiB pages; only before 5.15 */

#define NS_HAS_TASK_PT_REGS                                                                        \
	bpf_core_enum_value_exists(enum bpf_func_id___pt_regs, BPF_FUNC_task_pt_regs___pt_regs)

static __always_inline struct pt_regs *stack_regs(struct task_struct *task)
{
	void *stack = BPF_CORE_READ(task, stack);

	return stack + NS_THREAD_SIZE - bpf_core_type_size(struct pt_regs);
}

static __always_inline struct pt_regs *task_regs(struct task_struct *task)
{
	if (NS_HAS_TASK_PT_REGS)
		return (struct pt_regs *)bpf_task_pt_regs(task);
	return stack_regs(task);
}

/* bpf_get_current_task_btf() is older (5.11) than bpf_task_pt_regs(), so the same test serves. */
static __always_inline struct pt_regs *current_regs(void)
{
	if (NS_HAS_TASK_PT_REGS)
		return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return stack_regs((struct task_struct *)bpf_get_current_task());
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a wake by an arriving segment was caused by, where both happen in softirqs of one CPU:
 * a delayed-ACK timer sends an acknowledgement, whose arrival over loopback or veth lets held
 * bytes go, whose arrival wakes a thread. The stack of that wake shows the last step alone. So
 * segments that timers send are marked, those that are sent while a marked one is received are
 * marked likewise, and a wake while a marked one is received knows the place of the first.
 * What leaves the machine is not marked, and no longer if it was: its skb is freed unseen, and
 * soon another packet's.
 */
#ifndef NETSTALL_BPF_OFFCPU_SEGMENT_BPF_H
#define NETSTALL_BPF_OFFCPU_SEGMENT_BPF_H

/* include/linux/interrupt.h */
#define NS_OFFCPU_TIMER_SOFTIRQ   1
#define NS_OFFCPU_NET_RX_SOFTIRQ  3
#define NS_OFFCPU_HRTIMER_SOFTIRQ 8

struct ns_offcpu_cpu segment_cpus[NS_CPUS];

static __always_inline struct ns_offcpu_cpu *this_cpu(void)
{
	return &segment_cpus[bpf_get_smp_processor_id() & (NS_CPUS - 1)];
}

static __always_inline bool is_timer_softirq(__u32 vec)
{
	return vec == NS_OFFCPU_TIMER_SOFTIRQ || vec == NS_OFFCPU_HRTIMER_SOFTIRQ;
}

static __always_inline void on_softirq_entry(__u32 vec)
{
	if (is_timer_softirq(vec))
		this_cpu()->in_timer = 1;
}

static __always_inline void on_softirq_exit(__u32 vec)
{
	if (is_timer_softirq(vec))
		this_cpu()->in_timer = 0;
	else if (vec == NS_OFFCPU_NET_RX_SOFTIRQ)
		this_cpu()->receiving = 0;
}

static __noinline __u32 place_of_segment(void *ctx)
{
	struct scratch *scratch = scratch_for(SCRATCH_SEGMENT);
	__u32 count, depth;

	if (!scratch)
		return 0;
	__builtin_memset(&scratch->key, 0, sizeof(scratch->key));
	count = take_kernel_frames(ctx, scratch, NS_OFFCPU_AT_SEND);
	depth = interrupt_depth(SCRATCH_SEGMENT, count);
	scratch->key.kind = NS_OFFCPU_SEGMENT;
	scratch->key.kernel = intern_stack(SCRATCH_SEGMENT, 0, depth ? depth : count);
	return intern_place(scratch);
}

static __always_inline void unmark(struct ns_offcpu_cpu *cpu, __u64 key)
{
	if (cpu->marked && !bpf_map_delete_elem(&segments, &key))
		cpu->marked--;
}

/* Real network cards have a parent in the tree of devices; loopback, veth, bridges have none. */
static __always_inline bool leaves_machine(struct sk_buff *skb)
{
	return BPF_CORE_READ(skb, dev, dev.parent);
}

static __always_inline void on_segment_sent(void *ctx, struct sk_buff *skb)
{
	struct ns_offcpu_cpu *cpu = this_cpu();
	__u64 key = (__u64)skb;
	__u32 from = cpu->receiving;

	if ((cpu->in_timer || from) && leaves_machine(skb))
		from = 0;
	else if (cpu->in_timer)
		from = place_of_segment(ctx);
	if (!from) {
		unmark(cpu, key); /* an earlier one of this address may have been dropped */
		return;
	}
	if (!bpf_map_update_elem(&segments, &key, &from, BPF_ANY))
		cpu->marked++;
}

static __always_inline void on_segment_received(struct sk_buff *skb)
{
	struct ns_offcpu_cpu *cpu = this_cpu();
	__u64 key = (__u64)skb;
	__u32 *from;

	if (!cpu->marked) {
		cpu->receiving = 0;
		return;
	}
	from = bpf_map_lookup_elem(&segments, &key);
	cpu->receiving = from ? *from : 0;
	unmark(cpu, key);
}

#endif

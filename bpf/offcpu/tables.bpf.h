/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables of the off-CPU profile and their bounds. */
#ifndef NETSTALL_BPF_OFFCPU_TABLES_BPF_H
#define NETSTALL_BPF_OFFCPU_TABLES_BPF_H

NS_TABLE(stacks, BPF_MAP_TYPE_HASH, __u64, struct ns_offcpu_stack, 16384);
NS_TABLE(places, BPF_MAP_TYPE_HASH, struct ns_offcpu_place_key, struct ns_offcpu_place, 65536);
/* Numbers of what CPython runs that user space was told. */
NS_TABLE(pythons_told, BPF_MAP_TYPE_HASH, __u64, __u8, 16384);
/* Threads that woke one of a chain. Which are forgotten have woken nobody for long. */
NS_TABLE(followed, BPF_MAP_TYPE_LRU_HASH, __u32, struct ns_offcpu_thread, 8192);
/* Segments on their way, by skb, and the place that sent them. */
NS_TABLE(segments, BPF_MAP_TYPE_LRU_HASH, __u64, __u32, 1024);

/* Its key is as long as the depth needs: the loader sets it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(key_size, sizeof(struct ns_offcpu_chain));
	__uint(value_size, sizeof(struct ns_offcpu_sum));
} sums SEC(".maps");

/* What does not fit the stack of a program; tracepoints of the scheduler do not nest on a CPU. */
struct scratch {
	struct ns_offcpu_stack stack;
	struct ns_offcpu_place_key key;
	struct ns_thread_state thread;
	struct ns_offcpu_python python;
};

enum scratch_use { SCRATCH_SCHED = 0, SCRATCH_SEGMENT = 1, SCRATCH_ITER = 2, SCRATCH_USES };

NS_TABLE(scratches, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, struct scratch, SCRATCH_USES);

struct ns_offcpu_loss lost_sums; /* (+) */
__u32 every_bits;   /* log2 of the slots that one stands for: user space alone writes it */
__u32 every_seed;   /* before the attach, likewise */
__u64 preempted_ns; /* (+) waits of targets for a CPU alone, which are in no sum */
__u8 thread_flags[NS_OFFCPU_FLAGS]; /* 1: a followed thread may be among those of this bucket */
__u32 places_numbered[NS_CPUS];     /* (+) and cpu_number() */
__u32 sums_numbered[NS_CPUS];       /* likewise */
/* The kernel's entry stubs for interrupts. Set before the attach. */
struct ns_offcpu_range irq_entries[NS_OFFCPU_RANGES];
/* The functions of enum ns_offcpu_hook, nothing for one that is not known. Set before the attach.
 */
struct ns_offcpu_range hooked[NS_OFFCPU_HOOKS];
/* The section of the kernel's code that schedule() and its callers are in; likewise. */
struct ns_offcpu_range scheduler;
__u32 own_frames[NS_OFFCPU_HOOKS]; /* how many of tracers' stood on top of it last */

/*
 * Thousands of short waits a second look alike, and a stack of each would cost more than they do:
 * then all are looked at in one slot of time of so many, which chance chooses, and each stands for
 * that many. By slots, and not wait by wait, so that a chain is seen whole. The looks make a slot
 * slower, so there are fewer waits in it: user space makes the sums right by the exact totals of
 * all short waits, which cost little. Returns the weight of what begins at that time, 0: not looked
 * at.
 */
static __always_inline __u32 weight_at(__u64 now)
{
	__u32 bits = every_bits & 31, every = 1u << bits, slot = now >> NS_OFFCPU_SLOT_BITS, chosen;

	if (!bits)
		return 1;
	chosen = ((slot >> bits) ^ every_seed) * 0x9e3779b1u;
	chosen ^= chosen >> 15;
	chosen *= 0x85ebca6bu;
	return chosen >> (32 - bits) == (slot & (every - 1)) ? every : 0;
}

static __always_inline struct scratch *scratch_for(__u32 use)
{
	return bpf_map_lookup_elem(&scratches, &use);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables of the off-CPU profile and their bounds. */
#ifndef NETSTALL_BPF_OFFCPU_TABLES_BPF_H
#define NETSTALL_BPF_OFFCPU_TABLES_BPF_H

/*
 * Sizes are defaults; the loader sets others. What a full table does not take is counted in
 * lost[] with its time; only the LRU ones evict, the entry used longest ago.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} records SEC(".maps");
NS_TABLE(stacks, BPF_MAP_TYPE_HASH, __u64, struct ns_offcpu_stack, 16384);
NS_TABLE(places, BPF_MAP_TYPE_HASH, struct ns_offcpu_place_key, struct ns_offcpu_place, 65536);
NS_TABLE(threads, BPF_MAP_TYPE_HASH, __u32, struct ns_offcpu_thread, 16384);
NS_TABLE(procs, BPF_MAP_TYPE_HASH, __u32, __u32, 8192);
NS_TABLE(cgroups, BPF_MAP_TYPE_HASH, __u64, __u32, 1024);
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
	struct ns_offcpu_thread thread;
};

enum scratch_use { SCRATCH_SCHED = 0, SCRATCH_SEGMENT = 1, SCRATCH_ITER = 2, SCRATCH_USES };

NS_TABLE(scratches, BPF_MAP_TYPE_PERCPU_ARRAY, __u32, struct scratch, SCRATCH_USES);

const volatile struct ns_offcpu_config settings = {};

struct ns_offcpu_loss lost[NS_OFFCPU_LOST_KINDS];
__u64 preempted_ns;                 /* waits of targets for a CPU alone, which are in no sum */
__u8 proc_flags[NS_OFFCPU_FLAGS];   /* 1: a target may be among the processes of this bucket */
__u8 thread_flags[NS_OFFCPU_FLAGS]; /* 1: a followed thread may be among those of this bucket */
__u32 places_numbered[NS_OFFCPU_CPUS];
__u32 sums_numbered[NS_OFFCPU_CPUS];
__u32 only_tids[NS_OFFCPU_TIDS]; /* the first 0: all threads of the targets */
__u32 self_tgid; /* netstall's own process: neither it nor its children are targets */
/* The kernel's entry stubs for interrupts. Set before the attach. */
struct ns_offcpu_range irq_entries[NS_OFFCPU_RANGES];
/* The functions of enum ns_offcpu_hook, nothing for one that is not known. Set before the attach.
 */
struct ns_offcpu_range hooked[NS_OFFCPU_HOOKS];
__u32 own_frames[NS_OFFCPU_HOOKS]; /* how many of tracers' stood on top of it last */

static __always_inline void count_loss(__u32 kind, __u64 ns)
{
	if (kind >= NS_OFFCPU_LOST_KINDS)
		return;
	__sync_fetch_and_add(&lost[kind].count, 1);
	if (ns)
		__sync_fetch_and_add(&lost[kind].ns, ns);
}

/* Each CPU counts on its own: atomics that return a value came only with 5.12. */
static __always_inline __u32 next_number(__u32 *numbered)
{
	__u32 cpu = bpf_get_smp_processor_id() & (NS_OFFCPU_CPUS - 1);

	return numbered[cpu]++ * settings.cpus + cpu + 1;
}

static __always_inline struct scratch *scratch_for(__u32 use)
{
	return bpf_map_lookup_elem(&scratches, &use);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whose sleeps are profiled: those of targets, and those that woke one of a chain lately. */
#ifndef NETSTALL_BPF_OFFCPU_TARGET_BPF_H
#define NETSTALL_BPF_OFFCPU_TARGET_BPF_H

/* The profile's part of a thread that is watched, or follows one; NULL: it has none. */
static __always_inline struct ns_offcpu_thread *profiled_thread(struct task_struct *task,
								struct ns_thread_state *thread)
{
	__u32 tid = task->pid;

	if (!offcpu.on || !in_window())
		return NULL;
	/* What is watched for another reason first can become a target. */
	if (thread && settings.trace && !thread->profiled && is_profiled(task))
		thread->profiled = 1;
	if (thread && thread->profiled)
		return &thread->offcpu;
	if (thread_flags[tid & (NS_OFFCPU_FLAGS - 1)])
		return bpf_map_lookup_elem(&followed, &tid);
	return NULL;
}

/* The same by its number. */
static __always_inline struct ns_offcpu_thread *known_thread(__u32 tid)
{
	struct ns_thread_state *thread = bpf_map_lookup_elem(&threads, &tid);

	if (thread && thread->profiled)
		return &thread->offcpu;
	if (!thread_flags[tid & (NS_OFFCPU_FLAGS - 1)])
		return NULL;
	return bpf_map_lookup_elem(&followed, &tid);
}

/* It woke one of a chain: what it waits for itself is part of such chains from now on. */
static __noinline int follow(struct scratch *scratch, __u32 tid, __u32 level)
{
	struct ns_offcpu_thread *fresh;

	if (!scratch)
		return 0;
	fresh = &scratch->thread.offcpu;
	__builtin_memset(fresh, 0, sizeof(*fresh));
	fresh->level = level;
	fresh->woke_ts = bpf_ktime_get_ns();
	if (!bpf_map_update_elem(&followed, &tid, fresh, BPF_NOEXIST))
		thread_flags[tid & (NS_OFFCPU_FLAGS - 1)] = 1;
	return 0;
}

/* ---- processes that come and go ---- */

static __always_inline void tell_process(__u32 tgid, __u32 parent)
{
	struct ns_offcpu_process *out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);

	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return;
	}
	out->type = NS_OFFCPU_PROCESS;
	out->tgid = tgid;
	out->parent = parent;
	out->pad = 0;
	/* It may be gone soon, with its names. */
	bpf_ringbuf_submit(out, BPF_RB_FORCE_WAKEUP);
}

#endif

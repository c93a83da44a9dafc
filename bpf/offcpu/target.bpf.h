/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which threads are watched: those of targets, and those that woke one of a chain lately. */
#ifndef NETSTALL_BPF_OFFCPU_TARGET_BPF_H
#define NETSTALL_BPF_OFFCPU_TARGET_BPF_H

static __always_inline bool is_process_of_target(__u32 tgid)
{
	return proc_flags[tgid & (NS_OFFCPU_FLAGS - 1)] && bpf_map_lookup_elem(&procs, &tgid);
}

/* Threads were named, and this is none of them. */
static __always_inline bool is_other_thread(__u32 tid)
{
	if (!only_tids[0])
		return false;
#pragma unroll
	for (int i = 0; i < NS_OFFCPU_TIDS; i++) {
		if (only_tids[i] == tid)
			return false;
	}
	return true;
}

/* Netstall itself, and the process of its that opens files. */
static __always_inline bool is_own(struct task_struct *task)
{
	__u32 tgid = task->tgid, parent = BPF_CORE_READ(task, real_parent, tgid);

	return tgid == self_tgid || parent == self_tgid;
}

static __always_inline bool is_target(struct task_struct *task)
{
	__u32 tgid = task->tgid, tid = task->pid;

	if (is_other_thread(tid))
		return false;
	if (settings.user_threads && task->flags & NS_PF_KTHREAD)
		return false;
	if (settings.kernel_threads && !(task->flags & NS_PF_KTHREAD))
		return false;
	if (settings.everything)
		return tid && !is_own(task);
	return is_process_of_target(tgid);
}

static __noinline struct ns_offcpu_thread *add_target(struct task_struct *task)
{
	struct ns_offcpu_thread fresh = {}, *thread;
	long refused;
	__u32 tid;

	if (!task)
		return NULL;
	tid = task->pid;
	/* Its last switch must not begin it anew. */
	if (task->flags & NS_PF_EXITING || !is_target(task))
		return NULL;
	fresh.tgid = task->tgid;
	refused = bpf_map_update_elem(&threads, &tid, &fresh, BPF_NOEXIST);
	thread = bpf_map_lookup_elem(&threads, &tid);
	/* Refused, and another CPU has not entered it just now: there is no room. */
	if (!thread && refused)
		count_loss(NS_OFFCPU_LOST_THREADS, 0);
	return thread;
}

/* The cheap "no" comes first: most threads of a machine are neither. */
static __always_inline struct ns_offcpu_thread *watched_thread(struct task_struct *task)
{
	struct ns_offcpu_thread *thread;
	__u32 tid = task->pid, tgid = task->tgid;

	if (!in_window())
		return NULL;
	if (settings.everything || proc_flags[tgid & (NS_OFFCPU_FLAGS - 1)]) {
		thread = bpf_map_lookup_elem(&threads, &tid);
		if (thread)
			return thread;
		thread = add_target(task);
		if (thread)
			return thread;
	}
	if (thread_flags[tid & (NS_OFFCPU_FLAGS - 1)])
		return bpf_map_lookup_elem(&followed, &tid);
	return NULL;
}

/* The running thread, if it is watched. */
static __always_inline struct ns_offcpu_thread *known_thread(__u32 tid)
{
	struct ns_offcpu_thread *thread = bpf_map_lookup_elem(&threads, &tid);

	if (thread || !thread_flags[tid & (NS_OFFCPU_FLAGS - 1)])
		return thread;
	return bpf_map_lookup_elem(&followed, &tid);
}

/* It woke one of a chain: what it waits for itself is part of such chains from now on. */
static __noinline int follow(struct scratch *scratch, __u64 id, __u32 level)
{
	struct ns_offcpu_thread *fresh;
	__u32 tid = id;

	if (!scratch)
		return 0;
	fresh = &scratch->thread;
	__builtin_memset(fresh, 0, sizeof(*fresh));
	fresh->tgid = id >> 32;
	fresh->level = level;
	fresh->woke_ts = bpf_ktime_get_ns();
	if (!bpf_map_update_elem(&followed, &tid, fresh, BPF_NOEXIST))
		thread_flags[tid & (NS_OFFCPU_FLAGS - 1)] = 1;
	return 0;
}

/* ---- processes that come and go ---- */

static __always_inline void tell_process(__u32 tgid, __u32 parent, __u32 gone)
{
	struct ns_offcpu_process *out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);

	if (!out) {
		count_loss(NS_OFFCPU_LOST_RECORDS, 0);
		return;
	}
	out->type = NS_OFFCPU_PROCESS;
	out->tgid = tgid;
	out->parent = parent;
	out->gone = gone;
	/* It may be gone soon, with its names. */
	bpf_ringbuf_submit(out, BPF_RB_FORCE_WAKEUP);
}

static __always_inline void add_process(__u32 tgid)
{
	__u32 one = 1;

	if (bpf_map_update_elem(&procs, &tgid, &one, BPF_ANY)) {
		count_loss(NS_OFFCPU_LOST_THREADS, 0);
		return;
	}
	proc_flags[tgid & (NS_OFFCPU_FLAGS - 1)] = 1;
}

static __always_inline void on_fork(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid);

	if (from == to)
		return;
	if ((settings.by_comm && has_comm(child, settings.comm)) ||
	    (settings.follow_children && is_process_of_target(from))) {
		add_process(to);
		tell_process(to, from, 0);
	}
}

static __always_inline void on_exec(struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (settings.by_comm && has_comm(task, settings.comm))
		add_process(tgid);
	if (is_process_of_target(tgid))
		tell_process(tgid, 0, 0);
}

static __always_inline void on_cgroup_attach(struct cgroup *to, struct task_struct *task)
{
	__u64 id = BPF_CORE_READ(to, kn, id);
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (!settings.by_cgroup || !bpf_map_lookup_elem(&cgroups, &id))
		return;
	add_process(tgid);
	tell_process(tgid, 0, 0);
}

#endif

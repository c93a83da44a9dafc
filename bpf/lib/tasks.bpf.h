/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The list of all threads, with the numbers that pid namespaces give them. */
#ifndef NETSTALL_BPF_LIB_TASKS_BPF_H
#define NETSTALL_BPF_LIB_TASKS_BPF_H

static __always_inline struct upid *upid_at(struct pid *pid, __u32 level)
{
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	return numbers + level * bpf_core_type_size(struct upid);
}

/* A pid as the namespace of another counts it, 0 when it is not in that. */
static __always_inline __u32 pid_seen_from(struct pid *pid, struct pid *viewer)
{
	__u32 level = BPF_CORE_READ(viewer, level);
	struct upid *here, *there;

	if (BPF_CORE_READ(pid, level) < level)
		return 0;
	here = upid_at(pid, level);
	there = upid_at(viewer, level);
	return BPF_CORE_READ(here, ns) == BPF_CORE_READ(there, ns) ? BPF_CORE_READ(here, nr) : 0;
}

/* A pid as its own namespace counts. */
static __always_inline __u32 pid_inside(struct pid *pid)
{
	struct upid *inside = upid_at(pid, BPF_CORE_READ(pid, level));

	return BPF_CORE_READ(inside, nr);
}

/* An iterator runs in its reader's context: current is netstall, whose view is asked for. */
SEC("?iter/task")
int iter_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_struct *self = (struct task_struct *)bpf_get_current_task();
	struct ns_task_entry out = {};
	struct pid *pid, *group, *view;

	if (!task)
		return 0;
	view = BPF_CORE_READ(self, thread_pid);
	pid = BPF_CORE_READ(task, thread_pid);
	group = BPF_CORE_READ(task, group_leader, thread_pid);
	out.tgid = task->tgid;
	out.tid = task->pid;
	out.view_tgid = pid_seen_from(group, view);
	out.view_tid = pid_seen_from(pid, view);
	out.ns_tgid = pid_inside(group);
	out.parent = BPF_CORE_READ(task, real_parent, tgid);
	out.exiting = (task->flags & NS_PF_EXITING) != 0;
	out.kernel_thread = (task->flags & NS_PF_KTHREAD) != 0;
	BPF_CORE_READ_STR_INTO(&out.comm, task, comm);
	bpf_seq_write(ctx->meta->seq, &out, sizeof(out));
	return 0;
}

#endif

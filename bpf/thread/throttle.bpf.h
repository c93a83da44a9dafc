/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Threads that are ready to run and whose cgroup has used up its CPU quota (cfs bandwidth). A group
 * that is throttled has all groups below it throttled as well.
 */
#ifndef NETSTALL_BPF_THREAD_THROTTLE_BPF_H
#define NETSTALL_BPF_THREAD_THROTTLE_BPF_H

#define NS_MAX_RT_PRIO 100 /* include/linux/sched/prio.h: quotas are for those from here on */
#define NS_GROUPS      8   /* levels that are looked at */
#define NS_NO_QUOTA    (~0ull)

/*
 * e1fad12dcb66 ("sched/fair: Switch to task based throttle model", 6.18): each thread leaves its
 * CPU by itself, when it returns to user mode. Before that the queue of the group was taken away
 * whole.
 */
struct task_struct___throttled {
	bool throttled;
} __attribute__((preserve_access_index));

#define NS_THROTTLES_TASKS bpf_core_field_exists(((struct task_struct___throttled *)0)->throttled)
#define NS_THROTTLES_QUEUES                                                                        \
	(!NS_THROTTLES_TASKS && bpf_core_field_exists(((struct sched_entity *)0)->cfs_rq) &&       \
	 bpf_core_field_exists(((struct cfs_rq *)0)->throttle_count))

/* 633488947ef6 ("kernfs: Use RCU to access kernfs_node::parent", 6.15) renamed it. */
struct kernfs_node___renamed {
	struct kernfs_node *__parent;
} __attribute__((preserve_access_index));

static __always_inline bool is_throttled(struct task_struct *task)
{
	if (NS_THROTTLES_TASKS)
		return ((struct task_struct___throttled *)task)->throttled;
	return NS_THROTTLES_QUEUES && task->prio >= NS_MAX_RT_PRIO && task->se.cfs_rq &&
	       task->se.cfs_rq->throttle_count > 0;
}

/* Whose quota is used up: the innermost, of those that a task's queue is below. 0: none. Global,
 * and so verified once. */
__noinline __u64 throttled_group(__u64 key)
{
	struct task_struct *task = (struct task_struct *)key;
	struct sched_entity *entity = NULL;
	struct cfs_rq *queue = NULL;
	int i;

	if (!task || !bpf_core_field_exists(entity->parent) ||
	    !bpf_core_field_exists(queue->throttled))
		return 0;
	entity = &task->se;
	for (i = 0; i < NS_GROUPS; i++) {
		queue = BPF_CORE_READ(entity, cfs_rq);
		if (!queue)
			break;
		if (BPF_CORE_READ_BITFIELD_PROBED(queue, throttled))
			return (__u64)BPF_CORE_READ(queue, tg);
		entity = BPF_CORE_READ(entity, parent);
		if (!entity)
			break;
	}
	return 0;
}

/* It is ready to run, just now, or is about to be woken. */
static __always_inline void note_throttle(struct task_struct *task, struct ns_thread_state *thread)
{
	thread->throttled = is_throttled(task);
	if (!thread->throttled)
		return;
	thread->task = (__u64)task;
	/* Through memory it becomes a number. */
	thread->throttled_by = throttled_group(*(volatile __u64 *)&thread->task);
}

/*
 * Since when its queue is throttled, or was last, by the clock that the scheduler notes that with:
 * how long ago. It stands where the machine idles, so that may come out too short.
 */
static __always_inline __u64 throttled_ago(struct task_struct *task)
{
	struct cfs_rq *queue = BPF_CORE_READ(task, se.cfs_rq);
	struct rq *rq = BPF_CORE_READ(queue, rq);
	__u64 began;

	if (!bpf_core_field_exists(queue->throttled_clock_pelt) ||
	    !bpf_core_field_exists(rq->lost_idle_time))
		return ~0ull;
	began = BPF_CORE_READ(queue, throttled_clock_pelt);
	if (!began)
		return ~0ull;
	return ns_passed(began, BPF_CORE_READ(rq, clock_pelt) - BPF_CORE_READ(rq, lost_idle_time));
}

/* The innermost group above a task that has a quota; 0 none. Global, as above. */
__noinline __u64 group_with_quota(__u64 key)
{
	struct task_struct *task = (struct task_struct *)key;
	struct task_group *group = NULL;
	int i;

	if (!task || !bpf_core_field_exists(group->cfs_bandwidth.quota))
		return 0;
	group = BPF_CORE_READ(task, sched_task_group);
	for (i = 0; i < NS_GROUPS; i++) {
		if (!group)
			break;
		if (BPF_CORE_READ(group, cfs_bandwidth.quota) != NS_NO_QUOTA)
			return (__u64)group;
		group = BPF_CORE_READ(group, parent);
	}
	return 0;
}

static __always_inline struct kernfs_node *above(struct kernfs_node *node)
{
	struct kernfs_node___renamed *new = (void *)node;

	if (bpf_core_field_exists(new->__parent))
		return BPF_CORE_READ(new, __parent);
	return BPF_CORE_READ(node, parent);
}

/* The root has no name. */
static __always_inline void name_group(struct task_group *group, struct ns_throttle *out)
{
	struct kernfs_node *node = BPF_CORE_READ(group, css.cgroup, kn);

	if (!node)
		return;
	bpf_probe_read_kernel_str(out->cgroup, sizeof(out->cgroup), BPF_CORE_READ(node, name));
	node = above(node);
	if (!node)
		return;
	bpf_probe_read_kernel_str(out->cgroup_above, sizeof(out->cgroup_above),
				  BPF_CORE_READ(node, name));
	node = above(node);
	if (!node)
		return;
	bpf_probe_read_kernel_str(out->cgroup_top, sizeof(out->cgroup_top),
				  BPF_CORE_READ(node, name));
	node = above(node);
	out->deeper = node && above(node);
}

/*
 * The thread is back on a CPU, for which it had long been ready; if that was its quota's doing, a
 * record says so, in front of that of its wait. Global, as above.
 */
__noinline int tell_throttle(__u32 tid, __u64 now)
{
	struct ns_thread_state *thread =
		settings.trace ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	struct task_group *group = NULL;
	struct task_struct *task;
	struct ns_throttle *out;
	__u64 since, ago;

	if (!thread || !bpf_core_field_exists(group->cfs_bandwidth.quota))
		return 0;
	task = (struct task_struct *)thread->task;
	since = thread->wake_ts;
	if (!task || !since || !may_matter(ns_passed(since, now)))
		return 0;
	group = (struct task_group *)thread->throttled_by;
	if (!thread->throttled) {
		/* Its queue may have been taken away while it stood there. */
		if (!NS_THROTTLES_QUEUES)
			return 0;
		ago = throttled_ago(task);
		if (ago > ns_passed(since, now) || BPF_CORE_READ(task, prio) < NS_MAX_RT_PRIO)
			return 0;
		since = now - ago;
		group = NULL;
	}
	if (!group)
		group = (struct task_group *)group_with_quota(thread->task);
	if (!group)
		return 0;
	out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);
	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return 0;
	}
	__builtin_memset(out, 0, sizeof(*out));
	out->head.type = NS_THROTTLE;
	out->head.len = sizeof(*out);
	out->head.ts = now;
	out->head.cpu = bpf_get_smp_processor_id();
	out->head.tgid = thread->tgid;
	out->head.tid = tid;
	out->since_ts = since;
	out->quota_us = BPF_CORE_READ(group, cfs_bandwidth.quota) / 1000;
	out->period_us = (__u64)BPF_CORE_READ(group, cfs_bandwidth.period) / 1000;
	out->periods = BPF_CORE_READ(group, cfs_bandwidth.nr_periods);
	out->throttled_periods = BPF_CORE_READ(group, cfs_bandwidth.nr_throttled);
	name_group(group, out);
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif

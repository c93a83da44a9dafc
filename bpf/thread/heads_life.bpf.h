/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of threads, processes and sockets that come and go: BTF tracepoints on every kernel. */
#ifndef NETSTALL_BPF_THREAD_HEADS_LIFE_BPF_H
#define NETSTALL_BPF_THREAD_HEADS_LIFE_BPF_H

/* ---- threads ---- */

/* From fa2c3254d7cf (5.18) on the state comes as an argument, safe from a wake-up that races. */
SEC("?tp_btf/sched_switch")
int BPF_PROG(tp_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	on_switch(ctx, prev, next, preempt, prev_state);
	return 0;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(tp_switch_3, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	on_switch(ctx, prev, next, preempt, task_state(prev));
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(tp_waking, struct task_struct *task)
{
	on_waking(ctx, task);
	return 0;
}

/* ---- life ---- */

SEC("?tp_btf/inet_sock_set_state")
int BPF_PROG(tp_set_state, struct sock *sk, int from, int to)
{
	on_set_state(sk, from, to);
	return 0;
}

SEC("?tp_btf/tcp_destroy_sock")
int BPF_PROG(tp_destroy, struct sock *sk)
{
	drop_conn(sk);
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(tp_fork, struct task_struct *parent, struct task_struct *child)
{
	on_fork(parent, child);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(tp_exec, struct task_struct *task)
{
	on_exec(task);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(tp_exit, struct task_struct *task)
{
	on_exit(task);
	return 0;
}

SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(tp_cgroup_attach, struct cgroup *to, const char *path, struct task_struct *task)
{
	on_cgroup_attach(to, task);
	return 0;
}

#endif

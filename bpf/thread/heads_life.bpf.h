/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of threads, processes and sockets that come and go: BTF tracepoints on every kernel. */
#ifndef NETSTALL_BPF_THREAD_HEADS_LIFE_BPF_H
#define NETSTALL_BPF_THREAD_HEADS_LIFE_BPF_H

/* ---- threads ---- */

/* From fa2c3254d7cf (5.18) on the state comes as an argument, safe from a wake-up that races. */
HEAD("?tp_btf/sched_switch", tp_switch, on_switch(ctx, prev, next, preempt, prev_state),
     bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)

HEAD("?tp_btf/sched_switch", tp_switch_3, on_switch(ctx, prev, next, preempt, task_state(prev)),
     bool preempt, struct task_struct *prev, struct task_struct *next)

HEAD("?tp_btf/sched_waking", tp_waking, on_waking(ctx, task), struct task_struct *task)

/* A clock of a CPU, which user space lets tick while something waits long. */
SEC("?perf_event")
int pe_busy(void *ctx)
{
	note_busy(bpf_get_current_pid_tgid());
	return 0;
}

/* ---- life ---- */

HEAD("?tp_btf/inet_sock_set_state", tp_set_state, on_set_state(sk, from, to), struct sock *sk,
     int from, int to)

HEAD("?tp_btf/tcp_destroy_sock", tp_destroy, on_destroy(sk), struct sock *sk)

HEAD("?tp_btf/sched_process_fork", tp_fork, on_fork(parent, child), struct task_struct *parent,
     struct task_struct *child)

HEAD("?tp_btf/sched_process_exec", tp_exec, on_exec(task), struct task_struct *task)

HEAD("?tp_btf/task_rename", tp_rename, on_rename(task, comm), struct task_struct *task,
     const char *comm)

HEAD("?tp_btf/sched_process_exit", tp_exit, on_exit(task), struct task_struct *task)

HEAD("?tp_btf/cgroup_attach_task", tp_cgroup_attach, on_cgroup_attach(to, task), struct cgroup *to,
     const char *path, struct task_struct *task)

#endif

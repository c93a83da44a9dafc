/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which processes and threads are watched, and as what. */
#ifndef NETSTALL_BPF_LIB_TARGET_BPF_H
#define NETSTALL_BPF_LIB_TARGET_BPF_H

static __always_inline struct ns_proc_hint *proc_hint(__u32 tgid)
{
	return &proc_hints[tgid & (NS_PROC_HINTS - 1)];
}

static __always_inline __u32 proc_role(__u32 tgid)
{
	struct ns_proc_state *proc;

	if (!proc_hint(tgid)->watched)
		return 0;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	return proc ? ns_proc_role(proc) : 0;
}

static __always_inline bool is_left_out(__u32 tgid)
{
	struct ns_proc_state *proc;

	if (!settings.leaves_out || !proc_hint(tgid)->watched)
		return false;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	return proc && proc->left_out;
}

/* It has taken the name by which processes are left out, or another one. */
static __always_inline void leave_out(__u32 tgid, bool out)
{
	struct ns_proc_state fresh = {.left_out = NS_LEFT_OUT_BY_COMM}, *known;

	known = bpf_map_lookup_elem(&procs, &tgid);
	if (!known && out && bpf_map_update_elem(&procs, &tgid, &fresh, BPF_NOEXIST))
		count_lost(NS_LOST_PROCESSES);
	if (known && out && !known->left_out)
		known->left_out = NS_LEFT_OUT_BY_COMM;
	if (known && !out && known->left_out == NS_LEFT_OUT_BY_COMM)
		known->left_out = 0;
	if (out)
		proc_hint(tgid)->watched = 1;
}

/* A process is under watch from now on; a target stays one. */
static __always_inline void add_proc(__u32 tgid, __u32 role)
{
	struct ns_proc_state *known = bpf_map_lookup_elem(&procs, &tgid);
	struct ns_proc_state fresh = {};

	ns_proc_add(&fresh, role);
	if (known) {
		ns_proc_add(known, role);
	} else if (bpf_map_update_elem(&procs, &tgid, &fresh, BPF_NOEXIST)) {
		/* Unless another CPU has just entered it, there is no room. */
		known = bpf_map_lookup_elem(&procs, &tgid);
		if (!known) {
			count_lost(NS_LOST_PROCESSES);
			return;
		}
		ns_proc_add(known, role);
	}
	if (role & (NS_ROLE_TARGET | NS_ROLE_CHAIN) || settings.verbose)
		proc_hint(tgid)->threads = 1;
	proc_hint(tgid)->watched = 1;
}

static __always_inline void watch_threads(__u32 tgid)
{
	if (tgid)
		proc_hint(tgid)->threads = 1;
}

/* No process becomes a target by the connections that it has. */
static __always_inline bool is_no_target(__u32 tgid)
{
	return settings.any_process ? is_left_out(tgid) : !(proc_role(tgid) & NS_ROLE_TARGET);
}

/* Do we take who uses it for its owner? A target's stays that one's, unless it is
 * another target that does. */
static __always_inline bool is_owner(struct ns_conn_state *conn, __u32 tgid)
{
	if (conn->owner_sure == NS_OWNER_FOUND && conn->tgid == tgid)
		conn->owner_sure = NS_OWNER_SEEN;
	return conn->owner_sure == NS_OWNER_SEEN ||
	       (conn->owner_sure == NS_OWNER_FOUND && conn->role & NS_ROLE_TARGET &&
		is_no_target(tgid));
}

/* Something waits on this connection: from now on the threads of both ends are watched. */
static __always_inline void watch_both_ends(struct ns_conn_state *conn)
{
	struct ns_conn_state *peer;

	if (conn->threads_watched)
		return;
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	/* Who had it open then may have handed it on since, to a child that is not watched. */
	if (peer && peer->owner_sure == NS_OWNER_FOUND && !(peer->role & NS_ROLE_TARGET) &&
	    peer->owner_looks < NS_OWNER_LOOKS) {
		peer->owner_looks++;
		peer->owner_sure = NS_OWNER_DEDUCED;
		__sync_fetch_and_add(&unsure_owners, 1);
	}
	conn->threads_watched = peer && peer->tgid && peer->owner_sure;
	watch_threads(conn->tgid);
	if (!peer)
		return;
	watch_threads(peer->tgid);
	peer->threads_watched = conn->threads_watched;
}

/* Threads were named, and this is none of them. */
static __always_inline bool is_other_thread(__u32 tid)
{
	if (!only_tids[0])
		return false;
#pragma unroll
	for (int i = 0; i < NS_TIDS; i++) {
		if (only_tids[i] == tid)
			return false;
	}
	return true;
}

/* Netstall itself, its helpers, and theirs. */
static __always_inline bool is_own(struct task_struct *task)
{
	const struct task_struct *parent = BPF_CORE_READ(task, real_parent);
	__u32 own = task->tgid, parents = BPF_CORE_READ(parent, tgid);
	__u32 grandparents = BPF_CORE_READ(parent, real_parent, tgid);

	return own == self_tgid || parents == self_tgid || grandparents == self_tgid;
}

/* Its waits are recorded, for the explanation of stalls. */
static __always_inline bool is_traced(struct task_struct *task)
{
	__u32 role = settings.trace ? proc_role(task->tgid) : 0;

	return role && !(role & NS_ROLE_TARGET && is_other_thread(task->pid));
}

/* Its waits are those of the off-CPU profile. */
static __always_inline bool is_profiled(struct task_struct *task)
{
	if (!offcpu.on || is_other_thread(task->pid))
		return false;
	if (offcpu.user_threads && task->flags & NS_PF_KTHREAD)
		return false;
	if (offcpu.kernel_threads && !(task->flags & NS_PF_KTHREAD))
		return false;
	if (offcpu.everything)
		return task->pid && !is_own(task);
	return proc_role(task->tgid) & NS_ROLE_TARGET;
}

static __noinline struct ns_thread_state *add_thread(struct task_struct *task)
{
	struct ns_thread_state *thread;
	bool profiled;
	long refused;
	__u32 tid;

	/* Its totals are told: its last switch must not begin them anew. */
	if (!task || task->flags & NS_PF_EXITING)
		return NULL;
	tid = task->pid;
	profiled = is_profiled(task);
	if (!profiled && !is_traced(task))
		return NULL;
	refused = bpf_map_update_elem(&threads, &tid, &zero_thread, BPF_NOEXIST);
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread) {
		/* Refused, and another CPU has not entered it just now: there is no room. */
		if (refused)
			count_lost(NS_LOST_THREADS);
		return NULL;
	}
	thread->tgid = task->tgid;
	thread->profiled = profiled;
	if (settings.trace)
		BPF_CORE_READ_STR_INTO(&thread->comm, task, comm);
	return thread;
}

/* The cheap "no" comes first: most threads of a machine are none. */
static __always_inline struct ns_thread_state *watched_thread(struct task_struct *task)
{
	__u32 tid = task->pid, tgid = task->tgid;
	struct ns_thread_state *thread;

	if (!(offcpu.everything || proc_hint(tgid)->threads) || !in_window())
		return NULL;
	thread = bpf_map_lookup_elem(&threads, &tid);
	return thread ? thread : add_thread(task);
}

static __always_inline __u32 socket_netns(struct sock *sk)
{
	return BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
}

/* Who listens on the socket's own port. */
static __always_inline struct listener_key listener_of(struct sock *sk)
{
	return (struct listener_key){.netns = socket_netns(sk),
				     .port = BPF_CORE_READ(sk, __sk_common.skc_num)};
}

/* Somebody listens on its port: so it was accepted. */
static __always_inline bool is_listened_at(struct sock *sk)
{
	struct listener_key key = listener_of(sk);

	return bpf_map_lookup_elem(&listeners, &key);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections in the listen queue, from the end of the handshake until accept(). Few kernels show
 * accept() itself at a small price, so the socket is looked at, which has a struct socket from then
 * on: when a thread of the process that listens leaves its CPU, and when the connection is used.
 * The one is at most as long after it as the thread has run since, and it is the acceptor's own
 * time.
 */
#ifndef NETSTALL_BPF_TCP_QUEUE_BPF_H
#define NETSTALL_BPF_TCP_QUEUE_BPF_H

/* include/net/tcp_states.h */
#define NS_TCP_ESTABLISHED 1
#define NS_TCP_SYN_SENT    2
#define NS_TCP_SYN_RECV    3
#define NS_TCP_FIN_WAIT1   4
#define NS_TCP_CLOSE       7
#define NS_TCP_LISTEN      10

static __always_inline __u32 *queued_hint(__u32 tgid)
{
	return &queued_in[tgid & (NS_PROC_HINTS - 1)];
}

static __always_inline void note_accepted(struct ns_conn_state *conn, __u32 tid)
{
	if (!conn->queued_ts)
		return;
	if (!conn->accepted_ts)
		conn->accepted_ts = bpf_ktime_get_ns();
	if (!conn->accept_tid)
		conn->accept_tid = tid;
}

/* How full the queue is, where one socket listens on the port. */
static __noinline int read_backlog(struct ns_conn_state *conn, const struct listener *of,
				   __u32 port)
{
	struct sock *sk;

	if (!conn || !of || !of->sk || of->several)
		return 0;
	sk = (struct sock *)of->sk;
	if (BPF_CORE_READ(sk, __sk_common.skc_state) != NS_TCP_LISTEN ||
	    BPF_CORE_READ(sk, __sk_common.skc_num) != port)
		return 0; /* it is another one by now */
	conn->backlog = BPF_CORE_READ(sk, sk_ack_backlog);
	conn->backlog_max = BPF_CORE_READ(sk, sk_max_ack_backlog);
	conn->somaxconn = BPF_CORE_READ(sk, __sk_common.skc_net.net, core.sysctl_somaxconn);
	return 0;
}

/* Its handshake is over, and nobody has accepted it yet. */
static __noinline int begin_queued(struct ns_conn_state *conn, const struct listener *of)
{
	struct ns_queued fresh = {}, *own;
	__u32 tgid;

	if (!conn || !settings.trace)
		return 0;
	conn->queued_ts = conn->first_ts;
	if (!of)
		return 0;
	read_backlog(conn, of, conn->lport);
	tgid = of->tgid;
	if (!bpf_map_update_elem(&queued, &tgid, &fresh, BPF_NOEXIST))
		__sync_fetch_and_add(&queued_processes, 1);
	own = bpf_map_lookup_elem(&queued, &tgid);
	if (!own)
		return 0;
	own->sk[own->next++ & (NS_QUEUED - 1)] = conn->key;
	*queued_hint(tgid) = 1;
	return 0;
}

/* Returns whether it still waits: for accept(), or, with no tid, for somebody to use it. */
static __always_inline bool is_queued(__u64 key, __u32 tid)
{
	struct ns_conn_state *conn = key ? bpf_map_lookup_elem(&conns, &key) : NULL;

	if (!conn)
		return false;
	if (!conn->accepted_ts) {
		if (!BPF_CORE_READ((struct sock *)key, sk_socket))
			return true;
		note_accepted(conn, tid);
	}
	return !tid && !conn->owner_sure;
}

/*
 * Of a thread that leaves its CPU: has it, or one of its process, accepted any of them? tgid 0:
 * those of listeners that several processes have, so that who it was is seen when the connection is
 * used. Global: see file_in_table().
 */
__noinline int look_for_accepts(__u32 tgid, __u32 tid)
{
	struct ns_queued *own = settings.trace ? bpf_map_lookup_elem(&queued, &tgid) : NULL;
	bool waits = false;
	__u32 i;

	if (!own)
		return 0;
	/* Before: another CPU may enter one meanwhile. */
	*queued_hint(tgid) = 0;
	for (i = 0; i < NS_QUEUED; i++) {
		if (is_queued(own->sk[i], tid))
			waits = true;
		else
			own->sk[i] = 0;
	}
	if (waits)
		*queued_hint(tgid) = 1;
	else if (tgid && !bpf_map_delete_elem(&queued, &tgid))
		__sync_fetch_and_add(&queued_processes, -1);
	return 0;
}

static __always_inline void look_at_queues(struct task_struct *task)
{
	if (*queued_hint(task->tgid))
		look_for_accepts(task->tgid, task->pid);
	if (*queued_hint(0))
		look_for_accepts(0, 0);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sockets that exist already when we come: the targets', and their other ends. */
#ifndef NETSTALL_BPF_TCP_DISCOVER_BPF_H
#define NETSTALL_BPF_TCP_DISCOVER_BPF_H

/* A connect() that is under way: since before the window, or it had been seen. */
static __always_inline void scan_opening(struct sock *sk, struct adoption *as)
{
	struct ns_conn_state *conn;

	as->opener = NS_OPENER_SELF;
	conn = adopt(sk, as);
	if (!conn)
		return;
	conn->first_ts = window_begin;
	/* It came to stand just now: nobody but this knew the socket then. */
	if (BPF_CORE_READ(sk, __sk_common.skc_state) == NS_TCP_ESTABLISHED &&
	    conn->phase == NS_PHASE_OPENING)
		open_conn(conn->key);
}

/* One of the connections that were there; of a pair of targets' ends the first that is met. */
static __always_inline void count_found(const struct ns_conn_state *conn)
{
	const struct ns_conn_state *peer =
		conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;

	if (!peer || peer->origin != NS_ORIGIN_EXISTED)
		conns_found++;
}

/* The first scan: every listener of the machine, every open socket of a target. */
static __always_inline void scan_target(struct sock *sk, __u32 tgid, __u32 fd)
{
	struct adoption as = {.role = NS_ROLE_TARGET,
			      .tgid = tgid,
			      .fd = fd,
			      .origin = NS_ORIGIN_EXISTED,
			      .owner_sure = NS_OWNER_FOUND};
	__u32 state = BPF_CORE_READ(sk, __sk_common.skc_state);
	__u64 address = (__u64)sk;
	struct ns_conn_state *conn;

	if (state == NS_TCP_LISTEN) {
		found_listener(sk, tgid);
		return;
	}
	if ((state != NS_TCP_ESTABLISHED && state != NS_TCP_SYN_SENT) || !target_wanted(sk, tgid))
		return;
	conn = bpf_map_lookup_elem(&conns, &address);
	if (conn) {
		/* Of several processes, or descriptors, that have it, the first. */
		if (conn->origin == NS_ORIGIN_USE) {
			conn->origin = NS_ORIGIN_EXISTED;
			count_found(conn);
		}
		return;
	}
	if (state == NS_TCP_SYN_SENT) {
		scan_opening(sk, &as);
		return;
	}
	as.opener = opener_by_use(sk);
	conn = adopt_open(sk, &as);
	if (conn)
		count_found(conn);
	find_hold(sk, conn);
}

/* What a peer has opened itself, before we came. */
static __always_inline void scan_behind(struct sock *sk, __u32 tgid, __u32 fd)
{
	struct adoption as = {.fd = fd,
			      .origin = NS_ORIGIN_EXISTED,
			      .opener = NS_OPENER_SELF,
			      .owner_sure = NS_OWNER_FOUND};
	struct ns_conn_state *conn;
	__u32 role = proc_role(tgid);

	if (settings.any_process || !role || role & NS_ROLE_TARGET || is_listened_at(sk))
		return;
	conn = adopt_behind(sk, tgid, &as);
	if (!conn)
		return;
	open_conn(conn->key);
	find_hold(sk, conn);
}

/*
 * A request that was there when we came and is not answered since so long that its wait is a stall:
 * who is to answer is watched from now on, not only when the answer has come.
 */
static __always_inline void watch_unanswered(struct sock *sk, struct ns_conn_state *conn)
{
	struct tcp_sock *tp = (void *)sk;

	if (conn->threads_watched || conn->opener != NS_OPENER_SELF || conn->writes ||
	    conn->turn_found != NS_TURN_WROTE || conn->phase != NS_PHASE_OPEN ||
	    BPF_CORE_READ(tp, copied_seq) != conn->copied_seq ||
	    !bpf_core_field_exists(tp->lsndtime))
		return;
	if (1000ull * jiffies_to_us((__u32)bpf_jiffies64() - BPF_CORE_READ(tp, lsndtime)) >=
	    settings.threshold_ns)
		watch_both_ends(conn);
}

/*
 * The second: the other ends, wherever they live, and owners and fds still missing. By
 * now all listeners are known: an end whose port somebody listens on was accepted.
 */
static __always_inline void scan_peer(struct sock *sk, __u32 tgid, __u32 fd)
{
	__u64 address = (__u64)sk;
	struct ns_conn_state *conn;
	bool news = false;

	if (BPF_CORE_READ(sk, __sk_common.skc_state) == NS_TCP_LISTEN) {
		record_listener_drops(sk);
		return;
	}
	conn = bpf_map_lookup_elem(&conns, &address);
	if (!conn) {
		if (BPF_CORE_READ(sk, __sk_common.skc_state) != NS_TCP_ESTABLISHED)
			return;
		conn = adopt_peer(sk, NS_OPENER_UNKNOWN);
		if (!conn) {
			scan_behind(sk, tgid, fd);
			return;
		}
		conn->origin = NS_ORIGIN_EXISTED;
		find_hold(sk, conn);
		make_known(conn);
	}
	if (!conn->owner_sure) {
		settle_owner(sk, conn, tgid, NS_OWNER_FOUND);
		news = true;
	}
	if (conn->fd == NS_FD_UNKNOWN && conn->tgid == tgid && fd != NS_FD_UNKNOWN) {
		conn->fd = fd;
		news = true;
	}
	if (conn->opener == NS_OPENER_UNKNOWN) {
		conn->opener = is_listened_at(sk) ? NS_OPENER_PEER : NS_OPENER_SELF;
		news = true;
	}
	if (news && conn->phase == NS_PHASE_OPEN)
		tell_conn(sk, conn);
	watch_unanswered(sk, conn);
}

#define CHILD_DEPTH 4 /* a worker's distance from who was named, at most */

/*
 * A process below a target that is none itself: that it has the connections is worth a hint, or
 * that it accepts them, for none may be open just now.
 */
static __always_inline void count_child(struct task_struct *task, struct sock *sk)
{
	__u32 state = BPF_CORE_READ(sk, __sk_common.skc_state);
	struct task_struct *above = task;
	__u32 tgid = task->tgid, depth;

	if (settings.follow_children || settings.any_process || tgid == child_seen ||
	    (state != NS_TCP_ESTABLISHED && state != NS_TCP_LISTEN) ||
	    proc_role(tgid) & NS_ROLE_TARGET || !ports_wanted(sk))
		return;
	for (depth = 0; depth < CHILD_DEPTH; depth++) {
		above = BPF_CORE_READ(above, real_parent);
		if (!(proc_role(BPF_CORE_READ(above, tgid)) & NS_ROLE_TARGET))
			continue;
		child_seen = tgid;
		children_seen++;
		return;
	}
}

#endif

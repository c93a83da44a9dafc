/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sockets that open and close, processes that start and end, while we watch. */
#ifndef NETSTALL_BPF_TCP_LIFE_BPF_H
#define NETSTALL_BPF_TCP_LIFE_BPF_H

static __noinline int tell_listener(struct sock *sk, const struct ns_listener_drops *of,
				    __u32 drops)
{
	struct ns_listener out = {};

	if (!sk || !of)
		return 0;
	fill_head(&out.head, NS_LISTENER, sizeof(out), bpf_ktime_get_ns(), 0);
	out.head.tgid = of->tgid;
	out.head.tid = 0;
	out.listen_port = of->port;
	out.drops = drops;
	out.backlog_max = BPF_CORE_READ(sk, sk_max_ack_backlog);
	out.somaxconn = BPF_CORE_READ(sk, __sk_common.skc_net.net, core.sysctl_somaxconn);
	stream_vital(&out, sizeof(out));
	return 0;
}

/* Tell that a target listens, and count what it drops from now on. */
static __noinline int begin_listener(struct sock *sk, __u32 tgid)
{
	struct ns_listener_drops fresh = {.tgid = tgid};
	__u64 key = (__u64)sk;

	if (!sk || !target_wanted(sk, tgid))
		return 0;
	fresh.port = BPF_CORE_READ(sk, __sk_common.skc_num);
	fresh.seen = socket_drops(sk);
	bpf_map_update_elem(&listener_drops, &key, &fresh, BPF_NOEXIST);
	return tell_listener(sk, &fresh, 0); /* of each process that has it */
}

/*
 * What it has dropped since it was looked at last: at each look for owners, as the window ends, and
 * before it is closed.
 */
static __noinline int record_listener_drops(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct ns_listener_drops *known = bpf_map_lookup_elem(&listener_drops, &key);
	__u32 count, drops;

	if (!sk || !known || !in_window())
		return 0;
	count = socket_drops(sk);
	drops = count - known->seen;
	if (!drops)
		return 0;
	known->seen = count;
	return tell_listener(sk, known, drops);
}

static __always_inline void end_listener(struct sock *sk)
{
	__u64 key = (__u64)sk;

	record_listener_drops(sk);
	bpf_map_delete_elem(&listener_drops, &key);
}

/* Who listens there from now on. */
static __always_inline void on_listen(struct sock *sk, __u32 tgid)
{
	struct listener_key key = listener_of(sk);
	struct listener *known = bpf_map_lookup_elem(&listeners, &key);
	struct listener fresh = {.sk = (__u64)sk, .tgid = tgid};
	struct sock *other = known ? (struct sock *)known->sk : NULL;

	fresh.several = other && other != sk &&
			BPF_CORE_READ(other, __sk_common.skc_state) == NS_TCP_LISTEN;
	bpf_map_update_elem(&listeners, &key, &fresh, BPF_ANY);
	begin_listener(sk, tgid);
}

/*
 * Who listens there already. A listener that several processes have, by fork(), is of none of
 * them as far as its connections go: which of them accepts one is seen when it is used.
 */
static __always_inline void found_listener(struct sock *sk, __u32 tgid)
{
	struct listener_key key = listener_of(sk);
	struct listener *known = bpf_map_lookup_elem(&listeners, &key);
	struct listener fresh = {.sk = (__u64)sk, .tgid = tgid};

	begin_listener(sk, tgid);
	if (!known) {
		bpf_map_update_elem(&listeners, &key, &fresh, BPF_ANY);
		return;
	}
	known->several |= known->sk != fresh.sk;
	if (known->tgid != tgid)
		known->tgid = 0;
}

/* connect() was called, in its caller's context; the local port is not chosen yet. */
static __always_inline void on_connect(struct sock *sk, __u32 tgid)
{
	struct adoption as = by_connect(tgid);
	struct ns_conn_state *conn;
	struct ns_last_send *last;
	__u64 key = (__u64)sk;
	__u32 role;

	bpf_map_update_elem(&connectors, &key, &tgid, BPF_ANY);
	role = proc_role(tgid);
	if (settings.everything && !is_left_out(tgid))
		role = NS_ROLE_TARGET;
	else if (settings.any_process || !role)
		return;
	if (settings.lport || (settings.rport && !ports_wanted(sk)))
		return; /* seen again when it is used */
	if (bpf_map_lookup_elem(&conns, &key))
		return;
	if (role & NS_ROLE_TARGET) {
		conn = adopt(sk, &as);
	} else {
		if (role & NS_ROLE_CHAIN && !chain_has_room())
			return;
		conn = adopt_behind(sk, tgid, &as);
	}
	if (!conn)
		return;
	conn->first_ts = bpf_ktime_get_ns();
	look_at_door(sk, conn);
	last = &last_send[bpf_get_smp_processor_id() & (NS_CPUS - 1)];
	last->opened_sk = key;
	last->opened_tid = bpf_get_current_pid_tgid();
	last->opened_conn = conn->id;
}

/* connect() succeeded: in softirq, of nobody. */
static __always_inline void on_connected(struct sock *sk)
{
	struct adoption as;
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	__u64 connect_ts;
	__u32 *tgid;

	if (conn) {
		connect_ts = conn->first_ts;
		recovery_connected(sk, conn);
		open_conn(conn->key);
		conn->connect_ts = connect_ts;
		choose_first(conn);
		return;
	}
	tgid = bpf_map_lookup_elem(&connectors, &key);
	if (tgid && target_wanted(sk, *tgid)) {
		as = by_connect(*tgid);
		choose_first(adopt_open(sk, &as));
		return;
	}
	choose_first(adopt_peer(sk, NS_OPENER_SELF));
}

/* A handshake was completed on a listener; accept() comes later, its caller is the listener's
 * owner. */
static __always_inline void on_accepted(struct sock *sk)
{
	struct adoption as = {.role = NS_ROLE_TARGET,
			      .fd = NS_FD_UNKNOWN,
			      .origin = NS_ORIGIN_ACCEPT,
			      .opener = NS_OPENER_PEER};
	struct listener_key key = listener_of(sk);
	struct listener *of = bpf_map_lookup_elem(&listeners, &key);
	struct ns_conn_state *conn;

	if (of ? target_wanted(sk, of->tgid) : settings.any_process && ports_wanted(sk)) {
		if (of)
			as.tgid = of->tgid;
		conn = adopt_open(sk, &as);
	} else {
		conn = adopt_peer(sk, NS_OPENER_PEER);
	}
	choose_first(conn);
	begin_queued(conn, of);
}

/* Nobody there took it: refused, without an answer, or given up. */
static __noinline int tell_failed(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	struct ns_failed out = {};
	struct endpoints ends;

	if (!sk || !conn || conn->phase == NS_PHASE_OPEN || !(conn->role & NS_ROLE_TARGET) ||
	    !in_window())
		return 0;
	read_endpoints(sk, &ends);
	fill_head(&out.head, NS_FAILED, sizeof(out), bpf_ktime_get_ns(), conn->id);
	out.head.tgid = conn->tgid;
	out.head.tid = 0;
	out.error = BPF_CORE_READ(sk, sk_err);
	out.syns = 1 + conn->recovery.by[NS_RETRANS_SYN];
	out.family = ends.family;
	out.rport = ends.tuple.rport;
	__builtin_memcpy(out.raddr, ends.tuple.raddr, sizeof(out.raddr));
	out.began_ts = conn->first_ts;
	stream_vital(&out, sizeof(out));
	return 0;
}

#define NS_READS_NO_MORE 1 /* RCV_SHUTDOWN, include/net/sock.h: of either end */

/*
 * close() while a request is without an answer: it ends now, and not when the other end has
 * acknowledged the FIN, up to a delayed ACK later. After shutdown(SHUT_WR) the answer may still
 * come.
 */
static __noinline int on_given_up(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);

	if (sk && conn && asks(conn) && !conn->turn.reads.last_ts &&
	    BPF_CORE_READ(sk, sk_shutdown) & NS_READS_NO_MORE)
		end_request(conn, NS_EXCHANGE_CLOSED, window_time());
	return 0;
}

static __always_inline void on_set_state(struct sock *sk, int from, int to)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct ns_conn_state *conn;
	__u64 key = (__u64)sk;

	/* Most of a connection's states are those of its end. */
	if (to != NS_TCP_CLOSE && to != NS_TCP_LISTEN && to != NS_TCP_SYN_SENT &&
	    to != NS_TCP_ESTABLISHED && to != NS_TCP_FIN_WAIT1)
		return;
	if (!is_tcp(sk))
		return;
	if (to == NS_TCP_FIN_WAIT1) {
		on_given_up(sk);
	} else if (to == NS_TCP_CLOSE) {
		if (from == NS_TCP_SYN_SENT)
			tell_failed(sk);
		else if (from == NS_TCP_LISTEN)
			end_listener(sk);
		conn = bpf_map_lookup_elem(&conns, &key);
		if (!keeps_answer(sk, conn)) /* else it is dropped when it is destroyed */
			drop_conn(sk, conn);
	} else if (!in_window()) {
		return; /* what is there when it begins is looked for then */
	} else if (to == NS_TCP_LISTEN) {
		on_listen(sk, tgid);
	} else if (to == NS_TCP_SYN_SENT) {
		on_connect(sk, tgid);
	} else if (to == NS_TCP_ESTABLISHED && from == NS_TCP_SYN_SENT) {
		on_connected(sk);
	} else if (to == NS_TCP_ESTABLISHED && from == NS_TCP_SYN_RECV) {
		on_accepted(sk);
	}
}

/* A process is a target from now on. */
static __always_inline void join_targets(__u32 tgid, __u32 parent)
{
	if (is_left_out(tgid))
		return;
	add_proc(tgid, NS_ROLE_TARGET);
	if (offcpu.on)
		tell_process(tgid, parent);
}

/*
 * A child of a process whose waits are recorded: that one may wait for what it does, or for its
 * end. It is ready from now on.
 */
static __always_inline void follow_child(struct task_struct *child, __u32 tgid)
{
	struct ns_thread_state *thread;

	if (!settings.trace || !in_window() || chain_children >= NS_CHAIN_CHILDREN)
		return;
	__sync_fetch_and_add(&chain_children, 1);
	add_proc(tgid, NS_ROLE_CHAIN);
	thread = add_thread(child);
	if (!thread)
		return;
	thread->since = bpf_ktime_get_ns();
	thread->wake_ts = thread->since;
	thread->off = 1;
}

/* A child has its parent's name until it says otherwise. */
static __always_inline void on_fork(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid), role;

	if (from == to)
		return;
	if (settings.not_comm[0] && has_comm(child, settings.not_comm))
		leave_out(to, true);
	role = proc_role(from);
	if ((settings.by_comm && has_comm(child, settings.comm)) ||
	    (settings.follow_children && role & NS_ROLE_TARGET))
		join_targets(to, from);
	else if (role && proc_hint(from)->threads)
		follow_child(child, to);
}

/* User space tells a process when it sees it, and it may come too late for a short one. */
static __noinline int tell_role(struct task_struct *task, __u32 role, __u64 now)
{
	struct ns_process out = {};

	if (!task)
		return 0;
	fill_head(&out.head, NS_PROCESS, sizeof(out), now, 0);
	out.role = role & (NS_ROLE_TARGET | NS_ROLE_PEER | NS_ROLE_CHAIN);
	BPF_CORE_READ_STR_INTO(&out.comm, task, group_leader, comm);
	stream_vital(&out, sizeof(out));
	return 0;
}

static __always_inline void on_exec(struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid), role;

	if (settings.not_comm[0])
		leave_out(tgid, has_comm(task, settings.not_comm));
	role = proc_role(tgid);
	if (settings.by_comm && has_comm(task, settings.comm))
		join_targets(tgid, 0);
	else if (offcpu.on && role & NS_ROLE_TARGET)
		tell_process(tgid, 0); /* it has mapped something else */
	if (settings.trace && in_window() && role & (NS_ROLE_TARGET | NS_ROLE_PEER))
		tell_role(task, role, bpf_ktime_get_ns());
}

/* It is about to: a worker that takes a name of its own, by prctl(). A process is called as its
 * first thread is. */
static __always_inline void on_rename(struct task_struct *task, const char *name)
{
	__u32 tgid = BPF_CORE_READ(task, tgid), tid = BPF_CORE_READ(task, pid);

	if (settings.not_comm[0] && tid == tgid)
		leave_out(tgid, is_comm(name, settings.not_comm));
	if (settings.by_comm && tid == tgid && is_comm(name, settings.comm))
		join_targets(tgid, 0);
}

static __always_inline void on_cgroup_attach(struct cgroup *to, struct task_struct *task)
{
	__u64 id = BPF_CORE_READ(to, kn, id);

	if (settings.by_cgroup && bpf_map_lookup_elem(&cgroups, &id))
		join_targets(BPF_CORE_READ(task, tgid), 0);
}

/* Not inline: the frame of who calls it has no room for a record besides (MAX_BPF_STACK). */
static __noinline int tell_thread(struct ns_thread_state *thread, __u32 tid, __u64 now)
{
	struct ns_thread_totals out = {};

	if (!thread)
		return 0;
	fill_head(&out.head, NS_THREAD_TOTALS, sizeof(out), now, 0);
	out.head.tgid = thread->tgid;
	out.head.tid = tid;
	ns_thread_fill(&out, thread);
	out.ended = 1;
	stream_vital(&out, sizeof(out));
	return 0;
}

/* It exits running: a wait of it that still goes on has ended unseen. */
static __always_inline void end_thread(struct task_struct *task, struct ns_thread_state *thread,
				       __u32 tid, __u64 now)
{
	if (thread->off && thread->state)
		end_wait_unseen(task, thread, now);
	if (thread->since && !thread->off)
		thread->on_cpu_ns += ns_passed(thread->since, now);
	BPF_CORE_READ_STR_INTO(&thread->comm, task, comm);
	tell_thread(thread, tid, now);
}

static __always_inline void on_exit(struct task_struct *task)
{
	__u32 tid = BPF_CORE_READ(task, pid), tgid = BPF_CORE_READ(task, tgid);
	struct ns_thread_state *thread;
	struct ns_head out = {};
	__u32 role;
	__u64 now;

	if (!offcpu.on && !proc_hint(tgid)->watched)
		return;
	now = bpf_ktime_get_ns();
	/* Behind the window it is told with those that live. */
	if (in_window()) {
		if (offcpu.on)
			forget_sleeper(task, tid, now);
		thread = bpf_map_lookup_elem(&threads, &tid);
		if (thread && settings.trace)
			end_thread(task, thread, tid, now);
		if (thread)
			bpf_map_delete_elem(&threads, &tid);
	}
	role = proc_role(tgid);
	if (BPF_CORE_READ(task, signal, live.counter) > 0)
		return;
	if (!role) {
		if (is_left_out(tgid))
			bpf_map_delete_elem(&procs, &tgid);
		return;
	}
	if (settings.trace)
		tell_role(task, role, now);
	fill_head(&out, NS_EXIT, sizeof(out), now, 0);
	stream_vital(&out, sizeof(out));
	bpf_map_delete_elem(&procs, &tgid);
}

#endif

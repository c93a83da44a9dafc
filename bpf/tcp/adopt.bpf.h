/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a socket comes under watch: a target's own, its other end, or one behind that. */
#ifndef NETSTALL_BPF_TCP_ADOPT_BPF_H
#define NETSTALL_BPF_TCP_ADOPT_BPF_H

struct adoption {
	__u32 role;
	__u32 tgid; /* 0: not known yet */
	__u32 fd;
	__u32 origin;
	__u32 opener;
	__u32 owner_sure; /* enum ns_owner */
};

/* A target's process opened it. */
static __always_inline struct adoption by_connect(__u32 tgid)
{
	return (struct adoption){.role = NS_ROLE_TARGET,
				 .tgid = tgid,
				 .fd = NS_FD_UNKNOWN,
				 .origin = NS_ORIGIN_CONNECT,
				 .opener = NS_OPENER_SELF,
				 .owner_sure = NS_OWNER_SEEN};
}

/*
 * Of one that was not seen to open. It may have been accepted from a listener that several
 * processes have, and so none by name; or by a process that was no target then.
 */
static __always_inline __u32 opener_by_use(struct sock *sk)
{
	return is_listened_at(sk) ? NS_OPENER_PEER : NS_OPENER_UNKNOWN;
}

static __noinline struct ns_conn_state *adopt(struct sock *sk, const struct adoption *as)
{
	struct ns_conn_state *conn;
	__u64 key = (__u64)sk;

	if (!sk || !as)
		return NULL;
	if (bpf_map_update_elem(&conns, &key, &zero_conn, BPF_NOEXIST)) {
		/* Unless another CPU has just adopted it, there is no room. */
		if (!bpf_map_lookup_elem(&conns, &key))
			count_lost(NS_LOST_CONNS);
		return NULL;
	}
	conn = bpf_map_lookup_elem(&conns, &key);
	if (!conn)
		return NULL;
	if (!delack_function)
		delack_function = (__u64)BPF_CORE_READ((struct inet_connection_sock *)sk,
						       icsk_delack_timer.function);
	conn->id = cpu_number(conns_numbered);
	conn->key = key;
	conn->role = as->role;
	if (as->role == NS_ROLE_CHAIN)
		__sync_fetch_and_add(&chain_conns, 1);
	conn->tgid = as->tgid;
	conn->fd = as->fd;
	conn->origin = as->origin;
	conn->opener = as->opener;
	conn->owner_sure = as->owner_sure;
	if (!as->owner_sure || as->fd == NS_FD_UNKNOWN)
		__sync_fetch_and_add(&unsure_owners, 1);
	if (as->tgid)
		add_proc(as->tgid, as->role);
	return conn;
}

/*
 * A connection that a target's peer opened itself, perhaps to ask somebody else before it
 * answers. It is watched in case that a chain passes there, which costs a proxy little; its
 * threads are from the first hold or long wait on. No loss when there is no room.
 */
static __always_inline struct ns_conn_state *adopt_behind(struct sock *sk, __u32 tgid,
							  struct adoption *as)
{
	struct ns_conn_state *conn;

	if (chain_conns >= NS_CHAIN_CONNS)
		return NULL;
	as->role = NS_ROLE_CHAIN;
	as->tgid = 0; /* adopt() would make the process one of the chain */
	conn = adopt(sk, as);
	if (conn)
		conn->tgid = tgid;
	return conn;
}

/*
 * Where thousands open, most of which live for a moment and are healthy, user space knows those
 * alone of which something is to be told; the others are sums: add_to_service().
 */
static __always_inline bool is_one_of_many(const struct ns_conn_state *conn)
{
	return settings.reads && !settings.each_conn && !settings.verbose && in_window() &&
	       conn->id / settings.cpus > NS_CONNS_TOLD;
}

/* It has its addresses. A global function, as on_blocked_send() is. */
__noinline int open_conn(__u64 key)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct sock *sk = (struct sock *)key;

	if (!conn)
		return 0;
	conn->phase = NS_PHASE_OPEN;
	read_base(sk, conn);
	conn->untold = is_one_of_many(conn) ? NS_UNTOLD : NS_TOLD;
	tell_conn_at(sk, conn, conn->first_ts);
	pair_conn(sk, conn);
	tell_pair(conn);
	return 0;
}

/* Adopt a socket that has its addresses already. */
static __always_inline struct ns_conn_state *adopt_open(struct sock *sk, const struct adoption *as)
{
	struct ns_conn_state *conn = adopt(sk, as);

	if (conn)
		open_conn(conn->key);
	return conn;
}

/*
 * A SYN leaves. Who listens is known if it is on this host, at an address of the connection's own:
 * a queue that is full drops it, and says nothing.
 */
static __noinline int look_at_door(struct sock *sk, struct ns_conn_state *conn)
{
	struct listener_key key = {};
	struct endpoints ends;
	struct tuple *tuple = &ends.tuple;
	struct listener *of;

	if (!sk || !conn)
		return 0;
	read_endpoints(sk, &ends);
	if (!tuple->netns &&
	    (tuple->laddr[0] != tuple->raddr[0] || tuple->laddr[1] != tuple->raddr[1] ||
	     tuple->laddr[2] != tuple->raddr[2] || tuple->laddr[3] != tuple->raddr[3]))
		return 0;
	key.netns = ends.netns;
	key.port = tuple->rport;
	of = bpf_map_lookup_elem(&listeners, &key);
	if (of)
		read_backlog(conn, of, key.port);
	if (conn->backlog <= conn->backlog_max)
		conn->backlog = 0;
	return 0;
}

/* Is this unknown socket the other end of a watched connection? Then it is watched too. */
static __noinline struct ns_conn_state *adopt_peer(struct sock *sk, __u32 opener)
{
	struct adoption as = {.role = NS_ROLE_PEER,
			      .fd = NS_FD_UNKNOWN,
			      .origin = NS_ORIGIN_USE,
			      .opener = opener};
	struct listener_key listener = {};
	struct endpoints ends;
	struct tuple other_way;
	__u64 key = (__u64)sk, *found;
	struct listener *of;
	__u32 *owner;

	if (!sk)
		return NULL;
	read_endpoints(sk, &ends);
	reverse_tuple(&ends.tuple, &other_way);
	found = bpf_map_lookup_elem(&tuples, &other_way);
	if (!found || *found == key || !same_connection((struct sock *)*found, sk))
		return NULL;
	owner = bpf_map_lookup_elem(&connectors, &key);
	if (owner) {
		as.opener = NS_OPENER_SELF;
		as.owner_sure = NS_OWNER_SEEN;
	} else {
		listener.netns = ends.netns;
		listener.port = ends.tuple.lport;
		of = bpf_map_lookup_elem(&listeners, &listener);
		if (of) {
			as.opener = NS_OPENER_PEER;
			owner = &of->tgid;
		}
	}
	if (owner)
		as.tgid = *owner;
	return adopt_open(sk, &as);
}

#endif

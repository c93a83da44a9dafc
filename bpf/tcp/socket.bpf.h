/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Watched sockets: how one is adopted, paired with its other end, and let go. */
#ifndef NETSTALL_BPF_TCP_SOCKET_BPF_H
#define NETSTALL_BPF_TCP_SOCKET_BPF_H

#define NS_AF_INET     2
#define NS_AF_INET6    10
#define NS_IPPROTO_TCP 6
#define NS_V4_MAPPED   bpf_htonl(0xffff)

#define NS_TCP_FLAG_SYN 2
#define NS_TCP_FLAG_ACK 16

struct endpoints {
	struct tuple tuple;
	__u32 family;
	__u32 netns;
};

static __always_inline bool is_loopback(__u32 family, const __u32 addr[4])
{
	if (family == NS_AF_INET)
		return (addr[0] & bpf_htonl(0xff000000)) == bpf_htonl(0x7f000000);
	return !addr[0] && !addr[1] && !addr[2] && addr[3] == bpf_htonl(1);
}

/*
 * What struct sock_common begins with on every kernel so far, in one read: each costs a call, and a
 * short connection is looked at five times.
 */
struct sock_begin {
	__be32 daddr;
	__be32 rcv_saddr;
	__u32 hash;
	__be16 dport;
	__u16 num;
	__u16 family;
};

#define SOCK_BEGINS_WITH(field)                                                                    \
	(bpf_core_field_offset(struct sock_common, skc_##field) ==                                 \
	 __builtin_offsetof(struct sock_begin, field))

static __always_inline void read_begin(struct sock *sk, struct sock_begin *begin)
{
	if (SOCK_BEGINS_WITH(daddr) && SOCK_BEGINS_WITH(rcv_saddr) && SOCK_BEGINS_WITH(dport) &&
	    SOCK_BEGINS_WITH(num) && SOCK_BEGINS_WITH(family)) {
		bpf_probe_read_kernel(begin, sizeof(*begin), sk);
		return;
	}
	begin->daddr = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	begin->rcv_saddr = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
	begin->dport = BPF_CORE_READ(sk, __sk_common.skc_dport);
	begin->num = BPF_CORE_READ(sk, __sk_common.skc_num);
	begin->family = BPF_CORE_READ(sk, __sk_common.skc_family);
}

/*
 * Addresses in one form: an IPv4 connection on an IPv6 socket is an IPv4 connection.
 * The network namespace tells only loopback addresses apart, which exist in each; any
 * other pair of addresses is taken for the same connection wherever its ends live,
 * which is how a veth peer in another namespace is found.
 */
static __always_inline void read_endpoints(struct sock *sk, struct endpoints *ends)
{
	struct tuple *tuple = &ends->tuple;
	struct sock_begin begin;

	__builtin_memset(ends, 0, sizeof(*ends));
	read_begin(sk, &begin);
	ends->family = begin.family;
	ends->netns = socket_netns(sk);
	tuple->lport = begin.num;
	tuple->rport = bpf_ntohs(begin.dport);
	if (ends->family == NS_AF_INET6) {
		BPF_CORE_READ_INTO(&tuple->laddr, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&tuple->raddr, sk, __sk_common.skc_v6_daddr);
		if (!tuple->raddr[0] && !tuple->raddr[1] && tuple->raddr[2] == NS_V4_MAPPED) {
			ends->family = NS_AF_INET;
			__builtin_memset(tuple->laddr, 0, sizeof(tuple->laddr));
			__builtin_memset(tuple->raddr, 0, sizeof(tuple->raddr));
		}
	}
	if (ends->family == NS_AF_INET) {
		tuple->laddr[0] = begin.rcv_saddr;
		tuple->raddr[0] = begin.daddr;
	}
	if (is_loopback(ends->family, tuple->raddr))
		tuple->netns = ends->netns;
}

static __always_inline void reverse_tuple(const struct tuple *from, struct tuple *to)
{
	__builtin_memcpy(to->laddr, from->raddr, sizeof(to->laddr));
	__builtin_memcpy(to->raddr, from->laddr, sizeof(to->raddr));
	to->lport = from->rport;
	to->rport = from->lport;
	to->netns = from->netns;
}

static __always_inline bool is_tcp(struct sock *sk)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	return (family == NS_AF_INET || family == NS_AF_INET6) &&
	       BPF_CORE_READ_BITFIELD_PROBED(sk, sk_protocol) == NS_IPPROTO_TCP;
}

static __always_inline bool ports_wanted(struct sock *sk)
{
	if (settings.lport && BPF_CORE_READ(sk, __sk_common.skc_num) != settings.lport)
		return false;
	if (settings.rport && bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport)) != settings.rport)
		return false;
	return true;
}

static __always_inline bool target_wanted(struct sock *sk, __u32 tgid)
{
	return !is_no_target(tgid) && ports_wanted(sk);
}

/* In place: the stack of those who call it has no room for the record, nor for where the addresses
 * are read (MAX_BPF_STACK). User space reads as far as its head says. */
struct told_conn {
	struct ns_conn conn;
	struct endpoints ends;
};

static __noinline int tell_conn_at(struct sock *sk, struct ns_conn_state *conn, __u64 ts)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct told_conn *told;
	struct ns_conn *out;

	/* Without a number: another CPU is about to adopt it, and tells it then. */
	if (!conn || !sk || conn->untold || !conn->id)
		return 0;
	told = bpf_ringbuf_reserve(&records, sizeof(*told), 0);
	if (!told)
		told = bpf_ringbuf_reserve(&vital_records, sizeof(*told), 0);
	if (!told) {
		count_lost(NS_LOST_RINGBUF);
		return 0;
	}
	read_endpoints(sk, &told->ends);
	out = &told->conn;
	__builtin_memset(out, 0, sizeof(*out));
	fill_head(&out->head, NS_CONN, sizeof(*out), ts, conn->id);
	out->head.tgid = conn->tgid;
	out->head.tid = 0;
	out->role = conn->role;
	out->origin = conn->origin;
	out->opener = conn->opener;
	out->family = told->ends.family;
	out->lport = conn->lport ? conn->lport : told->ends.tuple.lport;
	out->rport = told->ends.tuple.rport;
	__builtin_memcpy(out->laddr, told->ends.tuple.laddr, sizeof(out->laddr));
	__builtin_memcpy(out->raddr, told->ends.tuple.raddr, sizeof(out->raddr));
	out->netns = told->ends.netns;
	out->fd = conn->fd;
	/* What its owner is called by now: user space may have read another name before. */
	if (conn->tgid == (__u32)BPF_CORE_READ(task, tgid))
		BPF_CORE_READ_STR_INTO(&out->comm, task, group_leader, comm);
	bpf_ringbuf_submit(told, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void tell_conn(struct sock *sk, struct ns_conn_state *conn)
{
	tell_conn_at(sk, conn, bpf_ktime_get_ns());
}

static __noinline int tell_peer(const struct ns_conn_state *one, const struct ns_conn_state *other)
{
	struct ns_peer out = {};

	if (!one || !other || one->untold || other->untold)
		return 0;
	fill_head(&out.head, NS_PEER, sizeof(out), bpf_ktime_get_ns(), one->id);
	out.peer = other->id;
	stream_vital(&out, sizeof(out));
	return 0;
}

/*
 * It is told, or it is a part of a sum: never both, though another CPU may want to know it while it
 * goes away. Each says first what he does, and then looks at what the other one says (an atomic
 * addition is a full barrier as well). If both have come, who closes it tells it; that it is told
 * twice does no harm.
 */
static __always_inline void know_end(struct ns_conn_state *conn)
{
	/* By itself a peer's end would count as a connection. */
	if (!conn->untold || (conn->untold == NS_UNTOLD_ALONE && !(conn->role & NS_ROLE_TARGET)))
		return;
	__sync_fetch_and_add(&conn->telling, 1);
	barrier();
	if (conn->closing)
		return;
	conn->untold = NS_TOLD;
	conn->wanted = 0;
	tell_conn_at((struct sock *)conn->key, conn, conn->first_ts);
}

/* It goes away. False: it is told, and its end is to be told as well. */
static __always_inline bool begin_sum(struct ns_conn_state *conn)
{
	if (!conn->untold)
		return false;
	__sync_fetch_and_add(&conn->closing, 1);
	barrier();
	if (!conn->telling)
		return true;
	conn->untold = NS_TOLD;
	tell_conn_at((struct sock *)conn->key, conn, conn->first_ts);
	return false;
}

/* A pair from now on: either both are told, or none. By who has called pair_conn(), whose stack is
 * full. */
static __noinline int tell_pair(struct ns_conn_state *conn)
{
	struct ns_conn_state *peer;

	if (!conn || !conn->peer)
		return 0;
	peer = bpf_map_lookup_elem(&conns, &conn->peer);
	if (!peer)
		return 0;
	if (conn->untold != peer->untold) {
		know_end(conn);
		know_end(peer);
	}
	tell_peer(conn, peer);
	return 0;
}

/* Both ends of it. Global: see file_in_table(). */
__noinline int know_conn(__u64 key)
{
	struct ns_conn_state *conn = conn_traced(key), *peer;

	if (!conn)
		return 0;
	know_end(conn);
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (!peer)
		return 0;
	know_end(peer);
	tell_peer(conn, peer);
	return 0;
}

/* The same addresses can be in use twice, in two private networks: the sequence numbers decide. */
static __always_inline bool same_connection(struct sock *a, struct sock *b)
{
	__u32 sent = BPF_CORE_READ((struct tcp_sock *)a, snd_nxt);
	__u32 seen = BPF_CORE_READ((struct tcp_sock *)b, rcv_nxt);
	__s32 distance = sent - seen;

	return distance > -(1 << 26) && distance < 1 << 26;
}

/* tcp_packets_in_flight() */
static __always_inline __u32 packets_in_flight(struct tcp_sock *tp)
{
	return BPF_CORE_READ(tp, packets_out) - BPF_CORE_READ(tp, sacked_out) -
	       BPF_CORE_READ(tp, lost_out) + BPF_CORE_READ(tp, retrans_out);
}

/* From so many answers on that carried an ACK, data is taken to take turns. */
static __always_inline __u32 pingpong_from(struct sock *sk)
{
	struct net *net = BPF_CORE_READ(sk, __sk_common.skc_net.net);

	if (bpf_core_field_exists(net->ipv4.sysctl_tcp_pingpong_thresh))
		return BPF_CORE_READ(net, ipv4.sysctl_tcp_pingpong_thresh);
	return 3; /* 1 from 6.0 on */
}

/*
 * What its owner did last on a connection that was there before we came. Within one jiffy TCP's
 * stamps do not tell; but where data takes turns, TCP delays the ACK of what came last, and unless
 * the owner's answer carries it the ACK's timer ends that mode.
 */
static __noinline __u32 turn_at_sight(struct sock *sk)
{
	struct inet_connection_sock *icsk = (void *)sk;
	struct tcp_sock *tp = (void *)sk;
	__s32 sent_after;

	if (!sk || !BPF_CORE_READ(tp, bytes_sent))
		return sk && BPF_CORE_READ(tp, bytes_received) &&
				       BPF_CORE_READ(tp, rcv_nxt) == BPF_CORE_READ(tp, copied_seq)
			       ? NS_TURN_READ
			       : NS_TURN_UNKNOWN;
	/* What is there to be read has overwritten the stamp of what came before. */
	if (BPF_CORE_READ(tp, rcv_nxt) != BPF_CORE_READ(tp, copied_seq))
		return NS_TURN_UNKNOWN;
	if (!BPF_CORE_READ(tp, bytes_received) ||
	    BPF_CORE_READ(tp, snd_una) != BPF_CORE_READ(tp, write_seq))
		return NS_TURN_WROTE;
	if (!bpf_core_field_exists(icsk->icsk_ack.lrcvtime) || !bpf_core_field_exists(tp->lsndtime))
		return NS_TURN_UNKNOWN;
	sent_after = BPF_CORE_READ(tp, lsndtime) - BPF_CORE_READ(icsk, icsk_ack.lrcvtime);
	if (sent_after)
		return sent_after > 0 ? NS_TURN_WROTE : NS_TURN_READ;
	if (!bpf_core_field_exists(icsk->icsk_ack.pingpong))
		return NS_TURN_UNKNOWN;
	if (BPF_CORE_READ(icsk, icsk_ack.pending))
		return NS_TURN_READ;
	return BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ack.pingpong) >= pingpong_from(sk)
		       ? NS_TURN_WROTE
		       : NS_TURN_UNKNOWN;
}

/* As tcp_get_info_chrono_stats() has it: what goes on counts until now. In jiffies, and wraps. */
static __always_inline __u32 limited(const struct tcp_sock *tp, enum ns_limit limit)
{
	/* TCP_CHRONO_BUSY, of which it has the time first, is 1. */
	__u32 type = limit + 2, stat;

	bpf_core_read(&stat, sizeof(stat), &tp->chrono_stat[limit + 1]);
	if (BPF_CORE_READ_BITFIELD_PROBED(tp, chrono_type) == type)
		stat += (__u32)bpf_jiffies64() - BPF_CORE_READ(tp, chrono_start);
	return stat;
}

static __always_inline void read_base(struct sock *sk, struct ns_conn_state *conn)
{
	struct tcp_sock *tp = (void *)sk;

	conn->base_segs_out = BPF_CORE_READ(tp, segs_out);
	conn->base_data_segs_out = BPF_CORE_READ(tp, data_segs_out);
	conn->base_segs_in = BPF_CORE_READ(tp, segs_in);
	conn->base_retrans = BPF_CORE_READ(tp, total_retrans);
	conn->base_limited[NS_LIMIT_RWND] = limited(tp, NS_LIMIT_RWND);
	conn->base_limited[NS_LIMIT_SNDBUF] = limited(tp, NS_LIMIT_SNDBUF);
	conn->base_bytes_out = BPF_CORE_READ(tp, bytes_sent);
	conn->base_bytes_in = BPF_CORE_READ(tp, bytes_received);
	conn->copied_seq = BPF_CORE_READ(tp, copied_seq);
	conn->shown_seq = conn->copied_seq;
	conn->turn_found = turn_at_sight(sk);
	conn->turn.mss = BPF_CORE_READ(tp, mss_cache);
	conn->first_ts = bpf_ktime_get_ns();
}

/* The connection has its addresses: find the other end, and be found by it. */
static __noinline int pair_conn(struct sock *sk, struct ns_conn_state *conn)
{
	struct endpoints ends;
	struct tuple other_way;
	struct ns_conn_state *peer;
	__u64 key = (__u64)sk, *found;

	if (!conn || !sk)
		return 0;
	read_endpoints(sk, &ends);
	conn->lport = ends.tuple.lport;
	bpf_map_update_elem(&tuples, &ends.tuple, &key, BPF_ANY);
	reverse_tuple(&ends.tuple, &other_way);
	found = bpf_map_lookup_elem(&tuples, &other_way);
	if (!found || *found == key)
		return 0;
	peer = bpf_map_lookup_elem(&conns, found);
	if (!peer || !same_connection((struct sock *)*found, sk))
		return 0;
	conn->peer = *found;
	peer->peer = key;
	return 0;
}

/*
 * Its owner is known for sure now. What was taken for a target's own, because a target listens
 * on that port, may be another process's that has the listener as well; and what was taken for a
 * target's other end, because no target alone listens there, may be a target's. Who learns it first
 * (a send, a read, the look for owners while the request lies unread) makes no difference.
 */
static __always_inline void settle_owner(struct sock *sk, struct ns_conn_state *conn, __u32 tgid,
					 enum ns_owner how)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct ns_conn_state *peer;

	note_accepted(conn, id >> 32 == tgid ? (__u32)id : tgid);
	if (conn->tgid != tgid) { /* those of another process are */
		peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
		if (peer)
			peer->threads_watched = 0;
		conn->threads_watched = 0;
	}
	conn->tgid = tgid;
	conn->owner_sure = how;
	if (conn->role & NS_ROLE_TARGET && is_no_target(tgid))
		conn->role = NS_ROLE_PEER;
	else if (conn->role == NS_ROLE_PEER && target_wanted(sk, tgid))
		conn->role = NS_ROLE_TARGET;
	add_proc(tgid, conn->role);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a watched socket ends, and what it tells in total then. */
#ifndef NETSTALL_BPF_TCP_ENDING_BPF_H
#define NETSTALL_BPF_TCP_ENDING_BPF_H

static __always_inline __u64 limited_ns(const struct ns_conn_state *conn, const struct tcp_sock *tp,
					enum ns_limit limit)
{
	__u32 jiffies = limited(tp, limit) - conn->base_limited[limit];

	return settings.hz ? (__u64)jiffies * (1000000000 / settings.hz) : 0;
}

/* A global function, as on_blocked_send() is. */
__noinline int tell_totals(__u64 key)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct tcp_sock *tp = (void *)key;
	struct ns_conn_totals out = {};
	__u32 i;

	if (!conn)
		return 0;
	fill_head(&out.head, NS_CONN_TOTALS, sizeof(out), window_time(), conn->id);
	out.head.tgid = conn->tgid;
	out.head.tid = 0;
	out.bytes_out = BPF_CORE_READ(tp, bytes_sent) - conn->base_bytes_out;
	out.bytes_in = BPF_CORE_READ(tp, bytes_received) - conn->base_bytes_in;
	out.writes = conn->writes;
	out.reads = conn->reads;
	out.segs_out = BPF_CORE_READ(tp, segs_out) - conn->base_segs_out;
	out.data_segs_out = BPF_CORE_READ(tp, data_segs_out) - conn->base_data_segs_out;
	out.segs_in = BPF_CORE_READ(tp, segs_in) - conn->base_segs_in;
	out.retrans = BPF_CORE_READ(tp, total_retrans) - conn->base_retrans;
	out.delack_armed = conn->delack_armed;
	out.delack_fired = conn->delack_fired;
	for (i = 0; i < NS_HOLD_REASONS; i++)
		out.holds[i] = conn->holds[i];
	for (i = 0; i < NS_RETRANS_KINDS; i++)
		out.retrans_by[i] = conn->recovery.by[i];
	out.mss = BPF_CORE_READ(tp, mss_cache);
	out.srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	out.min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	out.first_ts = conn->first_ts;
	out.exchanges = conn->turn.exchanges + answer_was_read(conn, BPF_CORE_READ(tp, copied_seq));
	out.small_writes = conn->turn.small_writes;
	out.close_writes = conn->turn.close_writes;
	out.limited_ns[NS_LIMIT_RWND] = limited_ns(conn, tp, NS_LIMIT_RWND);
	out.limited_ns[NS_LIMIT_SNDBUF] = limited_ns(conn, tp, NS_LIMIT_SNDBUF);
	stream_vital(&out, sizeof(out));
	return 0;
}

/* Does a hold or a recovery go on that makes a stall by now? */
static __always_inline bool stalls(const struct ns_conn_state *conn, __u64 now)
{
	return (is_held(conn) && ns_passed(conn->hold.ts, now) >= settings.threshold_ns) ||
	       (conn->recovery.ts && ns_passed(conn->recovery.ts, now) >= settings.threshold_ns);
}

/* Both ends have said that they send no more, and the program has an answer yet to read. */
static __always_inline bool keeps_answer(struct sock *sk, const struct ns_conn_state *conn)
{
	struct tcp_sock *tp = (void *)sk;

	if (!settings.reads || !conn || !asks(conn) || !conn->turn.ts)
		return false;
	/* The other end's FIN counts as well. */
	return BPF_CORE_READ(tp, rcv_nxt) - BPF_CORE_READ(tp, copied_seq) > 1;
}

static __always_inline __u64 later(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/*
 * As a report's list takes it (is_found(), user/analyze/conns.c); or a wait may name it that will
 * be told: one that ends with it, and so was as long as nothing happened there.
 */
static __noinline bool has_finding(const struct ns_conn_state *conn, __u64 now)
{
	struct tcp_sock *tp;
	__u32 held = 0, i;

	if (!conn)
		return false;
	tp = (struct tcp_sock *)conn->key;
	for (i = 0; i < NS_HOLD_REASONS; i++)
		held |= conn->holds[i];
	return held || (conn->delack_fired && !conn->peer && conn->untold != NS_UNTOLD_ALONE) ||
	       BPF_CORE_READ(tp, total_retrans) != conn->base_retrans ||
	       ns_passed(
		       later(later(conn->turn.wrote_ts, conn->turn.reads.last_ts), conn->first_ts),
		       now) >= settings.threshold_ns / 8;
}

/* NULL: there are more endpoints than have room, and all that have none are one. */
static __always_inline struct ns_service *service_of(struct ns_service_key *key)
{
	struct ns_service *service = bpf_map_lookup_elem(&services, key);

	if (service)
		return service;
	bpf_map_update_elem(&services, key, &zero_service, BPF_NOEXIST);
	return bpf_map_lookup_elem(&services, key);
}

static __always_inline void key_of_service(const struct ns_conn_state *conn,
					   const struct endpoints *ends, struct ns_service_key *key)
{
	if (!(conn->role & NS_ROLE_TARGET))
		return;
	key->tgid = conn->tgid;
	key->opener = conn->opener == NS_OPENER_PEER ? NS_OPENER_PEER : NS_OPENER_SELF;
	key->port = conn->lport;
	if (key->opener == NS_OPENER_PEER)
		return;
	key->port = ends->tuple.rport;
	key->family = ends->family;
	__builtin_memcpy(key->addr, ends->tuple.raddr, sizeof(key->addr));
}

/* peer: its other end, which is not closed yet; NULL: there is none. */
static __noinline int add_to_service(struct sock *sk, const struct ns_conn_state *conn,
				     const struct ns_conn_state *peer, const struct endpoints *ends)
{
	struct tcp_sock *tp = (void *)sk;
	struct ns_service_key key = {};
	struct ns_service *service;
	__u64 exchanges, out, in;

	if (!sk || !conn || !ends)
		return 0;
	key_of_service(conn, ends, &key);
	service = service_of(&key);
	if (!service) {
		__builtin_memset(&key, 0, sizeof(key));
		service = service_of(&key);
	}
	if (!service) {
		count_lost(NS_LOST_CONNS);
		return 0;
	}
	__sync_fetch_and_add(&service->ends, 1);
	if (!(conn->role & NS_ROLE_TARGET))
		return 0;
	exchanges = conn->turn.exchanges + answer_was_read(conn, BPF_CORE_READ(tp, copied_seq));
	__sync_fetch_and_add(&service->targets, 1);
	__sync_fetch_and_add(&service->exchanges, exchanges);
	__sync_fetch_and_add(&service->writes, conn->writes);
	if (conn->opener == NS_OPENER_PEER)
		__sync_fetch_and_add(&service->accepted, 1);
	else
		__sync_fetch_and_add(&service->asked, exchanges);
	/* Both are targets': the last one stands for both. */
	if (peer && peer->role & NS_ROLE_TARGET)
		return 0;
	out = BPF_CORE_READ(tp, bytes_sent) - conn->base_bytes_out;
	in = BPF_CORE_READ(tp, bytes_received) - conn->base_bytes_in;
	__sync_fetch_and_add(&service->bytes_out, out);
	__sync_fetch_and_add(&service->bytes_in, in);
	__sync_fetch_and_add(&service->used_exchanges, exchanges);
	/* The other end's FIN counts as one byte. */
	if (out || in > 1 || exchanges)
		__sync_fetch_and_add(&service->used, 1);
	else
		__sync_fetch_and_add(&service->attempts, 1);
	return 0;
}

static __always_inline void tell_close(const struct ns_conn_state *conn)
{
	struct ns_head out = {};

	if (conn->phase == NS_PHASE_OPEN || conn->recovery.by[NS_RETRANS_SYN])
		tell_totals(conn->key);
	fill_head(&out, NS_CLOSE, sizeof(out), bpf_ktime_get_ns(), conn->id);
	stream_vital(&out, sizeof(out));
}

/* The socket goes away. A hold that lasted is told as it is, without a release. */
static __always_inline void drop_conn(struct sock *sk, struct ns_conn_state *conn)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *peer;
	struct endpoints ends;
	__u64 now;

	/* Also of who is not watched: the kernel gives the address to another socket. */
	if (!conn || conn->opener != NS_OPENER_PEER)
		bpf_map_delete_elem(&connectors, &key);
	if (!conn)
		return;
	now = bpf_ktime_get_ns();
	if (stalls(conn, now))
		flush_both(conn);
	if (is_held(conn))
		end_hold(conn, conn->hold.number);
	end_recovery(conn);
	end_request(conn, NS_EXCHANGE_CLOSED, window_time_at(now));
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (peer)
		end_answered(peer);
	forget_samples(conn);
	forget_reader(conn);
	if (conn->sends_begun > 0) /* nobody told their ends */
		__sync_fetch_and_add(&lost[NS_LOST_RUNS], conn->sends_begun);
	make_wanted_known(conn);
	read_endpoints(sk, &ends);
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (conn->untold && (has_finding(conn, now) || (peer && has_finding(peer, now))))
		make_known(conn);
	if (begin_sum(conn))
		add_to_service(sk, conn, peer, &ends);
	else
		tell_close(conn);
	if (peer && peer->peer == key) {
		peer->peer = 0;
		if (conn->untold && peer->untold)
			peer->untold = NS_UNTOLD_ALONE;
	}
	if (conn->role == NS_ROLE_CHAIN)
		__sync_fetch_and_add(&chain_conns, -1);
	ends.tuple.lport = conn->lport;
	bpf_map_delete_elem(&tuples, &ends.tuple);
	give_history_back(conn);
	bpf_map_delete_elem(&conns, &key);
}

static __always_inline void on_destroy(struct sock *sk)
{
	__u64 key = (__u64)sk;

	drop_conn(sk, bpf_map_lookup_elem(&conns, &key));
}

#endif

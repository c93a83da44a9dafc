/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a watched socket ends, and what it tells in total then. */
#ifndef NETSTALL_BPF_TCP_ENDING_BPF_H
#define NETSTALL_BPF_TCP_ENDING_BPF_H

static __noinline int tell_totals(struct sock *sk, struct ns_conn_state *conn)
{
	struct tcp_sock *tp = (void *)sk;
	struct ns_conn_totals out = {};
	__u32 i;

	if (!conn || !sk)
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
static __always_inline bool keeps_answer(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = settings.reads ? bpf_map_lookup_elem(&conns, &key) : NULL;
	struct tcp_sock *tp = (void *)sk;

	if (!conn || !asks(conn) || !conn->turn.ts)
		return false;
	/* The other end's FIN counts as well. */
	return BPF_CORE_READ(tp, rcv_nxt) - BPF_CORE_READ(tp, copied_seq) > 1;
}

/* The socket goes away. A hold that lasted is told as it is, without a release. */
static __always_inline void drop_conn(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	struct ns_conn_state *peer;
	struct endpoints ends;
	struct ns_head out = {};

	/* Also of who is not watched: the kernel gives the address to another socket. */
	bpf_map_delete_elem(&connectors, &key);
	if (!conn)
		return;
	if (stalls(conn, bpf_ktime_get_ns()))
		flush_both(conn);
	if (is_held(conn))
		end_hold(conn, conn->hold.number);
	end_recovery(conn);
	end_request(conn, NS_EXCHANGE_CLOSED, window_time());
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (peer)
		end_answered(peer);
	forget_samples(conn);
	if (conn->sends_begun > 0) /* nobody told their ends */
		__sync_fetch_and_add(&lost[NS_LOST_RUNS], conn->sends_begun);
	if (conn->phase == NS_PHASE_OPEN || conn->recovery.by[NS_RETRANS_SYN])
		tell_totals(sk, conn);
	fill_head(&out, NS_CLOSE, sizeof(out), bpf_ktime_get_ns(), conn->id);
	stream_vital(&out, sizeof(out));
	if (conn->peer) {
		peer = bpf_map_lookup_elem(&conns, &conn->peer);
		if (peer && peer->peer == key)
			peer->peer = 0;
	}
	if (conn->role == NS_ROLE_CHAIN)
		__sync_fetch_and_add(&chain_conns, -1);
	read_endpoints(sk, &ends);
	ends.tuple.lport = conn->lport;
	bpf_map_delete_elem(&tuples, &ends.tuple);
	give_history_back(conn);
	bpf_map_delete_elem(&conns, &key);
}

#endif

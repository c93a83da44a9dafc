/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loss recovery: which segment went out again, and what sent it. The state that TCP keeps
 * while it retransmits tells that (net/ipv4/tcp_timer.c, tcp_output.c, tcp_input.c):
 *
 *   tcp_retransmit_timer()  clears icsk_pending first, then enters TCP_CA_Loss
 *   tcp_send_loss_probe()   runs while icsk_pending is still ICSK_TIME_LOSS_PROBE
 *   fast retransmit         enters TCP_CA_Recovery before it sends, whatever timer is pending
 *
 * What goes out in TCP_CA_Loss while a timer is pending follows from an earlier timer when
 * high_seq is still what that one left; else (a path MTU shrank) nothing is said of it.
 * A loss probe that adds new data is no retransmission and does not come here.
 */
#ifndef NETSTALL_BPF_TCP_RECOVERY_BPF_H
#define NETSTALL_BPF_TCP_RECOVERY_BPF_H

#define NS_ICSK_TIME_LOSS_PROBE 5 /* include/net/inet_connection_sock.h */
#define NS_CA_RECOVERY          3 /* include/uapi/linux/tcp.h */
#define NS_CA_LOSS              4

/*
 * What an ACK lets go comes within so many round trips and ns. User space decides, with a slack
 * that is shorter (user/analyze/holds/remote_nagle.h), so it has the records that it asks for.
 */
#define NS_ANSWER_ROUND_TRIPS 2
#define NS_ANSWER_SLACK       2000000

static __always_inline __u32 retrans_kind(struct sock *sk, struct ns_conn_state *conn,
					  __u32 ca_state)
{
	struct inet_connection_sock *icsk = (void *)sk;
	struct tcp_sock *tp = (void *)sk;
	__u32 state = BPF_CORE_READ(sk, __sk_common.skc_state);
	__u32 pending = BPF_CORE_READ(icsk, icsk_pending);
	__u32 high_seq;

	if (state == NS_TCP_SYN_SENT || state == NS_TCP_SYN_RECV)
		return NS_RETRANS_SYN;
	if (ca_state == NS_CA_RECOVERY)
		return NS_RETRANS_FAST;
	if (ca_state != NS_CA_LOSS)
		return pending == NS_ICSK_TIME_LOSS_PROBE ? NS_RETRANS_TLP : NS_RETRANS_UNKNOWN;
	high_seq = BPF_CORE_READ(tp, high_seq);
	if (!pending) {
		conn->recovery.timer_loss = 1;
		conn->recovery.timer_high_seq = high_seq;
		return NS_RETRANS_RTO;
	}
	return conn->recovery.timer_loss && conn->recovery.timer_high_seq == high_seq
		       ? NS_RETRANS_RTO
		       : NS_RETRANS_UNKNOWN;
}

static __always_inline bool sent_by_timer(struct sock *sk, __u32 kind)
{
	struct inet_connection_sock *icsk = (void *)sk;

	if (kind == NS_RETRANS_RTO)
		return !BPF_CORE_READ(icsk, icsk_pending);
	return kind == NS_RETRANS_TLP || kind == NS_RETRANS_SYN;
}

/*
 * How often the timer ran out for these bytes. Kernels differ in whether icsk_retransmits
 * counts this time already (from 3868ab0f1925, 6.7, on it does); an own count that began
 * with the first is never too small.
 */
static __always_inline __u32 timer_retries(struct sock *sk, struct ns_conn_state *conn, __u32 seq,
					   __u32 kind)
{
	struct inet_connection_sock *icsk = (void *)sk;
	__u32 counted = BPF_CORE_READ(icsk, icsk_retransmits);

	if (conn->recovery.timer_seq != seq || conn->recovery.timer_kind != kind)
		conn->recovery.timer_retries = 0;
	conn->recovery.timer_seq = seq;
	conn->recovery.timer_kind = kind;
	conn->recovery.timer_retries++;
	return kind != NS_RETRANS_TLP && counted > conn->recovery.timer_retries
		       ? counted
		       : conn->recovery.timer_retries;
}

/*
 * When the bytes went out before. The segment's own stamp is overwritten by now, but a
 * flight that began on an idle connection and of which nothing has arrived yet keeps its
 * begin (tcp_rate_skb_sent()).
 */
static __always_inline __u64 sent_before(struct sock *sk, struct ns_conn_state *conn, __u32 seq,
					 __u32 kind)
{
	struct tcp_sock *tp = (void *)sk;
	__u64 first_us;

	if (conn->recovery.ts && conn->recovery.retrans_seq == seq)
		return conn->recovery.retrans_ts;
	if (kind == NS_RETRANS_SYN)
		return conn->first_ts;
	first_us = BPF_CORE_READ(tp, first_tx_mstamp);
	if (seq != BPF_CORE_READ(tp, snd_una) || first_us != BPF_CORE_READ(tp, delivered_mstamp))
		return 0;
	return first_us * 1000;
}

/* From here on what arrives is looked at, until the lost bytes are acknowledged. */
static __always_inline void begin_recovery(struct ns_conn_state *conn, const struct ns_retrans *out,
					   bool by_timer)
{
	__u64 before = by_timer ? out->rto_us : 2 * out->srtt_us;

	conn->recovery.ts = out->sent_ts ? out->sent_ts : ns_passed(before * 1000, out->head.ts);
	conn->recovery.end = out->end;
	count_recovery(conn);
	if (by_timer)
		watch_both_ends(conn);
}

/*
 * A probe's bytes most often are not lost: only their acknowledgement is. Believed where a
 * timer sent them just now: what leaves over loopback from there is received only later.
 */
static __always_inline bool has_arrived(const struct ns_conn_state *conn, __u32 end)
{
	struct tcp_sock *peer = (void *)conn->peer;

	if (!peer || !bpf_map_lookup_elem(&conns, &conn->peer))
		return false;
	return !seq_after(end, BPF_CORE_READ(peer, rcv_nxt));
}

/* The queue that was full when the SYN left; of a connect() that was under way before, or another
 * SYN, as it is now. */
static __always_inline void fill_door(struct ns_retrans *out, struct sock *sk,
				      struct ns_conn_state *conn)
{
	bool is_syn = out->kind == NS_RETRANS_SYN &&
		      BPF_CORE_READ(sk, __sk_common.skc_state) == NS_TCP_SYN_SENT;

	if (is_syn && !conn->backlog)
		look_at_door(sk, conn);
	out->listen_port =
		is_syn && conn->backlog ? bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport)) : 0;
	out->backlog = out->listen_port ? conn->backlog : 0;
	out->backlog_max = out->listen_port ? conn->backlog_max : 0;
	out->somaxconn = out->listen_port ? conn->somaxconn : 0;
}

static __noinline int note_retransmit(struct sock *sk, struct ns_conn_state *conn, __u32 seq,
				      __u32 end)
{
	struct inet_connection_sock *icsk = (void *)sk;
	struct tcp_sock *tp = (void *)sk;
	struct ns_retrans *out;
	bool by_timer, first;
	__u64 kind;

	if (!sk || !conn)
		return 0;
	out = history_slot(conn, NS_RETRANS, sizeof(*out), bpf_ktime_get_ns());
	out->ca_state = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state);
	out->kind = retrans_kind(sk, conn, out->ca_state);
	by_timer = sent_by_timer(sk, out->kind);
	out->seq = seq;
	out->end = out->kind == NS_RETRANS_SYN ? seq : end;
	out->rto_us = jiffies_to_us(BPF_CORE_READ(icsk, icsk_rto));
	out->retries = by_timer ? timer_retries(sk, conn, seq, out->kind) : 0;
	out->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	out->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	out->cwnd = BPF_CORE_READ(tp, snd_cwnd);
	out->in_flight = packets_in_flight(tp);
	out->sent_ts = sent_before(sk, conn, seq, out->kind);
	out->arrived = out->kind != NS_RETRANS_SYN && has_arrived(conn, end);
	out->pad = 0;
	fill_door(out, sk, conn);
	conn->recovery.retrans_seq = seq;
	conn->recovery.retrans_ts = out->head.ts;
	kind = out->kind;
	barrier_var(kind); /* else the verifier sees another register checked */
	if (kind < NS_RETRANS_KINDS)
		conn->recovery.by[kind]++;
	first = !conn->recovery.ts;
	if (first)
		begin_recovery(conn, out, by_timer);
	else if (seq_after(out->end, conn->recovery.end))
		conn->recovery.end = out->end;
	history_commit(conn, out, sizeof(*out));
	/* Rare, and what shows the loss would be pushed out of the history before it is over. */
	if (first || by_timer)
		flush_both(conn);
	return 0;
}

/* connect() of a socket that was not watched so far, because its addresses were not known. */
static __always_inline struct ns_conn_state *adopt_opening(struct sock *sk)
{
	struct adoption as;
	__u64 key = (__u64)sk;
	__u32 *tgid;

	if (BPF_CORE_READ(sk, __sk_common.skc_state) != NS_TCP_SYN_SENT)
		return NULL;
	tgid = bpf_map_lookup_elem(&connectors, &key);
	if (!tgid || !target_wanted(sk, *tgid))
		return NULL;
	as = by_connect(*tgid);
	return adopt(sk, &as);
}

/* A segment went out once more. */
static __always_inline void on_retransmit(struct sock *sk, __u32 seq, __u32 end)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn;

	if (!in_window())
		return;
	conn = bpf_map_lookup_elem(&conns, &key);
	if (!conn)
		conn = adopt_opening(sk);
	if (!conn)
		return;
	/* A connection that does not stand yet has its addresses by now: say which it is. */
	if (conn->phase == NS_PHASE_OPENING && !conn->recovery.by[NS_RETRANS_SYN])
		tell_conn(sk, conn);
	note_retransmit(sk, conn, seq, end);
}

/* An acknowledgement arrived, and is in the history. */
static __always_inline void recovery_acked(struct ns_conn_state *conn, __u32 ack, __u64 now)
{
	if (!conn->recovery.ts || seq_after(conn->recovery.end, ack))
		return;
	if (ns_passed(conn->recovery.ts, now) >= settings.threshold_ns)
		flush_both(conn);
	end_recovery(conn);
}

/* connect() succeeded after its SYN was sent again: what it waited for has arrived. */
static __noinline int recovery_connected(struct sock *sk, struct ns_conn_state *conn)
{
	struct tcp_sock *tp = (void *)sk;
	struct ns_segment *out;
	__u64 now;

	if (!sk || !conn || !conn->recovery.ts)
		return 0;
	now = bpf_ktime_get_ns();
	out = history_slot(conn, NS_RX, sizeof(*out), now);
	out->seq = BPF_CORE_READ(tp, rcv_nxt) - 1;
	out->end = out->seq;
	out->ack = BPF_CORE_READ(tp, snd_una);
	out->flags = NS_TCP_FLAG_SYN | NS_TCP_FLAG_ACK;
	bpf_get_current_comm(out->comm, sizeof(out->comm));
	history_commit(conn, out, sizeof(*out));
	/* A SYN has seq == end, but its number is acknowledged with one more. */
	recovery_acked(conn, out->ack, now);
	return 0;
}

/* ---- seen from the receiving side: what a delayed ACK let go ---- */

/*
 * A target's delayed-ACK timer ran out after a time that makes a stall, and the other end is
 * out of sight: for a few round trips look at what arrives. Until then nothing was looked at.
 */
static __always_inline void watch_answer(struct sock *sk, struct ns_conn_state *conn, __u64 now)
{
	struct tcp_sock *tp = (void *)sk;
	__u32 min_rtt_us;

	conn->delack_until = 0;
	if (conn->peer || !(conn->role & NS_ROLE_TARGET) || !conn->delack_arm_ts ||
	    ns_passed(conn->delack_arm_ts, now) < settings.threshold_ns)
		return;
	min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	if (!min_rtt_us || min_rtt_us == ~0u)
		return;
	conn->delack_until = now + NS_ANSWER_ROUND_TRIPS * 1000ull * min_rtt_us + NS_ANSWER_SLACK;
	if (conn->delack_until > answers_until)
		answers_until = conn->delack_until;
}

/* Data arrived, and is in the history. */
static __always_inline void answer_came(struct ns_conn_state *conn, __u64 now)
{
	if (!conn->delack_until)
		return;
	if (now <= conn->delack_until)
		flush_both(conn);
	conn->delack_until = 0;
}

#endif

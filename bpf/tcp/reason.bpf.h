/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Why TCP keeps bytes back, from the socket's state: the tests of tcp_push() and tcp_write_xmit()
 * in net/ipv4/tcp_output.c, in their order there, and the numbers that they go by.
 */
#ifndef NETSTALL_BPF_TCP_REASON_BPF_H
#define NETSTALL_BPF_TCP_REASON_BPF_H

#define NS_PACING_NEEDED 1 /* SK_PACING_NEEDED, include/net/sock.h */
#define NS_TSQ_THROTTLED 1 /* bit 0 of sk_tsq_flags */
#define NS_NAGLE_CORK    2 /* TCP_NAGLE_CORK, include/net/tcp.h */
#define NS_NAGLE_PUSH    4 /* TCP_NAGLE_PUSH: this once, neither Nagle nor a cork counts */
#define NS_TSO_MOST      65536

/* ---- the tests ---- */

/* tcp_pacing_check(): its timer stands for as long as the next segment may not go. */
static __always_inline bool pacing_waits(struct sock *sk)
{
	struct tcp_sock *tp = (void *)sk;

	return BPF_CORE_READ(sk, sk_pacing_status) == NS_PACING_NEEDED &&
	       hrtimer_waits(&tp->pacing_timer);
}

/*
 * tcp_should_autocork(): a small write behind segments that the device still has. Of that only a
 * whole send can be told, and only when tcp_write_xmit() was not asked.
 */
static __always_inline bool is_autocorked(struct sock *sk, const struct ns_hold *hold)
{
	struct net *net = BPF_CORE_READ(sk, __sk_common.skc_net.net);
	struct sk_buff *tail = BPF_CORE_READ(sk, sk_write_queue.prev);

	return hold->begun == NS_BEGUN_SEND && hold->basis == NS_BASIS_STATE && hold->packets_out &&
	       BPF_CORE_READ(sk, sk_tsq_flags) & NS_TSQ_THROTTLED &&
	       BPF_CORE_READ(net, ipv4.sysctl_tcp_autocorking) &&
	       hold->wmem_alloc >= BPF_CORE_READ(tail, truesize) &&
	       BPF_CORE_READ(tail, len) < NS_TSO_MOST;
}

/*
 * Minshall's variant of Nagle's rule, as tcp_minshall_check() in net/ipv4/tcp_output.c has
 * it: a small segment is out and not acknowledged, snd_una < snd_sml <= snd_nxt.
 */
static __always_inline bool small_segment_is_out(const struct ns_hold *hold, __u32 snd_una,
						 __u32 snd_sml)
{
	return seq_after(snd_sml, snd_una) && !seq_after(snd_sml, hold->seq);
}

/* tcp_nagle_test(), of one segment. */
static __always_inline __u32 nagle_reason(struct sock *sk, const struct ns_hold *hold,
					  __u32 nonagle, bool msg_more)
{
	struct tcp_sock *tp = (void *)sk;

	if (nonagle & NS_NAGLE_PUSH)
		return NS_HOLD_UNKNOWN;
	if (nonagle & NS_NAGLE_CORK)
		return msg_more ? NS_HOLD_MSG_MORE : NS_HOLD_CORK;
	if (!nonagle && hold->packets_out &&
	    small_segment_is_out(hold, hold->seq - hold->unacked, BPF_CORE_READ(tp, snd_sml)))
		return NS_HOLD_NAGLE;
	return NS_HOLD_UNKNOWN;
}

/* tcp_tso_should_defer(), of more than one segment, without its limits in time. */
static __always_inline bool tso_defers(struct sock *sk, const struct ns_hold *hold)
{
	struct inet_connection_sock *icsk = (void *)sk;
	struct net *net = BPF_CORE_READ(sk, __sk_common.skc_net.net);
	__u32 divisor = BPF_CORE_READ(net, ipv4.sysctl_tcp_tso_win_divisor);
	__u32 cong_window = (hold->cwnd - hold->in_flight) * hold->mss;
	__u32 send_window = hold->snd_wnd - hold->unacked;
	__u32 limit = cong_window < send_window ? cong_window : send_window;
	__u32 chunk = hold->cwnd * hold->mss;

	if (BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state) >= NS_CA_RECOVERY ||
	    !hold->packets_out || limit >= NS_TSO_MOST)
		return false;
	if (hold->snd_wnd < chunk)
		chunk = hold->snd_wnd;
	return divisor ? limit < chunk / divisor : limit <= 3 * hold->mss;
}

/* The reason that comes first in TCP itself. */
static __always_inline __u32 hold_reason(struct sock *sk, const struct ns_hold *hold, __u32 nonagle,
					 bool msg_more)
{
	__u32 length = hold->end - hold->seq;
	__u32 segment = length < hold->mss ? length : hold->mss;
	__u32 reason;

	if (!length)
		return NS_HOLD_SNDBUF;
	if (is_autocorked(sk, hold))
		return NS_HOLD_AUTOCORK;
	if (hold->pacing_us || pacing_waits(sk))
		return NS_HOLD_PACING;
	if (hold->in_flight >= hold->cwnd)
		return NS_HOLD_CWND;
	if (hold->unacked + segment > hold->snd_wnd)
		return hold->snd_wnd ? NS_HOLD_RWND : NS_HOLD_ZERO_WINDOW;
	if (length < hold->mss) {
		reason = nagle_reason(sk, hold, nonagle, msg_more);
		if (reason)
			return reason;
	} else if (length > hold->mss && tso_defers(sk, hold)) {
		return NS_HOLD_TSO_DEFER;
	}
	if (BPF_CORE_READ(sk, sk_tsq_flags) & NS_TSQ_THROTTLED)
		return NS_HOLD_TSQ;
	return NS_HOLD_UNKNOWN;
}

/* ---- the numbers that decide ---- */

static __always_inline void read_pacing(struct sock *sk, struct ns_hold *out, __u64 now)
{
	struct tcp_sock *tp = (void *)sk;
	__u64 next = BPF_CORE_READ(tp, tcp_wstamp_ns);

	out->last_tx_ts = next;
	out->pacing_us = 0;
	out->pacing_rate = 0;
	if (!BPF_CORE_READ(sk, sk_pacing_status))
		return;
	out->pacing_rate = BPF_CORE_READ(sk, sk_pacing_rate);
	if (next <= now)
		return;
	/* Paced, the stamp runs ahead: it is when the next segment may go. */
	out->last_tx_ts = 0;
	if (pacing_waits(sk))
		out->pacing_us = (next - now) / 1000 + 1;
}

/* Its arming need not be seen: a timer that stands for the same jiffy already is left alone. */
static __always_inline __u32 ack_due_us(const struct ns_conn_state *conn)
{
	struct inet_connection_sock *icsk = (void *)conn->peer;
	__s64 left;

	if (!icsk || !bpf_map_lookup_elem(&conns, &conn->peer) ||
	    !(BPF_CORE_READ(icsk, icsk_ack.pending) & NS_ICSK_ACK_TIMER))
		return 0;
	left = delack_due((struct sock *)icsk) - bpf_jiffies64();
	return left > 0 ? jiffies_to_us(left) : 0;
}

/* The hold as it is now; begun and fd are the caller's. */
static __noinline int weigh_hold(struct sock *sk, struct ns_conn_state *conn, struct ns_hold *out,
				 __u64 now)
{
	struct tcp_sock *tp = (void *)sk;
	__u32 nonagle;
	bool msg_more;

	if (!sk || !conn || !out)
		return 0;
	out->seq = BPF_CORE_READ(tp, snd_nxt);
	out->end = BPF_CORE_READ(tp, write_seq);
	out->unacked = out->seq - BPF_CORE_READ(tp, snd_una);
	out->mss = BPF_CORE_READ(tp, mss_cache);
	out->nonagle = BPF_CORE_READ_BITFIELD_PROBED(tp, nonagle);
	out->packets_out = BPF_CORE_READ(tp, packets_out);
	out->in_flight = packets_in_flight(tp);
	out->cwnd = BPF_CORE_READ(tp, snd_cwnd);
	out->snd_wnd = BPF_CORE_READ(tp, snd_wnd);
	out->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	out->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	out->wmem_alloc = BPF_CORE_READ(sk, sk_wmem_alloc.refs.counter) - 1; /* it begins at 1 */
	out->wmem_queued = BPF_CORE_READ(sk, sk_wmem_queued);
	out->sndbuf = BPF_CORE_READ(sk, sk_sndbuf);
	out->ack_due_us = ack_due_us(conn);
	read_pacing(sk, out, now);
	out->basis = NS_BASIS_STATE;
	nonagle = out->nonagle;
	msg_more = conn->hold.more;
	if (conn->hold.xmit_mss && conn->hold.xmit_end == out->end) {
		/* tcp_push() turns MSG_MORE into TCP_NAGLE_CORK for this one call. */
		out->basis = NS_BASIS_XMIT;
		out->mss = conn->hold.xmit_mss;
		nonagle = conn->hold.xmit_nonagle;
		msg_more = nonagle & NS_NAGLE_CORK && !(out->nonagle & NS_NAGLE_CORK);
	} else if (msg_more && !(nonagle & NS_NAGLE_CORK)) {
		nonagle = NS_NAGLE_CORK;
	} else {
		msg_more = false;
	}
	out->reason = hold_reason(sk, out, nonagle, msg_more);
	return 0;
}

#endif

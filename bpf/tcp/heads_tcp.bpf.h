/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of the TCP facts: fact by fact, each attach type that can give it. */
#ifndef NETSTALL_BPF_TCP_HEADS_TCP_BPF_H
#define NETSTALL_BPF_TCP_HEADS_TCP_BPF_H

/* ---- the decision: tcp_write_xmit() ---- */

static __always_inline void decided(struct sock *sk, unsigned int mss_now, int nonagle)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	__u32 write_seq;

	if (!tp)
		return;
	write_seq = tp->write_seq;
	if (write_seq != tp->snd_nxt)
		on_xmit_refused(sk, write_seq, mss_now, nonagle, true);
}

HEAD("?fexit/tcp_write_xmit", fexit_decision, decided(sk, mss_now, nonagle), struct sock *sk,
     unsigned int mss_now, int nonagle)

/* A second look finds the same. */
HEAD("?fexit/tcp_write_xmit", fexit_decision_spare, decided(sk, mss_now, nonagle), struct sock *sk,
     unsigned int mss_now, int nonagle)

/* At its entry nothing is decided yet: note the arguments when a refusal is possible. */
SEC("?kprobe/tcp_write_xmit")
int BPF_KPROBE(kprobe_decision, struct sock *sk, unsigned int mss_now, int nonagle)
{
	struct tcp_sock *tp = (void *)sk;

	if (nonagle & NS_NAGLE_CORK || BPF_CORE_READ(tp, packets_out))
		on_xmit_refused(sk, BPF_CORE_READ(tp, write_seq), mss_now, nonagle, false);
	return 0;
}

/* ---- transmits ---- */

struct tcp_skb_cb_head {
	__u32 seq;
	__u32 end_seq;
};

static __always_inline void transmit_skb(struct sock *sk, struct sk_buff *skb, __u32 rcv_nxt)
{
	struct tcp_skb_cb_head cb = {};
	struct segment segment = {};
	__u32 number = 0;

	if (!segments_matter())
		return;
	bpf_core_read(&cb, sizeof(cb), &skb->cb);
	segment.seq = cb.seq;
	segment.end = cb.seq + BPF_CORE_READ(skb, len);
	segment.ack = rcv_nxt;
	/* The call moves it on, a pure ACK's too. */
	if (settings.spares)
		number = BPF_CORE_READ((struct tcp_sock *)sk, segs_out) + 1;
	on_transmit((__u64)sk, &segment, number);
}

HEAD("?fentry/__tcp_transmit_skb", fentry_transmit, transmit_skb(sk, skb, rcv_nxt), struct sock *sk,
     struct sk_buff *skb, int clone_it, gfp_t gfp, u32 rcv_nxt)

HEAD("?fentry/__tcp_transmit_skb", fentry_transmit_spare, transmit_skb(sk, skb, rcv_nxt),
     struct sock *sk, struct sk_buff *skb, int clone_it, gfp_t gfp, u32 rcv_nxt)

KPROBE_HEAD("?kprobe/__tcp_transmit_skb", kprobe_transmit, transmit_skb(sk, skb, rcv_nxt),
	    struct sock *sk, struct sk_buff *skb, int clone_it, gfp_t gfp, u32 rcv_nxt)

/*
 * The header as it is on the wire (RFC 9293, 3.1). Not the kernel's struct tcphdr: CO-RE
 * would relocate accesses to a copy on our stack as if it were the kernel's own.
 */
struct tcp_header {
	__be16 source;
	__be16 destination;
	__be32 seq;
	__be32 ack;
	__u8 offset; /* upper half: length in 32-bit words */
	__u8 flags;
};

static __always_inline void fill_segment(const struct tcp_header *th, __u32 length,
					 struct segment *segment)
{
	segment->seq = bpf_ntohl(th->seq);
	segment->end = segment->seq + length - (th->offset >> 4) * 4;
	segment->ack = bpf_ntohl(th->ack);
	segment->flags = th->flags;
}

SEC("?tp_btf/net_dev_queue")
int BPF_PROG(tp_transmit, struct sk_buff *skb)
{
	struct segment segment;
	struct tcp_header th;
	unsigned char *header;
	__u64 key;

	if (!segments_matter())
		return 0;
	key = (__u64)skb->sk;
	if (!key || !bpf_map_lookup_elem(&conns, &key))
		return 0;
	header = skb->head + skb->transport_header;
	if (bpf_probe_read_kernel(&th, sizeof(th), header))
		return 0;
	fill_segment(&th, skb->len - (header - skb->data), &segment);
	on_transmit(key, &segment, 0);
	return 0;
}

/* ---- retransmits ---- */

static __always_inline void retransmit_skb(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_skb_cb_head cb = {};

	bpf_core_read(&cb, sizeof(cb), &skb->cb);
	on_retransmit(sk, cb.seq, cb.end_seq);
}

HEAD("?tp_btf/tcp_retransmit_skb", tp_retrans, retransmit_skb(sk, skb), struct sock *sk,
     struct sk_buff *skb)

/* Later kernels (6.18) tell it of segments, too, that could not be sent: with an error. */
SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(tp_retrans_3, struct sock *sk, struct sk_buff *skb, int err)
{
	if (!err)
		retransmit_skb(sk, skb);
	return 0;
}

/* ---- receives ---- */

static __always_inline void receive_skb(struct sock *sk, const struct sk_buff *skb)
{
	struct segment segment;
	struct tcp_header th;

	if (bpf_probe_read_kernel(&th, sizeof(th), BPF_CORE_READ(skb, data)))
		return;
	fill_segment(&th, BPF_CORE_READ(skb, len), &segment);
	on_receive(sk, &segment);
}

SEC("?fentry/tcp_rcv_established")
int BPF_PROG(fentry_receive, struct sock *sk, struct sk_buff *skb)
{
	if (segments_matter())
		receive_skb(sk, skb);
	return 0;
}

SEC("?kprobe/tcp_rcv_established")
int BPF_KPROBE(kprobe_receive, struct sock *sk, struct sk_buff *skb)
{
	if (segments_matter())
		receive_skb(sk, skb);
	return 0;
}

SEC("?tp_btf/tcp_probe")
int BPF_PROG(tp_receive, struct sock *sk, struct sk_buff *skb)
{
	if (segments_matter())
		receive_skb(sk, skb);
	return 0;
}

/* ---- the application's reads ---- */

/*
 * Each piece that is copied to the program, just before TCP looks at its clock for it: until then
 * that says when the last segment came, or when TCP last looked for another reason. Where nobody
 * has locked the socket TCP itself hands the data on, to kTLS for instance: current is then whoever
 * was interrupted.
 */
SEC("?tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(tp_read, struct sock *sk)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct recv_view view;

	if (!tp || !sk->sk_lock.owned)
		return 0;
	view.copied_seq = tp->copied_seq;
	view.bytes_read = tp->bytes_received - (tp->rcv_nxt - tp->copied_seq);
	view.sent_at = tp->lsndtime;
	view.arrived_ts = tp->tcp_clock_cache;
	view.arrived_at = bpf_core_field_exists(tp->inet_conn.icsk_ack.lrcvtime)
				  ? tp->inet_conn.icsk_ack.lrcvtime
				  : (__u32)bpf_jiffies64();
	view.ports = sk->__sk_common.skc_num ^ bpf_ntohs(sk->__sk_common.skc_dport);
	if (on_read(sk, &view) == READ_READER_UNSEEN)
		on_reader_unseen((__u64)sk);
	return 0;
}

/* ---- the delayed-ACK timer ---- */

SEC("?tp_btf/timer_start")
int BPF_PROG(tp_delack_arm, struct timer_list *timer)
{
	/* Not the tracepoint's argument: from 6.12 on that is rounded up to the timer wheel. */
	if (is_delack_timer(timer))
		on_delack_armed(delack_socket(timer), timer->expires);
	return 0;
}

SEC("?tp_btf/timer_expire_entry")
int BPF_PROG(tp_delack_fire, struct timer_list *timer)
{
	if (is_delack_timer(timer))
		on_delack_fired(delack_socket(timer));
	return 0;
}

HEAD("?fentry/tcp_delack_timer_handler", fentry_delack_fire, on_delack_fired(sk), struct sock *sk)

KPROBE_HEAD("?kprobe/tcp_delack_timer_handler", kprobe_delack_fire, on_delack_fired(sk),
	    struct sock *sk)

#endif

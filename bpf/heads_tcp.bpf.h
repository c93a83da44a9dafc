/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of the TCP facts: fact by fact, each attach type that can give it. */
#ifndef NETSTALL_HEADS_TCP_BPF_H
#define NETSTALL_HEADS_TCP_BPF_H

/* ---- the end of a send ---- */

static __always_inline void view_trusted(struct tcp_sock *tp, struct send_view *view)
{
	view->write_seq = tp->write_seq;
	view->snd_nxt = tp->snd_nxt;
	view->snd_una = tp->snd_una;
	view->copied_seq = tp->copied_seq;
	view->clock_ns = tp->tcp_clock_cache;
}

static __always_inline void view_probed(struct sock *sk, struct send_view *view)
{
	struct tcp_sock *tp = (void *)sk;

	view->write_seq = BPF_CORE_READ(tp, write_seq);
	view->snd_nxt = BPF_CORE_READ(tp, snd_nxt);
	view->snd_una = BPF_CORE_READ(tp, snd_una);
	view->copied_seq = BPF_CORE_READ(tp, copied_seq);
	view->clock_ns = BPF_CORE_READ(tp, tcp_clock_cache);
}

static __always_inline bool writer_matters(void)
{
	return settings.any_process || proc_hint(bpf_get_current_pid_tgid() >> 32);
}

static __always_inline void send_end_trusted(struct sock *sk, int bytes)
{
	struct send_view view;
	struct tcp_sock *tp;

	if (!writer_matters())
		return;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return;
	view_trusted(tp, &view);
	on_send_end(sk, &view, bytes);
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(tp_send, struct sock *sk, int ret, int flags)
{
	send_end_trusted(sk, ret);
	return 0;
}

SEC("?fexit/tcp_sendmsg_locked")
int BPF_PROG(fexit_send, struct sock *sk, struct msghdr *msg, size_t size, int ret)
{
	send_end_trusted(sk, ret);
	return 0;
}

/* Linux before 6.5: sendfile and splice. */
SEC("?fexit/tcp_sendpage_locked")
int BPF_PROG(fexit_sendpage, struct sock *sk, struct page *page, int offset, size_t size, int flags,
	     int ret)
{
	send_end_trusted(sk, ret);
	return 0;
}

static __always_inline void remember_socket(void *map, struct sock *sk)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 key = (__u64)sk;

	if (writer_matters())
		bpf_map_update_elem(map, &tid, &key, BPF_ANY);
}

static __always_inline struct sock *recall_socket(void *map)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct sock *sk;
	__u64 *key;

	if (!writer_matters())
		return NULL;
	key = bpf_map_lookup_elem(map, &tid);
	if (!key)
		return NULL;
	sk = (struct sock *)*key;
	bpf_map_delete_elem(map, &tid);
	return sk;
}

SEC("?kprobe/tcp_sendmsg_locked")
int BPF_KPROBE(kprobe_send, struct sock *sk)
{
	remember_socket(&sending, sk);
	return 0;
}

SEC("?kprobe/tcp_sendpage_locked")
int BPF_KPROBE(kprobe_sendpage, struct sock *sk)
{
	remember_socket(&sending, sk);
	return 0;
}

static __always_inline void send_end_probed(int bytes)
{
	struct sock *sk = recall_socket(&sending);
	struct send_view view;

	if (!sk)
		return;
	view_probed(sk, &view);
	on_send_end(sk, &view, bytes);
}

SEC("?kretprobe/tcp_sendmsg_locked")
int BPF_KRETPROBE(kretprobe_send, int ret)
{
	send_end_probed(ret);
	return 0;
}

SEC("?kretprobe/tcp_sendpage_locked")
int BPF_KRETPROBE(kretprobe_sendpage, int ret)
{
	send_end_probed(ret);
	return 0;
}

/* ---- the decision: tcp_write_xmit() ---- */

SEC("?fexit/tcp_write_xmit")
int BPF_PROG(fexit_decision, struct sock *sk, unsigned int mss_now, int nonagle)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	__u32 write_seq;

	if (!tp)
		return 0;
	write_seq = tp->write_seq;
	if (write_seq != tp->snd_nxt)
		on_xmit_refused(sk, write_seq, mss_now, nonagle, true);
	return 0;
}

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

	bpf_core_read(&cb, sizeof(cb), &skb->cb);
	segment.seq = cb.seq;
	segment.end = cb.seq + BPF_CORE_READ(skb, len);
	segment.ack = rcv_nxt;
	on_transmit((__u64)sk, &segment);
}

SEC("?fentry/__tcp_transmit_skb")
int BPF_PROG(fentry_transmit, struct sock *sk, struct sk_buff *skb, int clone_it, gfp_t gfp,
	     u32 rcv_nxt)
{
	if (segments_matter())
		transmit_skb(sk, skb, rcv_nxt);
	return 0;
}

SEC("?kprobe/__tcp_transmit_skb")
int BPF_KPROBE(kprobe_transmit, struct sock *sk, struct sk_buff *skb, int clone_it, gfp_t gfp,
	       u32 rcv_nxt)
{
	if (segments_matter())
		transmit_skb(sk, skb, rcv_nxt);
	return 0;
}

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
	on_transmit(key, &segment);
	return 0;
}

/* ---- retransmits ---- */

static __always_inline void retransmit_skb(struct sock *sk, struct sk_buff *skb)
{
	struct tcp_skb_cb_head cb = {};

	bpf_core_read(&cb, sizeof(cb), &skb->cb);
	on_retransmit(sk, cb.seq, cb.end_seq);
}

SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(tp_retrans, struct sock *sk, struct sk_buff *skb)
{
	retransmit_skb(sk, skb);
	return 0;
}

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

/* ---- the application's reads: --all only ---- */

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(tp_read, struct sock *sk, int ret, int flags)
{
	if (!(flags & 2)) /* MSG_PEEK */
		on_recv_end(sk, ret);
	return 0;
}

/* 5.10 has six arguments, from ec095263a965 (5.19) on there are five. */
SEC("?fexit/tcp_recvmsg")
int BPF_PROG(fexit_read_6, struct sock *sk, struct msghdr *msg, size_t len, int nonblock, int flags,
	     int *addr_len, int ret)
{
	on_recv_end(sk, ret);
	return 0;
}

SEC("?fexit/tcp_recvmsg")
int BPF_PROG(fexit_read_5, struct sock *sk, struct msghdr *msg, size_t len, int flags,
	     int *addr_len, int ret)
{
	on_recv_end(sk, ret);
	return 0;
}

SEC("?kprobe/tcp_recvmsg")
int BPF_KPROBE(kprobe_read, struct sock *sk)
{
	remember_socket(&receiving, sk);
	return 0;
}

SEC("?kretprobe/tcp_recvmsg")
int BPF_KRETPROBE(kretprobe_read, int ret)
{
	struct sock *sk = recall_socket(&receiving);

	if (sk)
		on_recv_end(sk, ret);
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

SEC("?fentry/tcp_delack_timer_handler")
int BPF_PROG(fentry_delack_fire, struct sock *sk)
{
	on_delack_fired(sk);
	return 0;
}

SEC("?kprobe/tcp_delack_timer_handler")
int BPF_KPROBE(kprobe_delack_fire, struct sock *sk)
{
	on_delack_fired(sk);
	return 0;
}

#endif

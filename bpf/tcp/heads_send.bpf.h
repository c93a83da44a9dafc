/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of the end of a send: each attach type that can tell it. */
#ifndef NETSTALL_BPF_TCP_HEADS_SEND_BPF_H
#define NETSTALL_BPF_TCP_HEADS_SEND_BPF_H

/*
 * When what was sent went out. tcp_clock_cache alone is later where release_sock() has taken in
 * the ACK before the call returned: by then the other end may have read all, and be at its work.
 * Under pacing tcp_wstamp_ns is a time to come (tcp_update_skb_after_send()).
 */
static __always_inline __u64 sent_ns(__u64 clock_cache, __u64 wstamp_ns)
{
	return wstamp_ns < clock_cache ? wstamp_ns : clock_cache;
}

static __always_inline void view_trusted(struct tcp_sock *tp, struct send_view *view)
{
	view->write_seq = tp->write_seq;
	view->snd_nxt = tp->snd_nxt;
	view->snd_una = tp->snd_una;
	view->copied_seq = tp->copied_seq;
	view->clock_ns = sent_ns(tp->tcp_clock_cache, tp->tcp_wstamp_ns);
}

static __always_inline void view_probed(struct sock *sk, struct send_view *view)
{
	struct tcp_sock *tp = (void *)sk;

	view->write_seq = BPF_CORE_READ(tp, write_seq);
	view->snd_nxt = BPF_CORE_READ(tp, snd_nxt);
	view->snd_una = BPF_CORE_READ(tp, snd_una);
	view->copied_seq = BPF_CORE_READ(tp, copied_seq);
	view->clock_ns =
		sent_ns(BPF_CORE_READ(tp, tcp_clock_cache), BPF_CORE_READ(tp, tcp_wstamp_ns));
}

static __always_inline bool writer_matters(void)
{
	if (!in_window())
		return false;
	return settings.any_process || proc_hint(bpf_get_current_pid_tgid() >> 32)->watched;
}

/* maybe_told: by the other one of a program and its spare; then it is not told again. */
static __always_inline void sent(struct sock *sk, int bytes, bool maybe_told)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn;
	struct send_view view;
	struct tcp_sock *tp;

	if (!writer_matters())
		return;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp) {
		if (!maybe_told)
			datagram_sent_anyhow(sk);
		return;
	}
	conn = maybe_told ? bpf_map_lookup_elem(&conns, &key) : NULL;
	if (conn && conn->told_seq == tp->write_seq)
		return;
	view_trusted(tp, &view);
	on_send_end(sk, &view, bytes);
}

/*
 * A spare (see tp_uring_submit_spare) is for sends that the first program was not run for: the
 * socket's write_seq has moved on since the last one that was told. At the function's end the
 * socket is locked, so that is sure, and has to be: of two programs there the later one attached
 * runs first. At the tracepoint it is not locked, so a send can be told twice of threads that write
 * on one socket at the same instant.
 */
HEAD("?tp_btf/sock_send_length", tp_send, sent(sk, ret, false), struct sock *sk, int ret, int flags)

HEAD("?tp_btf/sock_send_length", tp_send_spare, sent(sk, ret, true), struct sock *sk, int ret,
     int flags)

HEAD("?fexit/tcp_sendmsg_locked", fexit_send, sent(sk, ret, settings.spares), struct sock *sk,
     struct msghdr *msg, size_t size, int ret)

HEAD("?fexit/tcp_sendmsg_locked", fexit_send_spare, sent(sk, ret, true), struct sock *sk,
     struct msghdr *msg, size_t size, int ret)

/* Linux before 6.5: sendfile and splice. */
HEAD("?fexit/do_tcp_sendpages", fexit_sendpage, sent(sk, ret, false), struct sock *sk,
     struct page *page, int offset, size_t size, int flags, int ret)

/* The call that the thread has begun and whose end is not told yet. False: there is none. */
static __always_inline bool take_call(void *map, struct ns_begun *out)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct ns_begun *begun = writer_matters() ? bpf_map_lookup_elem(map, &tid) : NULL;

	if (!begun)
		return false;
	*out = *begun;
	bpf_map_delete_elem(map, &tid);
	return true;
}

/* Its connection, on which it is no longer under way; NULL: that has ended, or is not known yet. */
static __always_inline struct ns_conn_state *conn_of_ended(const struct ns_begun *send)
{
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &send->sk);

	if (conn && send->counted)
		__sync_fetch_and_add(&conn->sends_begun, -1);
	return conn;
}

/*
 * The kernel has but so many return probes of a function under way at a time: ten, or two for each
 * CPU, and one for each before 3b7ddab8a19a (6.2) where nothing preempts it. For a send that begins
 * meanwhile it runs none: then the thread's next one finds what was noted at its beginning. What no
 * send comes behind is counted as lost when the connection ends.
 */
static __always_inline void tell_missed(const struct ns_begun *missed)
{
	struct sock *sk = (struct sock *)missed->sk;
	struct send_view view;

	if (!conn_of_ended(missed))
		return;
	view_probed(sk, &view);
	on_send_end(sk, &view, view.write_seq - missed->write_seq);
}

static __always_inline void on_send_begin(struct sock *sk)
{
	struct ns_begun begun = {.sk = (__u64)sk}, missed;
	__u32 tid = bpf_get_current_pid_tgid();
	struct ns_conn_state *conn;

	if (!writer_matters())
		return;
	if (take_call(&sending, &missed))
		tell_missed(&missed);
	begun.write_seq = BPF_CORE_READ((struct tcp_sock *)sk, write_seq);
	conn = bpf_map_lookup_elem(&conns, &begun.sk);
	if (conn) {
		__sync_fetch_and_add(&conn->sends_begun, 1);
		begun.counted = 1;
	}
	bpf_map_update_elem(&sending, &tid, &begun, BPF_ANY);
}

KPROBE_HEAD("?kprobe/tcp_sendmsg_locked", kprobe_send, on_send_begin(sk), struct sock *sk)

KPROBE_HEAD("?kprobe/do_tcp_sendpages", kprobe_sendpage, on_send_begin(sk), struct sock *sk)

static __always_inline void send_end_probed(int bytes)
{
	struct send_view view;
	struct ns_begun send;
	struct sock *sk;

	if (!take_call(&sending, &send))
		return;
	conn_of_ended(&send);
	sk = (struct sock *)send.sk;
	view_probed(sk, &view);
	on_send_end(sk, &view, bytes);
}

KRETPROBE_HEAD("?kretprobe/tcp_sendmsg_locked", kretprobe_send, send_end_probed(ret), int ret)

KRETPROBE_HEAD("?kretprobe/do_tcp_sendpages", kretprobe_sendpage, send_end_probed(ret), int ret)

#endif

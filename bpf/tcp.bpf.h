/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sends, holds, segments: one body per fact, called by the heads of every attach way.
 * The bodies take what they need as arguments; they never ask who is current, except
 * where a send call is concerned, which runs in its caller's context.
 */
#ifndef NETSTALL_TCP_BPF_H
#define NETSTALL_TCP_BPF_H

#define NS_PACING_NEEDED 1 /* SK_PACING_NEEDED, include/net/sock.h */
#define NS_TSQ_THROTTLED 1 /* bit 0 of sk_tsq_flags */
#define NS_NAGLE_CORK    2 /* TCP_NAGLE_CORK, include/net/tcp.h */

static __always_inline void note_release(struct ns_conn_state *conn, __u64 now, bool inexact)
{
	struct ns_release *out = history_slot(conn, NS_RELEASE, sizeof(*out), now);

	out->held_ns = now - conn->hold_ts;
	out->seq = conn->hold_seq;
	out->end = conn->hold_end;
	out->reason = conn->hold_reason;
	out->inexact = inexact;
	history_commit(conn, out, sizeof(*out));
	conn->turn_held_ns += out->held_ns;
	conn->released_ts = now;
	if (inexact)
		count_lost(NS_LOST_RELEASES);
	if (now - conn->hold_ts >= settings.threshold_ns || conn->hold_told)
		flush_both(conn);
	end_hold(conn);
}

static __always_inline bool pacing_waits(struct sock *sk)
{
	struct tcp_sock *tp = (void *)sk;

	return BPF_CORE_READ(sk, sk_pacing_status) == NS_PACING_NEEDED &&
	       hrtimer_waits(&tp->pacing_timer);
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

/* The tests of tcp_write_xmit() in their order there, on the state that the send left. */
static __always_inline __u32 hold_reason(struct sock *sk, const struct ns_hold *hold, bool msg_more)
{
	struct tcp_sock *tp = (void *)sk;
	__u32 snd_una = BPF_CORE_READ(tp, snd_una);
	__u32 length = hold->end - hold->seq;
	__u32 segment = length < hold->mss ? length : hold->mss;
	__u32 left_network = BPF_CORE_READ(tp, sacked_out) + BPF_CORE_READ(tp, lost_out);
	__u32 in_flight = hold->packets_out - left_network + BPF_CORE_READ(tp, retrans_out);
	bool small = length < hold->mss;

	if (seq_after(hold->seq + segment, snd_una + hold->snd_wnd))
		return hold->snd_wnd ? NS_HOLD_RWND : NS_HOLD_ZERO_WINDOW;
	if (in_flight >= hold->cwnd)
		return NS_HOLD_CWND;
	if (pacing_waits(sk))
		return NS_HOLD_PACING;
	if (small && hold->nonagle & NS_NAGLE_CORK)
		return NS_HOLD_CORK;
	if (small && msg_more)
		return NS_HOLD_MSG_MORE;
	if (small && !hold->nonagle && hold->packets_out &&
	    small_segment_is_out(hold, snd_una, BPF_CORE_READ(tp, snd_sml)))
		return NS_HOLD_NAGLE;
	if (BPF_CORE_READ(sk, sk_tsq_flags) & NS_TSQ_THROTTLED)
		return NS_HOLD_TSQ;
	return NS_HOLD_UNKNOWN;
}

static __noinline int begin_hold(struct sock *sk, struct ns_conn_state *conn,
				 const struct send_view *view, __u64 now)
{
	struct tcp_sock *tp = (void *)sk;
	struct ns_hold *out;
	__u32 fd, msg_flags;
	bool msg_more;

	if (!conn || !view)
		return 0;
	watch_both_ends(conn);
	read_send_call(&fd, &msg_flags);
	if (conn->fd == NS_FD_UNKNOWN)
		conn->fd = fd;
	out = history_slot(conn, NS_HOLD, sizeof(*out), now);
	out->seq = view->snd_nxt;
	out->end = view->write_seq;
	out->unacked = view->snd_nxt - view->snd_una;
	out->mss = BPF_CORE_READ(tp, mss_cache);
	out->nonagle = BPF_CORE_READ_BITFIELD_PROBED(tp, nonagle);
	out->packets_out = BPF_CORE_READ(tp, packets_out);
	out->cwnd = BPF_CORE_READ(tp, snd_cwnd);
	out->snd_wnd = BPF_CORE_READ(tp, snd_wnd);
	out->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	out->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	out->last_tx_ts = BPF_CORE_READ(tp, tcp_wstamp_ns);
	out->fd = fd == NS_FD_UNKNOWN ? conn->fd : fd;
	__builtin_memset(&out->begun, 0, sizeof(*out) - __builtin_offsetof(struct ns_hold, begun));
	out->basis = NS_BASIS_STATE;
	msg_more = msg_flags & NS_MSG_MORE;
	if (conn->xmit_mss && conn->xmit_end == view->write_seq) {
		/* tcp_push() turns MSG_MORE into TCP_NAGLE_CORK for this one call. */
		out->basis = NS_BASIS_XMIT;
		out->mss = conn->xmit_mss;
		if (conn->xmit_nonagle & NS_NAGLE_CORK && !(out->nonagle & NS_NAGLE_CORK))
			msg_more = true;
	}
	out->reason = hold_reason(sk, out, msg_more);
	conn->hold_seq = out->seq;
	conn->hold_end = out->end;
	conn->hold_reason = out->reason;
	conn->holds[out->reason & (NS_HOLD_REASONS - 1)]++;
	if (!conn->hold_ts)
		__sync_fetch_and_add(&active_holds, 1);
	conn->hold_ts = now;
	conn->hold_told = settings.verbose;
	history_commit(conn, out, sizeof(*out));
	/*
	 * From here on transmits are looked at. One that came between the reading of
	 * snd_nxt and now went unseen, so look once more: the hold was a short one.
	 */
	if (seq_after(BPF_CORE_READ(tp, snd_nxt), conn->hold_seq))
		note_release(conn, bpf_ktime_get_ns(), false);
	return 0;
}

/* What a send left of the hold before it. Returns true when that hold goes on. */
static __always_inline bool hold_goes_on(struct ns_conn_state *conn, const struct send_view *view,
					 __u64 now)
{
	if (!conn->hold_ts)
		return false;
	if (!seq_after(view->snd_nxt, conn->hold_seq)) {
		conn->hold_end = view->write_seq;
		return true;
	}
	/* Gone, and its transmit was not seen: other tracers' attaching can cause that. */
	note_release(conn, now, true);
	return false;
}

static __always_inline void own_by_use(struct sock *sk, struct ns_conn_state *conn, __u32 tgid)
{
	__u32 fd, flags;

	read_send_call(&fd, &flags);
	conn->tgid = tgid;
	conn->owner_sure = 1;
	if (conn->fd == NS_FD_UNKNOWN)
		conn->fd = fd;
	add_proc(tgid, conn->role);
	tell_conn(sk, conn);
}

static __noinline struct ns_conn_state *adopt_by_use(struct sock *sk, __u32 tgid)
{
	struct adoption as = {
		.role = NS_ROLE_TARGET, .tgid = tgid, .origin = NS_ORIGIN_USE, .owner_sure = 1};
	__u32 flags;

	if (!sk || !target_wanted(sk, tgid) || !is_tcp(sk))
		return NULL;
	read_send_call(&as.fd, &flags);
	return adopt_open(sk, &as);
}

/*
 * The end of a send of any kind. Nearly always nothing is left behind, and then this
 * counts, notes the send in the history and is done: the clock of the note is the one
 * that TCP itself read when it transmitted, which saves reading it again.
 */
static __always_inline void on_send_end(struct sock *sk, const struct send_view *view, int bytes)
{
	__u64 key = (__u64)sk, id = bpf_get_current_pid_tgid(), now;
	struct ns_conn_state *conn;
	struct ns_last_send *last;
	struct ns_send *out;
	bool held = seq_after(view->write_seq, view->snd_nxt);

	if (bytes <= 0 || (only_tid && (__u32)id != only_tid))
		return;
	if (!settings.any_process && !proc_hint(id >> 32))
		return;
	conn = bpf_map_lookup_elem(&conns, &key);
	if (!conn) {
		conn = adopt_by_use(sk, id >> 32);
		if (!conn)
			return;
	}
	if (!conn->owner_sure)
		own_by_use(sk, conn, id >> 32);
	now = held || settings.verbose ? bpf_ktime_get_ns() : view->clock_ns;
	conn->writes++;
	count_write(key, conn, view->copied_seq, bytes, now);
	out = history_slot(conn, NS_SEND, sizeof(*out), now);
	out->bytes = bytes;
	out->fd = conn->fd;
	out->msg_flags = 0;
	out->write_seq = view->write_seq;
	out->snd_nxt = view->snd_nxt;
	out->snd_una = view->snd_una;
	last = &last_send[out->head.cpu & (NS_CPUS - 1)];
	last->sk = key;
	last->tid = id;
	history_commit(conn, out, sizeof(*out));
	if (held || conn->hold_ts) {
		if (!hold_goes_on(conn, view, now) && held && !closing)
			begin_hold(sk, conn, view, now);
	}
	sample_sites(conn, view, bytes, now);
}

/* tcp_write_xmit() left bytes behind: keep the arguments it decided by. */
static __always_inline void on_xmit_refused(struct sock *sk, __u32 write_seq, __u32 mss,
					    __u32 nonagle)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);

	if (!conn)
		return;
	conn->xmit_end = write_seq;
	conn->xmit_mss = mss;
	conn->xmit_nonagle = nonagle;
}

/* Transmits and receives matter only while something is held or recovered. */
static __always_inline bool segments_matter(void)
{
	if (settings.verbose || active_holds > 0)
		return true;
	if (!answers_until)
		return false;
	if (bpf_ktime_get_ns() <= answers_until)
		return true;
	answers_until = 0;
	return false;
}

struct segment {
	__u32 seq;
	__u32 end;
	__u32 ack;
	__u32 flags;
};

static __always_inline void note_segment(struct ns_conn_state *conn, __u32 type, __u64 now,
					 const struct segment *segment)
{
	struct ns_segment *out = history_slot(conn, type, sizeof(*out), now);

	out->seq = segment->seq;
	out->end = segment->end;
	out->ack = segment->ack;
	out->flags = segment->flags;
	bpf_get_current_comm(out->comm, sizeof(out->comm));
	history_commit(conn, out, sizeof(*out));
}

static __always_inline void on_transmit(__u64 key, const struct segment *segment)
{
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	bool data = segment->end != segment->seq;
	__u64 now;

	if (!conn)
		return;
	now = bpf_ktime_get_ns();
	note_segment(conn, data ? NS_TX : NS_ACK, now, segment);
	if (!data)
		return;
	if (!conn->hold_ts || !seq_after(segment->end, conn->hold_seq))
		return; /* nothing held, or older data again */
	note_release(conn, now, seq_after(segment->seq, conn->hold_seq));
}

static __always_inline void on_receive(struct sock *sk, const struct segment *segment)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	__u64 now;

	if (!conn) {
		conn = adopt_peer(sk, NS_OPENER_UNKNOWN);
		if (!conn)
			return;
	}
	now = bpf_ktime_get_ns();
	note_segment(conn, NS_RX, now, segment);
	recovery_acked(conn, segment->ack, now);
	if (segment->end != segment->seq)
		answer_came(conn, now);
}

static __always_inline void on_recv_end(struct sock *sk, int bytes)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn;
	struct ns_recv *out;

	if (bytes <= 0 || !segments_matter())
		return;
	conn = bpf_map_lookup_elem(&conns, &key);
	if (!conn)
		return;
	conn->reads++;
	out = history_slot(conn, NS_RECV, sizeof(*out), bpf_ktime_get_ns());
	out->bytes = bytes;
	out->fd = conn->fd;
	history_commit(conn, out, sizeof(*out));
}

#endif

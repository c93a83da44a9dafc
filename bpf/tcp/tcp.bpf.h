/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sends, segments: one body per fact, called by the heads of every attach way.
 * The bodies take what they need as arguments; they never ask who is current, except
 * where a send call is concerned, which runs in its caller's context.
 */
#ifndef NETSTALL_BPF_TCP_TCP_BPF_H
#define NETSTALL_BPF_TCP_TCP_BPF_H

static __always_inline void own_by_use(struct sock *sk, struct ns_conn_state *conn, __u32 tgid)
{
	__u32 fd, flags;

	read_sending(sk, &fd, &flags);
	settle_owner(sk, conn, tgid, NS_OWNER_SEEN);
	if (conn->fd == NS_FD_UNKNOWN)
		conn->fd = fd;
	tell_conn(sk, conn);
}

/*
 * Not a closed one. On loopback a reset comes back while its send is still under way
 * (tcp_reset(), tcp_done()): the connection is over and was dropped, the socket has no port any
 * more, and what was accepted would seem to be a client's.
 */
static __noinline struct ns_conn_state *adopt_by_use(struct sock *sk, __u32 tgid)
{
	struct adoption as = {.role = NS_ROLE_TARGET,
			      .tgid = tgid,
			      .origin = NS_ORIGIN_USE,
			      .owner_sure = NS_OWNER_SEEN};
	__u32 flags;

	if (!sk || !target_wanted(sk, tgid) || !is_tcp(sk) ||
	    BPF_CORE_READ(sk, __sk_common.skc_state) == NS_TCP_CLOSE)
		return NULL;
	as.opener = opener_by_use(sk);
	read_sending(sk, &as.fd, &flags);
	return adopt_open(sk, &as);
}

static __always_inline __u32 begun_by_send(const struct send_view *view, __u32 bytes)
{
	return seq_after(view->snd_nxt, view->write_seq - bytes) ? NS_BEGUN_PARTLY : NS_BEGUN_SEND;
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

	if (bytes <= 0 || is_other_thread(id))
		return;
	if (!settings.any_process && !proc_hint(id >> 32)->watched)
		return;
	conn = bpf_map_lookup_elem(&conns, &key);
	if (!conn) {
		conn = adopt_by_use(sk, id >> 32);
		if (!conn)
			return;
	}
	if (!is_owner(conn, id >> 32))
		own_by_use(sk, conn, id >> 32);
	now = held ? bpf_ktime_get_ns() : view->clock_ns;
	conn->writes++;
	conn->told_seq = view->write_seq;
	count_write(key, conn, view->copied_seq, bytes, now, id);
	out = history_slot(conn, NS_SEND, sizeof(*out), now);
	out->bytes = bytes;
	out->fd = conn->fd;
	out->msg_flags = 0;
	out->write_seq = view->write_seq;
	out->snd_nxt = view->snd_nxt;
	out->snd_una = view->snd_una;
	out->via = send_via();
	out->pad = 0;
	last = &last_send[out->head.cpu & (NS_CPUS - 1)];
	last->sk = key;
	last->tid = id;
	last->conn = conn->id;
	note_asked(last, id, conn->opener == NS_OPENER_PEER ? 0 : NS_SHORT_REPLY);
	history_commit(conn, out, sizeof(*out));
	if (held || is_held(conn)) {
		if (!hold_goes_on(sk, conn, view, now) && held && !closing)
			begin_hold(sk, conn, now, begun_by_send(view, bytes), false);
	}
	sample_sites(sk, conn, view, bytes, now);
}

/*
 * tcp_write_xmit() left bytes behind: keep the arguments it decided by. decided: it has returned,
 * so what it left is as it leaves it.
 */
static __always_inline void on_xmit_refused(struct sock *sk, __u32 write_seq, __u32 mss,
					    __u32 nonagle, bool decided)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = in_window() ? bpf_map_lookup_elem(&conns, &key) : NULL;
	__u64 now;

	if (!conn)
		return;
	conn->hold.xmit_end = write_seq;
	conn->hold.xmit_mss = mss;
	conn->hold.xmit_nonagle = nonagle;
	if (!decided || !is_held(conn))
		return;
	now = bpf_ktime_get_ns();
	look_at_hold(sk, conn, now, false);
	conn->hold.look_ts = now;
}

/* Transmits and receives matter only while something is held or recovered. */
static __always_inline bool segments_matter(void)
{
	__u64 until;

	if (settings.verbose || active_holds > 0)
		return in_window();
	until = answers_until;
	if (until == answers_over || !in_window())
		return false;
	if (bpf_ktime_get_ns() <= until)
		return true;
	answers_over = until; /* not of what another CPU sets just now */
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

/* number: which transmit of the socket it is, where it may have been told already; else 0. */
static __always_inline void on_transmit(__u64 key, const struct segment *segment, __u32 number)
{
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	bool data = segment->end != segment->seq;
	__u64 now;

	if (!conn || (number && conn->told_transmit == number))
		return;
	conn->told_transmit = number;
	now = bpf_ktime_get_ns();
	note_segment(conn, data ? NS_TX : NS_ACK, now, segment);
	if (!data)
		return;
	if (!is_held(conn) || !seq_after(segment->end, conn->hold.seq))
		return; /* nothing held, or older data again */
	on_part_left((struct sock *)key, conn, segment->seq, segment->end, now);
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
	if (is_held(conn))
		on_arrival_while_held(sk, conn, now);
	note_segment(conn, NS_RX, now, segment);
	recovery_acked(conn, segment->ack, now);
	if (segment->end != segment->seq)
		answer_came(conn, now);
}

/*
 * The first that a target does with a connection whose listener several processes have: whose it is
 * was not known. What has just been read is its request.
 */
static __noinline int own_by_read(struct sock *sk, const struct recv_view *view, __u32 tgid)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);

	if (!sk || !view)
		return 0;
	if (conn) {
		own_by_use(sk, conn, tgid);
		return 1;
	}
	conn = adopt_by_use(sk, tgid);
	if (!conn)
		return 0;
	conn->copied_seq = view->copied_seq - view->bytes_read;
	conn->shown_seq = conn->copied_seq;
	return 1;
}

/*
 * Who reads first of a connection that came to a port of several processes has accepted it. It need
 * not be watched yet.
 */
static __noinline int own_queued(struct sock *sk, __u32 tgid)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);

	if (sk && conn && conn->queued_ts && !conn->owner_sure)
		own_by_use(sk, conn, tgid);
	return 0;
}

/* Returns enum read_noted. */
static __always_inline int on_read(struct sock *sk, const struct recv_view *view)
{
	__u64 key = (__u64)sk, id = bpf_get_current_pid_tgid();
	struct ns_conn_state *conn;
	struct ns_recv *out;
	int noted = READ_NOTED;

	if (*queued_hint(0))
		own_queued(sk, id >> 32);
	if (read_matters(view, id >> 32))
		noted = note_read(key, view, id);
	if (noted == READ_OWNER_UNKNOWN && own_by_read(sk, view, id >> 32))
		noted = note_read(key, view, id);
	if (readers_wanted > 0 && proc_hint(id >> 32)->watched)
		tell_reader(key, id);
	if (!settings.verbose || !segments_matter())
		return noted;
	conn = bpf_map_lookup_elem(&conns, &key);
	if (!conn || view->copied_seq == conn->shown_seq)
		return noted;
	conn->reads++;
	out = history_slot(conn, NS_RECV, sizeof(*out), bpf_ktime_get_ns());
	out->bytes = view->copied_seq - conn->shown_seq;
	out->fd = conn->fd;
	history_commit(conn, out, sizeof(*out));
	conn->shown_seq = view->copied_seq;
	return noted;
}

#endif

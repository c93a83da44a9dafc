/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bytes that TCP keeps back: when that begins, how the reason changes, when it ends.
 *
 * The reason (reason.bpf.h) is rebuilt from the socket's state. Where tcp_write_xmit() is hooked
 * its own arguments are used, and with fentry each of its refusals is looked at. Elsewhere the
 * state is looked at when something comes by: an acknowledgement (before TCP has processed it, so
 * what is found has been so since the look before), a further send, the writer's going to sleep.
 *
 * Only bytes that were written are held. A FIN that TCP keeps back (for pacing, or behind held
 * bytes) is no hold.
 */
#ifndef NETSTALL_BPF_TCP_HOLD_BPF_H
#define NETSTALL_BPF_TCP_HOLD_BPF_H

#define NS_LOOKS_KEPT (NS_HISTORY - 4) /* records of a long hold that wait to be streamed */

/* What the other end's program could read when the hold began. */
static __always_inline void note_arrived(struct ns_conn_state *conn)
{
	struct tcp_sock *tp = (void *)conn->peer;

	conn->hold.there_known = tp && bpf_map_lookup_elem(&conns, &conn->peer);
	if (conn->hold.there_known)
		conn->hold.there = BPF_CORE_READ(tp, rcv_nxt);
}

/*
 * How much of that it had not read when the bytes came free. One that waits for more than
 * there is (SO_RCVLOWAT) is not behind.
 */
static __always_inline void note_reader(struct ns_conn_state *conn, struct ns_release *out)
{
	struct tcp_sock *tp = (void *)conn->peer;
	struct sock *sk = (void *)conn->peer;
	__s32 unread;

	out->unread = 0;
	out->unread_known =
		conn->hold.there_known && sk && bpf_map_lookup_elem(&conns, &conn->peer);
	if (!out->unread_known)
		return;
	unread = conn->hold.there - BPF_CORE_READ(tp, copied_seq);
	if (unread > 0 && unread >= BPF_CORE_READ(sk, sk_rcvlowat))
		out->unread = unread;
}

static __always_inline void note_release(struct sock *sk, struct ns_conn_state *conn, __u64 now,
					 bool inexact)
{
	__u32 number = conn->hold.number, seq, end;
	struct ns_release *out;
	__u64 since;

	/* Another CPU may end it just now, and begin another: then what is read is not used. */
	barrier();
	since = conn->hold.ts;
	seq = conn->hold.seq;
	end = conn->hold.end;
	if (!is_held(conn) || since > now || !end_hold(conn, number))
		return;
	out = history_slot(conn, NS_RELEASE, sizeof(*out), now);
	out->held_ns = now - since;
	out->seq = seq;
	out->end = end;
	out->reason = conn->hold.reason;
	out->inexact = inexact;
	out->nonagle = BPF_CORE_READ_BITFIELD_PROBED((struct tcp_sock *)sk, nonagle);
	out->nonagle_known = 1;
	note_reader(conn, out);
	history_commit(conn, out, sizeof(*out));
	conn->turn.held_ns += now - since;
	conn->turn.released_ts = now;
	if (inexact)
		count_lost(NS_LOST_RELEASES);
	if (now - since >= settings.threshold_ns || conn->hold.told)
		flush_both(conn);
	else
		conn->hold.kept = 0;
}

static __always_inline void count_hold(struct ns_conn_state *conn, __u32 reason)
{
	conn->holds[reason & (NS_HOLD_REASONS - 1)]++;
}

/* What was weighed becomes a record of that time. */
static __always_inline void tell_hold(struct ns_conn_state *conn, const struct ns_hold *look,
				      __u64 ts)
{
	struct ns_hold *out;

	out = history_slot(conn, NS_HOLD, sizeof(*out), ts);
	out->head.tgid = conn->hold.tgid;
	out->head.tid = conn->hold.tid;
	__builtin_memcpy(&out->reason, &look->reason, sizeof(*out) - sizeof(out->head));
	conn->hold.reason = out->reason;
	conn->hold.pending = 0;
	if (!settings.verbose)
		keep_look(conn, (struct ns_slot *)out, out->head.cpu);
	history_commit(conn, out, sizeof(*out));
}

/* False: another CPU has just begun one, and tells it. */
static __always_inline bool open_hold(struct ns_conn_state *conn, __u32 seq, __u32 end, __u64 now)
{
	__u32 number = number_hold(conn);

	if (!number)
		return false;
	conn->hold.seq = seq;
	conn->hold.end = end;
	conn->hold.ts = now;
	conn->hold.part_ts = now;
	conn->hold.look_ts = now;
	conn->hold.told = settings.verbose;
	conn->hold.kept = 0;
	conn->hold.pending = 0;
	note_arrived(conn);
	barrier();
	conn->hold.number = number; /* from here on it is one */
	return true;
}

/* A hold that begins while another CPU looks at the one before: what holds it is seen at the next
 * look. */
static __always_inline void open_unseen(struct sock *sk, struct ns_conn_state *conn, __u64 now)
{
	struct tcp_sock *tp = (void *)sk;

	if (open_hold(conn, BPF_CORE_READ(tp, snd_nxt), BPF_CORE_READ(tp, write_seq), now))
		conn->hold.pending = 1;
}

/* In the context of the send call. blocked: the writer goes to sleep in it. */
static __noinline int begin_hold(struct sock *sk, struct ns_conn_state *conn, __u64 now,
				 __u32 begun, __u32 blocked)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct tcp_sock *tp = (void *)sk;
	struct ns_hold *look;
	__u32 fd, msg_flags;
	bool begins;

	if (!sk || !conn)
		return 0;
	watch_both_ends(conn);
	read_sending(sk, &fd, &msg_flags);
	if (conn->fd == NS_FD_UNKNOWN)
		conn->fd = fd;
	conn->hold.fd = fd == NS_FD_UNKNOWN ? conn->fd : fd;
	conn->hold.more = (msg_flags & NS_MSG_MORE) != 0;
	conn->hold.tgid = id >> 32;
	conn->hold.tid = id;
	if (!begin_look(conn)) {
		open_unseen(sk, conn, now);
		return 0;
	}
	look = (struct ns_hold *)&conn->hold.look;
	look->fd = conn->hold.fd;
	look->begun = begun;
	weigh_hold(sk, conn, look, now);
	if (blocked && !look->reason)
		look->reason = NS_HOLD_SNDBUF;
	begins = open_hold(conn, look->seq, look->end, now);
	if (begins) {
		count_hold(conn, look->reason);
		tell_hold(conn, look, now);
	}
	end_look(conn);
	/*
	 * From here on transmits are looked at. One that came between the reading of
	 * snd_nxt and now went unseen, so look once more: the hold was a short one.
	 */
	if (begins && seq_after(BPF_CORE_READ(tp, snd_nxt), conn->hold.seq))
		note_release(sk, conn, bpf_ktime_get_ns(), false);
	return 0;
}

/*
 * A socket that existed before: what it holds back already is held from now on. Where a thread has
 * its lock, a send may be on the way: the end of that is seen.
 */
static __noinline int find_hold(struct sock *sk, struct ns_conn_state *conn)
{
	__u64 now = bpf_ktime_get_ns();
	struct ns_hold *look;

	if (!sk || !conn || is_held(conn) || closing || BPF_CORE_READ(sk, sk_lock.owned) ||
	    !begin_look(conn))
		return 0;
	look = (struct ns_hold *)&conn->hold.look;
	look->fd = conn->fd;
	look->begun = NS_BEGUN_LATER;
	conn->hold.fd = look->fd;
	conn->hold.more = 0;
	conn->hold.tgid = conn->tgid;
	conn->hold.tid = 0;
	weigh_hold(sk, conn, look, now);
	if (seq_after(look->end, look->seq)) {
		watch_both_ends(conn);
		if (open_hold(conn, look->seq, look->end, now)) {
			count_hold(conn, look->reason);
			tell_hold(conn, look, now);
		}
	}
	end_look(conn);
	return 0;
}

/* A rest that was left behind a moment ago, and of which nothing was told yet. */
static __always_inline bool is_fresh_rest(const struct ns_conn_state *conn)
{
	return conn->hold.pending && conn->hold.part_ts == conn->hold.ts;
}

/*
 * Held bytes are gone, and their transmit was not seen: it raced with the hold's begin, or other
 * tracers attach. A rest, if there is one, is seen at the next send.
 */
static __always_inline void end_unseen(struct sock *sk, struct ns_conn_state *conn, __u64 now)
{
	if (is_fresh_rest(conn))
		end_hold(conn, conn->hold.number);
	else
		note_release(sk, conn, now, true);
}

/* What is found has been so since that time; the caller is the one who looks. */
static __always_inline void weigh_again(struct sock *sk, struct ns_conn_state *conn, __u64 since,
					__u32 last)
{
	struct ns_hold *look = (struct ns_hold *)&conn->hold.look;
	bool more_parts = conn->hold.part_ts != conn->hold.ts;
	__u32 reason;

	look->fd = conn->hold.fd;
	look->begun = conn->hold.pending ? NS_BEGUN_LATER : NS_BEGUN_CHANGED;
	weigh_hold(sk, conn, look, since);
	conn->hold.more = 0;
	reason = look->reason;
	if (conn->hold.reason == NS_HOLD_AUTOCORK && reason == NS_HOLD_TSQ)
		reason = NS_HOLD_AUTOCORK; /* the same device */
	if (!reason && more_parts)
		reason = conn->hold.reason;
	if (conn->hold.pending ? !reason && !last : !reason || reason == conn->hold.reason)
		return;
	look->reason = reason;
	if (reason != conn->hold.reason)
		count_hold(conn, reason);
	tell_hold(conn, look, look->begun == NS_BEGUN_LATER ? conn->hold.part_ts : since);
}

/*
 * Is the reason still the same? last: something is about to end it, so what is not known now will
 * not be.
 */
static __noinline int look_at_hold(struct sock *sk, struct ns_conn_state *conn, __u64 since,
				   __u32 last)
{
	struct tcp_sock *tp = (void *)sk;

	if (!sk || !conn || !is_held(conn))
		return 0;
	if (seq_after(BPF_CORE_READ(tp, snd_nxt), conn->hold.seq)) {
		end_unseen(sk, conn, window_time());
		return 0;
	}
	if (!begin_look(conn))
		return 0;
	weigh_again(sk, conn, since, last);
	end_look(conn);
	return 0;
}

/* What a send left of the hold before it. Returns true when that hold goes on. */
static __always_inline bool hold_goes_on(struct sock *sk, struct ns_conn_state *conn,
					 const struct send_view *view, __u64 now)
{
	__u32 fd, msg_flags;

	if (!is_held(conn))
		return false;
	if (!seq_after(view->snd_nxt, conn->hold.seq)) {
		conn->hold.end = view->write_seq;
		read_sending(sk, &fd, &msg_flags);
		conn->hold.more = (msg_flags & NS_MSG_MORE) != 0;
		look_at_hold(sk, conn, now, false);
		conn->hold.look_ts = now;
		return true;
	}
	end_unseen(sk, conn, now);
	return false;
}

/*
 * Held bytes leave, up to end. When a part that waited for long leaves a rest the hold goes on,
 * else it is over, and the rest, if one stays behind, is a hold of its own; what holds it is
 * seen at the next look, because tcp_write_xmit() may be about to send it.
 */
static __always_inline void on_part_left(struct sock *sk, struct ns_conn_state *conn, __u32 seq,
					 __u32 end, __u64 now)
{
	bool rest = seq_after(conn->hold.end, end), inexact = seq_after(seq, conn->hold.seq);
	bool lasted = ns_passed(conn->hold.part_ts, now) >= settings.threshold_ns;
	__u32 hold_end = conn->hold.end;

	if (conn->hold.pending && lasted)
		look_at_hold(sk, conn, now, true);
	if (!is_held(conn))
		return;
	if (rest && lasted && !inexact) {
		conn->hold.seq = end;
		conn->hold.part_ts = now + 1; /* behind the transmit, in the order of times */
		conn->hold.look_ts = now + 1;
		conn->hold.pending = 1;
		return;
	}
	if (is_fresh_rest(conn))
		end_hold(conn, conn->hold.number);
	else
		note_release(sk, conn, now, inexact);
	if (!rest || closing)
		return;
	if (open_hold(conn, end, hold_end, now + 1))
		conn->hold.pending = 1;
}

/* A segment arrived, not yet processed. */
static __always_inline void on_arrival_while_held(struct sock *sk, struct ns_conn_state *conn,
						  __u64 now)
{
	const struct ns_history *history = history_of(conn);
	__u32 waiting = history ? history->next - history->flushed : 0;

	look_at_hold(sk, conn, conn->hold.look_ts, false);
	conn->hold.look_ts = now;
	if (is_held(conn) && waiting >= NS_LOOKS_KEPT &&
	    ns_passed(conn->hold.ts, now) >= settings.threshold_ns)
		history_flush(conn);
}

/* ---- the writer ---- */

/*
 * What sends sleeps, or is put off, only when the send buffer is full: sk_stream_wait_memory().
 * A global function, which the verifier looks at once instead of on each way that leads here.
 */
__noinline int on_blocked_send(__u64 key, __u64 now)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct sock *sk = (struct sock *)key;
	struct send_view view;

	if (!conn)
		return 0;
	view.snd_nxt = BPF_CORE_READ((struct tcp_sock *)sk, snd_nxt);
	view.write_seq = BPF_CORE_READ((struct tcp_sock *)sk, write_seq);
	if (conn->phase != NS_PHASE_OPEN || closing || hold_goes_on(sk, conn, &view, now))
		return 0;
	begin_hold(sk, conn, now, NS_BEGUN_PARTLY, true);
	return 0;
}

/* A thread sleeps in a send: its turn has begun, long before the send ends. Global likewise. */
__noinline int note_blocked_write(__u64 key, __u64 now)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct tcp_sock *tp = (void *)key;

	if (conn && conn->owner_sure && conn->phase == NS_PHASE_OPEN && !closing)
		enter_turn(key, conn, BPF_CORE_READ(tp, copied_seq), now,
			   bpf_get_current_pid_tgid());
	return 0;
}

/* The reason of what a thread's writes left behind, at the moment it goes to sleep. */
__noinline int look_at_held(__u64 key, __u64 now)
{
	struct ns_conn_state *conn = conn_traced(key);

	if (!conn || !is_held(conn))
		return 0;
	look_at_hold((struct sock *)key, conn, now, false);
	conn->hold.look_ts = now;
	return 0;
}

/*
 * A thread leaves its CPU to wait, in its own context. What it wrote may be held, and now for
 * another reason than when it wrote; or it waits inside a send, whose end does not come. Who is
 * stopped, traced or frozen on the way out of a send, or waits for a page or the socket's lock in
 * it, leaves his CPU in that call too: sk_write_pending counts those who wait for room
 * (sk_stream_wait_memory()). A kernel thread that blocks in a send is not seen: it is in no system
 * call.
 */
static __always_inline void on_writer_sleeps(struct task_struct *task,
					     struct ns_thread_state *thread, __u32 call, __u64 now)
{
	__u32 fd, msg_flags;
	struct sock *sk;

	if (active_holds > 0) {
		if (thread->conn)
			thread->held = thread->conn;
		if (thread->held)
			look_at_held(thread->held, now);
	}
	if (is_io_worker(task)) {
		sk = worker_sends_on(task);
	} else if (is_send_call(call)) {
		read_send_call(&fd, &msg_flags);
		sk = file_socket(task_file(task, fd));
	} else {
		return;
	}
	if (!sk || !BPF_CORE_READ(sk, sk_write_pending))
		return;
	note_blocked_write((__u64)sk, now);
	on_blocked_send((__u64)sk, now);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The delayed-ACK timer: armed by tcp_send_delayed_ack(), run by tcp_delack_timer(). A
 * timer carries no socket, but it lies inside one: its address less its offset is the
 * socket's.
 */
#ifndef NETSTALL_BPF_TCP_DELACK_BPF_H
#define NETSTALL_BPF_TCP_DELACK_BPF_H

/* tcp_delack_timer() is what the timer of every TCP socket runs, so adopt() learns its address. */
static __always_inline bool is_delack_timer(struct timer_list *timer)
{
	return delack_function && (__u64)timer->function == delack_function;
}

static __always_inline struct sock *delack_socket(struct timer_list *timer)
{
	__u64 offset = bpf_core_field_offset(struct inet_connection_sock, icsk_delack_timer);

	return (struct sock *)((__u64)timer - offset);
}

/* In the quiet volume this runs once an exchange: it notes the delay and no more. */
static __always_inline void on_delack_armed(struct sock *sk, __u64 expires)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn;
	struct ns_delack *out;

	if (!in_window())
		return;
	conn = bpf_map_lookup_elem(&conns, &key);
	if (!conn) {
		conn = adopt_peer(sk, NS_OPENER_UNKNOWN);
		if (!conn)
			return;
	}
	conn->delack_armed++;
	conn->delack_arm_ts = bpf_ktime_get_ns();
	out = history_slot(conn, NS_DELACK_ARM, sizeof(*out), conn->delack_arm_ts);
	__builtin_memset(&out->delay_us, 0, sizeof(*out) - sizeof(out->head));
	out->delay_us = jiffies_to_us(expires - bpf_jiffies64());
	history_commit(conn, out, sizeof(*out));
}

/*
 * The timer ran out. When a piggybacked ACK went before, it finds nothing due and nothing
 * is sent; when it was prolonged meanwhile it only arms itself again: both are no event
 * (tcp_delack_timer_handler() makes the same tests).
 */
static __always_inline void on_delack_fired(struct sock *sk)
{
	__u64 key = (__u64)sk;
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	struct inet_connection_sock *icsk = (void *)sk;
	__u32 pending = BPF_CORE_READ(icsk, icsk_ack.pending);
	struct ns_delack *out;
	__u64 now;

	if (!conn || !(pending & NS_ICSK_ACK_TIMER) || !in_window())
		return;
	if ((__s64)(delack_due(sk) - bpf_jiffies64()) > 0)
		return;
	conn->delack_fired++;
	now = bpf_ktime_get_ns();
	conn->turn.fired_ts = now;
	out = history_slot(conn, NS_DELACK_FIRE, sizeof(*out), now);
	out->delay_us = 0;
	out->pending = pending;
	out->ato_us = jiffies_to_us(BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ack.ato));
	out->owned = BPF_CORE_READ(sk, sk_lock.owned) != 0;
	bpf_get_current_comm(out->comm, sizeof(out->comm));
	history_commit(conn, out, sizeof(*out));
	watch_answer(sk, conn, now);
}

#endif

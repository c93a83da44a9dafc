/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records on their way out. In the quiet volume they wait in the history of their
 * socket, which is flushed when a stall ends; with --all they leave at once.
 * BPF_RB_NO_WAKEUP: the reader polls by the clock, a wake-up for each record
 * would cost more than all the rest.
 */
#ifndef NETSTALL_EMIT_BPF_H
#define NETSTALL_EMIT_BPF_H

static __always_inline void stream(void *record, __u32 len)
{
	if (bpf_ringbuf_output(&records, record, len, BPF_RB_NO_WAKEUP))
		count_lost(NS_LOST_RINGBUF);
}

static __always_inline void fill_head(struct ns_head *head, __u32 type, __u32 len, __u64 ts,
				      __u32 conn)
{
	__u64 id = bpf_get_current_pid_tgid();

	head->type = type;
	head->len = len;
	head->ts = ts;
	head->conn = conn;
	head->cpu = bpf_get_smp_processor_id();
	head->tgid = id >> 32;
	head->tid = id;
}

/* The next slot of the socket's history, with its head filled. Never NULL. */
static __always_inline void *history_slot(struct ns_conn_state *conn, __u32 type, __u32 len,
					  __u64 ts)
{
	__u32 next = conn->history_next++;
	struct ns_slot *slot = &conn->history[next & (NS_HISTORY - 1)];

	fill_head((struct ns_head *)slot, type, len, ts, conn->id);
	return slot;
}

/* The slot is written: with --all it goes out now. */
static __always_inline void history_commit(struct ns_conn_state *conn, void *slot, __u32 len)
{
	if (!settings.verbose)
		return;
	stream(slot, len);
	conn->history_flushed = conn->history_next;
}

static __noinline int history_flush(struct ns_conn_state *conn)
{
	__u32 end, count, first, i;

	if (!conn)
		return 0;
	if (conn->hold_ts && conn->hold_kept) {
		stream(&conn->hold_first, sizeof(struct ns_hold));
		conn->hold_kept = 0;
	}
	end = conn->history_next;
	count = end - conn->history_flushed;
	if (count > NS_HISTORY)
		count = NS_HISTORY;
	first = end - count;
	for (i = 0; i < NS_HISTORY; i++) {
		struct ns_slot *slot = &conn->history[(first + i) & (NS_HISTORY - 1)];
		__u32 len = ((struct ns_head *)slot)->len;

		if (i >= count)
			break;
		if (len > sizeof(*slot))
			len = sizeof(*slot);
		if (len >= sizeof(struct ns_head))
			stream(slot, len);
	}
	conn->history_flushed = end;
	conn->hold_told = conn->hold_ts != 0;
	return 0;
}

/* What led to a stall on this connection: both ends' histories. */
static __always_inline void flush_both(struct ns_conn_state *conn)
{
	history_flush(conn);
	if (conn->peer)
		history_flush(bpf_map_lookup_elem(&conns, &conn->peer));
}

#endif

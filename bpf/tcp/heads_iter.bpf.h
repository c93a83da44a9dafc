/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Iterators, and the program over the keys of conns: run by the reader, before, during and after
 * the window. */
#ifndef NETSTALL_BPF_TCP_HEADS_ITER_BPF_H
#define NETSTALL_BPF_TCP_HEADS_ITER_BPF_H

SEC("?iter/task")
int iter_seed(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		seed_thread(ctx, task);
	return 0;
}

SEC("?iter/task")
int iter_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		tell_lasting(task, window_time());
	return 0;
}

/* A byte for the reader, who takes the records of so many before the iterator goes on. */
static __always_inline void pace(struct bpf_iter_meta *meta)
{
	char nothing = 0;

	bpf_seq_write(meta->seq, &nothing, sizeof(nothing));
}

SEC("?iter/task_file")
int iter_files(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct sock *sk;

	if (!task || !file)
		return 0;
	if (!is_socket(file)) {
		scan_ring(file, task->tgid, ctx->fd);
		return 0;
	}
	sk = sock_of(file);
	if (!sk || !is_tcp_stream(sk))
		return 0;
	pace(ctx->meta);
	count_child(task, sk);
	scan_socket((__u64)sk, task->tgid, ctx->fd);
	return 0;
}

/* Of the last request, as the window ends: who reads no more has all of the answer there is. */
static __always_inline __u32 how_it_stands(struct sock *sk)
{
	return BPF_CORE_READ(sk, sk_shutdown) & NS_READS_NO_MORE ? NS_EXCHANGE_CLOSED
								 : NS_EXCHANGE_OPEN;
}

/*
 * The end of the window: totals of what is open, and what led to a hold that still lasts. Global,
 * so that the verifier looks at it once and not for each round of the loop below.
 */
__noinline int conn_at_end(__u64 key)
{
	__u64 now = window_time();
	struct ns_conn_state *conn;
	__u32 stands;

	conn = bpf_map_lookup_elem(&conns, &key);
	if (!conn || (conn->phase != NS_PHASE_OPEN && !conn->recovery.by[NS_RETRANS_SYN]))
		return 0;
	look_at_hold((struct sock *)key, conn, now, true);
	if (stalls(conn, now))
		flush_both(conn);
	stands = how_it_stands((struct sock *)key);
	end_request(conn, stands, now);
	if (settings.reads && stands == NS_EXCHANGE_OPEN)
		tell_found_open(conn, now);
	make_known(conn);
	if (!conn->untold) /* else it goes away, and is a part of a sum */
		tell_totals(key);
	return 0;
}

/*
 * The each_* programs run over the keys that the reader copied out of a table, by
 * BPF_PROG_TEST_RUN: some kernels refuse iterators over the elements of tables.
 */
SEC("?raw_tp")
int each_conn(void *ctx)
{
	for (__u32 i = 0; i < NS_KEYS_IN_HAND && i < keys_in_hand; i++)
		conn_at_end(in_hand[i].key);
	return 0;
}

#endif

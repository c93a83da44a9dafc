/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The record of a wait: which connection it was about, whose turn it was there, who ended it. */
#ifndef NETSTALL_BPF_THREAD_WAIT_BPF_H
#define NETSTALL_BPF_THREAD_WAIT_BPF_H

/* The connection that a wait was about. */
struct waited_for {
	struct ns_conn_state *conn;
	struct sock *sk;
	__u32 basis; /* enum ns_conn_basis */
	__u64 other; /* struct sock that is no TCP connection, 0 none */
	__u32 gone;  /* number of one that ended before the wait did, which ended by that */
	__u32 ended; /* enum ns_wait_end: unseen, what it did since is in its traces' place */
	__u32 ring;  /* number of the ring that it was on, 0 none */
	const struct ns_uring *op; /* that ended it, NULL not known */
	__u32 op_read;             /* bytes that this has read from the connection already */
};

/*
 * What the owner did last, before it read so many bytes. Reads are not hooked: the socket's
 * copied_seq moves with them, so what was read in part counts as read.
 */
static __always_inline __u32 whose_turn_before(struct ns_conn_state *conn, struct tcp_sock *tp,
					       __u32 bytes)
{
	if (conn->phase != NS_PHASE_OPEN)
		return NS_TURN_UNKNOWN;
	if (BPF_CORE_READ(tp, copied_seq) - bytes != conn->copied_seq)
		return NS_TURN_READ;
	return conn->writes ? NS_TURN_WROTE : conn->turn_found;
}

/* The thread has done nothing since: its stack, call and sockets are those of the wait. */
static __always_inline bool is_as_it_was(const struct waited_for *what)
{
	return what->ended == NS_WAIT_SEEN || what->ended == NS_WAIT_LASTS;
}

/* Whose turn it was while the thread waited: before what ended its wait has read anything. */
static __always_inline __u32 turn_at_end(const struct waited_for *what, struct tcp_sock *tp)
{
	if (what->op && what->op->step == NS_URING_DONE)
		return what->op->turn;
	if (!is_as_it_was(what))
		return NS_TURN_UNKNOWN;
	return whose_turn_before(what->conn, tp, what->op_read);
}

static __always_inline void note_socket(const struct waited_for *what, struct ns_wait *out)
{
	struct tcp_sock *tp = (void *)what->sk;

	if (!what->conn) {
		out->head.conn = what->gone;
		out->conn_basis = what->gone ? what->basis : NS_CONN_NONE;
		return;
	}
	out->head.conn = what->conn->id;
	out->conn_basis = what->basis;
	out->turn = turn_at_end(what, tp);
	out->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	out->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
}

static __always_inline void note_op(const struct waited_for *what, struct ns_wait *out)
{
	const struct ns_uring *op = what->op;

	out->ring = what->ring;
	if (!op)
		return;
	out->op_known = 1;
	out->op_code = op->opcode;
	out->op_user_data = op->user_data;
	out->op_submit_ts = op->submit_ts;
	out->op_done_ts = op->step == NS_URING_DONE ? op->head.ts : 0;
	out->op_fd = op->fd;
	out->op_flags = op->flags;
	out->op_file = op->file;
	out->op_how = op->how;
	out->op_tid = op->head.tid;
	out->op_by_tid = op->by_tid;
}

static __always_inline void note_waker(const struct ns_thread_state *thread,
				       struct ns_wait_raw *out)
{
	if (thread->waker.known == NS_WAKER_NONE)
		return;
	out->wait.waker_tgid = thread->waker.tgid;
	out->wait.waker_tid = thread->waker.tid;
	if (thread->waker.known != NS_WAKER_STACK)
		return;
	__builtin_memcpy(out->wait.waker_comm, thread->waker.comm, NS_COMM_LEN);
	__builtin_memcpy(out->waker_stack, thread->waker.stack, sizeof(out->waker_stack));
}

static __noinline int note_wait(struct task_struct *task, struct ns_thread_state *thread,
				const struct syscall_args *args, const struct waited_for *what,
				__u64 now)
{
	struct ns_wait_raw *out;

	if (!thread || !args || !what)
		return 0;
	out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);
	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return 0;
	}
	__builtin_memset(out, 0, sizeof(*out));
	out->wait.head.type = NS_WAIT;
	out->wait.head.len = sizeof(*out);
	out->wait.head.ts = now;
	out->wait.head.cpu = bpf_get_smp_processor_id();
	out->wait.head.tgid = thread->tgid;
	out->wait.head.tid = BPF_CORE_READ(task, pid);
	out->wait.off_ts = thread->since;
	out->wait.state = thread->state;
	out->wait.syscall = NS_SYSCALL_NONE;
	if (thread->state) {
		out->wait.syscall = args->number;
		out->wait.arg0 = args->arg0;
		out->wait.arg1 = args->arg1;
		if (is_as_it_was(what))
			out->wait.arg2 = call_timeout(args);
	}
	out->wait.ended = what->ended;
	out->wait.began_ts = thread->began;
	out->wait.spent_known = 1;
	spent_now(thread, now, &out->wait.spent); /* off since: as it left */
	note_socket(what, &out->wait);
	if (!what->conn && what->other && worth_a_record(ns_passed(thread->since, now))) {
		describe_socket(what->other);
		out->wait.socket = described[bpf_get_smp_processor_id() & (NS_CPUS - 1)];
	}
	note_op(what, &out->wait);
	/* Else it came before the thread had left its CPU, or is of the wait to come. */
	if ((!thread->wake_ts || thread->wake_ts >= thread->since) && thread->wake_ts <= now) {
		out->wait.wake_ts = thread->wake_ts;
		note_waker(thread, out);
	}
	/* Threads rename themselves: their totals carry the name that they had last. */
	BPF_CORE_READ_STR_INTO(&thread->comm, task, comm);
	__builtin_memcpy(out->wait.comm, thread->comm, NS_COMM_LEN);
	if (is_as_it_was(what) && worth_a_record(ns_passed(thread->since, now)))
		bpf_get_task_stack(task, out->stack, sizeof(out->stack), 0);
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * A long wait on a connection that is not watched, of a thread that is: the chain passes
 * there. Only one that its process opened: a server's idle waits lead to strangers.
 * Global, and so verified once, not for each of the many ways to come here: key is the struct
 * sock. 0: it is left alone.
 */
__noinline int adopt_waited(__u64 key, __u32 tgid, __u32 fd)
{
	struct adoption as = {.role = NS_ROLE_CHAIN,
			      .tgid = tgid,
			      .fd = fd,
			      .origin = NS_ORIGIN_EXISTED,
			      .opener = NS_OPENER_SELF,
			      .owner_sure = 1};
	struct sock *sk = (struct sock *)key;
	struct listener_key listener;

	if (!settings.trace || !sk || !is_tcp_stream(sk))
		return 0;
	if (BPF_CORE_READ(sk, __sk_common.skc_state) != NS_TCP_ESTABLISHED)
		return 0;
	if (target_wanted(sk, tgid)) {
		as.role = NS_ROLE_TARGET;
		as.origin = NS_ORIGIN_USE;
		as.opener = NS_OPENER_UNKNOWN;
		return adopt_open(sk, &as) != NULL;
	}
	if (!chain_has_room())
		return 0;
	/* A target's own that the wanted ports leave out. */
	if (!settings.any_process && proc_role(tgid) & NS_ROLE_TARGET)
		return 0;
	listener = listener_of(sk);
	if (bpf_map_lookup_elem(&listeners, &listener))
		return 0;
	/* Its other end is found by the reader's scan. */
	__sync_fetch_and_add(&unsure_owners, 1);
	return adopt_open(sk, &as) != NULL;
}

static __always_inline struct ns_conn_state *conn_adopted(__u64 key,
							  const struct ns_thread_state *thread,
							  __u32 fd)
{
	return adopt_waited(key, thread->tgid, fd) ? bpf_map_lookup_elem(&conns, &key) : NULL;
}

/*
 * The socket of the operation that ended a wait may be gone by now, and its memory another's:
 * is it still there under the operation's name for it?
 */
static __noinline bool op_names_socket(struct task_struct *task, struct ns_thread_state *thread)
{
	const struct ns_uring *op;

	if (!task || !thread)
		return false;
	op = &thread->ring.op;
	return (__u64)socket_of_sqe(task, thread->ring.key, op->fd, op->flags) == thread->ring.sk;
}

#define NS_ONLY_ONE 1ull /* beside the address of the struct sock */

/* How many bits are below the lowest that is set. */
static __always_inline __u32 lowest_bit(__u64 word)
{
	__u64 below = (word & -word) - 1;

	below -= below >> 1 & 0x5555555555555555;
	below = (below & 0x3333333333333333) + (below >> 2 & 0x3333333333333333);
	return ((below + (below >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

/* The next descriptor of a select(), + 1; 0 none. */
static __always_inline __u32 next_selected(__u64 *words)
{
	__u32 i, bit;

#pragma unroll
	for (i = 0; i < NS_SELECTED; i++) {
		if (!words[i])
			continue;
		bit = lowest_bit(words[i]);
		words[i] &= words[i] - 1;
		return 64 * i + bit + 1;
	}
	return 0;
}

/*
 * Of the watched connections that a poll() or select() names the first that can be read now, or the
 * one that there is (NS_ONLY_ONE). Global, and so verified once. 0: none.
 */
__noinline __u64 polled_sock(__u64 fdtable, __u32 tid, __u32 selects)
{
	struct ns_thread_state *thread =
		settings.trace ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	__u64 key, only = 0, ready = 0, words[NS_SELECTED];
	__u32 found = 0, slot, i;

	if (!thread)
		return 0;
	__builtin_memcpy(words, thread->habits.selected, sizeof(words));
#pragma unroll /* 5.10 refuses a loop that is entered in its middle */
	for (i = 0; i < NS_POLLED; i++) {
		slot = selects ? next_selected(words) : thread->habits.polled[i];
		key = slot ? file_in_table(fdtable, slot - 1) : 0;
		key = key ? sock_in_file(key) : 0;
		if (!key || !conn_traced(key))
			continue;
		found++;
		only = key;
		if (!ready && has_unread((struct sock *)key))
			ready = key;
	}
	if (found == 1 && !thread->habits.polled_more && !(selects && next_selected(words)))
		return only | NS_ONLY_ONE;
	return ready;
}

/*
 * Of the sockets that a poll() or select() names and that are no TCP connections: the first that
 * can be read, else one that waits for an answer, else the one that there is. Global, and so
 * verified once. 0: none.
 */
__noinline __u64 polled_other(__u64 fdtable, __u32 tid, __u32 selects)
{
	struct ns_thread_state *thread =
		settings.trace ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	__u64 key, only = 0, asking = 0, words[NS_SELECTED];
	struct ns_datagrams *known;
	__u32 found = 0, slot, i;

	if (!thread)
		return 0;
	__builtin_memcpy(words, thread->habits.selected, sizeof(words));
#pragma unroll /* 5.10 refuses a loop that is entered in its middle */
	for (i = 0; i < NS_POLLED; i++) {
		slot = selects ? next_selected(words) : thread->habits.polled[i];
		key = slot ? file_in_table(fdtable, slot - 1) : 0;
		key = key ? sock_in_file(key) : 0;
		if (!key || is_tcp_stream((struct sock *)key))
			continue;
		if (first_datagram((struct sock *)key))
			return key;
		known = bpf_map_lookup_elem(&datagrams, &key);
		if (known && known->asked_ts)
			asking = key;
		only = key;
		found++;
	}
	return asking ? asking : found == 1 ? only : 0;
}

static __always_inline void find_polled(struct task_struct *task, bool selects,
					struct waited_for *what)
{
	__u64 found = polled_sock((__u64)BPF_CORE_READ(task, files, fdt), task->pid, selects);
	__u64 key = found & ~NS_ONLY_ONE;

	what->conn = key ? bpf_map_lookup_elem(&conns, &key) : NULL;
	what->sk = what->conn ? (struct sock *)key : NULL;
	what->basis = found & NS_ONLY_ONE ? NS_CONN_FD : NS_CONN_READY;
	if (!what->conn && is_as_it_was(what))
		what->other =
			polled_other((__u64)BPF_CORE_READ(task, files, fdt), task->pid, selects);
}

/* The call's own socket. */
static __always_inline void find_named(struct ns_thread_state *thread, __u64 key, __u32 fd,
				       struct waited_for *what)
{
	if (!is_tcp_stream((struct sock *)key)) {
		what->other = key;
		return;
	}
	what->sk = (struct sock *)key;
	what->conn = key ? bpf_map_lookup_elem(&conns, &key) : NULL;
	if (key && !what->conn && what->ended != NS_WAIT_LASTS)
		what->conn = conn_adopted(key, thread, fd);
	if (key && !what->conn && key == thread->named_sk)
		what->gone = thread->named_conn;
}

/*
 * The call's own socket, or the one of several that ended it; else the one that the thread wrote
 * on, unless the call is on another file.
 */
static __always_inline void find_waited_for(struct task_struct *task,
					    struct ns_thread_state *thread,
					    const struct syscall_args *args,
					    struct waited_for *what)
{
	enum call_kind kind = thread->state ? call_kind(args->number) : NS_CALL_OTHER;
	struct file *file = NULL;
	__u32 fd = NS_FD_UNKNOWN;
	__u64 key = 0;

	if (kind == NS_CALL_ON_FD || kind == NS_CALL_ON_EPOLL)
		file = task_file(task, args->arg0);
	if (file && kind == NS_CALL_ON_FD) {
		fd = args->arg0;
		key = (__u64)file_socket(file);
		what->basis = NS_CONN_FD;
	} else if (file) {
		key = epoll_ready_sock((__u64)file);
		what->basis = NS_CONN_READY;
	}
	if (key)
		find_named(thread, key, fd, what);
	if (kind == NS_CALL_ON_POLL || kind == NS_CALL_ON_SELECT)
		find_polled(task, kind == NS_CALL_ON_SELECT, what);
	if (what->conn || kind == NS_CALL_ON_FD || what->gone || what->other)
		return;
	key = thread->conn;
	what->sk = (struct sock *)key;
	what->conn = key ? bpf_map_lookup_elem(&conns, &key) : NULL;
	what->basis = NS_CONN_WRITTEN;
}

/* What a worker waits for is what its operation is on. False: it waits for work. */
static __always_inline bool find_worked_on(struct task_struct *task, struct ns_thread_state *thread,
					   struct waited_for *what)
{
	__u64 key;

	if (!note_worker_op(task, thread))
		return !(thread->state & 1);
	what->op = &thread->ring.op;
	what->sk = (struct sock *)thread->ring.sk;
	key = thread->ring.sk;
	what->conn = key ? bpf_map_lookup_elem(&conns, &key) : NULL;
	what->basis = NS_CONN_FD;
	return true;
}

static __always_inline bool came_late(const struct ns_thread_state *thread, __u64 now)
{
	return thread->wake_ts && worth_a_record(ns_passed(thread->wake_ts, now));
}

static __always_inline __u32 fd_of_op(const struct ns_uring *op)
{
	return op->flags & NS_SQE_FIXED_FILE ? NS_FD_UNKNOWN : op->fd;
}

/* The ring that it waited on, as its wake-up found it. False: none. */
static __always_inline bool find_ring(struct task_struct *task, struct ns_thread_state *thread,
				      struct waited_for *what)
{
	__u64 key = thread->ring.key;
	struct ns_ring_state *ring;

	ring = key ? bpf_map_lookup_elem(&rings, &key) : NULL;
	if (!ring)
		return false;
	what->ring = ring->id;
	if (thread->ring.op.head.len) {
		what->op = &thread->ring.op;
		what->op_read = thread->ring.read;
		what->sk = (struct sock *)thread->ring.sk;
		key = thread->ring.sk;
		what->conn = key ? bpf_map_lookup_elem(&conns, &key) : NULL;
		if (key && !what->conn && op_names_socket(task, thread))
			what->conn = conn_adopted(key, thread, fd_of_op(what->op));
		if (what->op->file == NS_URING_SOCKET)
			what->other = (__u64)socket_of_sqe(task, thread->ring.key, what->op->fd,
							   what->op->flags);
		what->basis = NS_CONN_FD;
	}
	return true;
}

/* What led to a stall on this ring, and what completes next: that may be told by its end alone. */
static __always_inline void tell_ring_history(struct ns_thread_state *thread)
{
	__u64 key = thread->ring.key;
	struct ns_ring_state *ring = key ? bpf_map_lookup_elem(&rings, &key) : NULL;

	if (!ring)
		return;
	flush_ring_of(key);
	ring->telling = NS_RING_TELLING;
}

static __noinline int end_wait(struct task_struct *task, struct ns_thread_state *thread, __u64 now)
{
	struct waited_for what = {};
	struct syscall_args args = {.number = NS_SYSCALL_NONE};

	if (!thread)
		return 0;
	if (is_io_worker(task)) {
		/* That there was no work is of no matter; that it came late to some, is. */
		if (!find_worked_on(task, thread, &what) && !came_late(thread, now))
			return 0;
	} else {
		read_syscall(task_regs(task), &args);
		/* It was woken so soon that nothing was noted. */
		if (rings_watched > 0 && thread->waker.known != NS_WAKER_STACK)
			note_ring_wake(task, thread, thread->wake_ts);
		if (!find_ring(task, thread, &what) || !what.op)
			find_waited_for(task, thread, &args, &what);
	}
	if (ns_passed(thread->since, now) >= settings.threshold_ns) {
		if (what.conn) {
			flush_both(what.conn);
			watch_both_ends(what.conn);
		}
		if (what.ring)
			tell_ring_history(thread);
	}
	thread->task = (__u64)task;
	tell_throttle(task->pid, now);
	note_wait(task, thread, &args, &what, now);
	thread->ring.key = 0;
	return 0;
}

/*
 * The window ends, and the thread sleeps: what for, as far as that shows. A wait for a ring does
 * not. Nobody reads meanwhile, so there is a bound.
 */
static __noinline int tell_lasting(struct task_struct *task, __u64 now)
{
	struct waited_for what = {.ended = NS_WAIT_LASTS};
	struct syscall_args args = {.number = NS_SYSCALL_NONE};
	struct ns_thread_state *thread;
	__u64 length;
	__u32 tid;

	if (!task || !settings.trace || waits_lasting >= NS_WAITS_LASTING)
		return 0;
	tid = task->pid;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread || !thread->off || !thread->state || thread->wake_ts || is_io_worker(task))
		return 0;
	length = ns_passed(thread->since, now);
	if (!worth_a_record(length))
		return 0;
	read_syscall(task_regs(task), &args);
	if (args.number == NS_SYS_IO_URING_ENTER)
		return 0;
	waits_lasting++;
	find_waited_for(task, thread, &args, &what);
	if (what.conn && length >= settings.threshold_ns)
		flush_both(what.conn);
	note_wait(task, thread, &args, &what, now);
	return 0;
}

#endif

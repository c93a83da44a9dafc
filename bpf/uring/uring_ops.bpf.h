/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* io_uring's operations until they are done: submitted, queued, armed, ready. */
#ifndef NETSTALL_BPF_URING_URING_OPS_BPF_H
#define NETSTALL_BPF_URING_URING_OPS_BPF_H

#define NS_SQE_FLAGS 0x7f /* of io_kiocb.flags: the SQE's */

/* IORING_SETUP_*, include/uapi/linux/io_uring.h */
#define NS_SETUP_SQE128     (1u << 10)
#define NS_SETUP_NO_SQARRAY (1u << 16)
#define NS_SETUP_CQE_MIXED  (1u << 18) /* a completion can take two places */

#define NS_UNTOLD_MAX 65536 /* completions of one ring; more is a ring that is just taken in */

/* Opcodes whose SQE has something else in fd, or nothing: NOP, TIMEOUT, TIMEOUT_REMOVE,
 * LINK_TIMEOUT, MADVISE, POLL_REMOVE, FILES_UPDATE, PROVIDE_BUFFERS, REMOVE_BUFFERS, WAITID,
 * FUTEX_WAIT, FUTEX_WAKE, FUTEX_WAITV, ASYNC_CANCEL, EPOLL_CTL's own is one. */
#define NS_OPS_WITHOUT_FD                                                                          \
	(1ull << 0 | 1ull << 7 | 1ull << 11 | 1ull << 12 | 1ull << 14 | 1ull << 15 | 1ull << 20 |  \
	 1ull << 25 | 1ull << 31 | 1ull << 32 | 1ull << 50 | 1ull << 51 | 1ull << 52 | 1ull << 53)

/* The beginning of struct io_uring_sqe, which is uapi. */
struct ns_sqe {
	__u8 opcode;
	__u8 flags;
	__u16 ioprio;
	__s32 fd;
	__u64 off;
	__u64 addr;
	__u32 len;
	__u32 op_flags;
	__u64 user_data;
};

/* An SQE that the kernel has just taken. */
struct submission {
	struct io_ring_ctx *ctx;
	__u64 key;     /* of the request: its address, or its user_data where that is all we get */
	__u64 request; /* struct io_kiocb */
	__u64 user_data;
	__u64 link_head; /* user_data of the chain's first */
	__u64 sqe;       /* its address, 0 not known */
	__u32 opcode;
	__u32 flags;
	__u32 linked;
	__u32 refused;
	bool by_data; /* 5.10: several can have one key */
};

/* What a request is on. */
struct file_view {
	__u32 mode; /* inode.i_mode */
	__u32 inode_flags;
	__u32 flags; /* file.f_flags */
	__u64 data;  /* file.private_data */
};

#define NS_IFMT         0170000 /* include/uapi/linux/stat.h */
#define NS_IFIFO        0010000
#define NS_IFDIR        0040000
#define NS_IFBLK        0060000
#define NS_IFREG        0100000
#define NS_IFSOCK       0140000
#define NS_S_ANON_INODE (1 << 19) /* include/linux/fs.h: eventfd and the like, since 6.16 */

#if defined(__TARGET_ARCH_arm64)
#define NS_O_DIRECT 0200000
#else
#define NS_O_DIRECT 040000
#endif

static __always_inline __u32 file_kind(const struct file_view *file)
{
	if (file->inode_flags & NS_S_ANON_INODE)
		return NS_URING_OTHER;
	switch (file->mode & NS_IFMT) {
	case NS_IFREG:
	case NS_IFDIR:
	case NS_IFBLK:
		return NS_URING_DISK;
	case NS_IFSOCK:
		return NS_URING_SOCKET;
	case NS_IFIFO:
		return NS_URING_PIPE;
	}
	return NS_URING_OTHER;
}

static __always_inline void view_file(struct file *file, struct file_view *view)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	view->mode = BPF_CORE_READ(inode, i_mode);
	view->inode_flags = BPF_CORE_READ(inode, i_flags);
	view->flags = BPF_CORE_READ(file, f_flags);
	view->data = (__u64)BPF_CORE_READ(file, private_data);
}

/* The same of a file whose type the verifier knows: plain loads. */
static __always_inline void view_trusted_file(struct file *file, struct file_view *view)
{
	struct inode *inode = file->f_inode;

	view->mode = inode->i_mode;
	view->inode_flags = inode->i_flags;
	view->flags = file->f_flags;
	view->data = (__u64)file->private_data;
}

/* What the operation is on. Returns the struct sock if that is TCP, else 0. */
static __always_inline __u64 note_op_kind(struct ns_uring *op, const struct file_view *view)
{
	struct socket *socket = (void *)view->data;
	struct sock *sk;

	op->file = file_kind(view);
	if (op->file != NS_URING_SOCKET)
		return 0;
	sk = BPF_CORE_READ(socket, sk);
	if (!sk || !is_tcp_stream(sk))
		return 0;
	op->file = NS_URING_TCP;
	return (__u64)sk;
}

static __always_inline void note_file(struct ns_op_state *state, const struct file_view *view)
{
	state->sk = note_op_kind(&state->op, view);
}

/* The same from its request, where nothing has told it yet. */
static __always_inline void note_file_of(struct ns_op_state *state, struct io_kiocb *req)
{
	struct file *file = req && !state->op.file ? BPF_CORE_READ(req, file) : NULL;
	struct file_view view = {};

	if (!file)
		return;
	view_file(file, &view);
	note_file(state, &view);
}

/* Its connection, when that is watched. */
static __always_inline struct ns_conn_state *op_conn(struct ns_uring *op, __u64 sk)
{
	struct ns_conn_state *conn = sk ? bpf_map_lookup_elem(&conns, &sk) : NULL;

	if (conn)
		want_known(conn);
	op->head.conn = conn ? conn->id : 0;
	return conn;
}

/* What the SQE says beyond the request. It is the program's memory: it may have changed. */
static __always_inline void read_sqe(const struct submission *what, struct ns_uring *op)
{
	struct ns_sqe sqe = {};

	op->fd = NS_FD_UNKNOWN;
	if (!what->sqe || bpf_probe_read_kernel(&sqe, sizeof(sqe), (void *)what->sqe) ||
	    sqe.user_data != what->user_data || sqe.opcode != what->opcode)
		return;
	op->len = sqe.len;
	if (what->opcode > 63 || !(NS_OPS_WITHOUT_FD & 1ull << (what->opcode & 63)))
		op->fd = sqe.fd;
}

static __always_inline struct ns_uring_totals *counts_of(__u32 tgid, __u32 opcode)
{
	struct ns_uring_key key = {.tgid = tgid, .opcode = opcode};
	struct ns_uring_totals *counts = bpf_map_lookup_elem(&uring_counts, &key);

	if (counts)
		return counts;
	bpf_map_update_elem(&uring_counts, &key, &zero_counts, BPF_NOEXIST);
	counts = bpf_map_lookup_elem(&uring_counts, &key);
	if (!counts)
		count_lost(NS_LOST_OPS);
	return counts;
}

static __always_inline void count_submitted(__u32 tgid, __u32 opcode)
{
	struct ns_uring_totals *counts = counts_of(tgid, opcode);

	if (counts)
		__sync_fetch_and_add(&counts->submitted, 1);
}

/* -t names one thread: what its process's other threads submit is none of its. */
static __always_inline bool is_ignored(const struct ns_ring_state *ring, __u32 tid)
{
	return is_other_thread(tid) && proc_role(ring->tgid) & NS_ROLE_TARGET;
}

/* The entry of an operation that begins: there is one already when the request was in use
 * before. NULL: there is no room. */
static __always_inline struct ns_op_state *enter_op(const struct ns_op_key *key)
{
	struct ns_op_state *state = bpf_map_lookup_elem(&ops, key);

	if (state)
		return state;
	bpf_map_update_elem(&ops, key, &zero_op, BPF_NOEXIST);
	state = bpf_map_lookup_elem(&ops, key);
	if (!state)
		count_lost(NS_LOST_OPS);
	return state;
}

/* The fields of an operation that was not known till now. */
static __always_inline void begin_op(struct ns_op_state *state, struct ns_ring_state *ring,
				     __u64 user_data, __u32 opcode, __u64 now)
{
	struct ns_uring *op = &state->op;

	if (state->under_way != NS_OP_UNDER_WAY)
		__sync_fetch_and_add(&ring->in_flight, 1);
	__builtin_memset(state, 0, sizeof(*state));
	op->head.type = NS_URING;
	op->head.len = sizeof(*op);
	op->head.ts = now;
	op->head.cpu = bpf_get_smp_processor_id();
	op->head.tgid = ring->tgid;
	op->user_data = user_data;
	op->ring = ring->id;
	op->opcode = opcode;
	op->fd = NS_FD_UNKNOWN;
	state->under_way = NS_OP_UNDER_WAY;
	state->same = 1;
}

/* 5.10: another one with that user_data. It is counted; which of them completes is not known. */
static __always_inline bool joins_same(struct ns_op_state *state, const struct submission *what,
				       __u32 ring)
{
	if (!what->by_data || !is_op(state, ring, what->user_data) || (__s32)state->same <= 0)
		return false;
	__sync_fetch_and_add(&state->same, 1);
	if (state->op.opcode != what->opcode)
		state->mixed = 1;
	return true;
}

static __noinline int on_submit(struct ns_ring_state *ring, const struct submission *what)
{
	struct ns_op_key key = {};
	struct ns_op_state *state;
	struct ns_uring *op;
	__u32 tid;

	if (!ring || !what)
		return 0;
	tid = bpf_get_current_pid_tgid();
	ring->submit_tid = tid;
	if (!what->linked)
		ring->issue.tid = 0;
	key.ring = (__u64)what->ctx;
	key.request = what->key;
	state = enter_op(&key);
	if (state && joins_same(state, what, ring->id)) {
		if (!what->refused)
			count_submitted(ring->tgid, what->opcode);
		return 0;
	}
	if (state) {
		op = &state->op;
		if (state->under_way && state->by_data) /* it ended without a completion */
			forget_data(state, ring->ctx);
		begin_op(state, ring, what->user_data, what->opcode, bpf_ktime_get_ns());
		op->head.tid = tid;
		op->submit_ts = op->head.ts;
		op->step = NS_URING_SUBMITTED;
		op->flags = what->flags & NS_SQE_FLAGS;
		op->linked = what->linked;
		op->link_head = what->link_head;
		read_sqe(what, op);
		state->request = what->key;
		state->switches = own_switches();
		state->waits = ring->waits;
		state->refused = what->refused;
		if (!what->by_data)
			remember_data(state, ring->ctx);
		if (is_ignored(ring, tid)) {
			state->under_way = NS_OP_IGNORED;
			__sync_fetch_and_add(&ring->in_flight, -1);
			return 0;
		}
		ring->newest = key.request;
	}
	if (what->refused || is_ignored(ring, tid))
		return 0;
	count_submitted(ring->tgid, what->opcode);
	if (settings.uring_events && state)
		stream(&state->op, sizeof(state->op));
	if (state && sites_by_submission)
		site_of_submission(&state->op, key.ring);
	if (state && !what->linked && op_sends(what->opcode))
		note_issue(ring, key.ring, what->request, state);
	return 0;
}

/* ---- on its way ---- */

/* An operation that goes on: where its submission was not seen, from here. */
static __always_inline struct ns_op_state *op_on_its_way(struct ns_ring_state *ring,
							 const struct submission *what, __u64 now)
{
	struct ns_op_key key = {.ring = (__u64)what->ctx, .request = what->key};
	struct ns_op_state *state = bpf_map_lookup_elem(&ops, &key);

	if (is_op(state, ring->id, what->user_data))
		return state->under_way == NS_OP_UNDER_WAY ? state : NULL;
	if (only_tids[0])
		return NULL;
	state = enter_op(&key);
	if (!state)
		return NULL;
	begin_op(state, ring, what->user_data, what->opcode, now);
	state->op.flags = what->flags & NS_SQE_FLAGS;
	state->request = what->key;
	if (!what->by_data)
		remember_data(state, ring->ctx);
	return state;
}

static __always_inline void tell_step(struct ns_op_state *state, __u32 step, __u64 now)
{
	state->op.step = step;
	state->op.head.ts = now;
	if (settings.uring_events)
		stream(&state->op, sizeof(state->op));
}

static __noinline int on_queued(struct ns_ring_state *ring, const struct submission *what)
{
	__u64 now = bpf_ktime_get_ns();
	struct ns_op_state *state;

	if (!ring || !what)
		return 0;
	ring->issue.tid = 0;
	state = op_on_its_way(ring, what, now);
	if (!state)
		return 0;
	state->op.queued_ts = now;
	tell_step(state, NS_URING_QUEUED, now);
	return 0;
}

/* The same, with what it is on where the tracepoint tells its file. */
static __always_inline struct ns_op_state *file_op_on_its_way(struct ns_ring_state *ring,
							      const struct submission *what,
							      const struct file_view *file,
							      __u64 now)
{
	struct ns_op_state *state = op_on_its_way(ring, what, now);

	if (state && file->mode)
		note_file(state, file);
	return state;
}

static __noinline int on_armed(struct ns_ring_state *ring, const struct submission *what,
			       const struct file_view *file)
{
	__u64 now = bpf_ktime_get_ns();
	struct ns_op_state *state;
	struct ns_conn_state *conn;

	if (!ring || !what || !file)
		return 0;
	ring->issue.tid = 0;
	state = file_op_on_its_way(ring, what, file, now);
	if (!state)
		return 0;
	state->op.armed_ts = now;
	state->ready = 0;
	conn = op_conn(&state->op, state->sk);
	if (conn && op_sends(state->op.opcode)) /* there is no room for more of it to send */
		on_blocked_send(state->sk, now);
	tell_step(state, NS_URING_ARMED, now);
	return 0;
}

/*
 * Its file became ready: a thread that sleeps on the ring is woken right after, in this very
 * context, and the operation is completed by it. What it waited for ends here.
 */
static __noinline int on_ready(struct ns_ring_state *ring, const struct submission *what,
			       const struct file_view *file)
{
	__u64 now = bpf_ktime_get_ns();
	struct ns_op_state *state;

	if (!ring || !what || !file)
		return 0;
	state = file_op_on_its_way(ring, what, file, now);
	if (!state)
		return 0;
	state->ready = 1;
	op_conn(&state->op, state->sk);
	ring->last = state->op;
	ring->last.head.ts = now;
	ring->last.step = NS_URING_ARMED;
	ring->last.how = NS_URING_POLLED;
	ring->last.by_tid = bpf_get_current_pid_tgid();
	bpf_get_current_comm(ring->last.by_comm, NS_COMM_LEN);
	ring->last_sk = state->sk;
	ring->last_ts = now;
	return 0;
}

#endif

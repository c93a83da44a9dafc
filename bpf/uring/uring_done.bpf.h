/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* io_uring's operations as they complete: what brought it about, counted and told. */
#ifndef NETSTALL_BPF_URING_URING_DONE_BPF_H
#define NETSTALL_BPF_URING_URING_DONE_BPF_H

#define NS_ETIME 62 /* include/uapi/asm-generic/errno.h */

#define NS_URING_TOLD 1024 /* completions, in the quiet volume, between two looks of user space */

struct completion {
	struct io_ring_ctx *ctx;
	struct io_kiocb *req; /* NULL: it comes without one */
	__u64 user_data;
	__u32 result;
	__u32 flags; /* IORING_CQE_F_* */
	__u32 overflow;
	__u32 index;
	bool by_data; /* 5.10: the request is known by its user_data alone */
};

static __always_inline bool is_timer(__u32 opcode)
{
	return opcode == NS_OP_TIMEOUT || opcode == NS_OP_LINK_TIMEOUT;
}

static __always_inline bool is_zero_copy(__u32 opcode)
{
	return opcode == NS_OP_SEND_ZC || opcode == NS_OP_SENDMSG_ZC;
}

/* ---- which operation it is of ---- */

/*
 * A zero-copy send is done, but for the word that its buffer is free: that comes from another
 * request, of no opcode to speak of, with the same user_data.
 */
static __noinline int await_notification(struct ns_op_state *state, struct io_kiocb *req, __u64 ctx)
{
	struct ns_op_key key = {.ring = ctx | NS_BY_NOTIF};
	struct ns_op_state *waits;

	if (!state)
		return 0;
	note_file_of(state, req);
	key.request = state->op.user_data;
	waits = enter_op(&key);
	if (!waits)
		return 0;
	if (waits->under_way) {
		__sync_fetch_and_add(&waits->same, 1);
		return 0;
	}
	*waits = *state;
	waits->same = 1;
	waits->by_data = 0;
	return 0;
}

static __always_inline struct ns_op_state *find_op(const struct ns_ring_state *ring,
						   const struct completion *what)
{
	__u64 ctx = ring->ctx;
	struct ns_op_state *state;

	if (what->by_data) {
		state = op_of(ctx, what->user_data);
		return is_op(state, ring->id, what->user_data) ? state : NULL;
	}
	if (what->flags & NS_CQE_NOTIF) {
		state = op_of(ctx | NS_BY_NOTIF, what->user_data);
		return state && state->under_way ? state : NULL;
	}
	if (!what->req)
		return recall_by_data(ring, what->user_data);
	state = op_of(ctx, (__u64)what->req);
	return is_op(state, ring->id, what->user_data) ? state : NULL;
}

/* No more completions of this operation come. */
static __always_inline void end_op(struct ns_op_state *state, struct ns_ring_state *ring,
				   const struct completion *what)
{
	struct ns_op_key key = {.ring = ring->ctx, .request = what->user_data};

	if (what->flags & NS_CQE_NOTIF) {
		key.ring |= NS_BY_NOTIF;
		__sync_fetch_and_add(&state->same, -1);
		if ((__s32)state->same <= 0)
			bpf_map_delete_elem(&ops, &key);
		return;
	}
	if (what->by_data) {
		__sync_fetch_and_add(&state->same, -1);
		if ((__s32)state->same > 0)
			return;
	}
	if (state->under_way == NS_OP_UNDER_WAY)
		__sync_fetch_and_add(&ring->in_flight, -1);
	if (what->by_data) {
		bpf_map_delete_elem(&ops, &key);
		return;
	}
	state->under_way = NS_OP_DONE;
	forget_data(state, ring->ctx);
}

/* ---- what brought it about ---- */

#define NS_OPS_ON_DISK                                                                             \
	(1u << NS_OP_READV | 1u << NS_OP_WRITEV | 1u << NS_OP_READ_FIXED |                         \
	 1u << NS_OP_WRITE_FIXED | 1u << NS_OP_READ | 1u << NS_OP_WRITE)

/* Does a device complete it, past the page cache? 5.10's completions do not name their request. */
static __always_inline bool is_direct(__u32 opcode, struct io_kiocb *req)
{
	struct file_view view = {};
	struct file *file;

	if (!req || opcode > 31 || !(NS_OPS_ON_DISK & 1u << opcode))
		return false;
	file = BPF_CORE_READ(req, file);
	if (!file || !(BPF_CORE_READ(file, f_flags) & NS_O_DIRECT))
		return false;
	view_file(file, &view);
	return file_kind(&view) == NS_URING_DISK;
}

/*
 * Inline: the thread that submitted it is still in the same submission. It has not slept
 * since, nor begun to wait on the ring; and the operation is none that a timer or a device
 * completes, which can happen to the same thread before it sleeps.
 */
static __always_inline bool is_inline(const struct ns_op_state *state,
				      const struct ns_ring_state *ring, struct io_kiocb *req)
{
	const struct ns_uring *op = &state->op;

	if (state->refused)
		return true;
	return !op->queued_ts && !op->armed_ts && !state->ready && !is_timer(op->opcode) &&
	       op->head.tid == (__u32)bpf_get_current_pid_tgid() && state->waits == ring->waits &&
	       state->switches == own_switches() && !is_direct(op->opcode, req);
}

static __always_inline __u32 how_done(const struct ns_op_state *state,
				      const struct ns_ring_state *ring, struct io_kiocb *req)
{
	const struct ns_uring *op = &state->op;

	if (!op->submit_ts)
		return NS_URING_HOW_UNKNOWN;
	if (!op->shot && is_inline(state, ring, req))
		return NS_URING_INLINE;
	if (op->queued_ts > op->armed_ts)
		return NS_URING_WORKER;
	if (op->armed_ts || state->ready || op->opcode == NS_OP_POLL_ADD)
		return NS_URING_POLLED;
	return NS_URING_LATER;
}

/* ---- counts ---- */

static __noinline int count_error(__u32 tgid, __u32 opcode, __u32 error)
{
	struct ns_uring_error_key key = {.tgid = tgid, .opcode = opcode, .error = error};
	__u64 none = 0, *count = bpf_map_lookup_elem(&uring_errors, &key);

	if (!count) {
		bpf_map_update_elem(&uring_errors, &key, &none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&uring_errors, &key);
	}
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		count_lost(NS_LOST_OPS);
	return 0;
}

/* Not static: the verifier walks its many paths once, not for each state of its caller. */
__noinline __u64 uring_bucket(__u64 ns)
{
	return ns_uring_bucket(ns);
}

static __noinline int count_done(const struct ns_uring *op)
{
	struct ns_uring_totals *counts;
	__s32 result;
	__u64 took, bucket;

	if (!op)
		return 0;
	counts = counts_of(op->head.tgid, op->opcode);
	if (!counts)
		return 0;
	if (!(op->cqe_flags & NS_CQE_MORE))
		__sync_fetch_and_add(&counts->finished, 1);
	if (op->overflow)
		__sync_fetch_and_add(&counts->overflowed, 1);
	if (op->cqe_flags & NS_CQE_NOTIF) {
		__sync_fetch_and_add(&counts->notified, 1);
		return 0;
	}
	__sync_fetch_and_add(&counts->completed, 1);
	__sync_fetch_and_add(&counts->how[op->how < NS_URING_HOWS ? op->how : 0], 1);
	result = op->result;
	if (result < 0) {
		/* A timer that runs out has done its work. */
		if (result != -NS_ETIME || !is_timer(op->opcode))
			__sync_fetch_and_add(&counts->errors, 1);
		count_error(op->head.tgid, op->opcode, -result);
	}
	if (!op->submit_ts || op->shot > 1 || op->head.ts < op->submit_ts)
		return 0;
	took = op->head.ts - op->submit_ts;
	bucket = uring_bucket(took);
	barrier_var(bucket); /* else the verifier of 6.1 sees another register checked */
	if (bucket < NS_URING_BUCKETS)
		__sync_fetch_and_add(&counts->buckets[bucket], 1);
	if (took > counts->max_ns)
		counts->max_ns = took;
	return 0;
}

/* ---- told ---- */

/* Its file, connection, and who completed it: of those that did not end where they began. */
static __noinline int describe_done(struct ns_uring *op, struct ns_op_state *state,
				    struct io_kiocb *req, __u64 *sk)
{
	struct ns_conn_state *conn;
	__s32 result;

	if (!op || !state || !sk)
		return 0;
	note_file_of(state, req);
	op->file = state->op.file;
	op->by_tid = bpf_get_current_pid_tgid();
	bpf_get_current_comm(op->by_comm, NS_COMM_LEN);
	*sk = state->sk;
	conn = op_conn(op, state->sk);
	if (!conn)
		return 0;
	result = op->result;
	op->turn = whose_turn_before(conn, (struct tcp_sock *)state->sk,
				     reads(op->opcode) && result > 0 ? result : 0);
	return 0;
}

static __always_inline void keep_in_history(struct ns_ring_state *ring, const struct ns_uring *op)
{
	__u32 cpu = bpf_get_smp_processor_id(), turn = ++ring->history_next;
	struct ns_uring_slot *slot = &ring->history[turn & (NS_RING_HISTORY - 1)];

	mark__begin(&slot->mark, turn, cpu);
	slot->op = *op;
	if (mark__end(&slot->mark, cpu))
		tell_own(&slot->mark, &slot->op, sizeof(slot->op));
}

static __always_inline bool worth_telling(struct ns_ring_state *ring, __u64 took)
{
	if (settings.uring_events)
		return true;
	if (ring->telling) {
		ring->telling--;
		return true;
	}
	if (!worth_a_record(took) || uring_told >= NS_URING_TOLD)
		return false;
	__sync_fetch_and_add(&uring_told, 1);
	return true;
}

static __noinline int tell_done(struct ns_ring_state *ring, struct ns_uring *op, __u64 sk,
				__u64 took)
{
	struct tcp_sock *tp = (void *)sk;

	if (!ring || !op)
		return 0;
	ring->last = *op;
	ring->last_sk = sk;
	ring->last_ts = op->head.ts;
	if (!worth_telling(ring, took)) {
		keep_in_history(ring, op);
		return 0;
	}
	if (op->head.conn) {
		op->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
		op->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	}
	stream(op, sizeof(*op));
	return 0;
}

/* A completion whose operation is not known: it is older than the attach, or another ring's. */
static __always_inline void begin_unknown(struct ns_uring *op, const struct ns_ring_state *ring,
					  const struct completion *what)
{
	struct io_kiocb *req = what->req;

	op->head.type = NS_URING;
	op->head.len = sizeof(*op);
	op->head.cpu = bpf_get_smp_processor_id();
	op->head.tgid = ring->tgid;
	op->user_data = what->user_data;
	op->ring = ring->id;
	op->fd = NS_FD_UNKNOWN;
	op->opcode = NS_OPCODE_UNKNOWN;
	if (what->flags & NS_CQE_NOTIF || what->by_data)
		return;
	if (req) {
		op->opcode = BPF_CORE_READ(req, opcode);
		op->flags = BPF_CORE_READ(req, flags) & NS_SQE_FLAGS;
	} else if (!(what->flags & NS_CQE_MORE) && !what->overflow) {
		/* Only a multishot operation says MORE; else it was sent from another ring. */
		op->opcode = NS_OP_MSG_RING;
		op->how = NS_URING_LATER;
	}
}

static __noinline int on_done(struct ns_ring_state *ring, const struct completion *what)
{
	struct ns_op_state *state;
	struct ns_uring op = {};
	__u64 now, since = 0, sk = 0;

	if (!ring || !what)
		return 0;
	state = find_op(ring, what);
	if (state && state->under_way == NS_OP_IGNORED) {
		if (!(what->flags & NS_CQE_MORE))
			end_op(state, ring, what);
		return 0;
	}
	if (!state && only_tids[0] && proc_role(ring->tgid) & NS_ROLE_TARGET)
		return 0;
	now = bpf_ktime_get_ns();
	if (state) {
		op = state->op;
		op.how = how_done(state, ring, what->req);
		op.shot = ++state->op.shot;
		if (state->mixed)
			op.opcode = NS_OPCODE_UNKNOWN;
		since = state->shot_ts ? state->shot_ts : op.submit_ts;
		state->shot_ts = now;
	} else {
		begin_unknown(&op, ring, what);
		op.shot = 1;
	}
	op.head.ts = now;
	op.step = NS_URING_DONE;
	op.result = what->result;
	op.cqe_flags = what->flags;
	op.overflow = what->overflow;
	op.cq_index = what->index;
	ring->overflowed += what->overflow;
	issue_done(ring, (__u64)what->req);
	if (state && (op.how != NS_URING_INLINE || settings.uring_events))
		describe_done(&op, state, what->req, &sk);
	count_done(&op);
	tell_done(ring, &op, sk, since ? ns_passed(since, now) : 0);
	if (!state)
		return 0;
	if (is_zero_copy(op.opcode) && what->flags & NS_CQE_MORE && !(what->flags & NS_CQE_NOTIF)) {
		await_notification(state, what->req, ring->ctx);
		end_op(state, ring, what);
	} else if (!(what->flags & NS_CQE_MORE)) {
		end_op(state, ring, what);
	}
	return 0;
}

#endif

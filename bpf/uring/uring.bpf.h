/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * io_uring's rings: how one comes under watch, what it tells of itself, and its operations in
 * the tables. Nothing here is of the current thread: completions arrive in any context.
 */
#ifndef NETSTALL_BPF_URING_URING_BPF_H
#define NETSTALL_BPF_URING_URING_BPF_H

/* The ring, if it is watched. */
static __always_inline struct ns_ring_state *watched_ring(struct io_ring_ctx *ctx)
{
	__u64 key = (__u64)ctx;

	return rings_watched > 0 && in_window() ? bpf_map_lookup_elem(&rings, &key) : NULL;
}

/* What a ring has now, of what can change. */
static __always_inline void read_ring(struct io_ring_ctx *ctx, struct ns_ring_state *ring)
{
	struct task_struct *thread = BPF_CORE_READ(ctx, sq_data, thread);

	ring->sq_entries = BPF_CORE_READ(ctx, sq_entries);
	ring->cq_entries = BPF_CORE_READ(ctx, cq_entries);
	ring->flags = BPF_CORE_READ(ctx, flags);
	ring->files = registered_files(ctx);
	ring->sq_tid = thread ? BPF_CORE_READ(thread, pid) : 0;
	ring->dropped = BPF_CORE_READ(ctx, rings, cq_overflow);
}

static __noinline int tell_ring(struct ns_ring_state *ring)
{
	struct ns_ring out = {};

	if (!ring)
		return 0;
	fill_head(&out.head, NS_RING, sizeof(out), bpf_ktime_get_ns(), 0);
	out.head.tgid = ring->tgid;
	out.head.tid = 0;
	ns_ring_fill(&out, ring);
	stream_vital(&out, sizeof(out));
	return 0;
}

/* An old entry is of a ring that had its memory there before: it ended without a word. */
static __always_inline struct ns_ring_state *enter_ring(__u64 key)
{
	struct ns_ring_state *ring = bpf_map_lookup_elem(&rings, &key);

	if (ring) {
		tell_ring(ring);
		bpf_map_update_elem(&rings, &key, &zero_ring, BPF_ANY);
	} else if (!bpf_map_update_elem(&rings, &key, &zero_ring, BPF_NOEXIST)) {
		__sync_fetch_and_add(&rings_watched, 1);
	}
	ring = bpf_map_lookup_elem(&rings, &key);
	if (!ring) {
		rings_full = 1;
		count_lost(NS_LOST_RINGS);
	}
	return ring;
}

/* The ring is watched from now on, as that process's. NULL: there is no room. */
static __noinline struct ns_ring_state *adopt_ring(struct io_ring_ctx *ctx, __u32 tgid, __u32 fd,
						   __u32 origin)
{
	struct ns_ring_state *ring;

	if (!ctx)
		return NULL;
	ring = enter_ring((__u64)ctx);
	if (!ring)
		return NULL;
	ring->ctx = (__u64)ctx;
	ring->id = cpu_number(rings_numbered);
	ring->tgid = tgid;
	ring->fd = fd;
	ring->origin = origin;
	read_ring(ctx, ring);
	ring->reaped = BPF_CORE_READ(ctx, rings, cq.head);
	ring->next_index = BPF_CORE_READ(ctx, cached_cq_tail);
	ring->backlog = has_overflowed(ctx);
	ring->sq_told = BPF_CORE_READ(ctx, cached_sq_head);
	note_eventfd((__u64)ctx);
	tell_ring(ring);
	return ring;
}

/* Are the rings of that process watched? */
static __always_inline bool rings_wanted(__u32 tgid)
{
	return proc_hint(tgid)->threads && proc_role(tgid);
}

/* The ring that current submits to; one that it inherited or that we missed is taken in. */
static __always_inline struct ns_ring_state *used_ring(struct io_ring_ctx *ctx)
{
	struct ns_ring_state *ring = watched_ring(ctx);
	__u32 tgid;

	if (ring)
		return ring;
	tgid = bpf_get_current_pid_tgid() >> 32;
	if (!proc_hint(tgid)->threads || rings_full || !proc_role(tgid) || !in_window())
		return NULL;
	return adopt_ring(ctx, tgid, NS_FD_UNKNOWN, NS_ORIGIN_USE);
}

/* Somebody else's ring has the memory of a watched one, which has ended without a word. */
static __noinline int drop_ring(struct ns_ring_state *ring)
{
	__u64 key;

	if (!ring)
		return 0;
	key = ring->ctx;
	tell_ring(ring);
	if (!bpf_map_delete_elem(&rings, &key))
		__sync_fetch_and_add(&rings_watched, -1);
	return 0;
}

static __always_inline void on_ring_created(struct io_ring_ctx *ctx, int fd)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (fd < 0 || !in_window())
		return;
	if (rings_wanted(tgid))
		adopt_ring(ctx, tgid, fd, NS_ORIGIN_CONNECT);
	else
		drop_ring(watched_ring(ctx));
}

/* As conn_traced(). */
static __always_inline struct ns_ring_state *ring_traced(__u64 key)
{
	return settings.trace ? bpf_map_lookup_elem(&rings, &key) : NULL;
}

/* One completion. key: the struct io_ring_ctx. Global, as history_tell() is, see there. */
__noinline int tell_completion(__u64 key, __u32 turn, __u32 last)
{
	struct ns_ring_state *ring = ring_traced(key);
	struct ns_uring_slot *slot;

	if (!ring)
		return 0;
	slot = &ring->history[turn & (NS_RING_HISTORY - 1)];
	tell_marked(&slot->mark, turn, &slot->op, sizeof(slot->op), last);
	return 0;
}

/*
 * Completions that were not told, in the order in which they came: what led to a stall. Twice, as
 * history_flush_of() does.
 */
__noinline int flush_ring_of(__u64 key)
{
	struct ns_ring_state *ring = ring_traced(key);
	__u32 end, count, first, i;

	if (!ring)
		return 0;
	end = ring->history_next;
	count = end - ring->history_told;
	if (count > NS_RING_HISTORY)
		count = NS_RING_HISTORY;
	first = end - count + 1;
	for (i = 0; i < 2 * NS_RING_HISTORY; i++) {
		__u32 at = i & (NS_RING_HISTORY - 1);

		if (at < count)
			tell_completion(key, first + at, i >= NS_RING_HISTORY);
	}
	ring->history_told = end;
	return 0;
}

/*
 * With --events=uring: has the program taken completions out of the queue? It does so by a
 * store to shared memory, so it is seen at the ring's next event.
 */
static __always_inline void look_at_reaped(struct io_ring_ctx *ctx, struct ns_ring_state *ring)
{
	struct ns_reap out = {};
	__u32 head;

	if (!settings.uring_events)
		return;
	head = BPF_CORE_READ(ctx, rings, cq.head);
	if (head == ring->reaped)
		return;
	out.taken = head - ring->reaped;
	ring->reaped = head;
	fill_head(&out.head, NS_REAP, sizeof(out), bpf_ktime_get_ns(), 0);
	out.head.tgid = ring->tgid;
	out.head.tid = 0;
	out.ring = ring->id;
	out.upto = head;
	out.left = BPF_CORE_READ(ctx, cached_cq_tail) - head;
	stream(&out, sizeof(out));
}

/* ---- a request by its user_data: completions that do not name the request ---- */

static __always_inline struct ns_op_slot *op_slot(__u64 ctx, __u64 user_data)
{
	/* Fibonacci hashing: both are mostly addresses, or count up. */
	__u64 hash = (user_data ^ ctx >> 8) * 0x9e3779b97f4a7c15ull;

	return &op_slots[(hash >> 40) & (NS_OP_SLOTS - 1)];
}

static __always_inline struct ns_op_state *op_of(__u64 ctx, __u64 request)
{
	struct ns_op_key key = {.ring = ctx, .request = request};

	return bpf_map_lookup_elem(&ops, &key);
}

static __always_inline bool is_op(const struct ns_op_state *state, __u32 ring, __u64 user_data)
{
	return state && state->under_way && state->op.ring == ring &&
	       state->op.user_data == user_data;
}

/* The slot has another operation that is under way: this one gets an entry of its own. */
static __noinline int note_by_data(struct ns_op_state *state, __u64 ctx)
{
	struct ns_op_key key = {.ring = ctx | NS_BY_DATA};
	struct ns_op_state *other;

	if (!state)
		return 0;
	key.request = state->op.user_data;
	if (bpf_map_update_elem(&ops, &key, &zero_op, BPF_ANY)) {
		count_lost(NS_LOST_OPS);
		return 0;
	}
	/* One that has the same user_data may end on another CPU, and take the entry with it. */
	other = bpf_map_lookup_elem(&ops, &key);
	if (!other)
		return 0;
	other->request = state->request;
	state->by_data = 1;
	return 0;
}

static __always_inline void remember_data(struct ns_op_state *state, __u64 ctx)
{
	struct ns_op_slot *slot = op_slot(ctx, state->op.user_data);
	__u64 request = state->request;
	struct ns_op_state *there;

	if (slot->request && (slot->ring != ctx || slot->request != request)) {
		there = op_of(slot->ring, slot->request);
		if (there && there->under_way) {
			note_by_data(state, ctx);
			return;
		}
	}
	slot->ring = ctx;
	slot->request = request;
}

static __always_inline void forget_data(struct ns_op_state *state, __u64 ctx)
{
	struct ns_op_key key = {.ring = ctx | NS_BY_DATA, .request = state->op.user_data};
	struct ns_op_slot *slot = op_slot(ctx, state->op.user_data);

	if (slot->request == state->request && slot->ring == ctx)
		slot->request = 0;
	if (state->by_data)
		bpf_map_delete_elem(&ops, &key);
	state->by_data = 0;
}

static __noinline struct ns_op_state *recall_by_data(const struct ns_ring_state *ring,
						     __u64 user_data)
{
	struct ns_op_state *state = NULL;
	struct ns_op_slot *slot;
	__u64 ctx;

	if (!ring)
		return NULL;
	ctx = ring->ctx;
	slot = op_slot(ctx, user_data);
	if (slot->request && slot->ring == ctx)
		state = op_of(ctx, slot->request);
	if (is_op(state, ring->id, user_data))
		return state;
	state = op_of(ctx | NS_BY_DATA, user_data);
	if (state)
		state = op_of(ctx, state->request);
	return is_op(state, ring->id, user_data) ? state : NULL;
}

#endif

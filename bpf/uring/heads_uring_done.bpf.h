/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Heads of io_uring's tracepoints that complete, and of the wait for completions. */
#ifndef NETSTALL_BPF_URING_HEADS_URING_DONE_BPF_H
#define NETSTALL_BPF_URING_HEADS_URING_DONE_BPF_H

/* Completions that were posted and not told. The list that waits for room in the queue has been
 * counted on. */
static __always_inline void count_untold(struct io_ring_ctx *uring, struct ns_ring_state *ring,
					 __u32 index)
{
	__u32 untold = index - ring->next_index;

	/* It entered the list before anybody watched. */
	if (ring->backlog) {
		ring->backlog = has_overflowed(uring);
		return;
	}
	if (untold && untold < NS_UNTOLD_MAX && !(ring->flags & NS_SETUP_CQE_MIXED))
		__sync_fetch_and_add(&lost[NS_LOST_DONE], untold);
}

static __always_inline void completed(struct io_ring_ctx *uring, struct io_kiocb *req,
				      struct io_uring_cqe *cqe, struct ns_ring_state *ring)
{
	struct completion what = {.ctx = uring, .req = req};

	what.user_data = cqe->user_data;
	what.result = cqe->res;
	what.flags = cqe->flags;
	what.index = uring->cached_cq_tail - 1;
	count_untold(uring, ring, what.index);
	ring->next_index = what.index + 1;
	look_at_reaped(uring, ring);
	on_done(ring, &what);
}

SEC("?tp_btf/io_uring_complete")
int BPF_PROG(tp_uring_done, struct io_ring_ctx *uring, void *req, struct io_uring_cqe *cqe)
{
	struct ns_ring_state *ring = watched_ring(uring);

	if (ring)
		completed(uring, req, cqe, ring);
	return 0;
}

SEC("?tp_btf/io_uring_complete")
int BPF_PROG(tp_uring_done_spare, struct io_ring_ctx *uring, void *req, struct io_uring_cqe *cqe)
{
	struct ns_ring_state *ring = watched_ring(uring);

	if (ring && ring->next_index != uring->cached_cq_tail)
		completed(uring, req, cqe, ring);
	return 0;
}

SEC("?tp_btf/io_uring_complete")
int BPF_PROG(tp_uring_done_7, void *uring, void *req, u64 user_data, int result, unsigned int flags)
{
	struct ns_ring_state *ring = watched_ring(uring);
	struct completion what = {
		.ctx = uring, .req = req, .user_data = user_data, .result = result, .flags = flags};

	struct io_ring_ctx *at = uring;

	if (!ring)
		return 0;
	what.index = BPF_CORE_READ(at, cached_cq_tail) - 1;
	ring->next_index = what.index + 1;
	look_at_reaped(uring, ring);
	on_done(ring, &what);
	return 0;
}

/*
 * 5.10 says nothing of an SQE that it refuses but the completion. No submission was told of the SQE
 * that was taken last, and it has that user_data: it is the one.
 */
static __always_inline void note_refused(struct io_ring_ctx *uring, struct ns_ring_state *ring,
					 const struct completion *done)
{
	struct submission what = {.ctx = uring, .refused = 1, .by_data = true};
	__u32 taken = BPF_CORE_READ(uring, cached_sq_head);
	struct ns_sqe sqe = {};

	if (taken == ring->sq_told)
		return;
	what.sqe = last_probed_sqe(uring);
	if (bpf_probe_read_kernel(&sqe, sizeof(sqe), (void *)what.sqe) ||
	    sqe.user_data != done->user_data)
		return;
	ring->sq_told = taken;
	what.key = what.user_data = sqe.user_data;
	what.opcode = sqe.opcode;
	what.flags = sqe.flags;
	on_submit(ring, &what);
}

/* Here it comes before the queue is looked at: it may turn out to be full. */
SEC("?tp_btf/io_uring_complete")
int BPF_PROG(tp_uring_done_4, void *uring, u64 user_data, int result, unsigned int flags)
{
	struct ns_ring_state *ring = watched_ring(uring);
	struct completion what = {.ctx = uring,
				  .user_data = user_data,
				  .result = result,
				  .flags = flags,
				  .by_data = true};
	struct io_ring_ctx *at = uring;
	__u32 head, tail;

	if (!ring)
		return 0;
	tail = BPF_CORE_READ(at, cached_cq_tail);
	head = BPF_CORE_READ(at, rings, cq.head);
	what.overflow = tail - head >= ring->cq_entries;
	what.index = what.overflow ? ring->next_index : tail;
	ring->next_index = what.index + 1;
	if (result < 0)
		note_refused(uring, ring, &what);
	look_at_reaped(uring, ring);
	on_done(ring, &what);
	return 0;
}

/* Instead of io_uring_complete: the completion waits in a list, or is lost for want of memory. */
SEC("?tp_btf/io_uring_cqe_overflow")
int BPF_PROG(tp_uring_overflow, void *uring, unsigned long long user_data, s32 result, u32 flags,
	     void *kept)
{
	struct ns_ring_state *ring = watched_ring(uring);
	struct completion what = {.ctx = uring,
				  .user_data = user_data,
				  .result = result,
				  .flags = flags,
				  .overflow = 1};

	if (!ring)
		return 0;
	what.index = ring->next_index++;
	if (!kept)
		ring->dropped++;
	on_done(ring, &what);
	return 0;
}

/* ---- waited for ---- */

SEC("?tp_btf/io_uring_cqring_wait")
int BPF_PROG(tp_uring_wait, void *uring, int least)
{
	struct ns_ring_state *ring = watched_ring(uring);

	if (!ring)
		return 0;
	if (ring->submit_tid == (__u32)bpf_get_current_pid_tgid())
		ring->waits++;
	look_at_reaped(uring, ring);
	return 0;
}

#endif

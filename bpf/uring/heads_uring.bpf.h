/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Heads of io_uring's tracepoints. Those of Linux 6.1 and later hand over the request by its
 * type, which plain loads read; what 5.10 hands over is read by helper calls.
 */
#ifndef NETSTALL_BPF_URING_HEADS_URING_BPF_H
#define NETSTALL_BPF_URING_HEADS_URING_BPF_H

HEAD("?tp_btf/io_uring_create", tp_uring_create, on_ring_created(ring, fd), int fd, void *ring)

HEAD("?tp_btf/io_uring_register", tp_uring_register, on_ring_register(ring, what), void *ring,
     unsigned int what)

/* ---- submitted ---- */

/* Where the SQE that was taken last lies. */
static __always_inline __u64 sqe_address(__u64 sqes, __u32 index, __u32 flags)
{
	return sqes + ((__u64)index << (flags & NS_SETUP_SQE128 ? 7 : 6));
}

static __always_inline __u64 last_sqe(struct io_ring_ctx *uring)
{
	__u32 index = (uring->cached_sq_head - 1) & (uring->sq_entries - 1), flags = uring->flags;
	__u32 *array = uring->sq_array;

	if (!(flags & NS_SETUP_NO_SQARRAY) && array)
		bpf_probe_read_kernel(&index, sizeof(index), array + index);
	return sqe_address((__u64)uring->sq_sqes, index, flags);
}

static __always_inline __u64 last_probed_sqe(struct io_ring_ctx *uring)
{
	__u32 mask = BPF_CORE_READ(uring, sq_entries) - 1;
	__u32 index = (BPF_CORE_READ(uring, cached_sq_head) - 1) & mask;
	__u32 *array = BPF_CORE_READ(uring, sq_array);

	bpf_probe_read_kernel(&index, sizeof(index), array + index);
	return sqe_address((__u64)BPF_CORE_READ(uring, sq_sqes), index, 0);
}

/*
 * The ring is loaded once, before anything else: from 6.4 on the verifier looks through all types
 * of the kernel, by name, each time that it meets a load of a pointer from a tracepoint's argument.
 */
static __always_inline void request_view(struct io_kiocb *req, struct io_ring_ctx *uring,
					 struct submission *what)
{
	what->ctx = uring;
	what->key = what->request = (__u64)req;
	what->user_data = req->cqe.user_data;
	what->opcode = req->opcode;
	what->flags = req->flags;
}

static __always_inline void chain_view(struct io_ring_ctx *uring, struct submission *what)
{
	struct io_kiocb *head = uring->submit_state.link.head;

	if (!head)
		return;
	what->linked = 1;
	what->link_head = head->cqe.user_data;
}

static __always_inline void submitted(struct io_ring_ctx *uring, struct io_kiocb *req)
{
	struct ns_ring_state *ring = used_ring(uring);
	struct submission what = {};

	if (!ring)
		return;
	ring->sq_told = uring->cached_sq_head;
	request_view(req, uring, &what);
	chain_view(uring, &what);
	what.sqe = last_sqe(uring);
	look_at_reaped(uring, ring);
	on_submit(ring, &what);
}

HEAD("?tp_btf/io_uring_submit_req", tp_uring_submit, submitted(req->ctx, req), struct io_kiocb *req)

/*
 * Where programs at tracepoints can be preempted (Linux 7.0 guards these by SRCU alone), the kernel
 * runs one for nobody else on that CPU until it goes on, and counts that as a miss. What the first
 * program was not run for is the spare's, which comes behind it: an SQE, and a completion, move the
 * ring's own count on. Other programs that can be preempted (connects, and reads with --all) have
 * no spare.
 */
SEC("?tp_btf/io_uring_submit_req")
int BPF_PROG(tp_uring_submit_spare, struct io_kiocb *req)
{
	struct io_ring_ctx *uring = req->ctx;
	struct ns_ring_state *ring = watched_ring(uring);

	if (!ring || ring->sq_told != uring->cached_sq_head)
		submitted(uring, req);
	return 0;
}

HEAD("?tp_btf/io_uring_submit_sqe", tp_uring_submit_2, submitted(req->ctx, req),
     struct io_kiocb *req, bool nonblock)

SEC("?tp_btf/io_uring_submit_sqe")
int BPF_PROG(tp_uring_submit_7, void *uring, void *req, u8 opcode, u64 user_data, u32 flags)
{
	struct ns_ring_state *ring = used_ring(uring);
	struct submission what = {.ctx = uring,
				  .key = user_data,
				  .request = (__u64)req,
				  .user_data = user_data,
				  .opcode = opcode,
				  .flags = flags,
				  .by_data = true};
	struct io_ring_ctx *at = uring;
	struct io_kiocb *head;

	if (!ring)
		return 0;
	head = BPF_CORE_READ(at, submit_state.link.head);
	if (head) {
		what.linked = 1;
		what.link_head = request_user_data(head);
	}
	what.sqe = last_probed_sqe(uring);
	ring->sq_told = BPF_CORE_READ(at, cached_sq_head);
	look_at_reaped(uring, ring);
	on_submit(ring, &what);
	return 0;
}

/* Refused: no submission is told, but a completion follows. The request's opcode can be 0 then. */
SEC("?tp_btf/io_uring_req_failed")
int BPF_PROG(tp_uring_failed, const struct io_uring_sqe *sqe, struct io_kiocb *req, int error)
{
	struct io_ring_ctx *uring = req->ctx;
	struct ns_ring_state *ring = used_ring(uring);
	struct submission what = {.refused = 1};

	if (!ring)
		return 0;
	request_view(req, uring, &what);
	chain_view(uring, &what);
	what.opcode = sqe->opcode;
	what.sqe = (__u64)sqe;
	on_submit(ring, &what);
	return 0;
}

/* ---- on its way ---- */

SEC("?tp_btf/io_uring_queue_async_work")
int BPF_PROG(tp_uring_queue, struct io_kiocb *req)
{
	struct io_ring_ctx *uring = req->ctx;
	struct ns_ring_state *ring = watched_ring(uring);
	struct submission what = {};

	if (!ring)
		return 0;
	request_view(req, uring, &what);
	on_queued(ring, &what);
	return 0;
}

SEC("?tp_btf/io_uring_queue_async_work")
int BPF_PROG(tp_uring_queue_5, void *uring, int rw, void *request)
{
	struct ns_ring_state *ring = watched_ring(uring);
	struct submission what = {.ctx = uring, .by_data = true};
	struct io_kiocb *req = request;

	if (!ring)
		return 0;
	what.key = what.user_data = request_user_data(req);
	what.opcode = BPF_CORE_READ(req, opcode);
	on_queued(ring, &what);
	return 0;
}

/* 5.10 tells these two by user_data alone. */
static __always_inline struct submission told_by_data(void *uring, __u32 opcode, __u64 user_data)
{
	return (struct submission){.ctx = uring,
				   .key = user_data,
				   .user_data = user_data,
				   .opcode = opcode,
				   .by_data = true};
}

/* Of an operation that waits for its file. NULL: the ring is not watched, and nothing was read. */
static __always_inline struct ns_ring_state *view_with_file(struct io_kiocb *req,
							    struct submission *what,
							    struct file_view *file)
{
	struct io_ring_ctx *uring = req->ctx;
	struct ns_ring_state *ring = watched_ring(uring);

	if (!ring)
		return NULL;
	request_view(req, uring, what);
	view_trusted_file(req->file, file);
	return ring;
}

SEC("?tp_btf/io_uring_poll_arm")
int BPF_PROG(tp_uring_arm, struct io_kiocb *req, int mask, int events)
{
	struct submission what = {};
	struct file_view file = {};
	struct ns_ring_state *ring = view_with_file(req, &what, &file);

	if (ring)
		on_armed(ring, &what, &file);
	return 0;
}

static __always_inline void view_request_file(struct io_kiocb *req, struct file_view *view)
{
	struct file *file = BPF_CORE_READ(req, file);

	if (file)
		view_file(file, view);
}

SEC("?tp_btf/io_uring_poll_arm")
int BPF_PROG(tp_uring_arm_6, void *uring, void *req, u8 opcode, u64 user_data)
{
	struct ns_ring_state *ring = watched_ring(uring);
	struct submission what = told_by_data(uring, opcode, user_data);
	struct file_view file = {};

	if (!ring)
		return 0;
	view_request_file(req, &file);
	on_armed(ring, &what, &file);
	return 0;
}

SEC("?tp_btf/io_uring_task_add")
int BPF_PROG(tp_uring_ready, struct io_kiocb *req, int mask)
{
	struct submission what = {};
	struct file_view file = {};
	struct ns_ring_state *ring = view_with_file(req, &what, &file);

	if (ring)
		on_ready(ring, &what, &file);
	return 0;
}

SEC("?tp_btf/io_uring_task_add")
int BPF_PROG(tp_uring_ready_4, void *uring, u8 opcode, u64 user_data, int mask)
{
	struct ns_ring_state *ring = watched_ring(uring);
	struct submission what = told_by_data(uring, opcode, user_data);
	struct file_view none = {};

	if (ring)
		on_ready(ring, &what, &none);
	return 0;
}

#endif

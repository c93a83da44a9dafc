/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who waits on a ring, and which operation ended that: asked when a thread is woken from a long
 * sleep, in the context of its waker. Nothing is noted before, so a short wait costs nothing.
 *
 * A completion can come in two ways. Either somebody else makes it (a worker, a submission thread,
 * an interrupt): then it is the ring's last one at the wake-up. Or the sleeper has to run the rest
 * of the operation itself, and is woken for that: then the request is in its list of such work.
 */
#ifndef NETSTALL_BPF_URING_URING_WAIT_BPF_H
#define NETSTALL_BPF_URING_URING_WAIT_BPF_H

#define NS_TASK_INTERRUPTIBLE 1 /* ns_thread_state.state */

#define NS_RING_TELLING 4 /* completions told after the end of a long wait on their ring */

/* The ring whose completions the call waits for: its own, or one that it polls. */
static __noinline __u64 ring_of_call(struct task_struct *task, struct ns_thread_state *thread,
				     const struct syscall_args *args)
{
	struct call_names names = {};
	struct file *file;
	__u64 ring;
	__u32 i;

	if (!thread || !args)
		return 0;
	if (args->number == NS_SYS_IO_URING_ENTER)
		return args->arg3 & NS_ENTER_GETEVENTS ? ring_of_file(entered_file(task, args)) : 0;
	if (call_kind(args->number) != NS_CALL_ON_POLL) {
		name_file(task, args, &names);
		return ring_of_file(names.file);
	}
#pragma unroll /* 5.10 refuses a loop that is entered in its middle */
	for (i = 0; i < NS_POLLED; i++) {
		file = thread->habits.polled[i] ? task_file(task, thread->habits.polled[i] - 1)
						: NULL;
		ring = ring_of_file(file);
		if (ring)
			return ring;
	}
	return 0;
}

/* Do the ring's completions, made or in the making, suffice for what the call asked for? */
static __always_inline bool has_enough(__u64 ring, const struct syscall_args *args, __u32 more)
{
	struct io_ring_ctx *ctx = (void *)ring;
	__u32 entries = BPF_CORE_READ(ctx, cq_entries), least = args->arg2;
	__u32 there = BPF_CORE_READ(ctx, cached_cq_tail) - BPF_CORE_READ(ctx, rings, cq.head);

	if (args->number != NS_SYS_IO_URING_ENTER)
		return true;
	return there + more >= (least < entries ? least : entries);
}

/* How many requests wait to be run with this one, where the kernel counts them. */
static __always_inline __u32 queued_with(struct io_kiocb___op *request)
{
	return bpf_core_field_exists(request->nr_tw) ? BPF_CORE_READ(request, nr_tw) : NS_URING_OPS;
}

/* As the table of operations names a request. */
static __always_inline __u64 op_key(struct io_kiocb___op *request)
{
	if (bpf_core_field_exists(request->result))
		return request_user_data((struct io_kiocb *)request);
	return (__u64)request;
}

/*
 * The operation of a request. The word that a zero-copy send's buffer is free comes by one of its
 * own, which looks like a NOP (io_alloc_notif(), 6.0).
 */
static __always_inline struct ns_op_state *op_of_request(__u64 ring, struct io_kiocb___op *request)
{
	__u32 flags = 0;

	if (!BPF_CORE_READ(request, opcode) && bpf_core_field_exists(request->cqe.flags))
		flags = BPF_CORE_READ(request, cqe.flags);
	if (flags & NS_CQE_NOTIF)
		return op_of(ring | NS_BY_NOTIF, request_user_data((struct io_kiocb *)request));
	return op_of(ring, op_key(request));
}

/* What it is on, where it was not armed, which would have told. */
static __noinline int note_op_file(struct ns_thread_state *thread, struct file *file)
{
	struct file_view view = {};
	__u64 sk;

	if (!thread || !file || thread->ring.op.file)
		return 0;
	view_file(file, &view);
	sk = note_op_kind(&thread->ring.op, &view);
	if (sk)
		thread->ring.sk = sk;
	return 0;
}

/* The operation as its own table has it, or as far as the request itself tells. */
static __always_inline void note_request(struct ns_thread_state *thread,
					 struct io_kiocb___op *request)
{
	__u64 ring = (__u64)BPF_CORE_READ(request, ctx);
	struct ns_op_state *state = op_of_request(ring, request);
	struct ns_uring *op = &thread->ring.op;

	if (state && state->under_way) {
		__builtin_memcpy(op, &state->op, sizeof(*op));
		thread->ring.sk = state->sk;
	} else {
		__builtin_memset(op, 0, sizeof(*op));
		op->opcode = BPF_CORE_READ(request, opcode);
		op->user_data = request_user_data((struct io_kiocb *)request);
		op->flags = BPF_CORE_READ(request, flags) & NS_SQE_FLAGS;
		op->fd = NS_FD_UNKNOWN;
		thread->ring.sk = 0;
	}
	note_op_file(thread, BPF_CORE_READ(request, file));
	op->head.len = sizeof(*op);
	thread->ring.known = NS_OP_ENDED;
	op->step = op->queued_ts ? NS_URING_QUEUED : NS_URING_ARMED;
	op->how = op->queued_ts ? NS_URING_WORKER : op->armed_ts ? NS_URING_POLLED : NS_URING_LATER;
	op->by_tid = bpf_get_current_pid_tgid();
	thread->ring.read = 0;
	/* What a worker did is done, but for telling of it. */
	if (op->queued_ts && reads(op->opcode)) {
		__s32 result = request_result(request);

		thread->ring.read = result > 0 ? result : 0;
	}
}

/* Nothing of its ring has ended the wait: what that waits for is what is in flight there. */
static __noinline int note_pending(struct ns_thread_state *thread)
{
	__u64 key = thread ? thread->ring.key : 0;
	struct ns_ring_state *ring = key ? bpf_map_lookup_elem(&rings, &key) : NULL;
	struct ns_op_state *state;
	struct ns_uring *op;

	if (!ring)
		return 0;
	op = &thread->ring.op;
	state = ring->in_flight == 1 ? op_of(key, ring->newest) : NULL;
	if (state && state->under_way == NS_OP_UNDER_WAY) {
		__builtin_memcpy(op, &state->op, sizeof(*op));
		thread->ring.sk = state->sk;
	} else {
		__builtin_memset(op, 0, sizeof(*op));
		op->opcode = NS_OPCODE_UNKNOWN;
		op->fd = NS_FD_UNKNOWN;
		thread->ring.sk = 0;
	}
	op->head.len = sizeof(*op);
	thread->ring.known = NS_OP_PENDING;
	thread->ring.read = 0;
	return 0;
}

/* The last completion before the wake-up, if it came during the sleep. */
static __always_inline void note_completion(struct task_struct *task,
					    struct ns_thread_state *thread, __u64 until)
{
	__u64 key = thread->ring.key;
	struct ns_ring_state *ring = key ? bpf_map_lookup_elem(&rings, &key) : NULL;

	if (!ring)
		return;
	if (ring->last_ts < thread->since) {
		note_pending(thread);
		return;
	}
	if (ring->last.step != NS_URING_DONE || ring->last_ts > until)
		return;
	__builtin_memcpy(&thread->ring.op, &ring->last, sizeof(thread->ring.op));
	thread->ring.op.head.len = sizeof(thread->ring.op);
	thread->ring.known = NS_OP_ENDED;
	thread->ring.sk = ring->last_sk;
	thread->ring.read = 0;
	/* One that another thread did at once is not looked at closer when it is done. */
	if (ring->last.fd != NS_FD_UNKNOWN)
		note_op_file(thread, file_of_sqe(task, key, ring->last.fd, ring->last.flags));
}

/* A thread that waits for any of several files may have a ring among them. */
static __always_inline __u64 ring_among(const struct syscall_args *args,
					struct io_kiocb___op *request)
{
	__u64 key = (__u64)BPF_CORE_READ(request, ctx);

	if (call_kind(args->number) < NS_CALL_ON_EPOLL || !bpf_map_lookup_elem(&rings, &key))
		return 0;
	return key;
}

/* It still sleeps. */
static __noinline int note_ring_lasting(struct task_struct *task, struct ns_thread_state *thread,
					const struct syscall_args *args)
{
	if (!thread || !args)
		return 0;
	thread->ring.key = 0;
	thread->ring.op.head.len = 0;
	if (rings_watched <= 0 || thread->state != NS_TASK_INTERRUPTIBLE)
		return 0;
	thread->ring.key = ring_of_call(task, thread, args);
	return note_pending(thread);
}

/* until: the wake-up. */
static __noinline int note_ring_wake(struct task_struct *task, struct ns_thread_state *thread,
				     __u64 until)
{
	struct io_kiocb___op *request;
	struct syscall_args args;

	if (!thread)
		return 0;
	thread->ring.key = 0;
	thread->ring.op.head.len = 0;
	/* Who waits for completions can be interrupted; a worker waits for its operation's file. */
	if (thread->state != NS_TASK_INTERRUPTIBLE || is_io_worker(task))
		return 0;
	read_syscall(task_regs(task), &args);
	thread->ring.key = ring_of_call(task, thread, &args);
	request = task_work_of(task);
	if (request && !thread->ring.key)
		thread->ring.key = ring_among(&args, request);
	if (!thread->ring.key)
		return 0;
	if (!request) {
		request = ring_work_of(thread->ring.key);
		if (request && !has_enough(thread->ring.key, &args, queued_with(request)))
			return 0;
	}
	if (request)
		note_request(thread, request);
	else if (has_enough(thread->ring.key, &args, 0))
		note_completion(task, thread, until);
	else
		note_pending(thread);
	return 0;
}

/* What the operation is that a worker works on. False: none, it waits for one. */
static __noinline int note_worker_op(struct task_struct *task, struct ns_thread_state *thread)
{
	struct io_kiocb___op *request = worker_request(task);

	if (!thread || !request)
		return false;
	note_request(thread, request);
	return true;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a task has to do with io_uring: the request that it works on, the one that it was woken
 * for, and the one that it submits just now. All by the kernel's own lists: no table of ours.
 */
#ifndef NETSTALL_BPF_URING_URING_TASK_BPF_H
#define NETSTALL_BPF_URING_URING_TASK_BPF_H

/* include/linux/sched.h: a submission thread or a worker, from 3bfe6106693b (5.12) on. */
#define NS_PF_IO_WORKER 0x10

/* io_uring/io_uring.c; the offsets alone count, CO-RE knows them. */
struct io_kiocb___op {
	struct file *file;
	__u8 opcode;
	unsigned int flags;
	unsigned int nr_tw; /* 6.8: how many wait to be run, this one included */
	__s32 result;       /* until cef216fc32d7 (5.19) */
	struct {
		__s32 res;
		__u32 flags;
	} cqe;
	struct io_ring_ctx *ctx;
	struct {
		struct {
			void *next;
		} node;
	} io_task_work;
	struct {
		unsigned int flags;
	} work;
} __attribute__((preserve_access_index));

/* io_kiocb.cmd of a send is one, at its beginning. */
struct io_sr_msg___op {
	__u32 msg_flags;
} __attribute__((preserve_access_index));

struct io_worker___op {
	void *cur_work;
} __attribute__((preserve_access_index));

/* What is still to be run by the task: a list with both its ends until f88262e60bb9 (5.19), */
struct io_uring_task___both {
	struct {
		void *first;
		void *last;
	} task_list;
	struct file *registered_rings[16]; /* e7a6c00dc77a (5.18) */
} __attribute__((preserve_access_index));

/* then an llist, whose first was added last, and a queue with its tail in 7.x. */
struct io_uring_task___tail {
	struct {
		void *tail;
		struct {
			void *next;
		} stub;
	} task_list;
} __attribute__((preserve_access_index));

/* The same of a ring with IORING_SETUP_DEFER_TASKRUN, c0e0d6ba25f1 (6.1). */
struct io_ring_ctx___llist {
	struct {
		void *first;
	} work_llist;
} __attribute__((preserve_access_index));

struct io_ring_ctx___tail {
	struct {
		void *tail;
		struct {
			void *next;
		} stub;
	} work_list;
} __attribute__((preserve_access_index));

struct task_struct___uring {
	struct io_uring_task___both *io_uring;
	struct io_worker___op *pf_io_worker; /* until e32cf5dfbe22 (5.17) */
	struct io_worker___op *worker_private;
} __attribute__((preserve_access_index));

/* io_uring_enter()'s flags, include/uapi/linux/io_uring.h. */
#define NS_ENTER_GETEVENTS       1
#define NS_ENTER_REGISTERED_RING 16

#define NS_REGISTERED_RINGS 16 /* of a thread: IO_RINGFD_REG_MAX */

static __always_inline bool is_io_worker(struct task_struct *task)
{
	return task->flags & NS_PF_IO_WORKER;
}

/* The request that a worker works on; NULL: none, or it is no worker (but a submission thread). */
static __always_inline struct io_kiocb___op *worker_request(struct task_struct *task)
{
	struct task_struct___uring *seen = (void *)task;
	struct io_worker___op *worker;
	void *work;

	if (bpf_core_field_exists(seen->pf_io_worker))
		worker = BPF_CORE_READ(seen, pf_io_worker);
	else
		worker = BPF_CORE_READ(seen, worker_private);
	work = worker ? BPF_CORE_READ(worker, cur_work) : NULL;
	return work ? work - bpf_core_field_offset(struct io_kiocb___op, work) : NULL;
}

static __always_inline struct io_kiocb___op *request_of_node(void *node)
{
	return node ? node - bpf_core_field_offset(struct io_kiocb___op, io_task_work.node) : NULL;
}

/* What was added last to what the task is to run for its requests. */
static __always_inline struct io_kiocb___op *task_work_of(struct task_struct *task)
{
	struct task_struct___uring *seen = (void *)task;
	struct io_uring_task___both *both = BPF_CORE_READ(seen, io_uring);
	struct io_uring_task___tail *tail = (void *)both;
	void *node;

	if (!both)
		return NULL;
	if (bpf_core_field_exists(both->task_list.last)) {
		node = BPF_CORE_READ(both, task_list.first) ? BPF_CORE_READ(both, task_list.last)
							    : NULL;
	} else if (bpf_core_field_exists(tail->task_list.tail)) {
		node = BPF_CORE_READ(tail, task_list.tail);
		if (node == (void *)tail + bpf_core_field_offset(struct io_uring_task___tail,
								 task_list.stub))
			node = NULL;
	} else {
		node = BPF_CORE_READ(both, task_list.first);
	}
	return request_of_node(node);
}

/* The same of what the one that waits on the ring is to run there. */
static __always_inline struct io_kiocb___op *ring_work_of(__u64 ring)
{
	struct io_ring_ctx___llist *list = (void *)ring;
	struct io_ring_ctx___tail *tail = (void *)ring;
	void *node = NULL;

	if (bpf_core_field_exists(list->work_llist)) {
		node = BPF_CORE_READ(list, work_llist.first);
	} else if (bpf_core_field_exists(tail->work_list)) {
		node = BPF_CORE_READ(tail, work_list.tail);
		if (node ==
		    (void *)tail + bpf_core_field_offset(struct io_ring_ctx___tail, work_list.stub))
			node = NULL;
	}
	return request_of_node(node);
}

static __always_inline __s32 request_result(struct io_kiocb___op *request)
{
	if (bpf_core_field_exists(request->result))
		return BPF_CORE_READ(request, result);
	return BPF_CORE_READ(request, cqe.res);
}

/* ---- the request that a thread submits just now ---- */

/*
 * A send within the call that submits it has its submitter's stack; one that is run later by the
 * same thread has not. So the note is dropped as soon as something of the ring is put off (armed
 * or queued), and holds only while the thread did not sleep.
 */
struct ns_issuer issuers[NS_CPUS];

/* IORING_OP_*, include/uapi/linux/io_uring.h */
enum {
	NS_OP_READV = 1,
	NS_OP_WRITEV = 2,
	NS_OP_READ_FIXED = 4,
	NS_OP_POLL_ADD = 6,
	NS_OP_WRITE_FIXED = 5,
	NS_OP_SENDMSG = 9,
	NS_OP_RECVMSG = 10,
	NS_OP_TIMEOUT = 11,
	NS_OP_LINK_TIMEOUT = 15,
	NS_OP_READ = 22,
	NS_OP_WRITE = 23,
	NS_OP_SEND = 26,
	NS_OP_RECV = 27,
	NS_OP_MSG_RING = 40,
	NS_OP_SEND_ZC = 47,
	NS_OP_SENDMSG_ZC = 48,
	NS_OP_READ_MULTISHOT = 49,
};

static __always_inline bool op_sends(__u32 opcode)
{
	switch (opcode) {
	case NS_OP_WRITEV:
	case NS_OP_WRITE_FIXED:
	case NS_OP_SENDMSG:
	case NS_OP_WRITE:
	case NS_OP_SEND:
	case NS_OP_SEND_ZC:
	case NS_OP_SENDMSG_ZC:
		return true;
	}
	return false;
}

static __always_inline bool reads(__u32 opcode)
{
	switch (opcode) {
	case NS_OP_READV:
	case NS_OP_READ_FIXED:
	case NS_OP_RECVMSG:
	case NS_OP_READ:
	case NS_OP_RECV:
	case NS_OP_READ_MULTISHOT:
		return true;
	}
	return false;
}

/*
 * In the submitting thread, of a request that is not linked to one before it: such a one runs when
 * that is done, in this call as long as nothing is put off, which its chain's head's note says.
 */
static __always_inline void note_issue(struct ns_ring_state *ring, __u64 key, __u64 request,
				       const struct ns_op_state *state)
{
	struct ns_issuer *here = &issuers[bpf_get_smp_processor_id() & (NS_CPUS - 1)];
	struct ns_issue *issue = &ring->issue;

	issue->request = request;
	issue->switches = state->switches;
	issue->tid = state->op.head.tid;
	issue->fd = state->op.fd;
	issue->flags = state->op.flags;
	here->ring = key;
	here->tid = issue->tid;
}

static __always_inline void issue_done(struct ns_ring_state *ring, __u64 request)
{
	if (ring->issue.request == request)
		ring->issue.request = 0;
}

static __always_inline struct file *entered_file(struct task_struct *task,
						 const struct syscall_args *args)
{
	struct task_struct___uring *seen = (void *)task;
	struct io_uring_task___both *own;
	struct file *file = NULL, **slots;

	if (!(args->arg3 & NS_ENTER_REGISTERED_RING))
		return task_file(task, args->arg0);
	own = BPF_CORE_READ(seen, io_uring);
	if (!own || !bpf_core_field_exists(own->registered_rings) ||
	    args->arg0 >= NS_REGISTERED_RINGS)
		return NULL;
	slots = (void *)own + bpf_core_field_offset(struct io_uring_task___both, registered_rings);
	bpf_probe_read_kernel(&file, sizeof(file), slots + args->arg0);
	return file;
}

/* The socket that a worker sends on; NULL: it does something else. */
static __noinline struct sock *worker_sends_on(struct task_struct *task)
{
	struct io_kiocb___op *request = task ? worker_request(task) : NULL;

	if (!request || !op_sends(BPF_CORE_READ(request, opcode)))
		return NULL;
	return file_socket(BPF_CORE_READ(request, file));
}

/* The ring that current submits to: it noted so here, or its call says so. */
static __always_inline __u64 ring_in_use(struct task_struct *task, __u32 tid)
{
	struct ns_issuer *here = &issuers[bpf_get_smp_processor_id() & (NS_CPUS - 1)];
	struct syscall_args args;

	if (here->tid == tid)
		return here->ring;
	read_syscall(current_regs(), &args);
	if (args.number != NS_SYS_IO_URING_ENTER)
		return 0;
	return ring_of_file(entered_file(task, &args));
}

/* The note of what current submits just now, if that is a send on this socket. */
static __noinline struct ns_issue *issue_on(struct sock *sk)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 tid = bpf_get_current_pid_tgid();
	__u64 key = ring_in_use(task, tid);
	struct ns_ring_state *ring = key ? bpf_map_lookup_elem(&rings, &key) : NULL;
	struct ns_issue *issue;

	if (!ring)
		return NULL;
	issue = &ring->issue;
	if (issue->tid != tid || issue->switches != own_switches())
		return NULL;
	return socket_of_sqe(task, key, issue->fd, issue->flags) == sk ? issue : NULL;
}

/* The request on whose behalf current sends on this socket; NULL when that is not known. */
static __always_inline struct io_kiocb___op *sending_request(struct sock *sk)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct ns_issue *issue = issue_on(sk);

	if (issue)
		return (struct io_kiocb___op *)issue->request;
	if (!(BPF_CORE_READ(task, flags) & NS_PF_IO_WORKER) || worker_sends_on(task) != sk)
		return NULL;
	return worker_request(task);
}

/* enum ns_via of the send that current has just done. */
static __always_inline __u32 send_via(void)
{
	struct task_struct *task;

	if (!rings_watched)
		return NS_VIA_CALL;
	task = (struct task_struct *)bpf_get_current_task();
	if (BPF_CORE_READ(task, flags) & NS_PF_IO_WORKER)
		return NS_VIA_WORKER;
	return is_send_call(syscall_number(current_regs())) ? NS_VIA_CALL : NS_VIA_URING;
}

/* MSG_MORE of a request that sends. */
static __always_inline __u32 request_flags(struct io_kiocb___op *request)
{
	struct io_sr_msg___op *message = (void *)request;

	switch (BPF_CORE_READ(request, opcode)) {
	case NS_OP_SEND:
	case NS_OP_SENDMSG:
	case NS_OP_SEND_ZC:
	case NS_OP_SENDMSG_ZC:
		return BPF_CORE_READ(message, msg_flags) & NS_MSG_MORE;
	}
	return 0;
}

/* As read_send_call(), by whichever way the send was asked for. */
static __always_inline void read_sending(struct sock *sk, __u32 *fd, __u32 *flags)
{
	struct io_kiocb___op *request;

	if (send_via() == NS_VIA_CALL) {
		read_send_call(fd, flags);
		return;
	}
	*fd = NS_FD_UNKNOWN;
	request = sending_request(sk);
	*flags = request ? request_flags(request) : 0;
}

#endif

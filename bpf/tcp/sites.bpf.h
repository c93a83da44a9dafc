/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where in their program the two small writes were called. Nothing is taken before a hold
 * has begun, so a connection that never holds pays for one comparison.
 *
 * The held write is still in its call when its hold begins: its registers and the top of its
 * stack are copied as they are. The write that is unacknowledged has returned by then, so the
 * next sends of the connection that leave as much unacknowledged stand for it: programs do the
 * same again. Most programs are built without frame pointers, hence the copy: user space
 * unwinds it (user/symbols/unwind.c).
 */
#ifndef NETSTALL_BPF_TCP_SITES_BPF_H
#define NETSTALL_BPF_TCP_SITES_BPF_H

/* What every send end reads of its socket. */
struct send_view {
	__u32 write_seq;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 copied_seq; /* how far this end has read */
	__u64 clock_ns;   /* when the last of it went out; only if all of it did */
};

#define NS_STACK_STEP 512 /* a page that is not mapped ends the copy */

__u64 sites_second;        /* which second the budget is of */
__u32 sites_taken;         /* of it; CPUs may race for the last ones */
__u32 sites_idle;          /* those of waits, */
__u32 sites_busy;          /* and of busy threads */
__u32 sites_by_submission; /* some connection wants such */

/* how: enum ns_call_what, or a write of which bytes are held. */
#define NS_SITE_HELD 8

static __always_inline void begin_second(__u64 now)
{
	__u64 second = now / 1000000000;

	if (second == sites_second)
		return;
	sites_second = second;
	sites_taken = 0;
	sites_idle = 0;
	sites_busy = 0;
}

/* What is refused of a read or an answer is taken at the next one. */
static __always_inline bool within_budget(__u64 now, __u32 how)
{
	begin_second(now);
	if (sites_taken >= NS_SITES_SECOND) {
		if (how == NS_CALL_WRITE || how == NS_SITE_HELD)
			count_lost(NS_LOST_SITES);
		return false;
	}
	sites_taken++;
	return true;
}

/* The stack grows down: what the callers left lies from its pointer upwards. */
static __always_inline __u32 copy_stack(struct ns_call_raw *out)
{
	const void *from = (const void *)out->regs[NS_REG_SP];
	__u32 i;

#pragma unroll
	for (i = 0; i < NS_CALL_STACK; i += NS_STACK_STEP) {
		if (bpf_probe_read_user(out->stack + i, NS_STACK_STEP, from + i))
			return i;
	}
	return NS_CALL_STACK;
}

/* A call of the current thread. NULL: not now. */
static __always_inline struct ns_call_raw *begin_site(__u64 now, __u32 how, __u32 conn)
{
	struct ns_call_raw *out;

	if (!within_budget(now, how))
		return NULL;
	out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);
	if (!out) {
		count_lost(NS_LOST_SITES);
		return NULL;
	}
	__builtin_memset(out, 0, __builtin_offsetof(struct ns_call_raw, stack));
	fill_head(&out->call.head, NS_CALL, sizeof(*out), now, conn);
	out->call.what = how & (NS_SITE_HELD - 1);
	return out;
}

static __always_inline void end_site(struct ns_call_raw *out)
{
	read_call_regs(current_regs(), out->regs);
	if (!out->regs[NS_REG_IP]) { /* a thread that never was in user mode */
		bpf_ringbuf_discard(out, BPF_RB_NO_WAKEUP);
		return;
	}
	out->stack_len = copy_stack(out);
	out->python_count = copy_python(out->python);
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
}

/*
 * In the context of the call. 0: not taken now, another send may do. A global function, as
 * on_blocked_send() is.
 */
__noinline int tell_site(__u64 key, __u32 write_seq, __u32 bytes, __u64 now, __u32 how)
{
	struct ns_conn_state *conn = conn_traced(key);
	struct ns_call_raw *out = conn ? begin_site(now, how, conn->id) : NULL;

	if (!out)
		return 0;
	want_known(conn);
	out->call.write_seq = write_seq;
	out->call.bytes = bytes;
	out->call.held = how == NS_SITE_HELD;
	out->call.off_ts = how == NS_CALL_READ ? conn->sites.reader_off_ts : 0;
	end_site(out);
	return 1;
}

/* Threads that have nothing to do wait for input or for each other: they leave room for others. */
static __always_inline bool has_idle_room(__u64 now, __u32 number)
{
	__u32 most =
		waits_to_read(number) || number == NS_SYS_FUTEX ? NS_SITES_IDLE / 2 : NS_SITES_IDLE;

	begin_second(now);
	return sites_idle < most;
}

static __always_inline bool has_busy_room(__u64 now)
{
	begin_second(now);
	return sites_busy < NS_SITES_BUSY;
}

/* Likewise of a sleep that begins, and of the release of one that began then: how. */
__noinline int tell_wait_site(__u64 began, __u32 number, __u32 slept, __u64 now, __u32 how)
{
	bool idle = how == NS_CALL_WAIT, busy = how == NS_CALL_BUSY;
	struct ns_call_raw *out;

	if (!settings.trace || (idle && !has_idle_room(now, number)) ||
	    (busy && !has_busy_room(now)))
		return 0;
	out = begin_site(now, how, 0);
	if (!out)
		return 0;
	sites_idle += idle;
	sites_busy += busy;
	out->call.off_ts = began;
	out->call.syscall = number;
	out->call.slept = slept;
	end_site(out);
	return 1;
}

/* A read by who had waited for it. Mostly the wait was in the same call, or in one beside it. */
static __noinline int tell_reader(__u64 key, __u32 tid)
{
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);

	if (!conn || !conn->sites.reader || conn->sites.reader != tid)
		return 0;
	if (tell_site(conn->key, 0, 0, bpf_ktime_get_ns(), NS_CALL_READ))
		conn->sites.reads++;
	forget_reader(conn);
	return 0;
}

/*
 * Is the stack that of the program's line that asked for the send? A worker has none, and a
 * request that was put off runs in whatever call its thread makes then: only a call that submits
 * something itself has renewed the note of what is submitted.
 */
static __noinline bool has_site(struct sock *sk)
{
	struct syscall_args args;

	switch (send_via()) {
	case NS_VIA_CALL:
		return true;
	case NS_VIA_URING:
		read_syscall(current_regs(), &args);
		return args.number == NS_SYS_IO_URING_ENTER && args.arg1 && issue_on(sk);
	}
	return false;
}

/* The program's own doing, which it can change where it writes. */
static __always_inline bool reason_has_site(__u32 reason)
{
	return reason == NS_HOLD_NAGLE || reason == NS_HOLD_CORK || reason == NS_HOLD_MSG_MORE;
}

static __always_inline void on_held_call(struct sock *sk, struct ns_conn_state *conn,
					 const struct send_view *view, __u32 bytes, __u64 now)
{
	if (!reason_has_site(conn->hold.reason))
		return;
	if (conn->hold.reason == NS_HOLD_NAGLE) {
		conn->sites.wanted = conn->sites.first < NS_SITES_FIRST;
		conn->sites.unacked = view->snd_nxt - view->snd_una;
	}
	if (conn->sites.held >= NS_SITES_HELD)
		return;
	if (!has_site(sk)) {
		conn->sites.submit_held = bytes;
		sites_by_submission = 1;
	} else if (tell_site(conn->key, view->write_seq, bytes, now, NS_SITE_HELD)) {
		conn->sites.held++;
	}
}

/*
 * A send of which nothing was held. What leaves as many bytes unacknowledged as lay before the
 * last held write is most likely that first write; a few of other sizes are taken as well,
 * for programs whose pieces vary.
 */
static __always_inline void on_free_call(struct sock *sk, struct ns_conn_state *conn,
					 const struct send_view *view, __u32 bytes, __u64 now)
{
	__u32 unacked = view->write_seq - view->snd_una;
	bool alike = unacked == conn->sites.unacked;

	if (!unacked || view->write_seq != view->snd_nxt)
		return;
	if (!alike && conn->sites.other == NS_SITES_OTHER)
		return;
	if (!has_site(sk)) {
		if (alike)
			conn->sites.submit_first = bytes;
		return;
	}
	if (!tell_site(conn->key, view->write_seq, bytes, now, NS_CALL_WRITE))
		return;
	if (alike)
		conn->sites.first++;
	else
		conn->sites.other++;
	conn->sites.wanted = conn->sites.first < NS_SITES_FIRST;
}

/* ---- of what a worker sends, or the program's thread later on ---- */

/* SQEs whose len is bytes. */
static __always_inline bool says_bytes(__u32 opcode)
{
	return opcode == NS_OP_WRITE || opcode == NS_OP_SEND || opcode == NS_OP_SEND_ZC ||
	       opcode == NS_OP_WRITE_FIXED;
}

static __always_inline struct sock *submitted_on(const struct ns_uring *op, __u64 ring)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	if (BPF_CORE_READ(task, flags) & NS_PF_IO_WORKER)
		return NULL;
	return socket_of_sqe(task, ring, op->fd, op->flags);
}

/*
 * In the context of a submission. It stands for the send of as many bytes that was held, or went
 * before it, earlier: programs do the same again. Of two sizes that are equal it tells neither.
 */
static __noinline int site_of_submission(const struct ns_uring *op, __u64 ring)
{
	__u64 key = op && says_bytes(op->opcode) ? (__u64)submitted_on(op, ring) : 0;
	struct ns_conn_state *conn = key ? bpf_map_lookup_elem(&conns, &key) : NULL;
	__u32 bytes;

	if (!conn || conn->sites.submit_first == conn->sites.submit_held)
		return 0;
	bytes = op->len;
	if (bytes && bytes == conn->sites.submit_held) {
		if (tell_site(conn->key, 0, bytes, op->submit_ts, NS_SITE_HELD))
			conn->sites.held++;
		conn->sites.submit_held = 0;
	} else if (bytes && bytes == conn->sites.submit_first) {
		if (tell_site(conn->key, 0, bytes, op->submit_ts, NS_CALL_WRITE))
			conn->sites.first++;
		conn->sites.submit_first = 0;
	}
	return 0;
}

/* The other end had waited long for one. The next one stands for it. */
static __noinline int on_answer_call(struct sock *sk, struct ns_conn_state *conn, __u32 bytes)
{
	if (!conn || !has_site(sk))
		return 0;
	conn->sites.answer_wanted = 0;
	if (tell_site(conn->key, 0, bytes, bpf_ktime_get_ns(), NS_CALL_ANSWER))
		conn->sites.answers++;
	return 0;
}

/* Every send's end, after its hold was begun, if it began one. */
static __always_inline void sample_sites(struct sock *sk, struct ns_conn_state *conn,
					 const struct send_view *view, __u32 bytes, __u64 now)
{
	if (is_held(conn) && conn->hold.ts == now && now)
		on_held_call(sk, conn, view, bytes, now);
	else if (conn->sites.wanted && !is_held(conn))
		on_free_call(sk, conn, view, bytes, now);
	if (conn->sites.answer_wanted)
		on_answer_call(sk, conn, bytes);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The record of a wait: which connection it was about, whose turn it was there, who ended it. */
#ifndef NETSTALL_BPF_THREAD_WAIT_BPF_H
#define NETSTALL_BPF_THREAD_WAIT_BPF_H

#define NS_SIGNAL_GROUP_EXIT 4 /* signal_struct.flags */

/*
 * What a wait was about. In a table, not on the stack: the verifier knows nothing of what lies in a
 * table, so it follows what comes next once, not once for each way in which this was found.
 */
struct waited_for {
	struct syscall_args call; /* that it slept in */
	__u64 conn;               /* struct sock of a watched connection, 0 none */
	__u64 other;              /* struct sock that is no TCP connection, 0 none */
	__u64 ready;              /* struct sock of a connection that epoll found ready, 0 none */
	__u32 tid;                /* whose wait it was */
	__u32 basis;              /* enum ns_conn_basis */
	__u32 gone;    /* number of one that ended before the wait did, which ended by that */
	__u32 ended;   /* enum ns_wait_end: unseen, what it did since is in its traces' place */
	__u32 ring;    /* number of the ring that it was on, 0 none */
	__u32 has_op;  /* ns_thread_state.ring.op is of it */
	__u32 op_read; /* bytes that this has read from the connection already */
};

static struct waited_for waited[NS_CPUS + 1]; /* (place_of_look()) */

/* Where the wait of a thread, which ended so, is looked into. */
static __always_inline struct waited_for *begin_wait_look(__u32 tid, __u32 ended, __u32 *place)
{
	struct waited_for *what;

	*place = place_of_look(ended == NS_WAIT_LASTS);
	what = &waited[*place];
	__builtin_memset(what, 0, sizeof(*what));
	what->tid = tid;
	what->ended = ended;
	what->call.number = NS_SYSCALL_NONE;
	return what;
}

static __always_inline struct ns_conn_state *conn_of_wait(const struct waited_for *what)
{
	__u64 key = what->conn;

	return key ? bpf_map_lookup_elem(&conns, &key) : NULL;
}

/*
 * What the owner did last, before it read so many bytes. The socket's copied_seq says whether it
 * read: it moves with every read, also with one that no program sees (splice(), a kernel without
 * the fact). A message that was read in part counts as read.
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

/* By a signal that ends its process, or as another of its threads exits for all of them. */
static __always_inline bool is_being_ended(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, flags) & NS_SIGNAL_GROUP_EXIT;
}

/* The thread has done nothing since: its stack, call and sockets are those of the wait. */
static __always_inline bool is_as_it_was(const struct waited_for *what)
{
	return what->ended == NS_WAIT_SEEN || what->ended >= NS_WAIT_LASTS;
}

/* Whose turn it was while the thread waited: before what ended its wait has read anything. */
static __always_inline __u32 turn_at_end(const struct ns_thread_state *thread,
					 const struct waited_for *what, struct ns_conn_state *conn)
{
	if (what->has_op && thread->ring.op.step == NS_URING_DONE)
		return thread->ring.op.turn;
	if (!is_as_it_was(what))
		return NS_TURN_UNKNOWN;
	return whose_turn_before(conn, (struct tcp_sock *)what->conn, what->op_read);
}

/* Here, where the stack has room for it (MAX_BPF_STACK): note_socket() names it. */
static __always_inline void make_waited_known(const struct waited_for *what)
{
	struct ns_conn_state *conn = conn_of_wait(what);

	if (conn)
		make_known(conn);
}

static __always_inline void note_socket(const struct ns_thread_state *thread,
					const struct waited_for *what, struct ns_wait *out)
{
	struct tcp_sock *tp = (struct tcp_sock *)what->conn;
	struct ns_conn_state *conn = conn_of_wait(what);

	if (!conn) {
		out->head.conn = what->gone;
		out->conn_basis = what->gone ? what->basis : NS_CONN_NONE;
		return;
	}
	out->head.conn = conn->id;
	out->conn_basis = what->basis;
	out->turn = turn_at_end(thread, what, conn);
	if (out->turn == NS_TURN_WROTE)
		out->turn_ts = conn->turn.ts;
	out->srtt_us = BPF_CORE_READ(tp, srtt_us) >> 3;
	out->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
}

/* Who had not been sent anything there meanwhile came by itself. */
static __always_inline void note_mover(const struct waited_for *what, struct ns_wait *out)
{
	struct tcp_sock *tp = (struct tcp_sock *)what->ready;

	if (!tp || !is_as_it_was(what) || BPF_CORE_READ(tp, packets_out))
		return;
	out->ready_brings = BPF_CORE_READ(tp, bytes_received) > BPF_CORE_READ(tp, bytes_sent);
	/* Of what was acknowledged last, as nothing is under way. */
	out->ready_sent_ts = 1000 * BPF_CORE_READ(tp, first_tx_mstamp);
}

static __always_inline void note_op(const struct ns_thread_state *thread,
				    const struct waited_for *what, struct ns_wait *out)
{
	const struct ns_uring *op = &thread->ring.op;

	out->ring = what->ring;
	if (!what->has_op)
		return;
	out->op_known = thread->ring.known;
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

/* As waited has it in this place. */
static __noinline int note_wait(struct task_struct *task, struct ns_thread_state *thread,
				__u32 place, __u64 now)
{
	const struct waited_for *what;
	struct ns_wait_raw *out;

	if (!thread || place > NS_CPUS)
		return 0;
	what = &waited[place];
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
		out->wait.syscall = what->call.number;
		out->wait.arg0 = what->call.arg0;
		out->wait.arg1 = what->call.arg1;
		if (is_as_it_was(what))
			out->wait.arg2 = call_timeout(&what->call);
	}
	if (may_matter(ns_passed(thread->since, now)))
		__sync_fetch_and_add(&waits_told, 1);
	if (ns_passed(thread->since, now) >= settings.threshold_ns)
		__sync_fetch_and_add(&stalls_told, 1);
	out->wait.ended = what->ended;
	out->wait.began_ts = thread->began;
	out->wait.spent_known = 1;
	spent_now(thread, now, &out->wait.spent); /* off since: as it left */
	note_socket(thread, what, &out->wait);
	note_mover(what, &out->wait);
	if (!what->conn && what->other && may_matter(ns_passed(thread->since, now))) {
		describe_socket(what->other, place);
		out->wait.socket = described[place];
	}
	note_op(thread, what, &out->wait);
	/* Else it came before the thread had left its CPU, or is of the wait to come. */
	if ((!thread->wake_ts || thread->wake_ts >= thread->since) && thread->wake_ts <= now) {
		out->wait.wake_ts = thread->wake_ts;
		note_waker(thread, out);
	}
	/* Threads rename themselves: their totals carry the name that they had last. */
	BPF_CORE_READ_STR_INTO(&thread->comm, task, comm);
	__builtin_memcpy(out->wait.comm, thread->comm, NS_COMM_LEN);
	if (is_as_it_was(what) && may_matter(ns_passed(thread->since, now)))
		bpf_get_task_stack(task, out->stack, sizeof(out->stack), 0);
	barrier();
	/* Of a reader that was not seen to come back, which is no switch: one came between. */
	if (what->tid != out->wait.head.tid) {
		count_lost(NS_LOST_RUNS);
		bpf_ringbuf_discard(out, BPF_RB_NO_WAKEUP);
		return 0;
	}
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
			      .owner_sure = NS_OWNER_SEEN};
	struct sock *sk = (struct sock *)key;

	if (!settings.trace || !sk || !is_tcp_stream(sk))
		return 0;
	if (BPF_CORE_READ(sk, __sk_common.skc_state) != NS_TCP_ESTABLISHED)
		return 0;
	if (target_wanted(sk, tgid)) {
		as.role = NS_ROLE_TARGET;
		as.origin = NS_ORIGIN_USE;
		as.opener = opener_by_use(sk);
		return adopt_open(sk, &as) != NULL;
	}
	if (!chain_has_room())
		return 0;
	/* A target's own that the wanted ports leave out. */
	if (!settings.any_process && proc_role(tgid) & NS_ROLE_TARGET)
		return 0;
	if (is_listened_at(sk))
		return 0;
	/* Its other end is found by the reader's scan. */
	__sync_fetch_and_add(&unsure_owners, 1);
	return adopt_open(sk, &as) != NULL;
}

/* How many bits are below the lowest that is set. */
static __always_inline __u32 lowest_bit(__u64 word)
{
	__u64 below = (word & -word) - 1;

	below -= below >> 1 & 0x5555555555555555;
	below = (below & 0x3333333333333333) + (below >> 2 & 0x3333333333333333);
	return ((below + (below >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56;
}

/* Takes the lowest descriptor, + 1, of those that select() was given; 0: none is left. */
static __always_inline __u32 take_selected(struct ns_thread_state *thread)
{
	__u32 i, bit;

#pragma unroll
	for (i = 0; i < NS_SELECTED; i++) {
		if (!thread->habits.selected[i])
			continue;
		bit = lowest_bit(thread->habits.selected[i]);
		thread->habits.selected[i] &= thread->habits.selected[i] - 1;
		return 64 * i + bit + 1;
	}
	return 0;
}

/* What the descriptors of a poll() or select() are, as struct sock; each 0 none. */
struct polled {
	__u64 conn;        /* a watched connection */
	__u64 conn_ready;  /* the first that can be read now */
	__u64 other;       /* no TCP connection */
	__u64 other_asks;  /* that waits for an answer */
	__u64 other_ready; /* the first that can be read now */
	__u32 conns;
	__u32 others;
};

static struct polled polled[NS_CPUS + 1]; /* (place_of_look()) */

static __always_inline void see_other_polled(struct sock *sk, struct polled *out)
{
	const struct ns_datagrams *known;

	out->others++;
	out->other = (__u64)sk;
	if (!out->other_ready && first_datagram(sk))
		out->other_ready = (__u64)sk;
	known = datagrams_of(sk);
	if (known && known->asked_ts)
		out->other_asks = (__u64)sk;
}

/*
 * Adds to polled what the i-th descriptor of a poll() is, or the next of a select() (NS_POLLED).
 * The verifier knows nothing of what lies in a table: what it has to follow is this once, and not
 * each way through all of them.
 */
__noinline int see_one_polled(__u64 fdtable, __u32 tid, __u32 i, __u32 place)
{
	struct ns_thread_state *thread =
		settings.trace ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	struct polled *out;
	__u32 slot;
	__u64 key;

	barrier_var(place); /* else the verifier sees another register checked */
	if (!thread || place > NS_CPUS)
		return 0;
	out = &polled[place];
	slot = i < NS_POLLED ? thread->habits.polled[i] : take_selected(thread);
	key = slot ? file_in_table(fdtable, slot - 1) : 0;
	key = key ? sock_in_file(key) : 0;
	if (!key)
		return 0;
	if (!is_tcp_stream((struct sock *)key)) {
		see_other_polled((struct sock *)key, out);
	} else if (bpf_map_lookup_elem(&conns, &key)) {
		out->conns++;
		out->conn = key;
		if (!out->conn_ready && has_unread((struct sock *)key))
			out->conn_ready = key;
	}
	return 0;
}

/* All that a poll() or select() names; a select()'s are taken. */
static __always_inline void look_at_polled(__u64 fdtable, __u32 tid, bool selects, __u32 place)
{
	__u32 i;

	__builtin_memset(&polled[place], 0, sizeof(polled[place]));
#pragma unroll /* 5.10 refuses a loop that is entered in its middle */
	for (i = 0; i < NS_POLLED; i++)
		see_one_polled(fdtable, tid, selects ? NS_POLLED : i, place);
}

/*
 * Of the watched connections that a poll() or select() names the first that can be read now, or the
 * one that there is. Where there is none, of other sockets the first that can be read, else one
 * that waits for an answer, else the one that there is.
 */
static __always_inline void find_polled(struct ns_thread_state *thread, __u64 fdtable, __u32 tid,
					__u32 place)
{
	const struct polled *found = &polled[place];
	struct waited_for *what = &waited[place];
	bool selects = call_kind(what->call.number) == NS_CALL_ON_SELECT;

	look_at_polled(fdtable, tid, selects, place);
	what->conn = found->conn_ready;
	what->basis = NS_CONN_READY;
	if (found->conns == 1 && !thread->habits.polled_more &&
	    !(selects && take_selected(thread))) {
		what->conn = found->conn;
		what->basis = NS_CONN_FD;
	}
	if (what->conn || !is_as_it_was(what))
		return;
	what->other = found->other_ready ? found->other_ready : found->other_asks;
	if (!what->other && found->others == 1)
		what->other = found->other;
}

/* The call's own socket. */
static __always_inline void find_named(struct ns_thread_state *thread, __u64 key, __u32 fd,
				       struct waited_for *what)
{
	if (!is_tcp_stream((struct sock *)key)) {
		what->other = key;
		return;
	}
	if (bpf_map_lookup_elem(&conns, &key) ||
	    (what->ended < NS_WAIT_LASTS && adopt_waited(key, thread->tgid, fd)))
		what->conn = key;
	else if (key == thread->named_sk)
		what->gone = thread->named_conn;
}

static __always_inline __u32 fd_of_op(const struct ns_uring *op)
{
	return op->flags & NS_SQE_FIXED_FILE ? NS_FD_UNKNOWN : op->fd;
}

static __always_inline bool is_any_op(const struct ns_thread_state *thread)
{
	return thread->ring.known == NS_OP_PENDING && thread->ring.op.opcode == NS_OPCODE_UNKNOWN;
}

/* What the operation of a wait is on. */
static __always_inline void find_of_op(struct ns_thread_state *thread, __u64 fdtable,
				       struct waited_for *what)
{
	const struct ns_uring *op = &thread->ring.op;
	__u64 key = thread->ring.sk, named;

	what->has_op = 1;
	what->op_read = thread->ring.read;
	what->basis = NS_CONN_FD;
	named = sock_of_sqe(fdtable, thread->ring.key, op->fd, op->flags);
	/* The socket may be gone by now, and its memory another's, unless it has its name still. */
	if (key && (bpf_map_lookup_elem(&conns, &key) ||
		    (named == key && adopt_waited(key, thread->tgid, fd_of_op(op)))))
		what->conn = key;
	if (op->file == NS_URING_SOCKET)
		what->other = named;
}

/* The ring that it waited on, as its wake-up found it. */
static __always_inline void find_ring(struct ns_thread_state *thread, __u64 fdtable,
				      struct waited_for *what)
{
	__u64 key = thread->ring.key;
	struct ns_ring_state *ring = key ? bpf_map_lookup_elem(&rings, &key) : NULL;

	if (!ring)
		return;
	what->ring = ring->id;
	if (thread->ring.op.head.len)
		find_of_op(thread, fdtable, what);
}

/*
 * Puts into waited what the wait was about: of a ring's operation its socket; else the call's own
 * socket, or the one of several that ended it; else the one that the thread wrote on, unless the
 * call is on another file. Global: see file_in_table().
 */
__noinline int find_waited_for(__u64 fdtable, __u32 tid, __u32 place)
{
	struct ns_thread_state *thread =
		settings.trace ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	struct waited_for *what;
	enum call_kind kind;
	__u32 fd = NS_FD_UNKNOWN;
	__u64 key = 0, file = 0;

	barrier_var(place);
	if (!thread || place > NS_CPUS)
		return 0;
	what = &waited[place];
	if (is_as_it_was(what))
		find_ring(thread, fdtable, what);
	/* One of several, or one that is not known: on whatever the thread wrote on. */
	if (what->has_op && !is_any_op(thread))
		return 0;
	kind = thread->state ? call_kind(what->call.number) : NS_CALL_OTHER;
	if (kind == NS_CALL_ON_FD || kind == NS_CALL_ON_EPOLL)
		file = file_in_table(fdtable, what->call.arg0);
	if (file && kind == NS_CALL_ON_FD) {
		fd = what->call.arg0;
		key = sock_in_file(file);
		what->basis = NS_CONN_FD;
	} else if (file) {
		key = epoll_ready_sock(file);
		what->basis = NS_CONN_READY;
		if (key && is_tcp_stream((struct sock *)key))
			what->ready = key;
	}
	if (key)
		find_named(thread, key, fd, what);
	if (kind == NS_CALL_ON_POLL || kind == NS_CALL_ON_SELECT)
		find_polled(thread, fdtable, tid, place);
	if (what->conn || kind == NS_CALL_ON_FD || what->gone || what->other)
		return 0;
	what->conn = thread->conn;
	what->basis = NS_CONN_WRITTEN;
	return 0;
}

/* What a worker waits for is what its operation is on. False: it waits for work. */
static __always_inline bool find_worked_on(struct task_struct *task, struct ns_thread_state *thread,
					   struct waited_for *what)
{
	if (!note_worker_op(task, thread))
		return !(thread->state & 1);
	what->has_op = 1;
	what->conn = thread->ring.sk;
	what->basis = NS_CONN_FD;
	return true;
}

static __always_inline bool came_late(const struct ns_thread_state *thread, __u64 now)
{
	return thread->wake_ts && may_matter(ns_passed(thread->wake_ts, now));
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

/* Where the thread wrote before says nothing of where it sleeps: the place of such a wait is sought
 * as that of one on no connection is. */
static __always_inline bool names_conn(const struct waited_for *what)
{
	return what->conn && what->basis != NS_CONN_WRITTEN;
}

static __always_inline bool has_asked(const struct ns_conn_state *conn)
{
	return conn->phase == NS_PHASE_OPEN && (conn->writes || conn->turn_found == NS_TURN_WROTE);
}

/*
 * Where it reads what it waited for; of who looks at several sockets it is one of them. A piece of
 * the answer may have been read before.
 */
static __always_inline void want_reader(struct ns_conn_state *conn, __u32 tid, __u64 off_ts)
{
	struct ns_conn_state *peer;

	/* A server between requests waits long, and nobody owes it anything. */
	if (!asks(conn) || !has_asked(conn))
		return;
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (peer && peer->sites.answers < NS_SITES_ANSWERS)
		peer->sites.answer_wanted = 1;
	if (conn->sites.reads >= NS_SITES_READS)
		return;
	if (!conn->sites.reader)
		__sync_fetch_and_add(&readers_wanted, 1);
	conn->sites.reader_off_ts = off_ts;
	conn->sites.reader = tid;
}

/* What led to a stall in which the thread waited as waited has it. Global: see file_in_table(). */
__noinline int tell_what_led(__u32 tid, __u32 place)
{
	struct ns_thread_state *thread =
		settings.trace ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	struct ns_conn_state *conn;

	barrier_var(place);
	if (!thread || place > NS_CPUS)
		return 0;
	conn = conn_of_wait(&waited[place]);
	if (conn) {
		flush_both(conn);
		watch_both_ends(conn);
		if (waits_to_read(waited[place].call.number))
			want_reader(conn, tid, thread->since);
	}
	if (waited[place].ring)
		tell_ring_history(thread);
	return 0;
}

/*
 * It has waited long there, and may again. A thread that waits long here and there in turns would
 * never come back to the last one: the first stays wanted for a while.
 */
static __always_inline void want_place(struct task_struct *task, struct ns_thread_state *thread,
				       __u32 call)
{
	__u64 sp = user_sp(task_regs(task));

	/* Of two the one that was not copied last. */
	if (thread->place.wanted && thread->place.sp != thread->place.last_sp &&
	    (thread->place.sp != sp || thread->place.call != call)) {
		thread->place.wanted--;
		return;
	}
	thread->place.sp = sp;
	thread->place.call = call;
	thread->place.wanted = NS_PLACE_WANTED;
}

/* How many more sleeps in such a call are looked at. */
static __always_inline __u32 *looks_at_call(__u32 call)
{
	return &site_looks[call & (NS_SITE_CALLS - 1)];
}

/* 0: not known. */
static __always_inline __u32 site_key(struct task_struct *task, __u32 call)
{
	__u64 base = thread_pointer(task), hash;

	if (!base)
		return 0;
	hash = base - user_sp(task_regs(task)) + ((__u64)task->tgid << 32) + ((__u64)call << 20);
	hash *= 0x9e3779b97f4a7c15ull;
	return hash >> 32;
}

static __always_inline struct ns_site_place *site_place(__u32 key)
{
	return &site_places[key & (NS_SITE_PLACES - 1)];
}

/* A thread that waits once and ends has no second time: the next one there stands for it. */
static __noinline int want_place_of_any(struct task_struct *task, __u32 call)
{
	__u32 key = task ? site_key(task, call) : 0;
	struct ns_site_place *place = site_place(key);

	if (!key || (place->key == key && place->copied >= NS_SITES_PLACE))
		return 0;
	if (place->key != key && place->wanted) {
		place->wanted--;
		return 0;
	}
	if (place->key != key)
		place->copied = 0;
	place->key = key;
	place->wanted = NS_PLACE_WANTED;
	*looks_at_call(call) = NS_SITE_LOOKS;
	return 0;
}

/* It begins to wait in a call in which others have waited long. */
static __noinline int note_place_of_any(struct task_struct *task, __u32 call, __u64 now)
{
	__u32 key = task ? site_key(task, call) : 0;
	struct ns_site_place *place = site_place(key);

	if (!key || place->key != key || !place->wanted ||
	    !tell_wait_site(now, call, 0, now, NS_CALL_WAIT))
		return 0;
	place->wanted = 0;
	place->copied++;
	return 0;
}

static __noinline int end_wait(struct task_struct *task, struct ns_thread_state *thread, __u64 now)
{
	struct waited_for *what;
	__u32 place;

	if (!thread)
		return 0;
	what = begin_wait_look(task->pid, NS_WAIT_SEEN, &place);
	/* It runs once more, to exit: who killed it did not end what it waits for. */
	if (is_being_ended(task)) {
		what->ended = NS_WAIT_KILLED;
		thread->wake_ts = 0;
		thread->waker.known = NS_WAKER_NONE;
	}
	if (is_io_worker(task)) {
		/* That there was no work is of no matter; that it came late to some, is. */
		if (!find_worked_on(task, thread, what) && !came_late(thread, now))
			return 0;
	} else {
		/* It was woken so soon that nothing was noted. */
		if (rings_watched > 0 && thread->waker.known != NS_WAKER_STACK)
			note_ring_wake(task, thread, thread->wake_ts);
		read_syscall(task_regs(task), &what->call);
		find_waited_for((__u64)BPF_CORE_READ(task, files, fdt), task->pid, place);
	}
	make_waited_known(what);
	if (ns_passed(thread->since, now) >= settings.threshold_ns) {
		tell_what_led(task->pid, place);
		if (!names_conn(what) && thread->place.told < NS_SITES_WAITS)
			want_place(task, thread, what->call.number);
		if (!names_conn(what) && !is_io_worker(task) &&
		    user_sp(task_regs(task)) != thread->place.last_sp)
			want_place_of_any(task, what->call.number);
	}
	thread->task = (__u64)task;
	tell_throttle(task->pid, now);
	note_wait(task, thread, place, now);
	thread->ring.key = 0;
	return 0;
}

/*
 * The window ends, and the thread sleeps, or has not come back to a CPU: what for, as far as that
 * shows. Nobody reads meanwhile, so there is a bound.
 */
static __noinline int tell_lasting(struct task_struct *task, __u64 now)
{
	struct ns_thread_state *thread;
	struct ns_conn_state *conn;
	struct waited_for *what;
	__u32 tid, place;
	__u64 length;

	if (!task || !settings.trace || waits_lasting >= NS_WAITS_LASTING)
		return 0;
	tid = task->pid;
	thread = bpf_map_lookup_elem(&threads, &tid);
	if (!thread || !thread->off || is_io_worker(task))
		return 0;
	length = ns_passed(thread->since, now);
	if (!may_matter(length))
		return 0;
	what = begin_wait_look(tid, NS_WAIT_LASTS, &place);
	read_syscall(task_regs(task), &what->call);
	waits_lasting++;
	if (!thread->wake_ts)
		note_ring_lasting(task, thread, &what->call);
	find_waited_for((__u64)BPF_CORE_READ(task, files, fdt), tid, place);
	make_waited_known(what);
	conn = conn_of_wait(what);
	if (conn && length >= settings.threshold_ns)
		flush_both(conn);
	note_wait(task, thread, place, now);
	return 0;
}

#endif

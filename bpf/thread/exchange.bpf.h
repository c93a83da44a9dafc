/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests and their answers. A turn is what one end writes until it reads again: the turn
 * of the end that called connect() is a request, that of the other end the answer. Turns are
 * counted where a send ends; nothing else is done for most of them.
 *
 * A request ends with the last read before this end writes again, closes the connection, or the
 * window is over: only then is it known which read that was, so only then it is told. The clock is
 * read at the end of a read if the request is told anyway, or if jiffies have moved on since it
 * began by as many as in a stall: one that is over sooner is not long. Where reads are not seen
 * (settings.reads) a request ends when the thread that asked is back on a CPU with bytes to read.
 *
 * How exchanges are sampled, so that 70,000 a second cost no more than 200:
 *
 *  - One request in sample_every, at random distances with that mean, is chosen, before it
 *    begins and so regardless of how it goes: one that stands for sample_every others.
 *  - An exchange whose answer was slept for at least slow_exchange_ns, or that took as long as a
 *    stall, is always told, and stands for itself alone, whether it was chosen or not.
 *  - So it is with a target that serves, where nobody who asks it is watched.
 *  - Of each process one of the first is told as well, for itself alone: that it makes or serves
 *    requests is known then, however many others do.
 *
 * So each exchange counts once on average (Horvitz and Thompson's estimator: the weight is one
 * over the chance of being told), the quick ones as well as the slow: quantiles by weight are
 * right for the many, and the few slow ones that make up the p99 are all there. User space
 * keeps both limits up to date (user/source/session_sample.c); weights carry those that were
 * in force, so moving them does no harm.
 *
 * A request of an end that asks is chosen one turn ahead, or as its connection opens, because on
 * loopback the answering thread is woken while the write is still under way: only so can the other
 * end's threads be watched in time. They are watched while a sample of theirs is open, no longer.
 */
#ifndef NETSTALL_BPF_THREAD_EXCHANGE_BPF_H
#define NETSTALL_BPF_THREAD_EXCHANGE_BPF_H

#define NS_CLOSE_NS    1000000 /* writes nearer than this to the one before are close */
#define NS_SMALL_PART  4       /* writes of less than this part of an mss are small */
#define NS_TURNS_TRIED 16      /* of a connection, so that its process be known */

static __always_inline bool asks(const struct ns_conn_state *conn)
{
	return conn->role & NS_ROLE_TARGET && conn->opener != NS_OPENER_PEER;
}

/* Its answers are reported, unless those of the asking end are, which include them. */
static __always_inline bool serves(const struct ns_conn_state *conn)
{
	return conn->role & NS_ROLE_TARGET && conn->opener == NS_OPENER_PEER;
}

/* The last request is not followed by another, its answer may have been read all the same. */
static __always_inline bool answer_was_read(const struct ns_conn_state *conn, __u32 copied_seq)
{
	return conn->turn.ts && conn->opener != NS_OPENER_PEER && copied_seq != conn->copied_seq;
}

/* ---- the threads of the other end, while a sample is open ---- */

static __always_inline __s32 *answering_in(__u32 tgid)
{
	return &answering[tgid & (NS_PROC_HINTS - 1)];
}

/* Alike for both ends. Not by the struct sock: a program may not compute with its address. */
static __always_inline __s32 *timed_reads_on(__u32 ports)
{
	return &timed_reads[ports & (NS_READ_HINTS - 1)];
}

/*
 * Begin or end to watch the answerer, as the connection's samples want it. A global function, as
 * on_blocked_send() is.
 */
__noinline int settle_answerer(__u64 asker)
{
	struct ns_active_key key = {.what = NS_ACTIVE_SAMPLE};
	struct ns_conn_state *conn = conn_traced(asker);
	struct ns_conn_state *peer;
	struct sock *sk;
	bool wanted;

	if (!conn)
		return 0;
	key.sk = conn->key;
	sk = (struct sock *)conn->key;
	wanted = conn->turn.sample_next || conn->turn.sampling;
	if (wanted == !!conn->turn.answerer || (wanted && !asks(conn)))
		return 0;
	if (wanted) {
		conn->turn.answering = conn->peer;
		conn->turn.ports = BPF_CORE_READ(sk, __sk_common.skc_num) ^
				   bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	}
	peer = conn->turn.answering ? bpf_map_lookup_elem(&conns, &conn->turn.answering) : NULL;
	if (wanted) {
		if (!peer || !peer->tgid)
			return 0;
		key.number = peer->tgid;
		if (!enter_active(&key))
			return 0;
		conn->turn.answerer = key.number;
		__sync_fetch_and_add(answering_in(key.number), 1);
		__sync_fetch_and_add(timed_reads_on(conn->turn.ports), 1);
		__sync_fetch_and_add(&samples_open, 1);
	} else {
		key.number = conn->turn.answerer;
		conn->turn.answerer = 0;
		if (!leave_active(&key))
			return 0;
		__sync_fetch_and_add(answering_in(key.number), -1);
		__sync_fetch_and_add(timed_reads_on(conn->turn.ports), -1);
		__sync_fetch_and_add(&samples_open, -1);
	}
	if (peer)
		peer->turn.times_all = wanted;
	return 0;
}

static __always_inline void forget_samples(struct ns_conn_state *conn)
{
	conn->turn.sample_next = 0;
	conn->turn.sampling = 0;
	settle_answerer(conn->key);
}

static __noinline int note_sleep(__u32 tid, bool preempted)
{
	struct ns_sleeps *sleeps = bpf_map_lookup_elem(&sleeps_of, &tid), fresh = {};
	__u64 now = bpf_ktime_get_ns();
	__u32 at;

	if (!sleeps) {
		bpf_map_update_elem(&sleeps_of, &tid, &fresh, BPF_NOEXIST);
		sleeps = bpf_map_lookup_elem(&sleeps_of, &tid);
		if (!sleeps)
			return 0;
	}
	at = sleeps->next++ & (NS_SLEEPS - 1);
	sleeps->v[at].off_ts = now;
	sleeps->v[at].wake_ts = preempted ? now : 0;
	sleeps->v[at].on_ts = 0;
	return 0;
}

/* The end of the sleep, or the wake-up before it: a thread that runs can be woken as well. */
static __noinline int note_sleep_end(__u32 tid, bool runs)
{
	struct ns_sleeps *sleeps = bpf_map_lookup_elem(&sleeps_of, &tid);
	__u32 at;

	if (!sleeps)
		return 0;
	at = (sleeps->next - 1) & (NS_SLEEPS - 1);
	if (runs && !sleeps->v[at].on_ts)
		sleeps->v[at].on_ts = bpf_ktime_get_ns();
	else if (!runs && !sleeps->v[at].wake_ts && !sleeps->v[at].on_ts)
		sleeps->v[at].wake_ts = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void note_answerers_switch(struct task_struct *prev,
						  struct task_struct *next, bool preempted)
{
	if (*answering_in(prev->tgid) > 0)
		note_sleep(prev->pid, preempted);
	if (*answering_in(next->tgid) > 0)
		note_sleep_end(next->pid, true);
}

static __always_inline void note_answerers_wake(struct task_struct *task)
{
	if (*answering_in(task->tgid) > 0)
		note_sleep_end(task->pid, false);
}

/* ---- telling ---- */

/*
 * The sleep that the request ended: the last that the answering thread had begun by the time
 * that the request was out. Those after it are its own affair, a server's timer for instance;
 * and if it ended before, then the thread was busy when the request came: until when, its read
 * says, if that was seen.
 */
static __always_inline void served_after(struct ns_exchange *out, __u64 asked_ts)
{
	__u64 read_ts = out->ready_ts;
	__u32 tid = out->head.tid, i;
	struct ns_sleeps *sleeps = bpf_map_lookup_elem(&sleeps_of, &tid);

	if (!sleeps)
		return;
	for (i = 0; i < NS_SLEEPS; i++) {
		__u64 off_ts = sleeps->v[i].off_ts, on_ts = sleeps->v[i].on_ts;

		if (!on_ts || on_ts > out->answer_ts || off_ts > asked_ts || off_ts < out->off_ts)
			continue;
		if (read_ts && on_ts < asked_ts && on_ts < out->arrived_ts)
			continue;
		out->off_ts = off_ts;
		out->begin_ts = sleeps->v[i].wake_ts ? sleeps->v[i].wake_ts : on_ts;
		out->ready_ts = on_ts;
	}
	if (out->ready_ts != read_ts) /* its sums are of when it read */
		out->spent_known = 0;
}

/* What a thread did from one look at its sums to a later one. */
static __always_inline void fill_spent(struct ns_exchange *out, const struct ns_spent *from,
				       const struct ns_spent *to)
{
	__u32 i;

	out->spent_known = 1;
	out->spent.run_us = to->run_us - from->run_us;
	out->spent.ready_us = to->ready_us - from->ready_us;
#pragma unroll
	for (i = 0; i < NS_SHORTS; i++) {
		out->spent.short_us[i] = to->short_us[i] - from->short_us[i];
		out->spent.shorts[i] = to->shorts[i] - from->shorts[i];
	}
}

/* Not on the stack of who calls, which has no room for it. NULL: it is lost. */
static __always_inline struct ns_exchange *new_exchange(__u32 side, __u64 ts, __u32 conn)
{
	struct ns_exchange *out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);

	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return NULL;
	}
	__builtin_memset(out, 0, sizeof(*out));
	fill_head(&out->head, NS_EXCHANGE, sizeof(*out), ts, conn);
	out->side = side;
	return out;
}

/*
 * The first request of a connection may have lain in the listen queue since. Where it was accepted
 * and nobody saw when (of a listener that is not known: its process is in a pid namespace that we
 * do not see), nothing is said of it.
 */
static __always_inline void fill_queued(struct ns_exchange *out, const struct ns_conn_state *conn,
					__u64 since)
{
	struct sock *sk = (struct sock *)conn->key;

	if (!conn->queued_ts || (conn->accepted_ts && conn->accepted_ts <= since))
		return;
	if (!conn->accepted_ts && BPF_CORE_READ(sk, sk_socket))
		return;
	out->queued_ts = conn->queued_ts;
	out->accepted_ts = conn->accepted_ts;
	out->accept_tid = conn->accept_tid;
	out->listen_port = conn->lport;
	out->backlog = conn->backlog;
	out->backlog_max = conn->backlog_max;
	out->somaxconn = conn->somaxconn;
}

/* The first request of a connection begins as that is made. */
static __always_inline __u64 asked_since(const struct ns_conn_state *conn)
{
	return conn->connect_ts ? conn->connect_ts : conn->turn.ts;
}

static __always_inline void fill_connect(struct ns_exchange *out, const struct ns_conn_state *conn)
{
	if (!conn->connect_ts)
		return;
	out->connect_ts = conn->connect_ts;
	out->connected_ts = conn->first_ts;
	out->connect_syns = conn->recovery.by[NS_RETRANS_SYN];
}

/* What was read of a request, by the end that answers it. */
static __always_inline void fill_request(struct ns_exchange *out,
					 const struct ns_conn_reads *request)
{
	out->arrived_ts = request->arrived_ts;
	out->begin_ts = request->woke_ts;
	out->ready_ts = request->on_ts;
	out->bytes_in = request->bytes;
	out->reads = request->count;
}

/* TCP let go of the end of the answer behind its last write. */
static __always_inline void fill_held(struct ns_exchange *out, const struct ns_conn_state *conn,
				      const struct ns_conn_state *peer)
{
	const struct ns_conn_turn *turn = &conn->turn;

	if (turn->released_ts <= turn->wrote_ts)
		return;
	out->held_ns = turn->released_ts - turn->wrote_ts;
	out->hold_reason = conn->hold.reason;
	if (peer && peer->turn.fired_ts > turn->ts && peer->turn.fired_ts <= turn->released_ts)
		out->delack_ts = peer->turn.fired_ts;
}

/* The sums of the thread that answered, as of its last write, and of when it read the request. */
static __always_inline bool knows_answerer(const struct ns_conn_turn *turn)
{
	return turn->request.spent_known && turn->spent_tid == turn->request.tid &&
	       turn->spent_ts == turn->wrote_ts;
}

/*
 * All that it had done by then: with those of an answer before they say what it did in between,
 * while requests lay unread, of which no record need tell by itself.
 */
static __always_inline void tell_answerer(const struct ns_conn_state *conn)
{
	struct ns_sums *out;

	if (!knows_answerer(&conn->turn))
		return;
	out = bpf_ringbuf_reserve(&records, sizeof(*out), 0);
	if (!out) {
		count_lost(NS_LOST_RINGBUF);
		return;
	}
	__builtin_memset(out, 0, sizeof(*out));
	fill_head(&out->head, NS_SUMS, sizeof(*out), conn->turn.spent_ts, 0);
	out->head.tgid = conn->tgid;
	out->head.tid = conn->turn.spent_tid;
	out->on_ts = conn->turn.spent_ts;
	out->spent = conn->turn.spent;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
}

/* The answer of a connection's turn, so far. */
static __always_inline void fill_served(struct ns_exchange *out, const struct ns_conn_state *conn,
					const struct ns_conn_state *peer, __u32 ended)
{
	fill_held(out, conn, peer);
	out->head.tgid = conn->tgid;
	out->head.tid = conn->turn.tid;
	out->answer_ts = conn->turn.ts;
	out->writes = conn->turn.writes;
	out->bytes_out = conn->turn.bytes;
	out->ended = ended;
	if (!conn->turn.request.last_ts || conn->turn.request.on_ts > conn->turn.ts)
		return;
	fill_request(out, &conn->turn.request);
	fill_queued(out, conn, out->arrived_ts);
	if (knows_answerer(&conn->turn))
		fill_spent(out, &conn->turn.request.spent, &conn->turn.spent);
}

/*
 * What the other end did for this exchange: it wrote, after this end had and before the exchange
 * was over. On another CPU it may be about to begin its next answer: of that turn, or of parts of
 * two, nothing is told. Global: see file_in_table().
 */
__noinline int tell_served(__u64 key, __u32 weight, __u32 ended, __u64 until)
{
	struct ns_conn_state *conn = conn_traced(key), *peer;
	struct ns_exchange *out;
	__u64 asked_ts;

	if (!conn || !conn->peer)
		return 0;
	peer = bpf_map_lookup_elem(&conns, &conn->peer);
	if (!peer || peer->turn.ts <= conn->turn.ts || peer->turn.ts > until || peer->turn.is_told)
		return 0;
	want_known(peer);
	out = new_exchange(NS_EXCHANGE_SERVED, peer->turn.wrote_ts, peer->id);
	if (!out)
		return 0;
	fill_served(out, peer, conn, ended);
	fill_queued(out, peer, conn->turn.ts);
	out->weight = weight;
	asked_ts = conn->turn.wrote_ts > conn->turn.released_ts ? conn->turn.wrote_ts
								: conn->turn.released_ts;
	if (conn->turn.answerer)
		served_after(out, asked_ts);
	if (out->arrived_ts > out->begin_ts) /* TCP looked at its clock again since */
		out->arrived_ts = out->begin_ts;
	if (out->answer_ts > until || out->begin_ts > out->head.ts) {
		bpf_ringbuf_discard(out, BPF_RB_NO_WAKEUP);
		return 0;
	}
	peer->turn.is_told = 1;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	tell_answerer(peer);
	return 0;
}

/* How a request ended, as far as it is known: the answer to it, or that it has none. */
struct answer {
	__u64 key; /* of the connection's socket */
	__u64 ts;
	__u64 first_ts; /* the first read, 0 none seen */
	__u64 off_ts;   /* 0: the thread did not sleep for it */
	__u64 wake_ts;
	__u32 tgid;
	__u32 tid;
	__u32 weight;
	__u32 ended; /* enum ns_exchange_end */
	__u32 reads;
	__u32 bytes;
};

/*
 * A reader that gets no CPU adjusts nothing meanwhile: the rest of its time goes without, but for
 * what takes as long as a stall.
 */
static __always_inline bool has_room(__u64 length)
{
	if (exchanges_told >= NS_EXCHANGES_TOLD && length < stall_from())
		return false;
	__sync_fetch_and_add(&exchanges_told, 1);
	return true;
}

/*
 * Of before its listener was known: the answer to a request, and the wait for the next one. The
 * first scan tells the listeners.
 */
static __always_inline bool may_serve(const struct ns_conn_state *conn)
{
	return conn->opener == NS_OPENER_UNKNOWN &&
	       (scan_mode == NS_SCAN_TARGETS || is_listened_at((struct sock *)conn->key));
}

/* A request of its process was told. */
static __always_inline void make_process_known(struct ns_conn_state *conn)
{
	__u32 tgid = conn->tgid;
	struct ns_proc_state *proc;

	if (conn->turn.is_known)
		return;
	conn->turn.is_known = 1;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	if (proc)
		proc->is_known = 1;
}

/* None was yet. What has no answer, or turns out to be none, is tried again a few times. */
static __always_inline bool is_unknown(struct ns_conn_state *conn)
{
	__u32 tgid = conn->tgid;
	struct ns_proc_state *proc;

	if (conn->turn.is_known || conn->turn.exchanges >= NS_TURNS_TRIED)
		return false;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	conn->turn.is_known = proc && proc->is_known;
	return proc && !proc->is_known;
}

static __noinline int tell_exchange(struct ns_conn_state *conn, const struct answer *answer)
{
	struct ns_conn_state *peer;
	struct ns_exchange *out;
	struct tcp_sock *tp;

	if (!conn || !answer || !conn->turn.ts || conn->turn.ts > answer->ts || may_serve(conn))
		return 0;
	if (!has_room(answer->ts - asked_since(conn)))
		return 0;
	tp = (void *)answer->key;
	tell_served(conn->key, answer->weight, answer->ended, answer->ts);
	want_known(conn);
	make_process_known(conn);
	out = new_exchange(NS_EXCHANGE_ASKED, answer->ts, conn->id);
	if (!out)
		return 0;
	out->head.tgid = answer->tgid;
	out->head.tid = answer->tid;
	out->writes = conn->turn.writes;
	out->bytes_out = conn->turn.bytes;
	out->begin_ts = conn->turn.ts;
	out->ready_ts = conn->turn.wrote_ts;
	out->off_ts = answer->off_ts;
	out->wake_ts = answer->wake_ts;
	out->answer_ts = answer->first_ts;
	out->ended = answer->ended;
	out->reads = answer->reads;
	out->bytes_in = answer->bytes;
	if (conn->turn.reads.spent_known && conn->turn.spent_ts == conn->turn.ts &&
	    conn->turn.spent_tid == conn->turn.reads.tid)
		fill_spent(out, &conn->turn.spent, &conn->turn.reads.spent);
	out->held_ns = conn->turn.held_ns;
	if (is_held(conn) && conn->hold.ts < answer->ts)
		out->held_ns += answer->ts - conn->hold.ts;
	out->hold_reason = out->held_ns ? conn->hold.reason : 0;
	out->weight = answer->weight;
	out->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	fill_connect(out, conn);
	if (peer) {
		make_process_known(peer);
		fill_queued(out, peer, conn->turn.ts);
	}
	if (peer && peer->turn.fired_ts > conn->turn.ts && peer->turn.fired_ts <= answer->ts)
		out->delack_ts = peer->turn.fired_ts;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}

/* ---- the end of a request, where reads are seen ---- */

/* It has taken as long as a stall, by what was read until now. */
static __always_inline bool takes_long(const struct ns_conn_turn *turn)
{
	return ns_passed(turn->ts, turn->reads.last_ts) >= stall_from();
}

/* Since the request was there, as far as that was seen, until the answer had left. */
static __always_inline __u64 time_served(const struct ns_conn_turn *turn)
{
	__u64 end = turn->released_ts > turn->wrote_ts ? turn->released_ts : turn->wrote_ts;

	return turn->request.last_ts ? ns_passed(turn->request.arrived_ts, end) : 0;
}

static __always_inline bool is_slow(const struct ns_conn_state *conn)
{
	if (serves(conn))
		return time_served(&conn->turn) >= slow_from();
	return conn->turn.slow || takes_long(&conn->turn);
}

/* Of an end that asks: is there anything to tell of its turn? */
static __always_inline bool find_answer(const struct ns_conn_state *conn, struct answer *answer,
					__u32 ended, __u64 now)
{
	const struct ns_conn_turn *turn = &conn->turn;
	struct tcp_sock *tp = (void *)conn->key;

	answer->ended = ended;
	answer->tgid = conn->tgid;
	answer->tid = turn->tid;
	answer->off_ts = turn->off_ts;
	answer->wake_ts = turn->wake_ts;
	answer->weight = is_slow(conn) ? 1 : turn->sampling;
	if (turn->reads.last_ts) {
		answer->ts = turn->reads.last_ts;
		answer->first_ts = turn->reads.first_ts;
		answer->tgid = turn->reads.tgid;
		answer->tid = turn->reads.tid;
		answer->reads = turn->reads.count;
		answer->bytes = turn->reads.bytes;
	} else if (ended == NS_EXCHANGE_FOLLOWED || turn->reads.count ||
		   BPF_CORE_READ(tp, copied_seq) != conn->copied_seq) {
		/* It was read where that is not seen, by splice() for instance. */
		answer->ended = NS_EXCHANGE_ANSWERED;
		answer->ts = turn->on_ts ? turn->on_ts : now;
	} else {
		answer->ts = now;
		if (ns_passed(turn->ts, now) >= stall_from())
			answer->weight = 1;
	}
	return answer->weight;
}

static __noinline int end_asked(struct ns_conn_state *conn, __u32 ended, __u64 now)
{
	struct answer answer = {};

	if (!conn || !find_answer(conn, &answer, ended, now))
		return 0;
	answer.key = conn->key;
	tell_exchange(conn, &answer);
	return 0;
}

/* A request that was read and is not answered. */
static __noinline int tell_unanswered(struct ns_conn_state *conn, __u32 ended, __u64 now)
{
	struct ns_exchange *out;

	if (!conn)
		return 0;
	want_known(conn);
	out = new_exchange(NS_EXCHANGE_SERVED, now, conn->id);
	if (!out)
		return 0;
	out->head.tgid = conn->turn.reads.tgid;
	out->head.tid = conn->turn.reads.tid;
	out->ended = ended;
	out->weight = 1;
	fill_request(out, &conn->turn.reads);
	fill_queued(out, conn, out->arrived_ts);
	conn->turn.reads.last_ts = 0;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}

static __noinline int end_served(struct ns_conn_state *conn, __u32 ended, __u64 now)
{
	struct ns_conn_state *peer;
	struct ns_exchange *out;
	bool is_slow;

	if (!conn)
		return 0;
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (peer && asks(peer))
		return 0;
	if (ended != NS_EXCHANGE_FOLLOWED && conn->turn.reads.last_ts &&
	    ns_passed(conn->turn.reads.arrived_ts, now) >= settings.threshold_ns)
		tell_unanswered(conn, ended, now);
	is_slow = time_served(&conn->turn) >= slow_from();
	if (conn->turn.is_told || !conn->turn.request.last_ts || (!is_slow && !conn->turn.sampling))
		return 0;
	if (is_slow)
		__sync_fetch_and_add(&slow_noted, 1);
	if (!has_room(time_served(&conn->turn)))
		return 0;
	want_known(conn);
	make_process_known(conn);
	out = new_exchange(NS_EXCHANGE_SERVED, conn->turn.wrote_ts, conn->id);
	if (!out)
		return 0;
	conn->turn.is_told = 1;
	fill_served(out, conn, peer, ended);
	out->weight = is_slow ? 1 : conn->turn.sampling;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	tell_answerer(conn);
	return 0;
}

/* The turn is over, or the connection, or the window. */
static __always_inline void end_request(struct ns_conn_state *conn, __u32 ended, __u64 now)
{
	if (!settings.reads)
		return;
	if (serves(conn)) {
		end_served(conn, ended, now);
	} else if (asks(conn)) {
		if (conn->turn.ts && !conn->turn.is_told)
			end_asked(conn, ended, now);
		conn->turn.is_told = 1;
	}
}

/* When a stamp in jiffies was taken that lies behind us. */
static __always_inline __u64 time_of_stamp(__u32 stamp, __u64 now)
{
	__u64 ns = 1000ull * jiffies_to_us((__u32)bpf_jiffies64() - stamp);

	return ns < now ? now - ns : 0;
}

/* It had read last. Where both stamps are of one tick, the other end, if it wrote last, says so. */
static __always_inline bool found_reading(const struct ns_conn_state *conn,
					  const struct ns_conn_state *peer)
{
	return conn->turn_found == NS_TURN_READ ||
	       (conn->turn_found == NS_TURN_UNKNOWN && peer && peer->turn_found == NS_TURN_WROTE &&
		!peer->writes);
}

/*
 * The window ends, and since it began neither end has done anything on the connection. What was
 * asked before is without an answer since then; of an end that serves, what it has read.
 */
static __noinline int tell_found_open(struct ns_conn_state *conn, __u64 now)
{
	struct inet_connection_sock *icsk;
	struct ns_conn_state *peer;
	struct ns_exchange *out;
	struct tcp_sock *tp;
	__u32 side;
	__u64 since;

	if (!conn || in_window() || conn->turn.ts || conn->writes || conn->first_ts > now ||
	    ns_passed(window_begin, now) < stall_from())
		return 0;
	tp = (void *)conn->key;
	icsk = (void *)conn->key;
	if (BPF_CORE_READ(tp, copied_seq) != conn->copied_seq)
		return 0;
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (asks(conn) && conn->turn_found == NS_TURN_WROTE &&
	    BPF_CORE_READ(tp, rcv_nxt) == conn->copied_seq && bpf_core_field_exists(tp->lsndtime)) {
		side = NS_EXCHANGE_ASKED;
		since = time_of_stamp(BPF_CORE_READ(tp, lsndtime), now);
	} else if (serves(conn) && found_reading(conn, peer) && !(peer && asks(peer)) &&
		   bpf_core_field_exists(icsk->icsk_ack.lrcvtime)) {
		side = NS_EXCHANGE_SERVED;
		since = time_of_stamp(BPF_CORE_READ(icsk, icsk_ack.lrcvtime), now);
	} else {
		return 0;
	}
	if (!since || since >= window_begin)
		return 0;
	want_known(conn);
	out = new_exchange(side, now, conn->id);
	if (!out)
		return 0;
	out->head.tgid = conn->tgid;
	out->head.tid = 0;
	out->begin_ts = window_begin;
	out->ready_ts = window_begin;
	out->arrived_ts = side == NS_EXCHANGE_SERVED ? window_begin : 0;
	out->ended = NS_EXCHANGE_OPEN;
	out->weight = 1;
	out->min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	out->since_ts = since;
	bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The end that answers goes away, and with it what is known of its part. */
static __noinline int end_answered(struct ns_conn_state *asker)
{
	__u64 now;

	if (!asker || !settings.reads || !asks(asker) || !asker->turn.ts)
		return 0;
	now = bpf_ktime_get_ns();
	/* When the asker's wait ends this end may be gone. */
	if (ns_passed(asker->turn.ts, now) >= stall_from())
		watch_both_ends(asker);
	else if (!asker->turn.sampling && !asker->turn.slow)
		return 0;
	tell_served(asker->key, 1, NS_EXCHANGE_CLOSED, now);
	return 0;
}

/* ---- reads ---- */

/* A socket when bytes of it have been read. */
struct recv_view {
	__u32 copied_seq;
	__u32 bytes_read; /* ever */
	__u32 sent_at;    /* jiffies at its last transmit of data, their low half */
	__u64 arrived_ts; /* TCP's own clock at the last segment, or later */
	__u32 arrived_at; /* jiffies at that segment, their low half */
	__u32 ports;      /* of both ends, in one */
};

/* Have jiffies moved on by as many as in a stall since then? */
static __always_inline bool is_long_ago(__u32 jiffies)
{
	return (__u32)bpf_jiffies64() - jiffies >= settings.long_jiffies;
}

/*
 * When the last segment of what is read came. The delayed-ACK timer (tcp_delack_timer_handler())
 * and each send on the socket look at TCP's clock again, so a request that lies unread for longer
 * than 40 ms seems to have come when that timer fired. The stamp in jiffies stays as it is
 * (tcp_event_data_recv()); and what came then armed that timer.
 */
static __always_inline __u64 arrival_of(const struct ns_conn_state *conn,
					const struct recv_view *view, __u64 now)
{
	__u64 arrived = view->arrived_ts < now ? view->arrived_ts : now, latest, tick;
	__u32 jiffies = (__u32)bpf_jiffies64() - view->arrived_at;

	if (jiffies < 2 || jiffies > (1u << 31))
		return arrived;
	tick = 1000ull * jiffies_to_us(1);
	latest = now - 1000ull * jiffies_to_us(jiffies - 1);
	if (!tick || latest > now || arrived <= latest)
		return arrived;
	return conn->delack_arm_ts <= latest && latest - conn->delack_arm_ts < 2 * tick
		       ? conn->delack_arm_ts
		       : latest;
}

/* Its call site was taken, or there will be none. */
static __always_inline void forget_reader(struct ns_conn_state *conn)
{
	if (!conn->sites.reader)
		return;
	conn->sites.reader = 0;
	__sync_fetch_and_add(&readers_wanted, -1);
}

/* Can this read matter to a request that is reported? Decided before any table is read. */
static __always_inline bool read_matters(const struct recv_view *view, __u32 tgid)
{
	const struct ns_proc_hint *hint = proc_hint(tgid);

	if (!settings.reads || !in_window())
		return false;
	if (settings.any_process || hint->threads)
		return true;
	return hint->watched && (*timed_reads_on(view->ports) > 0 || is_long_ago(view->sent_at));
}

static __always_inline bool is_timed(const struct ns_conn_state *conn)
{
	return conn->turn.sampling || conn->turn.slow || conn->turn.times_all || serves(conn) ||
	       (conn->threads_watched && !asks(conn)) || is_long_ago(conn->turn.began_at);
}

/*
 * Of an end that answers: the reader slept until the last piece was there, or was busy and came to
 * it later. Of both, what it has done by then. Returns whether that is known.
 */
static __always_inline bool note_who_reads(struct ns_conn_state *conn, __u64 now)
{
	struct ns_conn_reads *reads = &conn->turn.reads;
	struct ns_thread_state *thread = bpf_map_lookup_elem(&threads, &reads->tid);

	reads->woke_ts = now;
	reads->on_ts = now;
	reads->spent_known = 0;
	if (!thread || thread->off)
		return false;
	if (!asks(conn) && thread->came_ts > reads->arrived_ts && thread->came_ts <= now) {
		reads->on_ts = thread->came_ts;
		reads->woke_ts = thread->woke_ts;
		if (reads->woke_ts < reads->arrived_ts || reads->woke_ts > reads->on_ts)
			reads->woke_ts = reads->arrived_ts;
	}
	reads->spent_known = 1;
	spent_now(thread, asks(conn) ? now : reads->on_ts, &reads->spent);
	return true;
}

enum read_noted {
	READ_NOTED = 0,
	READ_OWNER_UNKNOWN = 1, /* whose connection it is, is not known yet */
	READ_READER_UNSEEN = 2, /* its thread was not seen to come to its CPU */
};

/* Returns enum read_noted. */
static __noinline int note_read(__u64 key, const struct recv_view *view, __u64 id)
{
	struct ns_conn_state *conn = bpf_map_lookup_elem(&conns, &key);
	struct ns_conn_reads *reads;
	__u32 bytes;
	__u64 now;

	if (!view || !conn || !is_owner(conn, id >> 32))
		return READ_OWNER_UNKNOWN;
	reads = &conn->turn.reads;
	bytes = view->copied_seq - conn->copied_seq;
	if (bytes == reads->bytes) /* it looks at what comes next (MSG_PEEK) */
		return READ_NOTED;
	reads->bytes = bytes;
	reads->count++;
	if (!is_timed(conn)) {
		if (!reads->first_ts) /* so early in the request that this is near enough */
			reads->first_ts =
				view->arrived_ts > conn->turn.ts ? view->arrived_ts : conn->turn.ts;
		return READ_NOTED;
	}
	now = bpf_ktime_get_ns();
	if (!reads->first_ts)
		reads->first_ts = now;
	reads->last_ts = now;
	reads->arrived_ts = arrival_of(conn, view, now);
	reads->tgid = id >> 32;
	reads->tid = id;
	reads->read_at = bpf_jiffies64();
	/* However short the waits were that it was made of. */
	if (asks(conn) && conn->turn.ts && takes_long(&conn->turn))
		watch_both_ends(conn);
	return note_who_reads(conn, now) ? READ_NOTED : READ_READER_UNSEEN;
}

/* ---- this end: the thread that asked runs again ---- */

/*
 * Has anything come in on the connection since its last write that is yet to be read? When the
 * answer was read before the thread went to sleep, it slept for something else.
 */
static __always_inline bool is_answered(__u64 key, const struct ns_conn_state *conn)
{
	struct tcp_sock *tp = (void *)key;
	__u32 rcv_nxt = BPF_CORE_READ(tp, rcv_nxt);

	return rcv_nxt != conn->copied_seq && rcv_nxt != BPF_CORE_READ(tp, copied_seq);
}

/* The sums of a thread that is off its CPU, and was on it since the turn began. */
static __always_inline void note_begin(struct ns_conn_state *conn,
				       const struct ns_thread_state *thread, __u32 tid)
{
	if (!settings.reads)
		return;
	conn->turn.spent_ts = conn->turn.ts;
	conn->turn.spent_tid = tid;
	spent_now(thread, thread->since, &conn->turn.spent);
	conn->turn.spent.run_us -= ns_passed(conn->turn.ts, thread->since) / 1000;
}

/* The sums of the thread that writes, as of then. */
static __always_inline void note_writer(struct ns_conn_state *conn,
					const struct ns_thread_state *thread, __u32 tid, __u64 at)
{
	conn->turn.spent_ts = spent_at(thread, at, &conn->turn.spent) ? at : 0;
	conn->turn.spent_tid = tid;
}

/* The first sleep for the answer. Where reads are not seen it ends the exchange as well. */
static __always_inline void note_answer(struct ns_conn_state *conn, const struct answer *answer)
{
	if (!settings.reads) {
		tell_exchange(conn, answer);
	} else if (!conn->turn.on_ts) {
		conn->turn.off_ts = answer->off_ts;
		conn->turn.wake_ts = answer->wake_ts;
		conn->turn.on_ts = answer->ts;
	}
}

static __noinline int note_answers(struct ns_thread_state *thread, __u32 tid, __u64 now, bool slow)
{
	struct answer answer = {.ts = now, .tid = tid};
	struct ns_conn_state *conn;
	__u64 sampled;

	if (!thread)
		return 0;
	answer.tgid = thread->tgid;
	answer.off_ts = thread->since;
	answer.wake_ts = thread->wake_ts ? thread->wake_ts : now;
	sampled = thread->asked;
	if (sampled) {
		conn = bpf_map_lookup_elem(&conns, &sampled);
		if (!conn || !conn->turn.sampling) {
			thread->asked = 0;
		} else if (is_answered(sampled, conn)) {
			answer.key = sampled;
			answer.weight = slow && sampled == thread->conn ? 1 : conn->turn.sampling;
			note_answer(conn, &answer);
			conn->turn.slow = slow && sampled == thread->conn;
			if (!settings.reads) {
				conn->turn.sampling = 0;
				settle_answerer(conn->key);
			}
			thread->asked = 0;
		}
	}
	if (!slow || thread->conn == sampled)
		return 0;
	answer.key = thread->conn;
	conn = bpf_map_lookup_elem(&conns, &answer.key);
	if (!conn || conn->turn.sampling || !asks(conn) || !is_answered(answer.key, conn))
		return 0;
	__sync_fetch_and_add(&slow_noted, 1);
	answer.weight = 1;
	note_answer(conn, &answer);
	conn->turn.slow = 1;
	/* It is off its CPU as yet, and its sums are those of when it left. */
	if (conn->turn.tid == tid && thread->came_ts < conn->turn.ts)
		note_begin(conn, thread, tid);
	return 0;
}

/* Of a thread that is switched in again, before its sleep is forgotten. */
static __always_inline void look_for_answers(struct ns_thread_state *thread, __u32 tid, __u64 now)
{
	bool slow = thread->conn && thread->state && ns_passed(thread->since, now) >= slow_from();

	if (thread->asked || slow)
		note_answers(thread, tid, now, slow);
}

/* ---- this end: it writes ---- */

/*
 * The sample before has its answer read, and the thread was never seen to sleep for it, or
 * another thread read it: all that is known of its end is that it was before this.
 */
static __always_inline void end_unslept(__u64 key, struct ns_conn_state *conn, __u64 id, __u64 now)
{
	struct answer answer = {.key = key, .ts = now, .weight = conn->turn.sampling};

	answer.tgid = id >> 32;
	answer.tid = id;
	tell_exchange(conn, &answer);
}

/* Of a thread that does not sleep, a sample has ended though its thread still names it. */
static __always_inline bool has_another_open(const struct ns_thread_state *thread, __u64 key)
{
	__u64 asked = thread->asked;
	struct ns_conn_state *conn;

	if (!asked || asked == key)
		return false;
	conn = bpf_map_lookup_elem(&conns, &asked);
	return conn && conn->turn.sampling;
}

/*
 * The request that was chosen one turn ago begins. Where its end is not seen in its reads, but only
 * in its thread's sleep, the thread can have one of them open.
 */
static __always_inline void begin_sample(__u64 key, struct ns_conn_state *conn, __u32 tid,
					 __u64 now)
{
	struct ns_thread_state *thread = bpf_map_lookup_elem(&threads, &tid);

	if (!thread || (!settings.reads && asks(conn) && has_another_open(thread, key)))
		return;
	if (asks(conn)) {
		thread->asked = key;
		if (settings.reads)
			note_writer(conn, thread, tid, now);
	}
	conn->turn.sampling = conn->turn.sample_next;
	conn->turn.sample_next = 0;
}

/* A global function, as on_blocked_send() is. */
__noinline int advance_samples(__u64 key, __u64 id, __u64 now, __u32 weight)
{
	struct ns_conn_state *conn = conn_traced(key);

	if (!conn)
		return 0;
	if (settings.reads)
		end_request(conn, NS_EXCHANGE_FOLLOWED, now);
	else if (conn->turn.sampling)
		end_unslept(key, conn, id, now);
	conn->turn.sampling = 0;
	/* Of an end that answers each read is timed: it is this request, perhaps its only one. */
	if (weight && serves(conn))
		conn->turn.sample_next = weight;
	if (conn->turn.sample_next)
		begin_sample(key, conn, id, now);
	if (weight && !serves(conn))
		conn->turn.sample_next = weight;
	settle_answerer(conn->key);
	return 0;
}

/* Is the request after this one a sample? */
static __always_inline bool choose_next(void)
{
	struct ns_turns *own = &turns[bpf_get_smp_processor_id() & (NS_CPUS - 1)];
	__u64 most = 2 * (__u64)sample_every - 1;

	own->begun++;
	if (own->skip && own->skip <= most) {
		own->skip--;
		return false;
	}
	own->skip = bpf_get_prandom_u32() % most;
	return true;
}

/*
 * It opens: its first request comes next, which may be the only one. The end that answers may be
 * known now, whose other end was there before.
 */
static __noinline int choose_first(struct ns_conn_state *conn)
{
	struct ns_conn_state *peer;

	if (!conn)
		return 0;
	if (asks(conn) && choose_next()) {
		conn->turn.sample_next = sample_every;
		settle_answerer(conn->key);
	}
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (peer && peer->turn.sample_next)
		settle_answerer(peer->key);
	return 0;
}

/* What was read until now is what this end answers. */
static __always_inline void begin_reads(struct ns_conn_state *conn)
{
	struct ns_conn_turn *turn = &conn->turn;

	if (asks(conn) || !turn->reads.last_ts)
		turn->request.last_ts = 0;
	else
		turn->request = turn->reads;
	turn->reads.first_ts = 0;
	turn->reads.last_ts = 0;
	turn->reads.count = 0;
	turn->reads.bytes = 0;
	turn->reads.spent_known = 0; /* until this turn's answer is read, there may be none */
	turn->began_at = bpf_jiffies64();
	turn->off_ts = 0;
	turn->wake_ts = 0;
	turn->on_ts = 0;
	turn->slow = 0;
	turn->is_told = 0;
}

/*
 * It has connected, and writes: its connection was made for this request if that follows at once. A
 * pool's may be made long before.
 */
static __noinline int begin_connected(struct ns_conn_state *conn, __u64 now)
{
	if (!conn)
		return 0;
	if (conn->turn.ts || ns_passed(conn->first_ts, now) >= settings.threshold_ns) {
		conn->connect_ts = 0;
	} else if (settings.reads &&
		   ns_passed(conn->connect_ts, conn->first_ts) >= slow_exchange_ns) {
		conn->turn.slow = 1;
		__sync_fetch_and_add(&slow_noted, 1);
	}
	return 0;
}

static __always_inline void begin_turn(__u64 key, struct ns_conn_state *conn, __u64 id, __u64 now)
{
	__u32 weight = 0;

	if (asks(conn) || (settings.reads && serves(conn))) {
		if (choose_next())
			weight = sample_every;
		else if (is_unknown(conn))
			weight = 1;
	}
	if (weight || conn->turn.sampling || conn->turn.sample_next ||
	    (settings.reads && is_slow(conn)))
		advance_samples(conn->key, id, now, weight);
	make_wanted_known(conn);
	if (settings.reads)
		begin_reads(conn);
	if (conn->connect_ts)
		begin_connected(conn, now);
	conn->turn.ts = now;
	conn->turn.tid = id;
	conn->turn.writes = 0;
	conn->turn.bytes = 0;
	conn->turn.held_ns = 0;
}

/* What the thread that answers has done by the end of a write, if that is worth a look. */
static __noinline int note_answering(struct ns_conn_state *conn, __u32 tid, __u64 now)
{
	struct ns_thread_state *thread = bpf_map_lookup_elem(&threads, &tid);

	if (conn && thread)
		note_writer(conn, thread, tid, now);
	return 0;
}

static __always_inline bool answers_slowly(const struct ns_conn_turn *turn)
{
	return turn->request.last_ts && turn->request.spent_known &&
	       (turn->sampling || turn->times_all || is_long_ago(turn->request.read_at));
}

/* This end writes: unless it has written since it last read, that begins a turn. */
static __always_inline bool enter_turn(__u64 key, struct ns_conn_state *conn, __u32 copied_seq,
				       __u64 now, __u64 id)
{
	if (conn->copied_seq == copied_seq && conn->turn.ts)
		return false;
	conn->turn.exchanges += conn->copied_seq != copied_seq;
	begin_turn(key, conn, id, now);
	conn->copied_seq = copied_seq;
	conn->turn.wrote_ts = now;
	return true;
}

/* A send has ended: now is the time that TCP itself read when it transmitted, or the clock's. */
static __always_inline void count_write(__u64 key, struct ns_conn_state *conn, __u32 copied_seq,
					__u32 bytes, __u64 now, __u64 id)
{
	if (!enter_turn(key, conn, copied_seq, now, id) && conn->turn.writes &&
	    ns_passed(conn->turn.wrote_ts, now) < NS_CLOSE_NS)
		conn->turn.close_writes++;
	if (bytes < conn->turn.mss / NS_SMALL_PART)
		conn->turn.small_writes++;
	conn->turn.writes++;
	conn->turn.bytes += bytes;
	conn->turn.wrote_ts = now;
	if (settings.reads && answers_slowly(&conn->turn))
		note_answering(conn, id, now);
}

#endif

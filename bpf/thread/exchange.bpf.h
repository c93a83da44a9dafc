/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests and their answers. A turn is what one end writes until it reads again: the turn
 * of the end that called connect() is a request, that of the other end the answer. Turns are
 * counted where a send ends; nothing else is done for most of them.
 *
 * How exchanges are sampled, so that 70,000 a second cost no more than 200:
 *
 *  - One request in sample_every, at random distances with that mean, is chosen, before it
 *    begins and so regardless of how it goes: one that stands for sample_every others.
 *  - An exchange whose answer was slept for at least slow_exchange_ns is always told, and
 *    stands for itself alone, whether it was chosen or not.
 *
 * So each exchange counts once on average (Horvitz and Thompson's estimator: the weight is one
 * over the chance of being told), the quick ones as well as the slow: quantiles by weight are
 * right for the many, and the few slow ones that make up the p99 are all there. User space
 * keeps both limits up to date (user/source/session_sample.c); weights carry those that were
 * in force, so moving them does no harm.
 *
 * A request is chosen one turn ahead, because on loopback the answering thread is woken while
 * the write is still under way: only so can the other end's threads be watched in time. They
 * are watched while a sample of theirs is open, no longer.
 */
#ifndef NETSTALL_BPF_THREAD_EXCHANGE_BPF_H
#define NETSTALL_BPF_THREAD_EXCHANGE_BPF_H

#define NS_CLOSE_NS   1000000 /* writes nearer than this to the one before are close */
#define NS_SMALL_PART 4       /* writes of less than this part of an mss are small */

static __always_inline bool asks(const struct ns_conn_state *conn)
{
	return conn->role & NS_ROLE_TARGET && conn->opener != NS_OPENER_PEER;
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

/* Begin or end to watch the answerer, as the connection's samples want it. */
static __noinline int settle_answerer(struct ns_conn_state *conn)
{
	struct ns_active_key key = {.what = NS_ACTIVE_SAMPLE};
	struct ns_conn_state *peer;
	bool wanted;

	if (!conn)
		return 0;
	key.sk = conn->key;
	wanted = conn->turn.sample_next || conn->turn.sampling;
	if (wanted && !conn->turn.answerer) {
		peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
		if (!peer || !peer->tgid)
			return 0;
		key.number = peer->tgid;
		if (!enter_active(&key))
			return 0;
		conn->turn.answerer = key.number;
		__sync_fetch_and_add(answering_in(key.number), 1);
		__sync_fetch_and_add(&samples_open, 1);
	} else if (!wanted && conn->turn.answerer) {
		key.number = conn->turn.answerer;
		conn->turn.answerer = 0;
		if (!leave_active(&key))
			return 0;
		__sync_fetch_and_add(answering_in(key.number), -1);
		__sync_fetch_and_add(&samples_open, -1);
	}
	return 0;
}

static __always_inline void forget_samples(struct ns_conn_state *conn)
{
	conn->turn.sample_next = 0;
	conn->turn.sampling = 0;
	settle_answerer(conn);
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
 * and if it ended before, then the thread was busy when the request came.
 */
static __always_inline void served_after(struct ns_exchange *out, __u64 asked_ts)
{
	struct ns_sleeps *sleeps = bpf_map_lookup_elem(&sleeps_of, &out->head.tid);
	__u32 i;

	if (!sleeps)
		return;
	for (i = 0; i < NS_SLEEPS; i++) {
		__u64 off_ts = sleeps->v[i].off_ts, on_ts = sleeps->v[i].on_ts;

		if (!on_ts || on_ts > out->head.ts || off_ts > asked_ts || off_ts < out->off_ts)
			continue;
		out->off_ts = off_ts;
		out->begin_ts = sleeps->v[i].wake_ts ? sleeps->v[i].wake_ts : on_ts;
		out->ready_ts = on_ts;
	}
}

/* What the other end did for this exchange: it wrote, after this end had. */
static __noinline int tell_served(struct ns_conn_state *conn, __u32 weight)
{
	struct ns_conn_state *peer;
	struct ns_exchange out = {};
	__u64 asked_ts;

	if (!conn || !conn->peer)
		return 0;
	peer = bpf_map_lookup_elem(&conns, &conn->peer);
	if (!peer || peer->turn.ts <= conn->turn.ts)
		return 0;
	fill_head(&out.head, NS_EXCHANGE, sizeof(out), peer->turn.ts, peer->id);
	out.head.tgid = peer->tgid;
	out.head.tid = peer->turn.tid;
	out.side = NS_EXCHANGE_SERVED;
	out.writes = peer->turn.writes;
	out.bytes_out = peer->turn.bytes;
	out.weight = weight;
	asked_ts = conn->turn.wrote_ts > conn->turn.released_ts ? conn->turn.wrote_ts
								: conn->turn.released_ts;
	if (conn->turn.answerer)
		served_after(&out, asked_ts);
	stream(&out, sizeof(out));
	return 0;
}

struct answer {
	__u64 key; /* of the connection's socket */
	__u64 ts;
	__u64 off_ts; /* 0: the thread did not sleep for it */
	__u64 wake_ts;
	__u32 tgid;
	__u32 tid;
	__u32 weight;
};

static __noinline int tell_exchange(struct ns_conn_state *conn, const struct answer *answer)
{
	struct ns_conn_state *peer;
	struct ns_exchange out = {};
	struct tcp_sock *tp;

	if (!conn || !answer || !conn->turn.ts || conn->turn.ts > answer->ts)
		return 0;
	/*
	 * A reader that gets no CPU adjusts nothing meanwhile: the rest of its time goes without,
	 * but for what takes as long as a stall.
	 */
	if (exchanges_told >= NS_EXCHANGES_TOLD &&
	    answer->ts - conn->turn.ts < settings.threshold_ns)
		return 0;
	__sync_fetch_and_add(&exchanges_told, 1);
	tp = (void *)answer->key;
	tell_served(conn, answer->weight);
	fill_head(&out.head, NS_EXCHANGE, sizeof(out), answer->ts, conn->id);
	out.head.tgid = answer->tgid;
	out.head.tid = answer->tid;
	out.side = NS_EXCHANGE_ASKED;
	out.writes = conn->turn.writes;
	out.bytes_out = conn->turn.bytes;
	out.begin_ts = conn->turn.ts;
	out.ready_ts = conn->turn.wrote_ts;
	out.off_ts = answer->off_ts;
	out.wake_ts = answer->wake_ts;
	out.held_ns = conn->turn.held_ns;
	if (is_held(conn) && conn->hold.ts < answer->ts)
		out.held_ns += answer->ts - conn->hold.ts;
	out.hold_reason = out.held_ns ? conn->hold.reason : 0;
	out.weight = answer->weight;
	out.min_rtt_us = BPF_CORE_READ(tp, rtt_min.s[0].v);
	peer = conn->peer ? bpf_map_lookup_elem(&conns, &conn->peer) : NULL;
	if (peer && peer->turn.fired_ts > conn->turn.ts && peer->turn.fired_ts <= answer->ts)
		out.delack_ts = peer->turn.fired_ts;
	stream(&out, sizeof(out));
	return 0;
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
			tell_exchange(conn, &answer);
			conn->turn.sampling = 0;
			settle_answerer(conn);
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
	tell_exchange(conn, &answer);
	return 0;
}

/* Of a thread that is switched in again, before its sleep is forgotten. */
static __always_inline void look_for_answers(struct ns_thread_state *thread, __u32 tid, __u64 now)
{
	bool slow =
		thread->conn && thread->state && ns_passed(thread->since, now) >= slow_exchange_ns;

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
	conn->turn.sampling = 0;
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

/* The request that was chosen one turn ago begins, unless its thread has another one open. */
static __always_inline void begin_sample(__u64 key, struct ns_conn_state *conn, __u32 tid)
{
	struct ns_thread_state *thread = bpf_map_lookup_elem(&threads, &tid);

	if (!thread || has_another_open(thread, key))
		return;
	thread->asked = key;
	conn->turn.sampling = conn->turn.sample_next;
	conn->turn.sample_next = 0;
}

static __noinline int advance_samples(__u64 key, struct ns_conn_state *conn, __u64 id, __u64 now,
				      bool choose)
{
	if (!conn)
		return 0;
	if (conn->turn.sampling)
		end_unslept(key, conn, id, now);
	if (conn->turn.sample_next)
		begin_sample(key, conn, id);
	if (choose)
		conn->turn.sample_next = sample_every;
	settle_answerer(conn);
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

static __always_inline void begin_turn(__u64 key, struct ns_conn_state *conn, __u64 id, __u64 now)
{
	bool choose = asks(conn) && choose_next();

	if (choose || conn->turn.sampling || conn->turn.sample_next)
		advance_samples(key, conn, id, now, choose);
	conn->turn.ts = now;
	conn->turn.tid = id;
	conn->turn.writes = 0;
	conn->turn.bytes = 0;
	conn->turn.held_ns = 0;
}

/* A send has ended: now is the time that TCP itself read when it transmitted, or the clock's. */
static __always_inline void count_write(__u64 key, struct ns_conn_state *conn, __u32 copied_seq,
					__u32 bytes, __u64 now, __u64 id)
{
	if (conn->copied_seq != copied_seq || !conn->turn.ts) {
		conn->turn.exchanges += conn->copied_seq != copied_seq;
		begin_turn(key, conn, id, now);
		conn->copied_seq = copied_seq;
	} else if (ns_passed(conn->turn.wrote_ts, now) < NS_CLOSE_NS) {
		conn->turn.close_writes++;
	}
	if (bytes < conn->turn.mss / NS_SMALL_PART)
		conn->turn.small_writes++;
	conn->turn.writes++;
	conn->turn.bytes += bytes;
	conn->turn.wrote_ts = now;
}

#endif

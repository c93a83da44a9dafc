// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The records that bpf/ would write of a world, for one choice of targets: the same rules by the
 * same names, without what no world of ours has (loss, rings, call sites, listen queues). It must
 * be changed with them: exchange.bpf.h, sched.bpf.h, wait.bpf.h, spent.bpf.h, hold.bpf.h.
 */
#include "bpf/times.h"
#include "tests/unit/analyze/simulator/simulator.h"
#include "user/base/xalloc.h"
#include "user/record/text.h"

#define ORIGIN        TEXT_TRACE_ORIGIN_NS
#define MAY_MATTER_NS (SIM_THRESHOLD / 8)
#define HISTORY       16 /* NS_HISTORY */
#define SLEEPS        4  /* NS_SLEEPS */
#define SAMPLE_EVERY  1  /* as with less than 200 turns a second */
#define MSS           32768
#define MIN_RTT_US    12
#define FIRST_FD      4
#define FOREIGN_TID   900 /* who has a CPU that another one waits for */

enum stack {
	STACK_NONE,
	STACK_READS,
	STACK_DATA_CAME,
	STACK_SLEEPS,
	STACK_TIMER,
	STACK_LOCK,
	STACK_UNLOCK,
	STACK_PIPE,
	STACK_PIPE_WRITTEN,
	STACK_EPOLL,
	STACK_EPOLL_READY,
	STACK_PREEMPTED,
	STACKS
};

static const char *const stacks[STACKS] = {
	[STACK_READS] =
		"wait_woken;sk_wait_data;tcp_recvmsg_locked;tcp_recvmsg;sock_recvmsg;"
		"__sys_recvfrom;__x64_sys_recvfrom;do_syscall_64;entry_SYSCALL_64_after_hwframe",
	[STACK_DATA_CAME] =
		"try_to_wake_up;__wake_up_common;__wake_up_sync_key;sock_def_readable;"
		"tcp_data_queue;tcp_rcv_established;tcp_v4_do_rcv;tcp_v4_rcv;"
		"ip_protocol_deliver_rcu;ip_local_deliver_finish",
	[STACK_SLEEPS] = "hrtimer_nanosleep;common_nsleep;__x64_sys_clock_nanosleep;do_syscall_64",
	[STACK_TIMER] =
		"try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;hrtimer_interrupt;"
		"__sysvec_apic_timer_interrupt",
	[STACK_LOCK] = "futex_do_wait;__futex_wait;futex_wait;do_futex;__x64_sys_futex",
	[STACK_UNLOCK] = "try_to_wake_up;wake_up_q;futex_wake;do_futex;__x64_sys_futex",
	[STACK_PIPE] = "anon_pipe_read;vfs_read;ksys_read;do_syscall_64",
	[STACK_PIPE_WRITTEN] =
		"try_to_wake_up;autoremove_wake_function;__wake_up_common;"
		"__wake_up_sync_key;anon_pipe_write;vfs_write;ksys_write",
	[STACK_EPOLL] = "ep_poll;do_epoll_wait;__x64_sys_epoll_wait;do_syscall_64",
	[STACK_EPOLL_READY] =
		"try_to_wake_up;ep_autoremove_wake_function;__wake_up_common;"
		"__wake_up_sync;ep_poll_callback;__wake_up_common;"
		"__wake_up_sync_key;sock_def_readable;tcp_data_queue;"
		"tcp_rcv_established;tcp_v4_do_rcv;tcp_v4_rcv",
	[STACK_PREEMPTED] = "exit_to_user_mode_loop;do_syscall_64",
};

/* x86_64 */
#define SYS_READ            0
#define SYS_RECVFROM        45
#define SYS_FUTEX           202
#define SYS_CLOCK_NANOSLEEP 230
#define SYS_EPOLL_WAIT      232

static const struct {
	uint32_t call;
	enum ns_short kind;
	enum stack sleeps, ends;
} calls[] = {
	[SIM_WAIT_CPU] = {NS_SYSCALL_NONE, NS_SHORT_OTHER, STACK_PREEMPTED, STACK_NONE},
	[SIM_WAIT_SLEEP] = {SYS_CLOCK_NANOSLEEP, NS_SHORT_TIMER, STACK_SLEEPS, STACK_TIMER},
	[SIM_WAIT_LOCK] = {SYS_FUTEX, NS_SHORT_LOCK, STACK_LOCK, STACK_UNLOCK},
	[SIM_WAIT_JOB] = {SYS_FUTEX, NS_SHORT_LOCK, STACK_LOCK, STACK_UNLOCK},
	[SIM_WAIT_READ] = {SYS_RECVFROM, NS_SHORT_INPUT, STACK_READS, STACK_DATA_CAME},
	[SIM_WAIT_PIPE] = {SYS_READ, NS_SHORT_INPUT, STACK_PIPE, STACK_PIPE_WRITTEN},
	[SIM_WAIT_EPOLL] = {SYS_EPOLL_WAIT, NS_SHORT_INPUT, STACK_EPOLL, STACK_EPOLL_READY},
};

/* ns_conn_reads */
struct reads {
	uint64_t first_ts, last_ts, arrived_ts, woke_ts, on_ts, read_at;
	int thread;
	uint32_t count, bytes;
	bool spent_known;
	struct ns_spent spent;
};

/* ns_conn_turn */
struct turn {
	uint64_t ts, wrote_ts, released_ts, held_ns, fired_ts, began_at;
	uint64_t off_ts, wake_ts, on_ts;
	int thread;
	uint32_t writes, bytes, exchanges;
	uint32_t sampling, sample_next;
	bool slow, is_told, answerer, times_all;
	uint64_t spent_ts;
	int spent_thread;
	struct ns_spent spent;
	struct reads reads, request;
};

/* ns_conn_state */
struct conn {
	bool watched, threads_watched;
	uint32_t role;
	uint32_t written_copied;  /* conn->copied_seq: at the last write */
	uint32_t copied, rcv_nxt; /* the socket's */
	uint64_t ready_ts;        /* in an event loop's list since then */
	uint64_t sent_at;
	uint64_t delack_arm_ts;
	struct turn turn;
	struct {
		bool is_on, told;
		uint64_t ts;
		uint32_t seq, end, reason;
		int thread;
	} hold;
	union record history[HISTORY];
	size_t next, flushed;
	struct ns_conn_totals totals;
};

/* ns_thread_state */
struct thread {
	bool present, off;
	uint32_t state;
	uint64_t since, wake_ts, woke_ts, came_ts;
	int waker; /* or SIM_NOBODY */
	bool waker_stack, by_timer;
	uint32_t timeout_ms;
	enum sim_wait wait;
	int wait_at;
	uint32_t many;              /* slept.many: the call, 0 none */
	int conn, last_send, asked; /* ends, or SIM_NOBODY */
	uint64_t on_cpu_ns, blocked_ns, runqueue_ns, ready_ns, short_ns[NS_SHORTS];
	uint32_t shorts[NS_SHORTS], voluntary, involuntary, wakes;
	struct {
		uint64_t off_ts, wake_ts, on_ts;
	} sleeps[SLEEPS];
	unsigned sleep;
};

struct side {
	const struct sim_world *world;
	enum sim_view view;
	struct sim_records *out;
	uint64_t now;
	struct conn conns[SIM_ENDS];
	struct thread threads[SIM_THREADS];
	struct {
		uint32_t role;
		bool threads;  /* its threads are watched */
		int answering; /* samples open in which it answers */
	} procs[SIM_PROCS];
	int active_holds;
};

/* ---- records ---- */

/* A time that is not known stays so. */
static uint64_t absolute(uint64_t ts)
{
	return ORIGIN + ts;
}

static uint64_t known(uint64_t ts)
{
	return ts ? absolute(ts) : 0;
}

static void emit(struct sim_records *out, const void *record)
{
	const struct ns_head *head = record;

	if (out->count == out->at_room) {
		out->at_room = out->at_room ? 2 * out->at_room : 512;
		out->at = realloc(out->at, out->at_room * sizeof(*out->at));
	}
	if (out->len + head->len > out->room) {
		out->room = 2 * out->room + head->len + 65536;
		out->bytes = realloc(out->bytes, out->room);
	}
	memcpy(out->bytes + out->len, record, head->len);
	out->at[out->count++] = out->len;
	out->len += (head->len + 7u) & ~7u;
}

static void fill_head(struct ns_head *head, uint32_t type, uint64_t ts)
{
	head->type = type;
	head->len = (uint32_t)record__size(type);
	head->ts = absolute(ts);
}

static void of_thread(const struct side *side, struct ns_head *head, int tid)
{
	if (tid == SIM_NOBODY)
		return;
	head->tid = side->world->threads[tid].tid;
	head->tgid = sim_proc__pid(side->world->threads[tid].proc);
}

static void name_of(const struct side *side, int tid, char comm[NS_COMM_LEN])
{
	static const char *const names[SIM_PROCS] = {"client", "front", "back"};

	snprintf(comm, NS_COMM_LEN, "%s",
		 tid == SIM_NOBODY ? "swapper/1" : names[side->world->threads[tid].proc]);
}

/* ---- the history of a connection ---- */

static union record *history_slot(struct side *side, int end, uint32_t type, uint64_t ts)
{
	struct conn *conn = &side->conns[end];
	union record *slot = &conn->history[++conn->next % HISTORY];

	memset(slot, 0, record__size(type));
	fill_head(&slot->head, type, ts);
	slot->head.conn = sim_end__number(end);
	return slot;
}

static void flush(struct side *side, int end)
{
	struct conn *conn = &side->conns[end];
	size_t count = conn->next - conn->flushed;

	if (count > HISTORY)
		count = HISTORY;
	for (size_t turn = conn->next - count + 1; turn <= conn->next; turn++)
		emit(side->out, &conn->history[turn % HISTORY]);
	conn->flushed = conn->next;
	conn->hold.told = conn->hold.is_on;
}

static void flush_both(struct side *side, int end)
{
	flush(side, end);
	if (side->conns[side->world->ends[end].peer].watched)
		flush(side, side->world->ends[end].peer);
}

/* ---- who is watched ---- */

static bool is_traced(const struct side *side, int tid)
{
	return side->procs[side->world->threads[tid].proc].threads;
}

static struct thread *watched_thread(struct side *side, int tid)
{
	struct thread *thread = &side->threads[tid];

	if (!thread->present && !is_traced(side, tid))
		return NULL;
	if (!thread->present)
		*thread = (struct thread){.present = true,
					  .conn = SIM_NOBODY,
					  .last_send = SIM_NOBODY,
					  .asked = SIM_NOBODY,
					  .waker = SIM_NOBODY};
	return thread;
}

static void watch_both_ends(struct side *side, int end)
{
	int peer = side->world->ends[end].peer;

	if (side->conns[end].threads_watched || !side->conns[peer].watched)
		return;
	side->conns[end].threads_watched = side->conns[peer].threads_watched = true;
	side->procs[side->world->ends[end].proc].threads = true;
	side->procs[side->world->ends[peer].proc].threads = true;
}

static bool asks(const struct side *side, int end)
{
	return side->conns[end].role & NS_ROLE_TARGET && side->world->ends[end].asks;
}

static bool serves(const struct side *side, int end)
{
	return side->conns[end].role & NS_ROLE_TARGET && !side->world->ends[end].asks;
}

/* ---- sums ---- */

static void spent_now(const struct thread *thread, uint64_t now, struct ns_spent *out)
{
	uint64_t run = thread->on_cpu_ns;

	memset(out, 0, sizeof(*out));
	if (thread->since && !thread->off)
		run += ns_passed(thread->since, now);
	out->run_us = (uint32_t)(run / 1000);
	out->ready_us = (uint32_t)(thread->ready_ns / 1000);
	for (size_t i = 0; i < NS_SHORTS; i++) {
		out->short_us[i] = (uint32_t)(thread->short_ns[i] / 1000);
		out->shorts[i] = thread->shorts[i];
	}
}

static void count_short(const struct side *side, struct thread *thread, uint64_t asleep,
			uint64_t ready)
{
	enum ns_short kind = calls[thread->wait].kind;

	if (kind == NS_SHORT_INPUT && thread->conn != SIM_NOBODY &&
	    side->world->ends[thread->conn].asks)
		kind = NS_SHORT_REPLY;
	thread->ready_ns += ready;
	if (!thread->state)
		return;
	thread->short_ns[kind] += asleep;
	thread->shorts[kind]++;
}

static void fill_spent(struct ns_exchange *out, const struct ns_spent *from,
		       const struct ns_spent *to)
{
	out->spent_known = 1;
	out->spent.run_us = to->run_us - from->run_us;
	out->spent.ready_us = to->ready_us - from->ready_us;
	for (size_t i = 0; i < NS_SHORTS; i++) {
		out->spent.short_us[i] = to->short_us[i] - from->short_us[i];
		out->spent.shorts[i] = to->shorts[i] - from->shorts[i];
	}
}

static void tell_sums(struct side *side, int tid)
{
	const struct thread *thread = &side->threads[tid];
	struct ns_sums out = {0};

	if (!thread->present || thread->off || !thread->since)
		return;
	fill_head(&out.head, NS_SUMS, side->now);
	of_thread(side, &out.head, tid);
	out.on_ts = absolute(thread->since);
	spent_now(thread, side->now, &out.spent);
	name_of(side, tid, out.comm);
	emit(side->out, &out);
}

/* ---- exchanges ---- */

static void settle_answerer(struct side *side, int end)
{
	struct turn *turn = &side->conns[end].turn;
	int peer = side->world->ends[end].peer;
	bool wanted = turn->sample_next || turn->sampling;

	if (wanted == turn->answerer ||
	    (wanted && (!asks(side, end) || !side->conns[peer].watched)))
		return;
	turn->answerer = wanted;
	side->procs[side->world->ends[peer].proc].answering += wanted ? 1 : -1;
	side->conns[peer].turn.times_all = wanted;
}

static bool is_answering(const struct side *side, int tid)
{
	return side->procs[side->world->threads[tid].proc].answering > 0;
}

static void note_sleep(struct side *side, int tid, bool preempted)
{
	struct thread *thread = &side->threads[tid];
	unsigned at = thread->sleep++ % SLEEPS;

	thread->sleeps[at].off_ts = side->now;
	thread->sleeps[at].wake_ts = preempted ? side->now : 0;
	thread->sleeps[at].on_ts = 0;
}

static void note_sleep_end(struct side *side, int tid, bool runs)
{
	struct thread *thread = &side->threads[tid];
	unsigned at = (thread->sleep - 1) % SLEEPS;

	if (runs && !thread->sleeps[at].on_ts)
		thread->sleeps[at].on_ts = side->now;
	else if (!runs && !thread->sleeps[at].wake_ts && !thread->sleeps[at].on_ts)
		thread->sleeps[at].wake_ts = side->now;
}

/* All times here are the world's own, until the record leaves. */
static void served_after(const struct side *side, struct ns_exchange *out, int tid,
			 uint64_t asked_ts)
{
	const struct thread *thread = &side->threads[tid];
	uint64_t read_ts = out->ready_ts;

	for (unsigned i = 0; i < SLEEPS; i++) {
		uint64_t off_ts = thread->sleeps[i].off_ts, on_ts = thread->sleeps[i].on_ts;

		if (!on_ts || on_ts > out->answer_ts || off_ts > asked_ts || off_ts < out->off_ts)
			continue;
		if (read_ts && on_ts < asked_ts && on_ts < out->arrived_ts)
			continue;
		out->off_ts = off_ts;
		out->begin_ts = thread->sleeps[i].wake_ts ? thread->sleeps[i].wake_ts : on_ts;
		out->ready_ts = on_ts;
	}
	if (out->ready_ts != read_ts)
		out->spent_known = 0;
}

static void fill_request(struct ns_exchange *out, const struct reads *request)
{
	out->arrived_ts = request->arrived_ts;
	out->begin_ts = request->woke_ts;
	out->ready_ts = request->on_ts;
	out->bytes_in = request->bytes;
	out->reads = request->count;
}

static void fill_held(struct ns_exchange *out, const struct conn *conn, const struct conn *peer)
{
	const struct turn *turn = &conn->turn;

	if (turn->released_ts <= turn->wrote_ts)
		return;
	out->held_ns = turn->released_ts - turn->wrote_ts;
	out->hold_reason = conn->hold.reason;
	if (peer->turn.fired_ts > turn->ts && peer->turn.fired_ts <= turn->released_ts)
		out->delack_ts = peer->turn.fired_ts;
}

static bool knows_answerer(const struct turn *turn)
{
	return turn->request.spent_known && turn->spent_thread == turn->request.thread &&
	       turn->spent_ts == turn->wrote_ts;
}

static void fill_served(const struct side *side, struct ns_exchange *out, const struct conn *conn,
			const struct conn *peer, uint32_t ended)
{
	const struct turn *turn = &conn->turn;

	fill_held(out, conn, peer);
	of_thread(side, &out->head, turn->thread);
	out->answer_ts = turn->ts;
	out->writes = turn->writes;
	out->bytes_out = turn->bytes;
	out->ended = ended;
	if (!turn->request.last_ts || turn->request.on_ts > turn->ts)
		return;
	fill_request(out, &turn->request);
	if (knows_answerer(turn))
		fill_spent(out, &turn->request.spent, &turn->spent);
}

static struct ns_exchange new_exchange(uint32_t side, uint64_t ts, int end)
{
	struct ns_exchange out = {.side = side};

	fill_head(&out.head, NS_EXCHANGE, ts);
	out.head.conn = sim_end__number(end);
	return out;
}

static void emit_exchange(struct side *side, struct ns_exchange *out)
{
	__u64 *const times[] = {&out->begin_ts,  &out->ready_ts,  &out->off_ts,    &out->wake_ts,
				&out->delack_ts, &out->answer_ts, &out->arrived_ts};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		*times[i] = known(*times[i]);
	emit(side->out, out);
}

static void tell_answerer(struct side *side, const struct turn *turn)
{
	struct ns_sums out = {0};

	if (!knows_answerer(turn))
		return;
	fill_head(&out.head, NS_SUMS, turn->spent_ts);
	of_thread(side, &out.head, turn->spent_thread);
	out.on_ts = out.head.ts;
	out.spent = turn->spent;
	emit(side->out, &out);
}

static void tell_served(struct side *side, int end, uint32_t weight, uint32_t ended, uint64_t until)
{
	const struct turn *asked = &side->conns[end].turn;
	int peer = side->world->ends[end].peer;
	struct turn *turn = &side->conns[peer].turn;
	struct ns_exchange out;

	if (!side->conns[peer].watched || turn->ts <= asked->ts || turn->ts > until ||
	    turn->is_told)
		return;
	out = new_exchange(NS_EXCHANGE_SERVED, turn->wrote_ts, peer);
	fill_served(side, &out, &side->conns[peer], &side->conns[end], ended);
	out.weight = weight;
	if (asked->answerer)
		served_after(side, &out, turn->thread,
			     asked->wrote_ts > asked->released_ts ? asked->wrote_ts
								  : asked->released_ts);
	if (out.arrived_ts > out.begin_ts)
		out.arrived_ts = out.begin_ts;
	if (out.answer_ts > until || out.begin_ts > turn->wrote_ts)
		return;
	turn->is_told = true;
	emit_exchange(side, &out);
	tell_answerer(side, turn);
}

static bool takes_long(const struct turn *turn)
{
	return ns_passed(turn->ts, turn->reads.last_ts) >= SIM_THRESHOLD;
}

static uint64_t time_served(const struct turn *turn)
{
	uint64_t end = turn->released_ts > turn->wrote_ts ? turn->released_ts : turn->wrote_ts;

	return turn->request.last_ts ? ns_passed(turn->request.arrived_ts, end) : 0;
}

static bool is_slow(const struct side *side, int end)
{
	const struct turn *turn = &side->conns[end].turn;

	if (serves(side, end))
		return time_served(turn) >= SIM_THRESHOLD;
	return turn->slow || takes_long(turn);
}

static void end_asked(struct side *side, int end, uint32_t ended)
{
	struct conn *conn = &side->conns[end];
	const struct turn *turn = &conn->turn;
	const struct conn *peer = &side->conns[side->world->ends[end].peer];
	uint32_t weight = is_slow(side, end) ? 1 : turn->sampling;
	uint64_t ts = side->now;
	struct ns_exchange out;
	int tid = turn->thread;

	if (turn->reads.last_ts) {
		ts = turn->reads.last_ts;
		tid = turn->reads.thread;
	} else if (ended == NS_EXCHANGE_FOLLOWED || turn->reads.count ||
		   conn->copied != conn->written_copied) {
		ended = NS_EXCHANGE_ANSWERED;
		ts = turn->on_ts ? turn->on_ts : side->now;
	} else if (ns_passed(turn->ts, ts) >= SIM_THRESHOLD) {
		weight = 1;
	}
	if (!weight || !turn->ts || turn->ts > ts)
		return;
	tell_served(side, end, weight, ended, ts);
	out = new_exchange(NS_EXCHANGE_ASKED, ts, end);
	of_thread(side, &out.head, tid);
	out.writes = turn->writes;
	out.bytes_out = turn->bytes;
	out.begin_ts = turn->ts;
	out.ready_ts = turn->wrote_ts;
	out.off_ts = turn->off_ts;
	out.wake_ts = turn->wake_ts;
	out.ended = ended;
	if (turn->reads.last_ts) {
		out.answer_ts = turn->reads.first_ts;
		out.reads = turn->reads.count;
		out.bytes_in = turn->reads.bytes;
	}
	if (turn->reads.spent_known && turn->spent_ts == turn->ts &&
	    turn->spent_thread == turn->reads.thread)
		fill_spent(&out, &turn->spent, &turn->reads.spent);
	out.held_ns = turn->held_ns;
	if (conn->hold.is_on && conn->hold.ts < ts)
		out.held_ns += ts - conn->hold.ts;
	out.hold_reason = out.held_ns ? conn->hold.reason : 0;
	out.weight = weight;
	out.min_rtt_us = MIN_RTT_US;
	if (peer->watched && peer->turn.fired_ts > turn->ts && peer->turn.fired_ts <= ts)
		out.delack_ts = peer->turn.fired_ts;
	emit_exchange(side, &out);
}

static void tell_unanswered(struct side *side, int end, uint32_t ended)
{
	struct turn *turn = &side->conns[end].turn;
	struct ns_exchange out = new_exchange(NS_EXCHANGE_SERVED, side->now, end);

	of_thread(side, &out.head, turn->reads.thread);
	out.ended = ended;
	out.weight = 1;
	fill_request(&out, &turn->reads);
	turn->reads.last_ts = 0;
	emit_exchange(side, &out);
}

static void end_served(struct side *side, int end, uint32_t ended)
{
	struct turn *turn = &side->conns[end].turn;
	bool slow = time_served(turn) >= SIM_THRESHOLD;
	struct ns_exchange out;

	if (asks(side, side->world->ends[end].peer))
		return;
	if (ended != NS_EXCHANGE_FOLLOWED && turn->reads.last_ts &&
	    ns_passed(turn->reads.arrived_ts, side->now) >= SIM_THRESHOLD)
		tell_unanswered(side, end, ended);
	if (turn->is_told || !turn->request.last_ts || (!slow && !turn->sampling))
		return;
	turn->is_told = true;
	out = new_exchange(NS_EXCHANGE_SERVED, turn->wrote_ts, end);
	fill_served(side, &out, &side->conns[end], &side->conns[side->world->ends[end].peer],
		    ended);
	out.weight = slow ? 1 : turn->sampling;
	emit_exchange(side, &out);
	tell_answerer(side, turn);
}

static void end_request(struct side *side, int end, uint32_t ended)
{
	struct turn *turn = &side->conns[end].turn;

	if (serves(side, end)) {
		end_served(side, end, ended);
	} else if (asks(side, end)) {
		if (turn->ts && !turn->is_told)
			end_asked(side, end, ended);
		turn->is_told = true;
	}
}

static void note_writer(struct side *side, int end, int tid, uint64_t at)
{
	struct turn *turn = &side->conns[end].turn;
	const struct thread *thread = &side->threads[tid];

	turn->spent_ts = 0;
	turn->spent_thread = tid;
	if (thread->off)
		return;
	spent_now(thread, at, &turn->spent);
	turn->spent_ts = at;
}

static void begin_sample(struct side *side, int end, int tid, uint64_t ts)
{
	struct turn *turn = &side->conns[end].turn;

	if (!side->threads[tid].present)
		return;
	if (asks(side, end)) {
		side->threads[tid].asked = end;
		note_writer(side, end, tid, ts);
	}
	turn->sampling = turn->sample_next;
	turn->sample_next = 0;
}

static void advance_samples(struct side *side, int end, int tid, uint64_t ts, bool choose)
{
	struct turn *turn = &side->conns[end].turn;

	end_request(side, end, NS_EXCHANGE_FOLLOWED);
	turn->sampling = 0;
	if (choose && serves(side, end))
		turn->sample_next = SAMPLE_EVERY;
	if (turn->sample_next)
		begin_sample(side, end, tid, ts);
	if (choose && !serves(side, end))
		turn->sample_next = SAMPLE_EVERY;
	settle_answerer(side, end);
}

static void begin_reads(struct side *side, int end)
{
	struct turn *turn = &side->conns[end].turn;

	if (asks(side, end) || !turn->reads.last_ts)
		turn->request.last_ts = 0;
	else
		turn->request = turn->reads;
	turn->reads.first_ts = turn->reads.last_ts = 0;
	turn->reads.count = turn->reads.bytes = 0;
	turn->reads.spent_known = false;
	turn->began_at = side->now;
	turn->off_ts = turn->wake_ts = turn->on_ts = 0;
	turn->slow = turn->is_told = false;
}

static void begin_turn(struct side *side, int end, int tid, uint64_t ts)
{
	struct turn *turn = &side->conns[end].turn;
	bool choose = asks(side, end) || serves(side, end);

	if (choose || turn->sampling || turn->sample_next || is_slow(side, end))
		advance_samples(side, end, tid, ts, choose);
	begin_reads(side, end);
	turn->ts = ts;
	turn->thread = tid;
	turn->writes = turn->bytes = 0;
	turn->held_ns = 0;
}

static bool is_long_ago(const struct side *side, uint64_t ts)
{
	return ns_passed(ts, side->now) >= SIM_THRESHOLD;
}

static bool answers_slowly(const struct side *side, const struct turn *turn)
{
	return turn->request.last_ts && turn->request.spent_known &&
	       (turn->sampling || turn->times_all || is_long_ago(side, turn->request.read_at));
}

static void count_write(struct side *side, int end, int tid, uint32_t bytes, uint64_t ts)
{
	struct conn *conn = &side->conns[end];

	if (conn->written_copied != conn->copied || !conn->turn.ts) {
		conn->turn.exchanges += conn->written_copied != conn->copied;
		begin_turn(side, end, tid, ts);
		conn->written_copied = conn->copied;
		conn->turn.wrote_ts = ts;
	} else if (conn->turn.writes && ns_passed(conn->turn.wrote_ts, ts) < SIM_MS) {
		conn->totals.close_writes++;
	}
	conn->totals.small_writes++;
	conn->turn.writes++;
	conn->turn.bytes += bytes;
	conn->turn.wrote_ts = ts;
	if (answers_slowly(side, &conn->turn) && side->threads[tid].present)
		note_writer(side, end, tid, ts);
}

static bool is_timed(const struct side *side, int end)
{
	const struct conn *conn = &side->conns[end];

	return conn->turn.sampling || conn->turn.slow || conn->turn.times_all ||
	       serves(side, end) || (conn->threads_watched && !asks(side, end)) ||
	       is_long_ago(side, conn->turn.began_at);
}

static void note_who_reads(struct side *side, int end)
{
	struct reads *reads = &side->conns[end].turn.reads;
	struct thread *thread = &side->threads[reads->thread];

	reads->woke_ts = reads->on_ts = side->now;
	reads->spent_known = false;
	if (!thread->present && is_traced(side, reads->thread)) { /* on_reader_unseen() */
		thread = watched_thread(side, reads->thread);
		thread->since = side->now;
	}
	if (!thread->present || thread->off)
		return;
	if (!asks(side, end) && thread->came_ts > reads->arrived_ts &&
	    thread->came_ts <= side->now) {
		reads->on_ts = thread->came_ts;
		reads->woke_ts = thread->woke_ts;
		if (reads->woke_ts < reads->arrived_ts || reads->woke_ts > reads->on_ts)
			reads->woke_ts = reads->arrived_ts;
	}
	reads->spent_known = true;
	spent_now(thread, asks(side, end) ? side->now : reads->on_ts, &reads->spent);
}

static bool read_matters(const struct side *side, int end)
{
	int proc = side->world->ends[end].proc;

	return side->procs[proc].threads || side->conns[end].turn.times_all ||
	       is_long_ago(side, side->conns[end].sent_at);
}

static uint64_t arrival_of(const struct side *side, const struct conn *conn,
			   const struct sim_hook *hook)
{
	uint64_t arrived = hook->t < side->now ? hook->t : side->now, latest;
	uint32_t jiffies = (uint32_t)(side->now / SIM_JIFFY) - hook->b;

	latest = side->now - (jiffies ? jiffies - 1 : 0) * SIM_JIFFY;
	if (jiffies < 2 || arrived <= latest)
		return arrived;
	return conn->delack_arm_ts <= latest && latest - conn->delack_arm_ts < 2 * SIM_JIFFY
		       ? conn->delack_arm_ts
		       : latest;
}

static void on_read(struct side *side, const struct sim_hook *hook)
{
	struct conn *conn = &side->conns[hook->end];
	struct reads *reads = &conn->turn.reads;

	conn->totals.bytes_in += hook->a - conn->copied;
	conn->copied = hook->a;
	if (!read_matters(side, hook->end))
		return;
	reads->bytes = conn->copied - conn->written_copied;
	reads->count++;
	if (!is_timed(side, hook->end)) {
		if (!reads->first_ts)
			reads->first_ts = hook->t > conn->turn.ts ? hook->t : conn->turn.ts;
		return;
	}
	if (!reads->first_ts)
		reads->first_ts = side->now;
	reads->last_ts = side->now;
	reads->arrived_ts = arrival_of(side, conn, hook);
	reads->thread = hook->thread;
	reads->read_at = side->now;
	if (asks(side, hook->end) && conn->turn.ts && takes_long(&conn->turn))
		watch_both_ends(side, hook->end);
	note_who_reads(side, hook->end);
}

static bool is_answered(const struct conn *conn)
{
	return conn->rcv_nxt != conn->written_copied && conn->rcv_nxt != conn->copied;
}

static void note_answer(struct turn *turn, const struct thread *thread, uint64_t now)
{
	if (turn->on_ts)
		return;
	turn->off_ts = thread->since;
	turn->wake_ts = thread->wake_ts ? thread->wake_ts : now;
	turn->on_ts = now;
}

static void look_for_answers(struct side *side, int tid)
{
	struct thread *thread = &side->threads[tid];
	bool slow = thread->conn != SIM_NOBODY && thread->state &&
		    ns_passed(thread->since, side->now) >= SIM_THRESHOLD;
	int sampled = thread->asked;
	struct turn *turn;

	if (sampled != SIM_NOBODY) {
		turn = &side->conns[sampled].turn;
		if (!turn->sampling) {
			thread->asked = SIM_NOBODY;
		} else if (is_answered(&side->conns[sampled])) {
			note_answer(turn, thread, side->now);
			turn->slow = slow && sampled == thread->conn;
			thread->asked = SIM_NOBODY;
		}
	}
	if (!slow || thread->conn == sampled)
		return;
	turn = &side->conns[thread->conn].turn;
	if (!side->conns[thread->conn].watched || turn->sampling || !asks(side, thread->conn) ||
	    !is_answered(&side->conns[thread->conn]))
		return;
	note_answer(turn, thread, side->now);
	turn->slow = true;
	if (turn->thread != tid || thread->came_ts >= turn->ts)
		return;
	turn->spent_ts = turn->ts;
	turn->spent_thread = tid;
	spent_now(thread, thread->since, &turn->spent);
	turn->spent.run_us -= (uint32_t)(ns_passed(turn->ts, thread->since) / 1000);
}

/* ---- waits ---- */

/* On one of several descriptors, or on a lock: what of it was long may have ended by a time-out. */
static bool is_on_many(enum sim_wait wait)
{
	return wait == SIM_WAIT_EPOLL || wait == SIM_WAIT_LOCK || wait == SIM_WAIT_JOB;
}

static bool waits_on(const struct thread *thread)
{
	return thread->many && thread->many == calls[thread->wait].call &&
	       thread->conn == SIM_NOBODY && thread->state;
}

/* Of those in its event loop the one that can be read since the longest time. */
static int first_unread(const struct side *side, int tid)
{
	int first = SIM_NOBODY;

	for (size_t i = 0; i < side->world->end_count; i++) {
		const struct conn *conn = &side->conns[i];

		if (side->world->ends[i].poller == tid && conn->watched &&
		    conn->rcv_nxt != conn->copied &&
		    (first == SIM_NOBODY || conn->ready_ts < side->conns[first].ready_ts))
			first = (int)i;
	}
	return first;
}

static int find_waited_for(struct side *side, int tid, uint32_t *basis)
{
	const struct thread *thread = &side->threads[tid];
	int found = SIM_NOBODY;

	*basis = NS_CONN_NONE;
	if (!thread->state || thread->wait == SIM_WAIT_PIPE)
		return SIM_NOBODY;
	if (thread->wait == SIM_WAIT_READ) {
		*basis = NS_CONN_FD;
		found = thread->wait_at;
	} else if (thread->wait == SIM_WAIT_EPOLL) {
		*basis = NS_CONN_READY;
		found = first_unread(side, tid);
	}
	if (found == SIM_NOBODY) {
		*basis = NS_CONN_WRITTEN;
		found = thread->conn;
	}
	if (found == SIM_NOBODY || !side->conns[found].watched)
		*basis = NS_CONN_NONE;
	return *basis ? found : SIM_NOBODY;
}

static void note_socket(const struct side *side, int end, struct ns_wait *out)
{
	const struct conn *conn = &side->conns[end];

	out->head.conn = sim_end__number(end);
	if (conn->copied != conn->written_copied)
		out->turn = NS_TURN_READ;
	else if (conn->totals.writes)
		out->turn = NS_TURN_WROTE;
	if (out->turn == NS_TURN_WROTE)
		out->turn_ts = known(conn->turn.ts);
	out->srtt_us = 10 * MIN_RTT_US;
	out->min_rtt_us = MIN_RTT_US;
}

static void note_call(const struct side *side, int tid, struct ns_wait *out)
{
	const struct thread *thread = &side->threads[tid];

	out->stack_id = calls[thread->wait].sleeps;
	if (!thread->state)
		return;
	out->syscall = calls[thread->wait].call;
	switch (thread->wait) {
	case SIM_WAIT_LOCK:
		out->arg0 = 0x7f001000;
		out->arg1 = 128; /* FUTEX_WAIT_PRIVATE */
		out->arg2 = NS_TIMEOUT_NEVER;
		break;
	case SIM_WAIT_JOB:
		out->arg0 = 0x7f002000;
		out->arg1 = 393; /* FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME */
		out->arg2 = NS_TIMEOUT_NEVER;
		break;
	case SIM_WAIT_READ:
		out->arg0 = FIRST_FD + (uint32_t)thread->wait_at;
		break;
	case SIM_WAIT_PIPE:
		out->arg0 = FIRST_FD + SIM_ENDS + 2 * (uint32_t)thread->wait_at;
		break;
	case SIM_WAIT_EPOLL:
		out->arg0 = FIRST_FD + SIM_ENDS + 2 * SIM_PIPES;
		out->arg2 = thread->timeout_ms ? thread->timeout_ms : NS_TIMEOUT_NEVER;
		break;
	default:
		break;
	}
}

static void end_wait(struct side *side, int tid, enum ns_wait_end ended)
{
	struct thread *thread = &side->threads[tid];
	struct ns_wait out = {.syscall = NS_SYSCALL_NONE, .spent_known = 1, .ended = ended};
	uint64_t length = ns_passed(thread->since, side->now);
	int end = find_waited_for(side, tid, &out.conn_basis);

	if (end != SIM_NOBODY && length >= SIM_THRESHOLD) {
		flush_both(side, end);
		if (ended == NS_WAIT_SEEN)
			watch_both_ends(side, end);
	}
	fill_head(&out.head, NS_WAIT, side->now);
	of_thread(side, &out.head, tid);
	out.off_ts = absolute(thread->since);
	out.state = thread->state;
	note_call(side, tid, &out);
	spent_now(thread, side->now, &out.spent);
	if (end != SIM_NOBODY)
		note_socket(side, end, &out);
	if (thread->wake_ts) {
		out.wake_ts = absolute(thread->wake_ts);
		if (thread->waker != SIM_NOBODY) {
			out.waker_tid = side->world->threads[thread->waker].tid;
			out.waker_tgid = sim_proc__pid(side->world->threads[thread->waker].proc);
		}
		if (thread->waker_stack) {
			name_of(side, thread->waker, out.waker_comm);
			out.waker_stack_id =
				thread->by_timer ? STACK_TIMER : calls[thread->wait].ends;
		}
	}
	name_of(side, tid, out.comm);
	emit(side->out, &out);
}

static void tell_ran(struct side *side, int tid)
{
	const struct thread *thread = &side->threads[tid];
	struct ns_ran out = {.allowed = 1, .cpus = 2, .taken_known = 3};

	fill_head(&out.head, NS_RAN, side->now);
	of_thread(side, &out.head, tid);
	out.from_ts = absolute(thread->wake_ts);
	out.runners[0] = (struct ns_runner){.tgid = FOREIGN_TID,
					    .tid = FOREIGN_TID,
					    .us = (uint32_t)((side->now - thread->wake_ts) / 1000),
					    .prio = NS_NICE_0,
					    .comm = "hog"};
	emit(side->out, &out);
}

static void on_out(struct side *side, const struct sim_hook *hook)
{
	struct thread *thread = watched_thread(side, hook->thread);
	bool preempted = hook->a == SIM_WAIT_CPU;

	if (is_answering(side, hook->thread))
		note_sleep(side, hook->thread, preempted);
	if (!thread)
		return;
	if (thread->since && !thread->off)
		thread->on_cpu_ns += ns_passed(thread->since, side->now);
	thread->off = true;
	thread->since = side->now;
	thread->state = !preempted;
	if (thread->many == SYS_FUTEX && thread->wait != hook->a) /* another lock */
		thread->many = 0;
	thread->wait = hook->a;
	thread->wait_at = (int)hook->b;
	thread->timeout_ms = hook->c;
	if (preempted) {
		thread->wake_ts = side->now;
		thread->involuntary++;
	} else {
		thread->voluntary++;
	}
	if (thread->last_send != SIM_NOBODY)
		thread->conn = thread->last_send;
	thread->last_send = SIM_NOBODY;
}

static void on_wake(struct side *side, const struct sim_hook *hook)
{
	struct thread *thread = &side->threads[hook->thread];
	int waker = (int)hook->a - 1;

	if (is_answering(side, hook->thread))
		note_sleep_end(side, hook->thread, false);
	if (!thread->present || !thread->off || thread->wake_ts)
		return;
	thread->wake_ts = side->now;
	thread->waker = waker;
	thread->by_timer = hook->b;
	thread->waker_stack =
		ns_passed(thread->since, side->now) >= MAY_MATTER_NS || waits_on(thread);
	if (thread->waker_stack && waker != SIM_NOBODY && is_traced(side, waker))
		tell_sums(side, waker);
}

static void on_in(struct side *side, const struct sim_hook *hook)
{
	int tid = hook->thread;
	struct thread *thread = watched_thread(side, tid);
	uint64_t wake_ts;

	if (is_answering(side, tid))
		note_sleep_end(side, tid, true);
	if (!thread)
		return;
	wake_ts = thread->wake_ts ? thread->wake_ts : side->now;
	if (thread->since && thread->off) {
		bool is_long = ns_passed(thread->since, side->now) >= MAY_MATTER_NS;

		if (ns_passed(wake_ts, side->now) >= MAY_MATTER_NS)
			tell_ran(side, tid);
		thread->wakes += thread->state != 0;
		thread->blocked_ns += ns_passed(thread->since, wake_ts);
		thread->runqueue_ns += ns_passed(wake_ts, side->now);
		thread->woke_ts = wake_ts;
		look_for_answers(side, tid);
		if (is_long || waits_on(thread))
			end_wait(side, tid, NS_WAIT_SEEN);
		else
			count_short(side, thread, ns_passed(thread->since, wake_ts),
				    ns_passed(wake_ts, side->now));
		if (thread->state) {
			thread->many =
				is_long && is_on_many(thread->wait) ? calls[thread->wait].call : 0;
			thread->conn = SIM_NOBODY;
		}
	}
	thread->wake_ts = 0;
	thread->waker = SIM_NOBODY;
	thread->waker_stack = false;
	thread->since = thread->came_ts = side->now;
	thread->off = false;
}

/* ---- TCP ---- */

static void on_send(struct side *side, const struct sim_hook *hook)
{
	struct conn *conn = &side->conns[hook->end];
	union record *out;

	conn->totals.writes++;
	conn->totals.bytes_out += hook->a;
	count_write(side, hook->end, hook->thread, hook->a, hook->ts);
	out = history_slot(side, hook->end, NS_SEND, hook->ts);
	of_thread(side, &out->head, hook->thread);
	out->send.bytes = hook->a;
	out->send.fd = FIRST_FD + (uint32_t)hook->end;
	out->send.write_seq = hook->b;
	out->send.snd_nxt = hook->c;
	out->send.snd_una = hook->d;
	side->threads[hook->thread].last_send = hook->end;
}

static void on_hold(struct side *side, const struct sim_hook *hook)
{
	struct conn *conn = &side->conns[hook->end];
	union record *out;

	if (conn->hold.is_on) {
		conn->hold.end = hook->c;
		return;
	}
	watch_both_ends(side, hook->end);
	side->active_holds++;
	conn->hold.is_on = true;
	conn->hold.told = false;
	conn->hold.ts = side->now;
	conn->hold.seq = hook->b;
	conn->hold.end = hook->c;
	conn->hold.reason = hook->a;
	conn->totals.holds[hook->a]++;
	out = history_slot(side, hook->end, NS_HOLD, side->now);
	of_thread(side, &out->head, hook->thread);
	out->hold.reason = hook->a;
	out->hold.basis = NS_BASIS_XMIT;
	out->hold.seq = hook->b;
	out->hold.end = hook->c;
	out->hold.unacked = hook->d;
	out->hold.mss = MSS;
	out->hold.nonagle = side->world->ends[hook->end].nodelay;
	if (hook->a == NS_HOLD_CORK)
		out->hold.nonagle |= 2;
	out->hold.packets_out = out->hold.in_flight = hook->d != 0;
	out->hold.cwnd = 10;
	out->hold.snd_wnd = 65536;
	out->hold.srtt_us = 10 * MIN_RTT_US;
	out->hold.min_rtt_us = MIN_RTT_US;
	out->hold.last_tx_ts = known(conn->sent_at);
	out->hold.fd = FIRST_FD + (uint32_t)hook->end;
	out->hold.pacing_rate = 27520268361;
	out->hold.wmem_queued = 1784;
	out->hold.sndbuf = 4194304;
	out->hold.ack_due_us = hook->d ? 40000 : 0;
}

static void release(struct side *side, int end, int tid)
{
	struct conn *conn = &side->conns[end];
	union record *out = history_slot(side, end, NS_RELEASE, side->now);
	uint64_t held = side->now - conn->hold.ts;

	out->release.held_ns = held;
	out->release.seq = conn->hold.seq;
	out->release.end = conn->hold.end;
	out->release.reason = conn->hold.reason;
	out->release.nonagle = side->world->ends[end].nodelay ? 5 : 0; /* with TCP_NAGLE_PUSH */
	out->release.nonagle_known = 1;
	out->release.unread_known = 1;
	of_thread(side, &out->head, tid);
	conn->hold.is_on = false;
	side->active_holds--;
	conn->turn.held_ns += held;
	conn->turn.released_ts = side->now;
	if (held >= SIM_THRESHOLD || conn->hold.told)
		flush_both(side, end);
}

static void note_segment(struct side *side, const struct sim_hook *hook, uint32_t type)
{
	union record *out;

	if (!side->active_holds)
		return;
	out = history_slot(side, hook->end, type, side->now);
	out->segment.seq = hook->a;
	out->segment.end = type == NS_ACK ? hook->a : hook->b;
	out->segment.ack = hook->c;
	out->segment.flags = type == NS_ACK || hook->a == hook->b ? 16 : 24;
	of_thread(side, &out->head, hook->thread);
	name_of(side, hook->thread, out->segment.comm);
}

static void on_tx(struct side *side, const struct sim_hook *hook)
{
	struct conn *conn = &side->conns[hook->end];

	conn->totals.segs_out++;
	conn->totals.data_segs_out++;
	conn->sent_at = side->now;
	note_segment(side, hook, NS_TX);
	if (conn->hold.is_on)
		release(side, hook->end, hook->thread);
}

static void on_arm(struct side *side, const struct sim_hook *hook)
{
	union record *out = history_slot(side, hook->end, NS_DELACK_ARM, side->now);

	side->conns[hook->end].totals.delack_armed++;
	side->conns[hook->end].delack_arm_ts = side->now;
	of_thread(side, &out->head, hook->thread);
	out->delack.delay_us = hook->a;
}

static void on_fire(struct side *side, const struct sim_hook *hook)
{
	union record *out = history_slot(side, hook->end, NS_DELACK_FIRE, side->now);

	side->conns[hook->end].totals.delack_fired++;
	side->conns[hook->end].turn.fired_ts = side->now;
	out->delack.pending = 7;
	out->delack.ato_us = 40000;
	name_of(side, SIM_NOBODY, out->delack.comm);
}

static void on_hook(struct side *side, const struct sim_hook *hook)
{
	struct conn *conn = hook->end == SIM_NOBODY ? NULL : &side->conns[hook->end];

	if (conn && !conn->watched)
		return;
	switch (hook->kind) {
	case SIM_HOOK_SEND:
		on_send(side, hook);
		break;
	case SIM_HOOK_READ:
		on_read(side, hook);
		break;
	case SIM_HOOK_ARRIVED:
		if (conn->rcv_nxt == conn->copied)
			conn->ready_ts = side->now;
		conn->rcv_nxt = hook->a;
		break;
	case SIM_HOOK_HOLD:
		on_hold(side, hook);
		break;
	case SIM_HOOK_TX:
		on_tx(side, hook);
		break;
	case SIM_HOOK_ACK:
		conn->totals.segs_out++;
		note_segment(side, hook, NS_ACK);
		break;
	case SIM_HOOK_RX:
		conn->totals.segs_in++;
		note_segment(side, hook, NS_RX);
		break;
	case SIM_HOOK_ARM:
		on_arm(side, hook);
		break;
	case SIM_HOOK_FIRE:
		on_fire(side, hook);
		break;
	case SIM_HOOK_OUT:
		on_out(side, hook);
		break;
	case SIM_HOOK_WAKE:
		on_wake(side, hook);
		break;
	case SIM_HOOK_IN:
		on_in(side, hook);
		break;
	}
}

/* ---- the window's begin and end ---- */

static void tell_session(struct side *side)
{
	struct ns_session out = {.threshold_ns = SIM_THRESHOLD};

	fill_head(&out.head, NS_SESSION, 0);
	snprintf(out.way, sizeof(out.way), "fentry");
	snprintf(out.kernel, sizeof(out.kernel), "6.12.95");
	snprintf(out.arch, sizeof(out.arch), "x86_64");
	snprintf(out.target, sizeof(out.target), "seed %llu, %s",
		 (unsigned long long)side->world->seed, sim_view__name(side->view));
	emit(side->out, &out);
}

static void tell_process(struct side *side, int proc)
{
	struct ns_process out = {.role = side->procs[proc].role};
	static const char *const names[SIM_PROCS] = {"client", "front", "back"};

	fill_head(&out.head, NS_PROCESS, 100 * SIM_US);
	out.head.tgid = sim_proc__pid(proc);
	snprintf(out.comm, sizeof(out.comm), "%s", names[proc]);
	emit(side->out, &out);
}

static uint32_t port_of(int end, int proc)
{
	return proc == SIM_CLIENT ? 40000 + (uint32_t)end
				  : (end & 1 ? 7000 + (uint32_t)proc : 50000 + (uint32_t)end);
}

static void tell_conn(struct side *side, int end)
{
	const struct sim_end *of = &side->world->ends[end];
	struct ns_conn out = {.role = side->conns[end].role,
			      .origin = NS_ORIGIN_EXISTED,
			      .opener = of->asks ? NS_OPENER_SELF : NS_OPENER_PEER,
			      .family = 2,
			      .netns = 4026531833u};

	fill_head(&out.head, NS_CONN, 150 * SIM_US);
	out.head.conn = sim_end__number(end);
	out.head.tgid = sim_proc__pid(of->proc);
	out.lport = port_of(end, of->proc);
	out.rport = port_of(of->peer, side->world->ends[of->peer].proc);
	out.laddr[0] = out.raddr[0] = 0x0100007f;
	out.fd = FIRST_FD + (uint32_t)end;
	emit(side->out, &out);
}

static void tell_peer(struct side *side, int end)
{
	struct ns_peer out = {.peer = sim_end__number(side->world->ends[end].peer)};

	fill_head(&out.head, NS_PEER, 200 * SIM_US);
	out.head.conn = sim_end__number(end);
	emit(side->out, &out);
}

static void tell_stacks(struct side *side)
{
	struct ns_stack out = {0};

	fill_head(&out.head, NS_STACK, 0);
	for (uint32_t i = 1; i < STACKS; i++) {
		out.id = i;
		snprintf(out.text, sizeof(out.text), "%s", stacks[i]);
		emit(side->out, &out);
	}
}

static void set_roles(struct side *side)
{
	const struct sim_world *world = side->world;

	for (int proc = 0; proc < SIM_PROCS; proc++) {
		if (sim_view__has(side->view, proc))
			side->procs[proc].role = NS_ROLE_TARGET;
		side->procs[proc].threads = side->procs[proc].role != 0;
	}
	for (size_t i = 0; i < world->end_count; i++) {
		const struct sim_end *end = &world->ends[i];
		struct conn *conn = &side->conns[i];
		bool is_first =
			end->proc == SIM_CLIENT || world->ends[end->peer].proc == SIM_CLIENT;

		conn->watched = true;
		if (sim_view__has(side->view, end->proc))
			conn->role = NS_ROLE_TARGET;
		else if (end->proc == SIM_FRONT && !is_first)
			conn->role = NS_ROLE_CHAIN; /* the chain passes on from a peer */
		else
			conn->role = NS_ROLE_PEER;
		if (conn->role == NS_ROLE_CHAIN)
			side->procs[end->proc].threads = true;
		if (!side->procs[end->proc].role)
			side->procs[end->proc].role = NS_ROLE_PEER;
	}
}

static void begin(struct side *side)
{
	const struct sim_world *world = side->world;

	set_roles(side);
	tell_session(side);
	for (int proc = 0; proc < SIM_PROCS; proc++) {
		if (side->procs[proc].role)
			tell_process(side, proc);
	}
	for (size_t i = 0; i < world->end_count; i++) {
		side->conns[i].copied = side->conns[i].written_copied = SIM_FIRST_SEQ;
		side->conns[i].rcv_nxt = SIM_FIRST_SEQ;
		tell_conn(side, (int)i);
		if (i & 1)
			tell_peer(side, (int)i);
	}
	tell_stacks(side);
	for (size_t i = 0; i < world->thread_count; i++) {
		struct thread *thread = &side->threads[i];

		thread->conn = thread->last_send = thread->asked = thread->waker = SIM_NOBODY;
	}
}

static void tell_conn_totals(struct side *side, int end)
{
	struct ns_conn_totals *out = &side->conns[end].totals;

	fill_head(&out->head, NS_CONN_TOTALS, side->now);
	out->head.conn = sim_end__number(end);
	out->head.tgid = sim_proc__pid(side->world->ends[end].proc);
	out->first_ts = absolute(150 * SIM_US);
	out->exchanges = side->conns[end].turn.exchanges;
	out->mss = MSS;
	out->srtt_us = 10 * MIN_RTT_US;
	out->min_rtt_us = MIN_RTT_US;
	emit(side->out, out);
}

static void tell_thread_totals(struct side *side, int tid)
{
	const struct thread *thread = &side->threads[tid];
	struct ns_thread_totals out = {.on_cpu_ns = thread->on_cpu_ns,
				       .blocked_ns = thread->blocked_ns,
				       .runqueue_ns = thread->runqueue_ns,
				       .voluntary = thread->voluntary,
				       .involuntary = thread->involuntary,
				       .wakes = thread->wakes};

	fill_head(&out.head, NS_THREAD_TOTALS, side->now);
	of_thread(side, &out.head, tid);
	name_of(side, tid, out.comm);
	emit(side->out, &out);
}

static void finish(struct side *side)
{
	const struct sim_world *world = side->world;
	struct ns_end out = {0};

	side->now = world->end_ts;
	for (size_t i = 0; i < world->thread_count; i++) {
		const struct thread *thread = &side->threads[i];

		if (thread->present && thread->off &&
		    ns_passed(thread->since, side->now) >= MAY_MATTER_NS)
			end_wait(side, (int)i, NS_WAIT_LASTS);
	}
	for (size_t i = 0; i < world->end_count; i++) {
		end_request(side, (int)i, NS_EXCHANGE_OPEN);
		tell_conn_totals(side, (int)i);
	}
	for (size_t i = 0; i < world->thread_count; i++) {
		if (side->threads[i].present)
			tell_thread_totals(side, (int)i);
	}
	fill_head(&out.head, NS_END, side->now);
	emit(side->out, &out);
}

void kernel_side__record(const struct sim_world *world, enum sim_view view, struct sim_records *out)
{
	struct side *side = xcalloc(1, sizeof(*side));

	side->world = world;
	side->view = view;
	side->out = out;
	out->len = out->count = 0;
	begin(side);
	for (size_t i = 0; i < world->hooks.count; i++) {
		const struct sim_hook *hook = &world->hooks.v[i];

		/* A send that is over was made when TCP looked at its clock. */
		side->now = hook->ts > side->now ? hook->ts : side->now;
		on_hook(side, hook);
	}
	finish(side);
	free(side);
}

void sim_records__free(struct sim_records *records)
{
	free(records->bytes);
	free(records->at);
	memset(records, 0, sizeof(*records));
}

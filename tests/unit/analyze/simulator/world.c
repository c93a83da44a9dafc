// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What happens: threads that do what they are to, TCP on loopback, and a clock. */
#include "tests/unit/analyze/simulator/simulator.h"
#include "user/base/xalloc.h"

#define WARM_NS   (5 * SIM_MS) /* before that nobody asks */
#define WINDOW_NS (600 * SIM_MS)
#define DELACK_NS (40 * SIM_MS)

enum tick {
	TICK_GOES_ON, /* a: thread */
	TICK_ARRIVES, /* a: end; b: up to where, c: its acknowledgement, d: data; e: context */
	TICK_ARMS,    /* likewise: the delayed-ACK timer */
	TICK_TAKEN,   /* likewise: it can be read; it lets go on what was held */
	TICK_DELACK,  /* a: end */
	TICK_ACKS,    /* a: end */
	TICK_TIMER,   /* a: thread, b: which of its sleeps */
	TICK_COMES,   /* a: thread: to its CPU */
	TICK_SENT,    /* a: end, e: thread: its write is over */
};

static const char *const kinds[SIM_KINDS] = {
	[SIM_SLEEP] = "sleep",
	[SIM_COMPUTE] = "compute",
	[SIM_NAPS] = "naps",
	[SIM_LOCK] = "lock",
	[SIM_HELPER] = "helper",
	[SIM_READY] = "runqueue",
	[SIM_REQUEST_HELD] = "request-held",
	[SIM_ANSWER_HELD] = "answer-held",
	[SIM_ANSWER_PARTS] = "answer-parts",
	[SIM_CORKED] = "corked",
	[SIM_NESTED] = "nested",
	[SIM_NESTED_HELD] = "nested-held",
	[SIM_NESTED_ANSWER_HELD] = "nested-answer-held",
	[SIM_QUEUE] = "queue",
	[SIM_POOL] = "pool",
	[SIM_AFTERWORK] = "afterwork",
	[SIM_OWN_TIMER] = "own-timer",
	[SIM_EVENT_CLIENT] = "event-client",
};

const char *sim_kind__name(enum sim_kind kind)
{
	return kinds[kind];
}

const char *sim_view__name(enum sim_view view)
{
	static const char *const names[SIM_VIEWS] = {"client", "server", "both"};

	return names[view];
}

bool sim_view__has(enum sim_view view, int proc)
{
	if (proc == SIM_CLIENT)
		return view != SIM_VIEW_SERVER;
	return proc == SIM_FRONT && view != SIM_VIEW_CLIENT;
}

#define append(list)                                                                               \
	({                                                                                         \
		(list)->v = xgrow((list)->v, (list)->count, &(list)->room, sizeof(*(list)->v));    \
		memset(&(list)->v[(list)->count], 0, sizeof(*(list)->v));                          \
		&(list)->v[(list)->count++];                                                       \
	})

/* ---- chance ---- */

static uint64_t below(struct sim_world *world, uint64_t bound)
{
	return random_below(&world->random, bound);
}

static uint64_t between(struct sim_world *world, uint64_t from, uint64_t to)
{
	return from + below(world, to - from);
}

static uint64_t some_us(struct sim_world *world, uint64_t from, uint64_t to)
{
	return between(world, from * SIM_US, to * SIM_US);
}

/* Short ones are as frequent as long ones. */
static uint64_t some_work(struct sim_world *world)
{
	static const uint64_t most_ms[] = {1, 3, 6, 12, 20, 30};

	return some_us(world, 300, 1000 * most_ms[below(world, 6)]);
}

static bool has(const struct sim_world *world, enum sim_kind kind)
{
	return world->kinds & 1u << kind;
}

/* ---- time ---- */

static bool is_before(const struct sim_tick *a, const struct sim_tick *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->order < b->order;
}

static void push_tick(struct sim_world *world, struct sim_tick tick)
{
	size_t at = world->tick_count++;

	assert_true(world->tick_count < SIM_TICKS);
	tick.order = world->order++;
	for (; at && is_before(&tick, &world->ticks[(at - 1) / 2]); at = (at - 1) / 2)
		world->ticks[at] = world->ticks[(at - 1) / 2];
	world->ticks[at] = tick;
}

static struct sim_tick pop_tick(struct sim_world *world)
{
	struct sim_tick first = world->ticks[0], last = world->ticks[--world->tick_count];
	size_t at = 0, next;

	while ((next = 2 * at + 1) < world->tick_count) {
		if (next + 1 < world->tick_count &&
		    is_before(&world->ticks[next + 1], &world->ticks[next]))
			next++;
		if (!is_before(&world->ticks[next], &last))
			break;
		world->ticks[at] = world->ticks[next];
		at = next;
	}
	world->ticks[at] = last;
	return first;
}

static void tick_in(struct sim_world *world, uint64_t ns, enum tick kind, int a)
{
	push_tick(world, (struct sim_tick){.ts = world->now + ns, .kind = kind, .a = a});
}

static struct sim_hook *hook(struct sim_world *world, enum sim_hook_kind kind, int thread, int end)
{
	struct sim_hook *out = append(&world->hooks);

	out->kind = kind;
	out->thread = thread;
	out->end = end;
	out->ts = world->now;
	return out;
}

/* ---- threads ---- */

static struct sim_away *last_away(struct sim_thread *thread)
{
	return &thread->away.v[thread->away.count - 1];
}

static void leave_cpu(struct sim_world *world, int tid, enum sim_wait wait, int at)
{
	struct sim_thread *thread = &world->threads[tid];
	struct sim_away *away = append(&thread->away);
	struct sim_hook *out = hook(world, SIM_HOOK_OUT, tid, SIM_NOBODY);

	*away = (struct sim_away){.off = world->now,
				  .wake = UINT64_MAX,
				  .on = UINT64_MAX,
				  .wait = wait,
				  .at = at,
				  .waker = SIM_NOBODY};
	out->a = wait;
	out->b = (uint32_t)at;
	thread->is_off = true;
}

/* Ready, and soon on a CPU. */
static uint64_t ready_ns(struct sim_world *world)
{
	if (has(world, SIM_READY) && !below(world, 4))
		return some_us(world, 500, 15000);
	return some_us(world, 12, 60);
}

static void wake(struct sim_world *world, int tid, int waker)
{
	struct sim_away *away;

	if (tid == SIM_NOBODY || !world->threads[tid].is_off)
		return;
	away = last_away(&world->threads[tid]);
	if (away->wake != UINT64_MAX)
		return;
	away->wake = world->now;
	away->waker = waker;
	hook(world, SIM_HOOK_WAKE, tid, SIM_NOBODY)->a = (uint32_t)(waker + 1);
	tick_in(world, ready_ns(world), TICK_COMES, tid);
}

static void wake_in(struct sim_world *world, int tid, uint64_t ns)
{
	push_tick(world, (struct sim_tick){.ts = world->now + ns,
					   .kind = TICK_TIMER,
					   .a = tid,
					   .b = (uint32_t)world->threads[tid].away.count});
}

/* Unless that sleep is over. */
static void wake_by_timer(struct sim_world *world, const struct sim_tick *tick)
{
	struct sim_thread *thread = &world->threads[tick->a];

	if (thread->away.count != tick->b || last_away(thread)->wake != UINT64_MAX)
		return;
	wake(world, tick->a, SIM_NOBODY);
	last_away(thread)->by_timer = true;
	world->hooks.v[world->hooks.count - 1].b = 1;
}

static void preempt(struct sim_world *world, int tid, uint64_t ns)
{
	leave_cpu(world, tid, SIM_WAIT_CPU, 0);
	last_away(&world->threads[tid])->wake = world->now;
	tick_in(world, ns, TICK_COMES, tid);
}

/* ---- TCP ---- */

/* The steps that a segment takes through TCP, each as long after the one before. */
#define ARMS_NS  (4 * SIM_US)
#define TAKEN_NS (3 * SIM_US)
#define ACKED_NS (12 * SIM_US) /* of one without data */

/* How long it takes on loopback, in softirq of who sends. */
static uint64_t way_ns(struct sim_world *world)
{
	return some_us(world, 4, 25);
}

static struct sim_piece *first_unsent(struct sim_end *end)
{
	for (size_t i = 0; i < end->pieces.count; i++) {
		if (end->pieces.v[i].sent == UINT64_MAX)
			return &end->pieces.v[i];
	}
	return NULL;
}

static bool may_send(const struct sim_end *end)
{
	if (end->snd_nxt == end->write_seq || end->corked)
		return false;
	return end->nodelay || end->snd_una == end->snd_nxt;
}

/* All that was written goes as one segment. by: in whose context, or SIM_NOBODY. */
static void push(struct sim_world *world, int number, int by)
{
	struct sim_end *end = &world->ends[number];
	struct sim_hook *out;
	struct sim_piece *piece;
	uint64_t way = way_ns(world);

	if (!may_send(end))
		return;
	while ((piece = first_unsent(end))) {
		piece->sent = world->now;
		piece->arrived = world->now + way + ARMS_NS + TAKEN_NS;
	}
	out = hook(world, SIM_HOOK_TX, by, number);
	out->a = end->snd_nxt;
	out->b = end->write_seq;
	out->c = end->rcv_nxt;
	end->snd_nxt = end->write_seq;
	end->clock = world->now;
	end->due = 0;
	end->is_held = false;
	push_tick(world, (struct sim_tick){.ts = world->now + way,
					   .kind = TICK_ARRIVES,
					   .a = end->peer,
					   .b = end->snd_nxt,
					   .c = end->rcv_nxt,
					   .d = 1,
					   .e = by});
}

/* What the piece was kept by, once it leaves. */
static void name_hold(struct sim_end *end, enum cause cause)
{
	for (size_t i = 0; i < end->pieces.count; i++) {
		if (end->pieces.v[i].sent == UINT64_MAX)
			end->pieces.v[i].held = cause;
	}
}

static bool is_asleep_for(struct sim_world *world, int number)
{
	int reader = world->ends[number].reader;
	const struct sim_away *away;

	if (reader == SIM_NOBODY || !world->threads[reader].is_off)
		return false;
	away = last_away(&world->threads[reader]);
	return away->wait == SIM_WAIT_EPOLL || (away->wait == SIM_WAIT_READ && away->at == number);
}

static void go_on_as(struct sim_world *world, const struct sim_tick *tick, enum tick kind,
		     uint64_t ns)
{
	struct sim_tick next = *tick;

	next.kind = kind;
	next.ts = world->now + ns;
	push_tick(world, next);
}

static void arrive(struct sim_world *world, const struct sim_tick *tick)
{
	struct sim_end *end = &world->ends[tick->a];
	struct sim_hook *out = hook(world, SIM_HOOK_RX, tick->e, tick->a);

	out->a = end->rcv_nxt;
	out->b = tick->d ? tick->b : end->rcv_nxt;
	out->c = tick->c;
	end->clock = world->now;
	if (tick->d)
		end->data_ts = world->now;
	if (tick->d)
		go_on_as(world, tick, TICK_ARMS, ARMS_NS);
	else
		go_on_as(world, tick, TICK_TAKEN, ACKED_NS);
}

static void arm(struct sim_world *world, const struct sim_tick *tick)
{
	struct sim_end *end = &world->ends[tick->a];

	if (!end->due) {
		end->due = world->now + DELACK_NS + some_us(world, 0, 4500);
		push_tick(world,
			  (struct sim_tick){.ts = end->due, .kind = TICK_DELACK, .a = tick->a});
	}
	hook(world, SIM_HOOK_ARM, tick->e, tick->a)->a = DELACK_NS / 1000;
	go_on_as(world, tick, TICK_TAKEN, TAKEN_NS);
}

static void take_in(struct sim_world *world, const struct sim_tick *tick)
{
	struct sim_end *end = &world->ends[tick->a];

	end->snd_una = tick->c;
	if (tick->d) {
		end->rcv_nxt = tick->b;
		end->ready = end->ready ? end->ready : world->now;
		hook(world, SIM_HOOK_ARRIVED, tick->e, tick->a)->a = end->rcv_nxt;
		if (is_asleep_for(world, tick->a))
			wake(world, end->reader, tick->e);
	}
	if (may_send(end)) {
		name_hold(end, tick->d ? CAUSE_NAGLE : CAUSE_NAGLE_DELACK);
		push(world, tick->a, SIM_NOBODY);
	}
}

static void fire(struct sim_world *world, const struct sim_tick *tick)
{
	struct sim_end *end = &world->ends[tick->a];

	if (end->due != tick->ts)
		return;
	end->due = 0;
	end->clock = world->now;
	hook(world, SIM_HOOK_FIRE, SIM_NOBODY, tick->a);
	tick_in(world, some_us(world, 8, 30), TICK_ACKS, tick->a);
}

static void send_ack(struct sim_world *world, const struct sim_tick *tick)
{
	struct sim_end *end = &world->ends[tick->a];
	struct sim_hook *out = hook(world, SIM_HOOK_ACK, SIM_NOBODY, tick->a);

	out->a = end->snd_nxt;
	out->c = end->rcv_nxt;
	push_tick(world, (struct sim_tick){.ts = world->now + some_us(world, 15, 45),
					   .kind = TICK_ARRIVES,
					   .a = end->peer,
					   .c = end->rcv_nxt,
					   .e = SIM_NOBODY});
}

static void told_sent(struct sim_world *world, int number, int tid, uint64_t ts, uint32_t bytes)
{
	struct sim_end *end = &world->ends[number];
	struct sim_hook *out = hook(world, SIM_HOOK_SEND, tid, number);

	out->ts = ts;
	out->a = bytes;
	out->b = end->write_seq;
	out->c = end->snd_nxt;
	out->d = end->snd_una;
}

/* Returns how long the call takes from here on. */
static uint64_t do_write(struct sim_world *world, int tid, const struct sim_op *op)
{
	struct sim_end *end = &world->ends[op->at];
	struct sim_piece *piece = append(&end->pieces);
	struct sim_hook *out;
	uint64_t takes;

	piece->seq = end->write_seq;
	piece->end = end->write_seq += op->bytes;
	piece->writer = tid;
	piece->written = world->now;
	piece->sent = piece->arrived = UINT64_MAX;
	end->corked = op->more;
	if (may_send(end)) {
		push(world, op->at, tid);
		takes = some_us(world, 36, 50); /* the other end takes it in meanwhile */
		push_tick(world, (struct sim_tick){.ts = world->now + takes - SIM_US,
						   .kind = TICK_SENT,
						   .a = op->at,
						   .b = op->bytes,
						   .c = (uint32_t)takes,
						   .e = tid});
		return takes;
	}
	told_sent(world, op->at, tid, world->now, op->bytes);
	out = hook(world, SIM_HOOK_HOLD, tid, op->at);
	out->a = end->corked ? NS_HOLD_CORK : NS_HOLD_NAGLE;
	out->b = end->snd_nxt;
	out->c = end->write_seq;
	out->d = end->snd_nxt - end->snd_una;
	end->is_held = true;
	piece->held = end->corked ? CAUSE_CORK : CAUSE_NAGLE;
	return some_us(world, 4, 12);
}

/* ---- what a thread is to do ---- */

static struct sim_op *add(struct sim_thread *thread, enum sim_op_kind kind, int at)
{
	struct sim_op *op = &thread->ops[thread->op_count++];

	assert_true(thread->op_count < SIM_OPS);
	*op = (struct sim_op){.kind = kind, .at = at};
	return op;
}

static void add_write(struct sim_thread *thread, int end, uint32_t bytes)
{
	add(thread, SIM_OP_WRITE, end)->bytes = bytes;
}

static void add_read(struct sim_thread *thread, int end, uint32_t bytes)
{
	add(thread, SIM_OP_READ, end)->bytes = bytes;
}

static void add_nested(struct sim_world *world, struct sim_thread *thread)
{
	if (has(world, SIM_NESTED_HELD)) {
		add_write(thread, thread->back, SIM_REQUEST_LEN / 3);
		add_write(thread, thread->back, SIM_REQUEST_LEN - SIM_REQUEST_LEN / 3);
	} else {
		add_write(thread, thread->back, SIM_REQUEST_LEN);
	}
	add_read(thread, thread->back, SIM_ANSWER_LEN);
}

static void add_run(struct sim_thread *thread, uint64_t ns)
{
	add(thread, SIM_OP_RUN, 0)->ns = ns;
}

static void add_sleep(struct sim_thread *thread, uint64_t ns)
{
	add(thread, SIM_OP_SLEEP, 0)->ns = ns;
}

/* One thing that a request is made of. The back server does none of the front's own things. */
static void add_step(struct sim_world *world, struct sim_thread *thread, enum sim_kind kind)
{
	struct sim_op *op;

	switch (kind) {
	case SIM_COMPUTE:
	case SIM_READY:
		add_run(thread, some_work(world));
		break;
	case SIM_NAPS:
		for (uint64_t i = between(world, 3, 20); i; i--) {
			add_sleep(thread, some_us(world, 150, 900));
			add_run(thread, some_us(world, 5, 100));
		}
		break;
	case SIM_LOCK:
		add(thread, SIM_OP_LOCK, 0);
		if (below(world, 2))
			add_sleep(thread, some_work(world));
		else
			add_run(thread, some_work(world));
		add(thread, SIM_OP_UNLOCK, 0);
		break;
	case SIM_HELPER:
		op = add(thread, SIM_OP_ASK, thread->asks);
		op->ns = some_work(world);
		op->more = below(world, 2); /* it computes */
		add(thread, SIM_OP_TAKE, thread->takes);
		break;
	case SIM_NESTED:
	case SIM_NESTED_HELD:
	case SIM_NESTED_ANSWER_HELD:
		add_nested(world, thread);
		break;
	default:
		add_sleep(thread, some_work(world));
	}
}

static void add_work(struct sim_world *world, struct sim_thread *thread)
{
	static const enum sim_kind steps[] = {SIM_SLEEP,  SIM_COMPUTE,     SIM_NAPS,
					      SIM_LOCK,   SIM_HELPER,      SIM_READY,
					      SIM_NESTED, SIM_NESTED_HELD, SIM_NESTED_ANSWER_HELD};
	bool is_front = thread->proc == SIM_FRONT, any = false, asked = false;

	for (size_t i = 0; is_front && i < sizeof(steps) / sizeof(steps[0]); i++) {
		bool nested = steps[i] >= SIM_NESTED;

		if (!has(world, steps[i]) || (nested && asked))
			continue;
		add_step(world, thread, steps[i]);
		asked |= nested;
		any = true;
	}
	if (!any || below(world, 3) == 0)
		add_step(world, thread, below(world, 2) ? SIM_SLEEP : SIM_COMPUTE);
}

static void add_answer(struct sim_world *world, struct sim_thread *thread, int end)
{
	bool is_front = thread->proc == SIM_FRONT;
	bool held = has(world, is_front ? SIM_ANSWER_HELD : SIM_NESTED_ANSWER_HELD);
	bool parts = is_front && has(world, SIM_ANSWER_PARTS);

	if (is_front && has(world, SIM_CORKED)) {
		add(thread, SIM_OP_WRITE, end)->more = true;
		thread->ops[thread->op_count - 1].bytes = SIM_ANSWER_LEN;
		add_sleep(thread, some_work(world));
		add(thread, SIM_OP_UNCORK, end);
	} else if (held || parts) {
		add_write(thread, end, SIM_ANSWER_LEN / 4);
		if (parts || below(world, 3) == 0)
			add_step(world, thread, below(world, 2) ? SIM_SLEEP : SIM_COMPUTE);
		add_write(thread, end, SIM_ANSWER_LEN - SIM_ANSWER_LEN / 4);
	} else {
		add_write(thread, end, SIM_ANSWER_LEN);
	}
}

static void add_serve(struct sim_world *world, struct sim_thread *thread, int end)
{
	add_work(world, thread);
	add_answer(world, thread, end);
	if (thread->proc != SIM_FRONT || !has(world, SIM_AFTERWORK) || below(world, 3) == 0)
		return;
	if (below(world, 2))
		add_sleep(thread, some_us(world, 1000, 60000));
	else
		add_run(thread, some_us(world, 1000, 60000));
}

static void add_asking(struct sim_world *world, struct sim_thread *thread)
{
	uint64_t think = below(world, 3) ? some_us(world, 100, 6000) : some_us(world, 5000, 60000);

	if (!thread->made++)
		think += WARM_NS;
	add_sleep(thread, think);
	if (below(world, 3) == 0)
		add_run(thread, some_us(world, 50, 2000));
	if (has(world, SIM_REQUEST_HELD)) {
		add_write(thread, thread->end, SIM_REQUEST_LEN / 3);
		if (below(world, 3) == 0)
			add_run(thread, some_us(world, 50, 8000));
		add_write(thread, thread->end, SIM_REQUEST_LEN - SIM_REQUEST_LEN / 3);
	} else {
		add_write(thread, thread->end, SIM_REQUEST_LEN);
	}
	add_read(thread, thread->end, SIM_ANSWER_LEN);
}

/* It has done all of it: what is next. */
static void plan(struct sim_world *world, struct sim_thread *thread)
{
	thread->op = thread->op_count = 0;
	if (thread->is_client) {
		add_asking(world, thread);
	} else if (thread->is_loop || thread->is_event_client) {
		add(thread, SIM_OP_EPOLL, 0);
	} else if (thread->is_worker) {
		add(thread, SIM_OP_GET, 0);
	} else if (thread->is_helper) {
		add(thread, SIM_OP_TAKE, thread->takes);
	} else {
		add_read(thread, thread->end, SIM_REQUEST_LEN);
		add(thread, SIM_OP_SERVE, thread->end);
	}
}

/* ---- the effects ---- */

static void took(struct sim_world *world, int tid, int number)
{
	struct sim_end *end = &world->ends[number];
	struct sim_hook *out;

	end->got += end->rcv_nxt - end->copied;
	end->copied = end->rcv_nxt;
	end->ready = 0;
	out = hook(world, SIM_HOOK_READ, tid, number);
	out->a = end->copied;
	out->b = (uint32_t)(end->data_ts / SIM_JIFFY);
	out->t = end->clock;
}

/* Does it have all that it wants? */
static bool do_read(struct sim_world *world, int tid, const struct sim_op *op)
{
	struct sim_end *end = &world->ends[op->at];

	end->reader = SIM_NOBODY;
	if (end->copied != end->rcv_nxt)
		took(world, tid, op->at);
	if (end->got >= op->bytes) {
		end->got -= op->bytes;
		return true;
	}
	end->reader = tid;
	leave_cpu(world, tid, SIM_WAIT_READ, op->at);
	return false;
}

/* The one that has been ready for longest; SIM_NOBODY: none is. */
static int next_ready(const struct sim_world *world, int tid)
{
	int first = SIM_NOBODY;

	for (size_t i = 0; i < world->end_count; i++) {
		const struct sim_end *end = &world->ends[i];

		if (end->poller == tid && end->ready &&
		    (first == SIM_NOBODY || end->ready < world->ends[first].ready))
			first = (int)i;
	}
	return first;
}

static void add_asking_on(struct sim_world *world, struct sim_thread *thread, int end)
{
	if (has(world, SIM_REQUEST_HELD)) {
		add_write(thread, end, SIM_REQUEST_LEN / 3);
		add_write(thread, end, SIM_REQUEST_LEN - SIM_REQUEST_LEN / 3);
	} else {
		add_write(thread, end, SIM_REQUEST_LEN);
	}
	world->ends[end].next_asking = 0;
}

/* What it has to do by its clock; *next: when, if not yet. */
static bool add_due(struct sim_world *world, int tid, uint64_t *next)
{
	struct sim_thread *thread = &world->threads[tid];

	*next = thread->next_job;
	if (thread->next_job && thread->next_job <= world->now) {
		thread->next_job = world->now + some_us(world, 60000, 140000);
		if (below(world, 2))
			add_sleep(thread, some_us(world, 5000, 60000));
		else
			add_run(thread, some_us(world, 5000, 60000));
		return true;
	}
	for (size_t i = 0; i < world->end_count; i++) {
		const struct sim_end *end = &world->ends[i];

		if (end->poller != tid || !end->next_asking)
			continue;
		if (end->next_asking <= world->now) {
			add_asking_on(world, thread, (int)i);
			return true;
		}
		if (!*next || end->next_asking < *next)
			*next = end->next_asking;
	}
	return false;
}

static bool do_epoll(struct sim_world *world, int tid)
{
	struct sim_thread *thread = &world->threads[tid];
	int ready = next_ready(world, tid);
	uint64_t next = 0;
	bool is_due = ready == SIM_NOBODY && add_due(world, tid, &next);

	for (size_t i = 0; i < world->end_count; i++) {
		if (world->ends[i].poller == tid)
			world->ends[i].reader = ready == SIM_NOBODY && !is_due ? tid : SIM_NOBODY;
	}
	if (is_due)
		return true;
	if (ready == SIM_NOBODY) {
		leave_cpu(world, tid, SIM_WAIT_EPOLL, 0);
		if (!next)
			return false;
		wake_in(world, tid, next - world->now + some_us(world, 10, 900));
		world->hooks.v[world->hooks.count - 1].c =
			(uint32_t)((next - world->now) / SIM_MS) + 1;
		return false;
	}
	add_run(thread, some_us(world, 2, 8));
	add(thread, SIM_OP_READ, ready)->more = true; /* what there is */
	add(thread, SIM_OP_SERVE, ready);
	return true;
}

/* Of a loop that has read a part only: the rest comes later. */
static bool do_read_some(struct sim_world *world, int tid, const struct sim_op *op)
{
	if (!op->more)
		return do_read(world, tid, op);
	took(world, tid, op->at);
	return true;
}

static void do_serve(struct sim_world *world, int tid, const struct sim_op *op)
{
	struct sim_thread *thread = &world->threads[tid];
	struct sim_end *end = &world->ends[op->at];

	if (thread->is_event_client) {
		if (end->got < SIM_ANSWER_LEN)
			return;
		end->got -= SIM_ANSWER_LEN;
		end->next_asking = world->now + some_us(world, 100, 12000);
		if (below(world, 3) == 0)
			add_step(world, thread, below(world, 2) ? SIM_SLEEP : SIM_COMPUTE);
		return;
	}
	if (thread->is_loop) {
		if (end->got < SIM_REQUEST_LEN)
			return;
		end->got -= SIM_REQUEST_LEN;
	}
	if (has(world, SIM_POOL) && thread->is_loop)
		add(thread, SIM_OP_PUT, op->at);
	else
		add_serve(world, thread, op->at);
}

static int take_first(int *list, size_t *count)
{
	int first = list[0];

	--*count;
	memmove(list, list + 1, *count * sizeof(*list));
	return first;
}

static bool do_lock(struct sim_world *world, int tid)
{
	struct sim_lock *lock = &world->lock;

	if (lock->owner == SIM_NOBODY) {
		lock->owner = tid;
		return true;
	}
	lock->waiting[lock->count++] = tid;
	leave_cpu(world, tid, SIM_WAIT_LOCK, 0);
	return false;
}

static void do_unlock(struct sim_world *world, int tid)
{
	struct sim_lock *lock = &world->lock;

	lock->owner = SIM_NOBODY;
	if (lock->count)
		wake(world, take_first(lock->waiting, &lock->count), tid);
}

static void do_put(struct sim_world *world, int tid, const struct sim_op *op)
{
	struct sim_queue *queue = &world->queue;

	queue->jobs[queue->count++] = op->at;
	if (queue->waiting_count)
		wake(world, take_first(queue->waiting, &queue->waiting_count), tid);
}

static bool do_get(struct sim_world *world, int tid)
{
	struct sim_queue *queue = &world->queue;

	if (!queue->count) {
		queue->waiting[queue->waiting_count++] = tid;
		leave_cpu(world, tid, SIM_WAIT_JOB, 0);
		return false;
	}
	add_serve(world, &world->threads[tid], take_first(queue->jobs, &queue->count));
	return true;
}

static bool do_take(struct sim_world *world, int tid, const struct sim_op *op)
{
	struct sim_thread *thread = &world->threads[tid];
	struct sim_pipe *pipe = &world->pipes[op->at];
	struct sim_op job;

	if (!pipe->full) {
		pipe->reader = tid;
		leave_cpu(world, tid, SIM_WAIT_PIPE, op->at);
		return false;
	}
	pipe->reader = SIM_NOBODY;
	job = pipe->job[0];
	pipe->full = 0;
	if (!thread->is_helper)
		return true;
	if (job.more)
		add_run(thread, job.ns);
	else
		add_sleep(thread, job.ns);
	add(thread, SIM_OP_ASK, thread->asks);
	return true;
}

static void do_ask(struct sim_world *world, int tid, const struct sim_op *op)
{
	struct sim_pipe *pipe = &world->pipes[op->at];

	pipe->job[0] = *op;
	pipe->full = 1;
	pipe->writer = tid;
	wake(world, pipe->reader, tid);
}

static uint64_t do_uncork(struct sim_world *world, int tid, const struct sim_op *op)
{
	struct sim_end *end = &world->ends[op->at];

	end->corked = false;
	push(world, op->at, tid);
	return some_us(world, 36, 50);
}

/* Returns false when the thread has gone to sleep; *takes: what it still runs in this call. */
static bool do_op(struct sim_world *world, int tid, const struct sim_op *op, uint64_t *takes)
{
	*takes = some_us(world, 2, 8);
	switch (op->kind) {
	case SIM_OP_WRITE:
		*takes = do_write(world, tid, op);
		return true;
	case SIM_OP_UNCORK:
		*takes = do_uncork(world, tid, op);
		return true;
	case SIM_OP_READ:
		return do_read_some(world, tid, op);
	case SIM_OP_EPOLL:
		return do_epoll(world, tid);
	case SIM_OP_SERVE:
		do_serve(world, tid, op);
		return true;
	case SIM_OP_LOCK:
		return do_lock(world, tid);
	case SIM_OP_UNLOCK:
		do_unlock(world, tid);
		return true;
	case SIM_OP_TAKE:
		return do_take(world, tid, op);
	case SIM_OP_ASK:
		do_ask(world, tid, op);
		return true;
	case SIM_OP_PUT:
		do_put(world, tid, op);
		return true;
	case SIM_OP_GET:
		return do_get(world, tid);
	default:
		return true;
	}
}

enum phase { PHASE_BEFORE, PHASE_CALL, PHASE_SLEPT, PHASE_RUNS, PHASE_OVER };

/* A part of a long run is over, and another thread takes the CPU for a while. */
static bool is_preempted(struct sim_world *world, struct sim_op *op)
{
	uint64_t left = op->ns;

	if (!has(world, SIM_READY) || left < 2 * SIM_MS || !below(world, 2))
		return false;
	op->ns = between(world, left / 4, left / 2);
	return true;
}

static void go_on(struct sim_world *world, int tid)
{
	struct sim_thread *thread = &world->threads[tid];
	struct sim_op *op;
	uint64_t takes;

	if (thread->phase == PHASE_OVER) {
		thread->op++;
		thread->phase = PHASE_BEFORE;
	}
	if (thread->op == thread->op_count)
		plan(world, thread);
	op = &thread->ops[thread->op];
	switch (thread->phase) {
	case PHASE_BEFORE:
		if (op->kind == SIM_OP_RUN) {
			uint64_t all = op->ns;

			thread->phase = is_preempted(world, op) ? PHASE_RUNS : PHASE_OVER;
			tick_in(world, op->ns, TICK_GOES_ON, tid);
			op->ns = all - op->ns;
			return;
		}
		thread->phase = PHASE_CALL;
		tick_in(world, some_us(world, 3, 12), TICK_GOES_ON, tid);
		return;
	case PHASE_RUNS:
		thread->phase = PHASE_BEFORE;
		preempt(world, tid, some_us(world, 400, 14000));
		return;
	case PHASE_CALL:
		if (op->kind == SIM_OP_SLEEP) {
			leave_cpu(world, tid, SIM_WAIT_SLEEP, 0);
			wake_in(world, tid, op->ns + some_us(world, 10, 60));
			thread->phase = PHASE_SLEPT;
			return;
		}
		if (!do_op(world, tid, op, &takes))
			return;
		thread->phase = PHASE_OVER;
		tick_in(world, takes, TICK_GOES_ON, tid);
		return;
	default: /* slept */
		thread->phase = PHASE_OVER;
		tick_in(world, some_us(world, 2, 10), TICK_GOES_ON, tid);
	}
}

static void come(struct sim_world *world, int tid)
{
	struct sim_thread *thread = &world->threads[tid];

	thread->is_off = false;
	last_away(thread)->on = world->now;
	hook(world, SIM_HOOK_IN, tid, SIM_NOBODY);
	/* On the way out of the sleep. */
	tick_in(world, some_us(world, 3, 10), TICK_GOES_ON, tid);
}

static void do_tick(struct sim_world *world, const struct sim_tick *tick)
{
	switch ((enum tick)tick->kind) {
	case TICK_GOES_ON:
		go_on(world, tick->a);
		break;
	case TICK_ARRIVES:
		arrive(world, tick);
		break;
	case TICK_ARMS:
		arm(world, tick);
		break;
	case TICK_TAKEN:
		take_in(world, tick);
		break;
	case TICK_DELACK:
		fire(world, tick);
		break;
	case TICK_ACKS:
		send_ack(world, tick);
		break;
	case TICK_TIMER:
		wake_by_timer(world, tick);
		break;
	case TICK_COMES:
		come(world, tick->a);
		break;
	case TICK_SENT:
		told_sent(world, tick->a, tick->e, tick->ts - tick->c + SIM_US, tick->b);
		break;
	}
}

/* ---- the making of it ---- */

static int add_thread(struct sim_world *world, int proc)
{
	struct sim_thread *thread = &world->threads[world->thread_count];

	assert_true(world->thread_count < SIM_THREADS);
	*thread = (struct sim_thread){.proc = proc,
				      .end = SIM_NOBODY,
				      .back = SIM_NOBODY,
				      .asks = SIM_NOBODY,
				      .takes = SIM_NOBODY};
	thread->tid = sim_proc__pid(proc) + (uint32_t)world->thread_count;
	return (int)world->thread_count++;
}

/* Returns the end that asks; the one behind it answers. */
static int add_connection(struct sim_world *world, int asks, int answers)
{
	int first = (int)world->end_count;

	assert_true(world->end_count + 2 <= SIM_ENDS);
	for (int i = 0; i < 2; i++) {
		struct sim_end *end = &world->ends[world->end_count++];

		*end = (struct sim_end){.proc = i ? answers : asks,
					.peer = first + !i,
					.asks = !i,
					.poller = SIM_NOBODY,
					.nodelay = true,
					.reader = SIM_NOBODY};
		end->write_seq = end->snd_nxt = end->snd_una = SIM_FIRST_SEQ;
		end->rcv_nxt = end->copied = SIM_FIRST_SEQ;
	}
	return first;
}

static void add_helper(struct sim_world *world, struct sim_thread *thread)
{
	int asks = (int)world->pipe_count++, takes = (int)world->pipe_count++;
	struct sim_thread *helper = &world->threads[add_thread(world, thread->proc)];

	assert_true(world->pipe_count <= SIM_PIPES);
	world->pipes[asks].reader = world->pipes[takes].reader = SIM_NOBODY;
	thread->asks = helper->takes = asks;
	thread->takes = helper->asks = takes;
	helper->is_helper = true;
}

static bool is_nested(const struct sim_world *world)
{
	return has(world, SIM_NESTED) || has(world, SIM_NESTED_HELD) ||
	       has(world, SIM_NESTED_ANSWER_HELD);
}

static void equip(struct sim_world *world, struct sim_thread *thread)
{
	if (has(world, SIM_HELPER))
		add_helper(world, thread);
	if (is_nested(world)) {
		thread->back = add_connection(world, SIM_FRONT, SIM_BACK);
		world->ends[thread->back].nodelay = !has(world, SIM_NESTED_HELD);
		world->ends[thread->back + 1].nodelay = !has(world, SIM_NESTED_ANSWER_HELD);
		world->threads[add_thread(world, SIM_BACK)].end = thread->back + 1;
	}
}

static void add_pool(struct sim_world *world, size_t workers)
{
	for (; workers; workers--) {
		struct sim_thread *worker = &world->threads[add_thread(world, SIM_FRONT)];

		worker->is_worker = true;
		equip(world, worker);
	}
}

static int add_loop(struct sim_world *world)
{
	int tid = add_thread(world, SIM_FRONT);
	struct sim_thread *loop = &world->threads[tid];

	loop->is_loop = true;
	if (has(world, SIM_OWN_TIMER))
		loop->next_job = some_us(world, 20000, 90000);
	if (has(world, SIM_POOL))
		add_pool(world, between(world, 1, 3));
	else
		equip(world, loop);
	return tid;
}

/* The thread that asks on it; of an event loop the one that there is. */
static void add_client(struct sim_world *world, int end, int event_client)
{
	struct sim_thread *client;

	if (event_client != SIM_NOBODY) {
		world->ends[end].poller = event_client;
		world->ends[end].next_asking = WARM_NS + some_us(world, 100, 20000);
		return;
	}
	client = &world->threads[add_thread(world, SIM_CLIENT)];
	client->is_client = true;
	client->end = end;
}

static void build(struct sim_world *world)
{
	bool has_loop = has(world, SIM_QUEUE) || has(world, SIM_POOL) || has(world, SIM_OWN_TIMER);
	bool needs_many = has(world, SIM_QUEUE) || has(world, SIM_LOCK) || has(world, SIM_POOL) ||
			  has(world, SIM_EVENT_CLIENT);
	size_t clients = needs_many ? between(world, 2, 4) : between(world, 1, 3);
	int loop = has_loop ? add_loop(world) : SIM_NOBODY, event_client = SIM_NOBODY;

	if (has(world, SIM_EVENT_CLIENT)) {
		event_client = add_thread(world, SIM_CLIENT);
		world->threads[event_client].is_event_client = true;
	}
	for (size_t i = 0; i < clients; i++) {
		int end = add_connection(world, SIM_CLIENT, SIM_FRONT);
		struct sim_thread *server;

		add_client(world, end, event_client);
		world->ends[end].nodelay = !has(world, SIM_REQUEST_HELD);
		world->ends[end + 1].nodelay = !has(world, SIM_ANSWER_HELD);
		world->ends[end + 1].poller = loop;
		if (has_loop)
			continue;
		server = &world->threads[add_thread(world, SIM_FRONT)];
		server->end = end + 1;
		equip(world, server);
	}
	world->lock.owner = SIM_NOBODY;
}

/* Every second world has one kind of thing alone. */
static void choose(struct sim_world *world)
{
	static const unsigned upto[] = {SIM_KINDS_0, SIM_KINDS_1000, SIM_KINDS_2000};
	size_t block = world->seed < 2000 ? world->seed / 1000 : 2;
	unsigned first = block ? upto[block - 1] : 0;

	world->kind = first + world->seed % 1000 / 2 % (upto[block] - first);
	world->kinds = 1u << world->kind;
	world->is_mixed = world->seed % 2;
	if (!world->is_mixed)
		return;
	for (uint64_t more = between(world, 1, 4); more; more--)
		world->kinds |= 1u << below(world, upto[block]);
	/* Each has its own way of writing the answer, or of reading the request. */
	if (has(world, SIM_ANSWER_PARTS))
		world->kinds &= ~(1u << SIM_CORKED);
	if (has(world, SIM_POOL))
		world->kinds &= ~(1u << SIM_QUEUE);
}

const char *sim_world__label(const struct sim_world *world, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (int i = 0; i < SIM_KINDS; i++) {
		if (has(world, (enum sim_kind)i) && len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? "+" : "",
						kinds[i]);
	}
	return text;
}

/* ---- the requests, from what was written and read ---- */

/* Pieces are asked for in their order. */
static const struct sim_piece *piece_of(const struct sim_end *end, uint32_t byte, size_t *from)
{
	for (; *from < end->pieces.count; ++*from) {
		if (byte < end->pieces.v[*from].end)
			return &end->pieces.v[*from];
	}
	return NULL;
}

/* When a byte was read there; UINT64_MAX: not yet. Likewise. */
static uint64_t read_at(const struct sim_world *world, int number, uint32_t byte, size_t *from)
{
	for (; *from < world->hooks.count; ++*from) {
		const struct sim_hook *read = &world->hooks.v[*from];

		if (read->kind == SIM_HOOK_READ && read->end == number && read->a > byte)
			return read->ts;
	}
	return UINT64_MAX;
}

static void find_requests(struct sim_world *world, int number)
{
	const struct sim_end *end = &world->ends[number], *peer = &world->ends[end->peer];
	size_t asks = 0, answers = 0, reads = 0;

	for (uint32_t i = 0;; i++) {
		uint32_t asked = SIM_FIRST_SEQ + i * SIM_REQUEST_LEN,
			 answer = SIM_FIRST_SEQ + i * SIM_ANSWER_LEN;
		const struct sim_piece *first = piece_of(end, asked, &asks);
		const struct sim_piece *rest = piece_of(end, asked + SIM_REQUEST_LEN - 1, &asks);
		const struct sim_piece *last =
			piece_of(peer, answer + SIM_ANSWER_LEN - 1, &answers);
		uint64_t read = read_at(world, number, answer + SIM_ANSWER_LEN - 1, &reads);
		struct sim_request *request;

		if (!first || !rest || !last || read == UINT64_MAX)
			return;
		request = append(&world->requests);
		*request = (struct sim_request){
			.end = number,
			.thread = first->writer,
			.answerer = last->writer,
			.asked = first->written,
			.answered = read,
			/* What TCP held back for long was written all the same. */
			.there = rest->sent - rest->written >= SIM_THRESHOLD ? rest->written
									     : rest->arrived,
			.sent = last->sent,
			.wrote = last->written,
			.is_followed = piece_of(end, asked + SIM_REQUEST_LEN, &asks) != NULL,
			.answer_is_over =
				piece_of(peer, answer + SIM_ANSWER_LEN, &answers) != NULL};
	}
}

struct sim_world *sim_world__run(uint64_t seed)
{
	struct sim_world *world = xcalloc(1, sizeof(*world));

	world->seed = seed;
	world->random = (seed + 1) * 0x9e3779b97f4a7c15ull;
	world->end_ts = WINDOW_NS;
	random_next(&world->random);
	choose(world);
	build(world);
	for (size_t i = 0; i < world->thread_count; i++)
		push_tick(world, (struct sim_tick){.ts = some_us(world, 0, 1000), .a = (int)i});
	while (world->ticks[0].ts < world->end_ts) {
		struct sim_tick tick = pop_tick(world);

		world->now = tick.ts;
		do_tick(world, &tick);
	}
	for (size_t i = 0; i < world->end_count; i++) {
		if (world->ends[i].asks)
			find_requests(world, (int)i);
	}
	return world;
}

void sim_world__free(struct sim_world *world)
{
	for (size_t i = 0; i < world->thread_count; i++)
		free(world->threads[i].away.v);
	for (size_t i = 0; i < world->end_count; i++)
		free(world->ends[i].pieces.v);
	free(world->hooks.v);
	free(world->requests.v);
	free(world);
}

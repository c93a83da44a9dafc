// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/reader.h"

#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait.h"
#include "user/analyze/waits/wait_kind.h"

#define AT_ONCE_NS 1000000

/* What the reader's time went to, as it is gone through. */
struct time_spent {
	const struct model *model;
	const struct incident *incident;
	const struct model_conn *conn; /* the end that it reads from */
	bool behind;                   /* it left unread what was there when the hold began */
	uint64_t row_end;              /* of the last row of time-outs that was gone through, */
	bool by_clock;                 /* and whether it read behind that */
	uint64_t at;                   /* gone through up to here */
	uint64_t waited_ns;
	uint64_t ran_ns;
	uint64_t away_ns[CAUSE_COUNT];
};

static bool is_read(const union event *event)
{
	return event->head.type == NS_RECV ||
	       (event->head.type == NS_URING && uring_wait__received(&event->uring));
}

static uint32_t first_reader(const struct events *events, uint64_t from)
{
	for (size_t i = 0; i < events->count; i++) {
		const union event *event = &events->v[i];

		if (event->head.ts >= from && is_read(event))
			return event->head.tid;
	}
	return 0;
}

uint32_t reader__tid(const struct incident *incident)
{
	return first_reader(&incident->peers, incident->end_ts);
}

/* A thread that waited for this very connection. */
static uint32_t waiting_tid(const struct time_spent *spent)
{
	const struct events *waits = &spent->incident->waits;

	for (size_t i = 0; i < waits->count; i++) {
		const struct ns_wait *wait = &waits->v[i].wait;

		if (wait->head.tgid == spent->conn->id.head.tgid &&
		    (wait->head.conn == spent->conn->number ||
		     wait__is_on(spent->model, wait, spent->conn)))
			return wait->head.tid;
	}
	return 0;
}

/* Of a process with one thread, as far as was seen, there is no doubt. */
static uint32_t only_tid(const struct time_spent *spent)
{
	const struct model_thread *first =
		model__threads_of(spent->model, spent->conn->id.head.tgid);

	return first && !first->next_of_owner ? first->tid : 0;
}

/* Who read behind the hold, in it or before it; for want of that, who waited to. */
static uint32_t find_tid(const struct time_spent *spent)
{
	uint32_t tid = reader__tid(spent->incident);

	tid = tid ? tid : first_reader(&spent->incident->peers, 0);
	tid = tid ? tid : first_reader(&spent->conn->events, 0);
	tid = tid ? tid : waiting_tid(spent);
	return tid ? tid : only_tid(spent);
}

/* What it waited for instead. */
static enum cause away_cause(enum wait_kind kind)
{
	switch (kind) {
	case WAIT_SLEEP:
		return CAUSE_TIMER;
	case WAIT_SEND:
		return CAUSE_SNDBUF;
	case WAIT_RECEIVE:
		return CAUSE_PEER_APP;
	case WAIT_MUTEX:
	case WAIT_SIGNAL:
		return CAUSE_LOCK;
	case WAIT_IPC:
	case WAIT_CHILD:
		return CAUSE_IPC;
	case WAIT_DISK:
		return CAUSE_DISK;
	case WAIT_MEMORY:
		return CAUSE_MEMORY;
	case WAIT_STOPPED:
		return CAUSE_STOPPED;
	case WAIT_PREEMPTED:
		return CAUSE_RUNQUEUE;
	case WAIT_MANY:
		return CAUSE_IDLE;
	default:
		return CAUSE_UNKNOWN;
	}
}

/* It read at once, or its TCP said that there is room again, which comes of reading. */
static bool reads_behind(const struct time_spent *spent, const struct ns_wait *wait)
{
	const struct events *events = &spent->incident->peers;

	for (size_t i = 0; i < events->count; i++) {
		const union event *event = &events->v[i];

		if (event->head.tid == wait->head.tid && event->head.ts >= wait->head.ts &&
		    event->head.ts < wait->head.ts + AT_ONCE_NS &&
		    (is_read(event) || event->head.type == NS_ACK))
			return true;
	}
	return false;
}

/*
 * Its own time-out ended this wait for any of several descriptors, and those behind it, up to one
 * behind which it read: it came by its own clock, and no data would have ended that. Who waits for
 * data, and has none, goes to sleep again.
 */
static bool comes_by_clock(struct time_spent *spent, const struct model_thread *thread,
			   size_t number)
{
	const struct ns_wait *wait = model_thread__wait(thread, number);

	if (wait->head.ts <= spent->row_end)
		return spent->by_clock;
	spent->by_clock = false;
	for (; wait && wait->off_ts < spent->incident->end_ts && !spent->by_clock;
	     wait = model_thread__wait(thread, ++number)) {
		struct wait_view view = wait_view__of(spent->model, wait);

		spent->row_end = wait->head.ts;
		if (view.kind != WAIT_MANY || view.waker != WAKER_TIMER)
			break;
		spent->by_clock = reads_behind(spent, wait);
	}
	return spent->by_clock;
}

/* For data of this connection, or an event of several, when it had read all that was there. */
static bool wants_data(const struct time_spent *spent, const struct wait_view *view)
{
	if (spent->behind)
		return false;
	return view->kind == WAIT_MANY ||
	       (view->kind == WAIT_RECEIVE && view->wait->head.conn == spent->conn->number);
}

static void spend(struct time_spent *spent, uint64_t *on, uint64_t until)
{
	if (until <= spent->at)
		return;
	*on += until - spent->at;
	spent->at = until;
}

static uint64_t clip(const struct time_spent *spent, uint64_t ts)
{
	return ts < spent->incident->end_ts ? ts : spent->incident->end_ts;
}

static void add_wait(struct time_spent *spent, const struct model_thread *thread, size_t number)
{
	struct ns_wait wait = *model_thread__wait(thread, number);
	struct wait_view view;
	uint64_t *on;

	uring_wait__fill_in(spent->model, &wait);
	view = wait_view__of(spent->model, &wait);
	if (view.kind == WAIT_MANY && comes_by_clock(spent, thread, number))
		on = &spent->away_ns[CAUSE_TIMER];
	else if (wants_data(spent, &view))
		on = &spent->waited_ns;
	else
		on = &spent->away_ns[away_cause(view.kind)];
	spend(spent, on,
	      clip(spent, view.kind == WAIT_PREEMPTED ? wait.head.ts : wait__woken(&wait)));
	spend(spent, &spent->away_ns[CAUSE_RUNQUEUE], clip(spent, wait.head.ts));
}

static uint64_t sum_us(const struct ns_spent *spent)
{
	uint64_t us = (uint64_t)spent->run_us + spent->ready_us;

	for (size_t i = 0; i < NS_SHORTS; i++)
		us += spent->short_us[i];
	return us;
}

/* What was spent between two waits; before the first one, since the thread was first seen. */
static struct ns_spent spent_between(const struct ns_wait *before, const struct ns_wait *after)
{
	struct ns_spent spent = after->spent;

	for (size_t i = 0; before && i < NS_SHORTS; i++)
		spent.short_us[i] -= before->spent.short_us[i];
	spent.run_us -= before ? before->spent.run_us : 0;
	spent.ready_us -= before ? before->spent.ready_us : 0;
	return spent;
}

/* Of a time with only short sleeps in it the sums say what it was made of. */
static void add_between(struct time_spent *spent, const struct ns_spent *sums, uint64_t until)
{
	static const enum cause shorts[NS_SHORTS] = {
		[NS_SHORT_TIMER] = CAUSE_TIMER,    [NS_SHORT_LOCK] = CAUSE_LOCK,
		[NS_SHORT_DISK] = CAUSE_DISK,      [NS_SHORT_URING] = CAUSE_URING,
		[NS_SHORT_OTHER] = CAUSE_IPC,      [NS_SHORT_INPUT] = CAUSE_IDLE,
		[NS_SHORT_REPLY] = CAUSE_PEER_APP, [NS_SHORT_DATAGRAM] = CAUSE_UDP,
		[NS_SHORT_NAME] = CAUSE_DNS,
	};
	uint64_t all = sum_us(sums);
	double each;

	if (until <= spent->at)
		return;
	each = all ? (double)(until - spent->at) / (double)all : 0;
	for (size_t i = 0; i < NS_SHORTS; i++) {
		uint64_t *on = i == NS_SHORT_INPUT && !spent->behind ? &spent->waited_ns
								     : &spent->away_ns[shorts[i]];

		spend(spent, on, spent->at + (uint64_t)(each * sums->short_us[i]));
	}
	spend(spent, &spent->away_ns[CAUSE_RUNQUEUE],
	      spent->at + (uint64_t)(each * sums->ready_us));
	spend(spent, &spent->ran_ns, until);
}

/* What it did before the first wait that is known, as far back as its sums go. */
static uint64_t seen_from(const struct ns_wait *first)
{
	uint64_t ns = first->spent_known ? 1000 * sum_us(&first->spent) : 0;

	return ns < first->off_ts ? first->off_ts - ns : 0;
}

static void add_all(struct time_spent *spent, uint32_t tid)
{
	const struct model_thread *thread = model__thread(spent->model, tid);
	const struct ns_wait *wait, *before = NULL;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); before = wait, i++) {
		struct ns_spent sums = spent_between(before, wait);

		if (wait->head.ts <= spent->at)
			continue;
		if (!before && seen_from(wait) > spent->at)
			spent->at = clip(spent, seen_from(wait));
		add_between(spent, &sums, clip(spent, wait->off_ts));
		add_wait(spent, thread, i);
	}
	/* What ended the hold was that it read: it did not sleep until then. */
	if (before && !spent->incident->open)
		spend(spent, &spent->ran_ns, spent->incident->end_ts);
}

/* ---- from when on it wanted them ---- */

/* Not one that data may end: of several descriptors, or of a ring, nobody can tell. */
static bool is_elsewhere(const struct time_spent *spent, const struct ns_wait *recorded)
{
	struct ns_wait wait = *recorded;
	struct wait_view view;

	if (!wait.state || uring_wait__fill_in(spent->model, &wait))
		return false;
	view = wait_view__of(spent->model, &wait);
	switch (view.kind) {
	case WAIT_SLEEP:
	case WAIT_DISK:
	case WAIT_MEMORY:
	case WAIT_STOPPED:
	case WAIT_SEND:
	case WAIT_MUTEX:
	case WAIT_SIGNAL:
	case WAIT_IPC:
	case WAIT_CHILD:
		return true;
	case WAIT_RECEIVE:
		return wait.head.conn && wait.conn_basis == NS_CONN_FD &&
		       wait.head.conn != spent->conn->number;
	default:
		return false;
	}
}

/* Another thread may have ended it, of what it had just read. */
static bool ends_by_it(const struct time_spent *spent, const struct ns_wait *wait)
{
	uint64_t end = spent->incident->end_ts;

	return wait->head.ts >= end && wait->head.ts < end + AT_ONCE_NS;
}

/* Until when a thread was elsewhere, from the beginning of the hold on. */
static uint64_t elsewhere_until(const struct time_spent *spent, const struct model_thread *thread)
{
	uint64_t start = spent->incident->start_ts;
	/* It was woken by the first piece at best: no sooner can it have gone. */
	uint64_t gone = start + model__threshold(spent->model) / 8;
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->off_ts <= gone && wait->head.ts > gone && is_elsewhere(spent, wait))
			return ends_by_it(spent, wait) ? start : wait->head.ts;
	}
	return start;
}

uint64_t reader__wants_from(const struct model *model, const struct incident *incident)
{
	struct time_spent spent = {.model = model, .incident = incident};
	const struct model_thread *thread = NULL;
	uint64_t from = UINT64_MAX, until;

	spent.conn = model__peer(model, model__conn(model, incident->conn));
	if (spent.conn && spent.conn->id.head.tgid)
		thread = model__threads_of(model, spent.conn->id.head.tgid);
	for (; thread && from > incident->start_ts; thread = thread->next_of_owner) {
		until = elsewhere_until(&spent, thread);
		from = until < from ? until : from;
	}
	return from == UINT64_MAX ? incident->start_ts : from;
}

/* ---- what it did ---- */

struct stall_reader reader__find(const struct model *model, const struct incident *incident)
{
	const struct model_conn *conn = model__conn(model, incident->conn);
	struct time_spent spent = {
		.model = model,
		.incident = incident,
		.conn = model__peer(model, conn),
		.behind = !incident->open && incident->release.unread_known &&
			  incident->release.unread,
		.at = incident->start_ts,
	};
	struct stall_reader reader = {0};

	if (!spent.conn || !spent.conn->id.head.tgid)
		return reader;
	reader.pid = spent.conn->id.head.tgid;
	reader.tid = find_tid(&spent);
	if (!reader.tid)
		return (struct stall_reader){0};
	add_all(&spent, reader.tid);
	reader.waited_ns = spent.waited_ns;
	reader.ran_ns = spent.ran_ns;
	reader.away = CAUSE_UNKNOWN;
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		reader.away_ns += spent.away_ns[i];
		if (spent.away_ns[i] > spent.away_ns[reader.away])
			reader.away = (enum cause)i;
	}
	/* Less than half of it says nothing: its thread was watched from then on, say. */
	reader.seen = 2 * (reader.waited_ns + reader.ran_ns + reader.away_ns) >=
		      incident->end_ts - incident->start_ts;
	return reader.seen ? reader : (struct stall_reader){0};
}

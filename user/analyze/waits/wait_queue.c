// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/wait_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/analyze/chain/chain_stall.h"
#include "user/analyze/chain/waker_chain.h"
#include "user/analyze/stall.h"
#include "user/analyze/waits/acks.h"
#include "user/analyze/waits/background.h"
#include "user/analyze/waits/open_request.h"
#include "user/analyze/waits/overlap.h"
#include "user/analyze/waits/pending_reply.h"
#include "user/analyze/waits/request.h"
#include "user/analyze/waits/socket_wait.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/base/array.h"
#include "user/base/clock.h"
#include "user/base/trim.h"
#include "user/base/xalloc.h"

/* A program that has connections makes or serves a request within this time, or none. */
#define FIRST_REQUEST_NS (100 * SETTLE_NS)
/* Until then further ones say whether they are acknowledgements: so many pauses. */
#define ACKED_PAUSES 4
/* Numbers from here on are no report's. */
#define PROVISIONAL_NUMBERS 0x80000000u

enum pending_kind {
	PENDING_WAIT,
	PENDING_AGAIN,   /* a wait that was judged already: it lies in a request */
	PENDING_REQUEST, /* exchange: the wait for its answer, and what else lies in it */
	PENDING_WALK,    /* exchange: all of its time, for the tables of requests */
	PENDING_QUEUED,  /* exchange: it lay in the listen queue in the time of wait */
	PENDING_TIMES,   /* wait: a time in which its thread was at a request, without long waits */
};

struct pending {
	enum pending_kind kind;
	struct ns_wait wait;
	struct ns_exchange
		exchange; /* the request that it lies in, head.type 0: a wait by itself */
	uint64_t from_ts; /* again: what of it was before the request came does not count */
	uint64_t due_ts;
};

/* A link of the chain of a reported stall. */
struct reported {
	uint32_t stall;
	enum cause cause;
	uint32_t tid;
	uint64_t off_ts;
	uint64_t until_ts; /* of a thread's time without a wait; else 0 */
	bool last;         /* where the chain ends */
};

/* A wait that was counted as idle, before a request was known that it lies in. */
struct idle_wait {
	uint32_t tid;
	uint64_t off_ts;
};

/*
 * A stall that is background if requests turn out to pass it by, or a part of one that goes on; or
 * one between two requests, unless that turns out to be in one.
 */
struct provisional {
	uint32_t number;
	enum cause cause; /* what most of its wait was for */
	uint32_t acked;   /* what is written on this connection may be acknowledgements; 0: no */
	uint64_t until_ts;
	bool is_awaited; /* what waits for it is in a request */
	struct finding finding;
	struct incident *incident;
};

struct wait_queue {
	const struct model *model;
	const struct incident_queue *incidents;
	struct intervals *intervals;
	struct waker_chain *chain;
	struct pending *pending;
	size_t count;
	size_t size;
	struct reported reported[WAIT_QUEUE_LINKS];
	size_t reported_count;            /* ever */
	struct provisional **provisional; /* in the order in which they were judged */
	size_t provisional_count;
	size_t provisional_size;
	uint32_t provisional_numbers; /* ever */
	size_t provisional_at;        /* those before it have been judged in this round */
	bool knows_requests;          /* one of a target was seen */
	uint64_t news;                /* requests that may settle a provisional one, ever */
	uint64_t judge_at;            /* so many: all the provisional are judged again */
	uint64_t longest;
	enum cause longest_cause;
	uint64_t by_cause[CAUSE_COUNT];
	struct ns_wait not_asked;
	struct idle_wait idle[WAIT_QUEUE_LINKS];
	size_t idle_count; /* ever */
	uint64_t unfollowed_ns;
	uint64_t unfollowed_longest;
	const char *unfollowed_kind;
	bool explains_all;
	struct ns_wait *lasting; /* that no one was to end, as it seemed; one of each thread */
	size_t lasting_count;
	size_t lasting_size;
	uint64_t lasting_not_kept;
};

struct wait_queue *wait_queue__new(const struct model *model,
				   const struct incident_queue *incidents,
				   struct intervals *intervals, bool explain_all)
{
	struct wait_queue *queue = xcalloc(1, sizeof(*queue));

	queue->model = model;
	queue->incidents = incidents;
	queue->intervals = intervals;
	queue->explains_all = explain_all;
	queue->judge_at = 1;
	queue->chain = waker_chain__new(model, intervals);
	return queue;
}

void wait_queue__free(struct wait_queue *queue)
{
	if (!queue)
		return;
	waker_chain__free(queue->chain);
	for (size_t i = 0; i < queue->provisional_count; i++) {
		incident__free(queue->provisional[i]->incident);
		free(queue->provisional[i]);
	}
	free(queue->lasting);
	free(queue->provisional);
	free(queue->pending);
	free(queue);
}

uint64_t wait_queue__longest(const struct wait_queue *queue, enum cause *cause)
{
	*cause = queue->longest_cause;
	return queue->longest;
}

uint64_t wait_queue__unfollowed(const struct wait_queue *queue, const char **kind)
{
	*kind = queue->unfollowed_kind;
	return queue->unfollowed_ns;
}

uint64_t wait_queue__lost(const struct wait_queue *queue)
{
	return waker_chain__cut(queue->chain) + queue->lasting_not_kept;
}

const uint64_t *wait_queue__by_cause(const struct wait_queue *queue)
{
	return queue->by_cause;
}

const struct ns_wait *wait_queue__not_asked(const struct wait_queue *queue)
{
	return &queue->not_asked;
}

/* Too short for a stall; the longest of these is reported as such. */
static void note_short(struct wait_queue *queue, const struct ns_wait *wait)
{
	uint64_t length = wait->head.ts - wait->off_ts;
	const struct attribution *attribution;
	struct request_place place;

	if (length <= queue->longest || !model__is_target(queue->model, wait->head.tgid) ||
	    !pending_reply__awaited(queue->model, wait))
		return;
	place = request__place(queue->model, wait);
	attribution = waker_chain__explain(queue->chain, wait, &place, wait->off_ts, wait->head.ts);
	queue->longest = length;
	queue->longest_cause = attribution__main_cause(attribution);
}

/*
 * A sleep may be what somebody else waits for, who wakes up only after it: a lock's waiter, the
 * client of a server that sleeps. That one's stall shows the sleep. So those who wait for others
 * are judged before those who do not, and for a socket before for a lock.
 */
static uint64_t patience(const struct model *model, const struct ns_wait *wait)
{
	struct wait_view view = wait_view__of(model, wait);

	/* Its request may have just begun: when that is over, more is known. */
	if ((view.waker == WAKER_TIMER || wait->ended == NS_WAIT_BOUND) &&
	    pending_reply__awaited(model, wait))
		return 20 * SETTLE_NS;
	/* A time-out that ran out is a sleep by another name. */
	if (wait_kind__is_socket(view.kind) && view.waker != WAKER_TIMER)
		return 0;
	if (uring_thread__is(wait->comm))
		return 3 * SETTLE_NS; /* it sleeps for those who wait on the ring */
	return wait_kind__is_thread(view.kind) ? SETTLE_NS : 2 * SETTLE_NS;
}

static void note_unfollowed(struct wait_queue *queue, const struct ns_wait *wait)
{
	uint64_t length = wait->head.ts - wait->off_ts;

	if (!socket__is_unfollowed(&wait->socket) ||
	    !model__is_target(queue->model, wait->head.tgid))
		return;
	queue->unfollowed_ns += length;
	if (length <= queue->unfollowed_longest)
		return;
	queue->unfollowed_longest = length;
	queue->unfollowed_kind = socket__kind(&wait->socket);
}

static void push(struct wait_queue *queue, const struct pending *pending)
{
	queue->pending = xgrow(queue->pending, queue->count, &queue->size, sizeof(*queue->pending));
	queue->pending[queue->count++] = *pending;
}

void wait_queue__feed(struct wait_queue *queue, const struct ns_wait *wait, uint64_t now)
{
	uint64_t length = wait->head.ts - wait->off_ts, end = wait->head.ts;
	bool knows_threshold = model__session(queue->model)->head.type;

	if (knows_threshold && length < model__threshold(queue->model)) {
		note_short(queue, wait);
		return;
	}
	note_unfollowed(queue, wait);
	/* Nobody has ended it. Unless an answer is owed nobody was to, as far as one knows. */
	if (wait__goes_on(wait) && !pending_reply__awaited(queue->model, wait) &&
	    !socket_wait__awaits_datagram(wait)) {
		if (queue->lasting_count == MODEL_THREADS) {
			queue->lasting_not_kept++;
			return;
		}
		queue->lasting = xgrow(queue->lasting, queue->lasting_count, &queue->lasting_size,
				       sizeof(*queue->lasting));
		queue->lasting[queue->lasting_count++] = *wait;
		return;
	}
	push(queue, &(struct pending){.kind = PENDING_WAIT,
				      .wait = *wait,
				      .due_ts = (end > now ? end : now) + SETTLE_NS +
						patience(queue->model, wait)});
}

/* The first of the targets tells of all, others of their process, if it has such stalls. */
static void note_request(struct wait_queue *queue, const struct ns_exchange *exchange)
{
	if (!model__is_target(queue->model, exchange->head.tgid))
		return;
	if (!queue->knows_requests)
		queue->judge_at = ++queue->news;
	queue->knows_requests = true;
	for (size_t i = 0; i < queue->provisional_count; i++) {
		if (queue->provisional[i]->finding.stall.pid != exchange->head.tgid)
			continue;
		queue->news++;
		return;
	}
}

static bool is_long(const struct wait_queue *queue, const struct ns_exchange *exchange)
{
	uint64_t begin = exchange->side == NS_EXCHANGE_SERVED ? request__arrived(exchange)
							      : exchange->begin_ts;

	return exchange->head.ts - begin >= model__threshold(queue->model);
}

/* On a connection of a target's: the tables of requests have it. */
static bool is_of_target(const struct model *model, const struct ns_exchange *exchange)
{
	const struct model_conn *conn = model__conn(model, exchange->head.conn);

	return exchange->weight && conn && conn->id.role & NS_ROLE_TARGET;
}

/* Its time may be a stall. */
static bool is_judged(const struct wait_queue *queue, const struct ns_exchange *exchange)
{
	return exchange->ended != NS_EXCHANGE_ANSWERED &&
	       (exchange->side == NS_EXCHANGE_SERVED || is_long(queue, exchange)) &&
	       model__is_target(queue->model, exchange->head.tgid);
}

void wait_queue__feed_request(struct wait_queue *queue, const struct ns_exchange *exchange,
			      uint64_t now)
{
	uint64_t end = exchange->head.ts;

	note_request(queue, exchange);
	if (is_judged(queue, exchange))
		push(queue, &(struct pending){.kind = PENDING_REQUEST,
					      .exchange = *exchange,
					      .due_ts = (end > now ? end : now) + SETTLE_NS});
	/* What its threads had done just after it says what they did in it. */
	if (exchange->weight)
		push(queue, &(struct pending){.kind = PENDING_WALK,
					      .exchange = *exchange,
					      .due_ts = (end > now ? end : now) + SETTLE_NS +
							WALK_KNOWS_NS});
}

/* ---- the same incident as a reported one ---- */

/* The stall with this wait in its chain, NULL none; at the end of its chain, if it is of a cause.
 */
static const struct reported *reported_with(const struct wait_queue *queue, uint32_t tid,
					    uint64_t off_ts, const enum cause *ends)
{
	size_t count =
		queue->reported_count < WAIT_QUEUE_LINKS ? queue->reported_count : WAIT_QUEUE_LINKS;

	for (size_t i = 0; i < count; i++) {
		const struct reported *reported = &queue->reported[i];

		if (reported->tid == tid && reported->off_ts == off_ts &&
		    (!ends || (reported->last && reported->cause == *ends)))
			return reported;
	}
	return NULL;
}

static uint32_t stall_of(const struct wait_queue *queue, uint32_t tid, uint64_t off_ts,
			 const enum cause *ends)
{
	const struct reported *reported = reported_with(queue, tid, off_ts, ends);

	return reported ? reported->stall : 0;
}

/*
 * Two waits whose chains end in the same wait are one stall when they are of one cause: the lock
 * that others wait for while its holder sleeps is not that sleep.
 */
static uint32_t reported_before(const struct wait_queue *queue, const struct stall *stall)
{
	const struct stall_link *last;

	if (!stall->link_count)
		return 0;
	last = &stall->links[stall->link_count - 1];
	return stall_of(queue, last->wait.head.tid, last->wait.off_ts, &stall->cause);
}

/* A wait that had begun before the thread's time is in it in part: its own stall may come. */
static bool is_in_part(const struct stall *stall, const struct ns_wait *wait)
{
	return wait->head.tid == stall->tid && wait->off_ts < stall->start_ts &&
	       wait->off_ts != stall->wait.off_ts;
}

static void note_links(struct wait_queue *queue, const struct stall *stall, uint32_t number)
{
	for (size_t i = 0; i < stall->link_count; i++) {
		if (is_in_part(stall, &stall->links[i].wait))
			continue;
		queue->reported[queue->reported_count++ % WAIT_QUEUE_LINKS] = (struct reported){
			.stall = number,
			.cause = stall->cause,
			.tid = stall->links[i].wait.head.tid,
			.off_ts = stall->links[i].wait.off_ts,
			.last = i + 1 == stall->link_count,
		};
	}
	if (!stall->link_count)
		queue->reported[queue->reported_count++ % WAIT_QUEUE_LINKS] = (struct reported){
			.stall = number,
			.cause = stall->cause,
			.tid = stall->tid,
			.off_ts = stall->start_ts,
			.until_ts = stall->wait.head.ts > stall->end_ts ? stall->wait.head.ts
									: stall->end_ts};
}

/*
 * Several requests may wait for one thread: what it did up to a time may be reported already, and
 * from moves there. Returns its stall, 0: there is none.
 */
static uint32_t pass_times(const struct wait_queue *queue, uint32_t tid, uint64_t *from)
{
	const struct reported *reported = queue->reported;
	uint32_t last = 0;
	size_t i = 0;

	while (i < WAIT_QUEUE_LINKS) {
		if (reported[i].tid != tid || reported[i].off_ts > *from ||
		    reported[i].until_ts <= *from) {
			i++;
			continue;
		}
		*from = reported[i].until_ts;
		last = reported[i].stall;
		i = 0;
	}
	return last;
}

static void forget_links(struct wait_queue *queue, uint32_t number)
{
	for (size_t i = 0; i < WAIT_QUEUE_LINKS; i++) {
		if (queue->reported[i].stall == number)
			queue->reported[i] = (struct reported){0};
	}
}

void wait_queue__reported(struct wait_queue *queue, const struct judged *judged, uint32_t number)
{
	if (judged->interval)
		interval__reported(judged->interval, number);
	note_links(queue, &judged->finding.stall, number);
}

/* ---- judging ---- */

static void join(struct wait_queue *queue, struct judged *judged, const struct ns_wait *wait,
		 uint32_t stall)
{
	struct request_place place;

	judged->judgement = JUDGED_JOINED;
	judged->stall = judged->delayed_by = stall;
	judged->wait = stall_wait__of(wait);
	for (size_t i = 0; i < queue->provisional_count; i++) {
		if (queue->provisional[i]->number != stall)
			continue;
		stall__join(&queue->provisional[i]->finding.stall, &judged->wait);
		place = request__place(queue->model, wait);
		queue->provisional[i]->is_awaited |= request_place__is_in(&place);
		judged->judgement = JUDGED_NOTHING;
	}
}

/*
 * The stall that explains most of it already, 0 none: one incident, or several in turn, as for
 * whoever waits for the end of a program that is a target too.
 */
static uint32_t reported_by_intervals(const struct attribution *attribution, uint64_t length)
{
	enum cause cause = attribution__main_cause(attribution);

	if (!attribution->reported)
		return 0;
	if (2 * attribution->reported_ns >= length ||
	    (attribution->reported->cause == cause &&
	     2 * attribution->reported_ns >= attribution->ns[cause]))
		return attribution->reported->stall;
	return 0;
}

/* The longest part of a wait that no incident explains. */
struct unexplained {
	struct overlap overlap;
	uint64_t start;
	uint64_t length;
	enum background background; /* it can only show a stall, and be none */
	uint32_t acked;  /* likewise: its request, on this connection, may be none; 0: it is one */
	bool may_go_on;  /* its request may not be over: that is judged as a whole then */
	bool may_travel; /* where it is the network, it is the way of what was held */
};

static void set_aside(struct wait_queue *queue, const struct judged *judged, enum cause cause,
		      uint32_t acked, uint64_t until_ts)
{
	struct provisional *provisional;

	queue->provisional = xgrow(queue->provisional, queue->provisional_count,
				   &queue->provisional_size, sizeof(*queue->provisional));
	provisional = xcalloc(1, sizeof(*provisional));
	queue->provisional[queue->provisional_count++] = provisional;
	*provisional = (struct provisional){
		.number = PROVISIONAL_NUMBERS + queue->provisional_numbers++,
		.cause = cause,
		.acked = acked,
		.until_ts = until_ts,
		.finding = judged->finding,
		.incident = judged->incident,
	};
	note_links(queue, &judged->finding.stall, provisional->number);
}

/* The request that a wait lies in there; NULL: in none. */
static const struct ns_exchange *request_of(const struct request_place *place)
{
	return place->awaited ? place->awaited : place->served;
}

/* What was taken for a request may be an acknowledgement. Of that of a wait nothing may be known
 * but the connection: it began before the window. */
static struct acks acks_of(const struct wait_queue *queue, const struct ns_exchange *request,
			   uint32_t conn)
{
	if (!request)
		return acks__of(queue->model, conn);
	return request->head.type ? acks__of(queue->model, request->head.conn) : (struct acks){0};
}

static struct stall_queue queue_of(const struct ns_exchange *exchange)
{
	return (struct stall_queue){.port = exchange->listen_port,
				    .length = exchange->backlog,
				    .backlog = exchange->backlog_max,
				    .somaxconn = exchange->somaxconn};
}

/* Who computes, or leaves it unread, may be at what others asked. */
static void note_others(const struct wait_queue *queue, struct stall *stall)
{
	const struct path_part *main = path__main(&stall->path, stall->cause);
	const uint32_t conns[2] = {stall->conn, stall->peer};

	if (main && (main->kind == PATH_RUNS || main->kind == PATH_UNREAD))
		stall->others = request__others(queue->model, main->tid, conns, stall->start_ts,
						stall->end_ts, &stall->others_ns);
}

/* So may who accepts it in the end. */
static void note_queue(const struct wait_queue *queue, struct stall *stall,
		       const struct ns_exchange *queued)
{
	const uint32_t conns[2] = {stall->conn, stall->peer};

	stall->queue = queue_of(queued);
	if (!queued->accept_tid)
		return;
	stall->others = request__others(queue->model, queued->accept_tid, conns, queued->queued_ts,
					request__accepted(queued), &stall->others_ns);
}

/* A request of its thread's that it may have been in is over. */
static bool asks_later(const struct model *model, const struct ns_wait *wait)
{
	const struct model_thread *thread = model__thread(model, wait->head.tid);

	return thread && thread->asked_ts > wait->off_ts;
}

/* What was explained becomes a stall or shows one. */
static void judge_explained(struct wait_queue *queue, const struct pending *pending,
			    const struct unexplained *rest, const struct attribution *attribution,
			    struct judged *judged)
{
	const struct overlap *overlap = &rest->overlap;
	const struct ns_wait *wait = &pending->wait;
	uint32_t same = stall_of(queue, wait->head.tid, wait->off_ts, NULL), acked;
	struct stall *stall = &judged->finding.stall;
	uint64_t until_ts;
	bool is_settled;

	if (rest->length - attribution->ns[CAUSE_IDLE] < model__threshold(queue->model))
		return;
	if (!same)
		same = reported_by_intervals(attribution, rest->length);
	if (!same && rest->may_travel && attribution__main_cause(attribution) == CAUSE_NETWORK)
		same = overlap->stall;
	if (same) {
		join(queue, judged, wait, same);
		return;
	}
	chain_stall__fill(queue->model, wait, rest->start, attribution, &judged->finding);
	if (pending->exchange.head.type)
		stall->request = pending->exchange.head.conn;
	if (!stall->conn && pending->exchange.head.type) {
		const struct model_conn *conn =
			model__conn(queue->model, pending->exchange.head.conn);

		stall->conn = pending->exchange.head.conn;
		stall->peer = conn ? conn->peer : 0;
	}
	note_others(queue, stall);
	if (stall->cause == CAUSE_ACCEPT_QUEUE)
		note_queue(queue, stall, request__queued(queue->model, &pending->exchange));
	same = reported_before(queue, stall);
	if (same) {
		join(queue, judged, wait, same);
		return;
	}
	if (rest->background == BACKGROUND_IS)
		return;
	/* It went on as it had begun, in holds too short for stalls of their own. */
	same = overlap->stall_end == rest->start ? overlap->stall : 0;
	if (same && stall->cause == overlap->cause &&
	    intervals__extend(queue->intervals, same, overlap->cause, rest->start + rest->length)) {
		join(queue, judged, wait, same);
		judged->judgement = JUDGED_EXTENDS;
		return;
	}
	stall->is_between = rest->background == BACKGROUND_BETWEEN;
	judged->judgement = JUDGED_STALL;
	if (attribution->interval && attribution->interval->finding &&
	    attribution->interval->cause == stall->cause)
		judged->interval = attribution->interval;
	judged->incident = chain_stall__evidence(queue->model, judged->interval, stall);
	acked = rest->acked;
	if (!acked && acks_of(queue, &pending->exchange, 0).may_be)
		acked = pending->exchange.head.conn;
	is_settled = rest->background == BACKGROUND_NOT ||
		     (rest->background == BACKGROUND_BETWEEN && asks_later(queue->model, wait));
	if ((is_settled && !rest->may_go_on && !acked) || judged->interval ||
	    queue->provisional_count == WAIT_QUEUE_PROVISIONAL)
		return;
	until_ts = (acked ? rest->start + ACKED_PAUSES * rest->length : pending->due_ts) +
		   FIRST_REQUEST_NS;
	set_aside(queue, judged, attribution__main_cause(attribution), acked, until_ts);
	judged->judgement = JUDGED_NOTHING;
}

/*
 * Is it reported by itself? Not if it is shorter than the threshold, or if the wait is explained in
 * substance, by half or more: one incident is one stall. But what of a request comes before or
 * behind the incident is another's: the server was at work before its answer was held, or when it
 * had the request that was. There the network's is the way of what was held, and the time of a
 * reader who kept it held is that reader's still, unless it is nearly as long at least.
 */
static bool find_unexplained(const struct wait_queue *queue, enum pending_kind kind,
			     const struct ns_wait *wait, struct unexplained *rest)
{
	uint64_t length = wait->head.ts - wait->off_ts;
	bool is_first, is_last, is_small;

	overlap__find(&rest->overlap, queue->model, queue->intervals, queue->incidents, wait);
	rest->length = overlap__gap(&rest->overlap, &rest->start);
	rest->background = BACKGROUND_NOT;
	rest->acked = 0;
	rest->may_go_on = false;
	rest->may_travel = kind != PENDING_REQUEST;
	if (rest->length < model__threshold(queue->model))
		return false;
	if (2 * overlap__total(&rest->overlap) < length)
		return true;
	is_first = rest->start == wait->off_ts;
	is_last = rest->start + rest->length == wait->head.ts;
	is_small = 20 * rest->length < 9 * length;
	rest->may_travel |= is_first || is_small;
	return kind == PENDING_REQUEST &&
	       (is_first ||
		(is_last && !(is_small && cause__waits_for_reader(rest->overlap.cause))));
}

static struct pending *find_pending(struct wait_queue *queue, const struct ns_wait *wait)
{
	for (size_t i = 0; i < queue->count; i++) {
		if (queue->pending[i].wait.head.tid == wait->head.tid &&
		    queue->pending[i].wait.off_ts == wait->off_ts &&
		    queue->pending[i].kind != PENDING_TIMES &&
		    queue->pending[i].kind != PENDING_QUEUED)
			return &queue->pending[i];
	}
	return NULL;
}

static void push_part(struct wait_queue *queue, enum pending_kind kind,
		      const struct ns_exchange *exchange, const struct ns_wait *wait)
{
	if (wait->head.ts < wait->off_ts + model__threshold(queue->model))
		return;
	if (kind == PENDING_AGAIN) {
		struct pending *pending = find_pending(queue, wait);

		if (pending && pending->from_ts) { /* all of it is this request's */
			pending->from_ts = 0;
			pending->exchange = *exchange;
		}
		if (pending || stall_of(queue, wait->head.tid, wait->off_ts, NULL))
			return;
	}
	push(queue, &(struct pending){.kind = kind, .wait = *wait, .exchange = *exchange});
}

static bool is_same(const struct ns_wait *a, const struct ns_wait *b)
{
	return a->off_ts == b->off_ts && a->head.ts == b->head.ts;
}

/* The request that it was in is, by all of the wait for its answer, which it was a part of. */
static bool is_judged_as_whole(const struct wait_queue *queue, const struct request_place *place,
			       const struct ns_wait *wait)
{
	const struct ns_exchange *asked = place->awaited;
	struct reply reply;

	if (!asked || asked->head.ts - asked->ready_ts < model__threshold(queue->model))
		return false;
	reply__find(queue->model, asked, &reply);
	return wait->off_ts < reply.to;
}

/* It brought a part of an answer at least. Whether it was all of that the request's end says. */
static bool may_go_on(const struct wait_queue *queue, const struct ns_wait *wait,
		      const struct request_place *place)
{
	return !place->awaited && pending_reply__awaited(queue->model, wait);
}

/* How long it had nothing to wait for at first. */
static uint64_t idle_before(const struct attribution *attribution)
{
	const struct slice *first = attribution->slices;

	return attribution->slice_count > 1 && first->cause == CAUSE_IDLE ? first->ns : 0;
}

/* Another thread of its process waits for that answer on its own socket: its stall shows it. */
static bool is_shown_there(const struct wait_queue *queue, const struct ns_wait *wait,
			   enum cause cause)
{
	const struct model_process *process = model__process(queue->model, wait->head.tgid);

	return (cause == CAUSE_UDP || cause == CAUSE_DNS) && process && process->asks_datagrams &&
	       wait_kind__is_thread(wait_view__of(queue->model, wait).kind);
}

static void note_idle(struct wait_queue *queue, uint32_t tid, uint64_t off_ts)
{
	queue->idle[queue->idle_count++ % WAIT_QUEUE_LINKS] = (struct idle_wait){tid, off_ts};
}

static void note_not_asked(struct wait_queue *queue, const struct ns_wait *wait)
{
	const struct ns_wait *longest = &queue->not_asked;

	if (wait->head.ts - wait->off_ts > longest->head.ts - longest->off_ts &&
	    pending_reply__not_asked(queue->model, wait))
		queue->not_asked = *wait;
}

/* A request was waiting for it: it was not idle. */
static void count_owed(struct wait_queue *queue, const struct ns_wait *wait,
		       const struct attribution *attribution)
{
	for (size_t i = 0; i < WAIT_QUEUE_LINKS; i++) {
		struct idle_wait *idle = &queue->idle[i];

		if (idle->tid != wait->head.tid || idle->off_ts != wait->off_ts)
			continue;
		*idle = (struct idle_wait){0};
		for (size_t cause = 0; cause < CAUSE_COUNT; cause++) {
			uint64_t ns = attribution->ns[cause];

			if (cause == CAUSE_IDLE || ns > queue->by_cause[CAUSE_IDLE])
				continue;
			queue->by_cause[CAUSE_IDLE] -= ns;
			queue->by_cause[cause] += ns;
		}
	}
}

static void judge_wait(struct wait_queue *queue, const struct pending *pending,
		       struct judged *judged)
{
	const struct ns_wait *wait = &pending->wait;
	const struct attribution *attribution;
	const struct ns_exchange *request;
	struct acks acks;
	struct unexplained rest;
	struct request_place place;
	uint64_t idle;
	struct ns_wait whole;
	bool is_open;

	if (wait->head.ts - wait->off_ts < model__threshold(queue->model) ||
	    !model__is_target(queue->model, wait->head.tgid))
		return;
	place = request__place(queue->model, wait);
	is_open = find_unexplained(queue, pending->kind, wait, &rest);
	if (is_open && pending->from_ts > rest.start) {
		uint64_t before = min_u64(pending->from_ts - rest.start, rest.length);

		rest.start += before;
		rest.length -= before;
		is_open = rest.length >= model__threshold(queue->model);
		if (pending->kind == PENDING_WAIT)
			queue->by_cause[CAUSE_IDLE] += before;
	}
	if (pending->kind == PENDING_WAIT) {
		queue->by_cause[rest.overlap.cause] += overlap__total(&rest.overlap);
		if (queue->explains_all) {
			wait_record__explain(queue->chain, &rest.overlap, &place, &judged->record);
			judged->is_explained = true;
		}
	}
	if (!is_open) {
		if (rest.overlap.stall)
			join(queue, judged, wait, rest.overlap.stall);
		return;
	}
	attribution = waker_chain__explain(queue->chain, wait, &place, rest.start,
					   rest.start + rest.length);
	if (pending->kind == PENDING_WAIT && !pending->from_ts)
		rest.background =
			background__find(queue->model, wait, &place,
					 attribution__main_cause(attribution), &attribution->path);
	if (is_shown_there(queue, wait, attribution__main_cause(attribution)))
		rest.background = BACKGROUND_IS;
	rest.may_go_on = pending->kind == PENDING_WAIT && may_go_on(queue, wait, &place);
	request = request_of(&place);
	acks = acks_of(queue, request, wait->head.conn);
	rest.acked = request && acks.may_be ? request->head.conn : 0;
	if (pending->kind == PENDING_WAIT && acks.is_sure)
		rest.background = BACKGROUND_IS;
	if (pending->kind == PENDING_AGAIN) {
		if (!rest.acked) /* else it may have been idle */
			count_owed(queue, wait, attribution);
	} else if (rest.background == BACKGROUND_IS ||
		   2 * attribution->ns[CAUSE_IDLE] > rest.length) {
		note_idle(queue, wait->head.tid, wait->off_ts);
		note_not_asked(queue, wait);
	}
	if (rest.background == BACKGROUND_IS) {
		queue->by_cause[CAUSE_IDLE] += rest.length;
	} else if (pending->kind == PENDING_WAIT) {
		for (size_t i = 0; i < CAUSE_COUNT; i++)
			queue->by_cause[i] += attribution->ns[i];
	}
	if (request__whole_wait(queue->model, NULL, wait, &whole) && !is_same(&whole, wait)) {
		push_part(queue, PENDING_AGAIN, &pending->exchange, &whole);
		return;
	}
	if (place.served && request__is_of_target(queue->model, place.served))
		return;
	if (is_judged_as_whole(queue, &place, wait)) {
		uint32_t same = stall_of(queue, wait->head.tid, wait->off_ts, NULL);

		if (same)
			join(queue, judged, wait, same);
		return;
	}
	idle = idle_before(attribution);
	if (idle) {
		rest.start += idle;
		rest.length -= idle;
		attribution = waker_chain__explain(queue->chain, wait, &place, rest.start,
						   rest.start + rest.length);
	}
	judge_explained(queue, pending, &rest, attribution, judged);
}

/* Nobody else was to end it: what it waits for is known though it is not over. */
static bool ends_by_itself(enum wait_kind kind)
{
	return kind == WAIT_SLEEP || kind == WAIT_DISK || kind == WAIT_MEMORY ||
	       kind == WAIT_STOPPED || kind == WAIT_PREEMPTED;
}

/* All of it that is no incident. */
static void make_idle(const struct overlap *overlap, struct wait_record *record)
{
	uint64_t explained = overlap__total(overlap);

	memset(record->ns, 0, sizeof(record->ns));
	record->ns[CAUSE_IDLE] = record->end_ts - record->off_ts - explained;
	record->ns[overlap->cause] += explained;
}

/* One that others were to end was idle, unless a request waits for its thread, or it for one. */
static void count_lasting(struct wait_queue *queue, const struct ns_wait *wait,
			  struct judged *judged)
{
	struct request_place place = request__place(queue->model, wait);
	const struct attribution *attribution;
	struct unexplained rest;

	if (!model__is_target(queue->model, wait->head.tgid))
		return;
	find_unexplained(queue, PENDING_WAIT, wait, &rest);
	queue->by_cause[rest.overlap.cause] += overlap__total(&rest.overlap);
	judged->is_explained = queue->explains_all;
	if (queue->explains_all)
		wait_record__explain(queue->chain, &rest.overlap, &place, &judged->record);
	if (rest.length < model__threshold(queue->model))
		return;
	attribution = waker_chain__explain(queue->chain, wait, &place, rest.start,
					   rest.start + rest.length);
	if (!request_place__is_in(&place) &&
	    (!ends_by_itself(wait_view__of(queue->model, wait).kind) ||
	     background__find(queue->model, wait, &place, attribution__main_cause(attribution),
			      &attribution->path) == BACKGROUND_IS)) {
		queue->by_cause[CAUSE_IDLE] += rest.length;
		note_not_asked(queue, wait);
		if (judged->is_explained)
			make_idle(&rest.overlap, &judged->record);
		return;
	}
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		queue->by_cause[i] += attribution->ns[i];
}

bool wait_queue__count_lasting(struct wait_queue *queue, struct judged *judged)
{
	if (!queue->lasting_count)
		return false;
	judged->is_explained = false;
	count_lasting(queue, &queue->lasting[--queue->lasting_count], judged);
	return true;
}

/* ---- requests ---- */

/* The long waits of its thread in a time of a request. */
static void push_waits(struct wait_queue *queue, const struct ns_exchange *exchange, uint64_t from,
		       uint64_t to)
{
	const struct model_thread *thread = model__thread(queue->model, exchange->head.tid);
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->off_ts >= from && wait->head.ts <= to)
			push_part(queue, PENDING_AGAIN, exchange, wait);
	}
}

/* Likewise, and all the rest that it did. */
static void push_times(struct wait_queue *queue, const struct ns_exchange *exchange, uint64_t from,
		       uint64_t to)
{
	const struct model_thread *thread = model__thread(queue->model, exchange->head.tid);
	struct ns_wait times = {.head = exchange->head, .off_ts = from, .syscall = NS_SYSCALL_NONE};

	/* Of a thread that nobody watched nothing is known. One that never slept long has no waits.
	 */
	if (to <= from || (!exchange->spent_known && !(thread && thread->waits.count)))
		return;
	push_waits(queue, exchange, from, to);
	times.head.type = 0;
	times.head.ts = to;
	push_part(queue, PENDING_TIMES, exchange, &times);
}

/* The wait that a request came in is nobody's, but that its thread then got no CPU is its time. */
static void push_late_start(struct wait_queue *queue, const struct ns_exchange *served)
{
	const struct model_thread *thread = model__thread(queue->model, served->head.tid);
	const struct ns_wait *wait;
	struct ns_wait ready;

	for (size_t i = 0; thread && (wait = model_thread__wait(thread, i)); i++) {
		if (wait->off_ts >= served->ready_ts || wait->head.ts < served->ready_ts)
			continue;
		ready = *wait;
		ready.state = 0;
		ready.off_ts = ready.wake_ts = wait__woken(wait);
		push_part(queue, PENDING_AGAIN, served, &ready);
	}
}

/*
 * It lay unread while its thread was in a wait that had begun before: the rest of that is the
 * request's. Returns from when on its time is not judged yet.
 */
static uint64_t push_unread(struct wait_queue *queue, const struct ns_exchange *served)
{
	const struct model_thread *thread = model__thread(queue->model, served->head.tid);
	uint64_t arrived = request__arrived(served), accepted = request__accepted(served);
	const struct ns_wait *wait;
	struct pending *pending;

	if (accepted > arrived) /* so long it lay in the listen queue */
		arrived = accepted;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->off_ts >= arrived || wait->head.ts > served->ready_ts ||
		    wait->head.ts < arrived + model__threshold(queue->model))
			continue;
		pending = find_pending(queue, wait);
		if (pending && request__place(queue->model, wait).served) {
			break; /* it is a request's before this one's */
		} else if (pending) {
			pending->from_ts = arrived;
			pending->exchange = *served;
		} else if (!stall_of(queue, wait->head.tid, wait->off_ts, NULL)) {
			push(queue, &(struct pending){.kind = PENDING_AGAIN,
						      .wait = *wait,
						      .exchange = *served,
						      .from_ts = arrived});
		}
		break;
	}
	return wait ? wait->head.ts : arrived;
}

/* A request came, and nobody had accepted its connection. */
static void push_queued(struct wait_queue *queue, const struct ns_exchange *served)
{
	uint64_t arrived = request__arrived(served);
	struct ns_wait wait = {.head = served->head, .state = 1, .syscall = NS_SYSCALL_NONE};

	if (!served->queued_ts)
		return;
	wait.head.type = 0;
	wait.head.tid = served->accept_tid;
	wait.head.ts = request__accepted(served);
	wait.off_ts = arrived > served->queued_ts ? arrived : served->queued_ts;
	push_part(queue, PENDING_QUEUED, served, &wait);
}

static void judge_queued(struct wait_queue *queue, const struct pending *pending,
			 struct judged *judged)
{
	const struct ns_wait *wait = &pending->wait;
	struct unexplained rest = {.start = wait->off_ts, .length = wait->head.ts - wait->off_ts};

	judge_explained(queue, pending, &rest,
			waker_chain__explain_queued(queue->chain, &pending->exchange, wait->off_ts,
						    wait->head.ts),
			judged);
}

/*
 * Does a wait of its thread, which a stall explains, hold up what it has asked for elsewhere? Not
 * one for whatever comes: the answer, had it come, would have ended it. What happens on a
 * connection holds up who reads from that one, and hears no other.
 */
static bool holds_up_others(const struct model *model, const struct ns_wait *wait, enum cause cause)
{
	const struct wait_view view = wait_view__of(model, wait);

	if (view.kind == WAIT_MANY || view.is_completion)
		return false;
	return cause__rank(cause) != CAUSE_RANK_NETWORK || wait->conn_basis == NS_CONN_FD;
}

/*
 * Some waits of a request's thread may be reported already: from moves behind the last of these.
 * Returns its stall, 0: there is none.
 */
static uint32_t pass_reported(const struct wait_queue *queue, uint32_t tid, uint64_t *from,
			      uint64_t to, bool of_reply)
{
	const struct model_thread *thread = model__thread(queue->model, tid);
	const struct ns_wait *wait;
	uint64_t begin = *from;
	const struct reported *reported;
	uint32_t last = 0;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if ((of_reply ? wait->off_ts < begin : wait->head.ts <= begin) ||
		    wait->head.ts >= to)
			continue;
		reported = reported_with(queue, wait->head.tid, wait->off_ts, NULL);
		if (!reported ||
		    (of_reply && !holds_up_others(queue->model, wait, reported->cause)))
			continue;
		*from = wait->head.ts;
		last = reported->stall;
	}
	return last;
}

/* Where the sum of the times between long waits is told: in the longest of these times. */
static uint64_t place_times(const struct wait_queue *queue, const struct ns_wait *times,
			    uint64_t from, uint64_t length)
{
	const struct model_thread *thread = model__thread(queue->model, times->head.tid);
	uint64_t to = times->head.ts, longest = 0, start = from, at = from;
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)) && wait->off_ts < to; i++) {
		if (wait->head.ts <= at ||
		    wait->head.ts - wait->off_ts < model__threshold(queue->model))
			continue;
		if (wait->off_ts > at + longest) {
			longest = wait->off_ts - at;
			start = at;
		}
		at = wait->head.ts;
	}
	if (to > at + longest)
		start = at;
	return min_u64(start, to - length);
}

static void judge_times(struct wait_queue *queue, const struct pending *pending,
			struct judged *judged)
{
	const struct ns_wait *wait = &pending->wait;
	struct unexplained rest = {.start = wait->off_ts};
	const struct attribution *attribution;
	uint64_t from = wait->off_ts;
	uint32_t earlier;

	if (pending->exchange.side == NS_EXCHANGE_SERVED)
		from = min_u64(from, request__arrived(&pending->exchange));
	judged->delayed_by = pass_reported(queue, wait->head.tid, &from, wait->head.ts, false);
	earlier = pass_times(queue, wait->head.tid, &rest.start);
	if (earlier)
		judged->delayed_by = earlier;
	if (rest.start + model__threshold(queue->model) > wait->head.ts)
		return;
	attribution = waker_chain__explain_times(queue->chain, &pending->exchange, rest.start,
						 wait->head.ts);
	for (size_t i = 0; i < attribution->slice_count; i++)
		rest.length += attribution->slices[i].ns;
	rest.start = place_times(queue, wait, rest.start, rest.length);
	judge_explained(queue, pending, &rest, attribution, judged);
}

/* What a request is made of, also a short one. */
static void view_request(struct wait_queue *queue, const struct ns_exchange *exchange,
			 const struct ns_exchange *served, const struct attribution *attribution,
			 struct walked_request *walked)
{
	bool is_made = exchange->side == NS_EXCHANGE_ASKED;
	bool is_read = served && served->ready_ts; /* and it was seen by whom, and when */
	struct request_view *view = &walked->view;

	if (!is_of_target(queue->model, exchange) || !(is_made || exchange->arrived_ts))
		return;
	*walked = (struct walked_request){
		.role = is_made ? REQUEST_MADE : REQUEST_SERVED,
		.conn = exchange->head.conn,
		.tid = exchange->head.tid,
		.begin_ts = attribution->from_ts,
		.weight = exchange->weight,
		.is_answered = exchange->answer_ts || exchange->ended == NS_EXCHANGE_ANSWERED,
		.is_over = exchange->ended != NS_EXCHANGE_OPEN,
		.is_whole = is_read,
		.is_given_up = is_made && !exchange->answer_ts &&
			       exchange->ended == NS_EXCHANGE_CLOSED &&
			       request__is_waited_for(queue->model, exchange),
		.is_open = open_request__is(queue->model, exchange),
		.since_ts = exchange->since_ts,
		.server_tid = is_read ? served->head.tid : 0,
		.taken_up_ts = is_read ? served->begin_ts : 0,
		.answered_ts = is_read ? served->head.ts : 0,
		.view.confidence = attribution->confidence};
	if (is_made)
		view->confidence = walked->is_whole ? CONFIDENCE_OBSERVED : CONFIDENCE_INFERRED;
	for (size_t i = 0; i < attribution->slice_count; i++) {
		enum cause cause = attribution->slices[i].cause;

		/* Somebody waited for it: it was not idle. */
		slices__add(view->slices, &view->slice_count, STALL_SLICES,
			    cause == CAUSE_IDLE ? CAUSE_UNKNOWN : cause, attribution->slices[i].ns);
		view->total_ns += attribution->slices[i].ns;
	}
	walked->end_ts = walked->begin_ts + view->total_ns;
	assert(is_made ? walked->end_ts == exchange->head.ts : walked->end_ts >= exchange->head.ts);
}

/* The window ends as it sleeps by its own clock: no answer would have ended that. */
static bool sleeps_by_itself(const struct wait_queue *queue, const struct ns_exchange *asked)
{
	const struct model_thread *thread = model__thread(queue->model, asked->head.tid);
	const struct ns_wait *last =
		thread ? model_thread__wait(thread, thread->waits.count - 1) : NULL;

	return asked->ended == NS_EXCHANGE_OPEN && last && wait__goes_on(last) &&
	       wait_view__of(queue->model, last).kind == WAIT_SLEEP;
}

static void judge_walk(struct wait_queue *queue, const struct ns_exchange *exchange,
		       struct walked_request *walked)
{
	struct reply reply;

	if (exchange->side == NS_EXCHANGE_SERVED) {
		view_request(queue, exchange, exchange,
			     waker_chain__explain_served(queue->chain, exchange), walked);
		return;
	}
	reply__find(queue->model, exchange, &reply);
	view_request(queue, exchange, reply.served, waker_chain__explain_made(queue->chain, &reply),
		     walked);
}

static void judge_request(struct wait_queue *queue, const struct pending *pending,
			  struct judged *judged)
{
	const struct ns_exchange *exchange = &pending->exchange;
	struct pending answer = *pending;
	struct unexplained rest;
	struct reply reply;

	if (exchange->side == NS_EXCHANGE_SERVED) {
		if (!request__is_of_target(queue->model, exchange))
			push_queued(queue, exchange);
		if (!exchange->ready_ts || !is_long(queue, exchange) ||
		    request__is_of_target(queue->model, exchange))
			return;
		if (request__was_awaited(queue->model, exchange)) {
			push_late_start(queue, exchange);
			push_times(queue, exchange, exchange->ready_ts, exchange->head.ts);
		} else {
			push_times(queue, exchange, push_unread(queue, exchange),
				   exchange->head.ts);
		}
		return;
	}
	reply__find(queue->model, exchange, &reply);
	/* What nobody has answered by the end of the window may be a stream of messages. */
	if (exchange->ended == NS_EXCHANGE_OPEN && !exchange->answer_ts)
		push_waits(queue, exchange, exchange->begin_ts, exchange->ready_ts);
	else
		push_times(queue, exchange, exchange->begin_ts, exchange->ready_ts);
	if (sleeps_by_itself(queue, exchange))
		return;
	push_times(queue, exchange, reply.to, exchange->head.ts);
	judged->delayed_by = pass_reported(queue, exchange->head.tid, &reply.from, reply.to, true);
	if (reply.to < reply.from + model__threshold(queue->model))
		return;
	answer.wait = reply.wait;
	answer.wait.head.conn = exchange->head.conn;
	answer.wait.conn_basis = NS_CONN_FD;
	answer.wait.off_ts = reply.from;
	answer.wait.head.ts = reply.to;
	if (!find_unexplained(queue, pending->kind, &answer.wait, &rest)) {
		if (rest.overlap.stall && reply.wait.head.type)
			join(queue, judged, &reply.wait, rest.overlap.stall);
		return;
	}
	answer.wait = reply.wait;
	judge_explained(queue, &answer, &rest,
			waker_chain__explain_reply(queue->chain, &reply, rest.start,
						   rest.start + rest.length),
			judged);
}

static bool is_served(const struct model *model, uint32_t number)
{
	const struct model_conn *conn = model__conn(model, number);

	return conn && request_role__of(&conn->id) == REQUEST_SERVED;
}

/* Does the stall hold up this request too? A proxy's client waits for what the proxy asks: the two
 * count once, on the side where the stall is listed (as in ledger__delay()). */
static bool is_one_more(const struct model *model, const struct stall *stall, uint32_t number)
{
	uint32_t request = stall__request(stall), listed = stall->conn ? stall->conn : request;

	return request != number && is_served(model, listed) == is_served(model, number);
}

/* A request whose time a stall explains that is told already: all of it, or the server's part. */
static void note_delayed(struct wait_queue *queue, const struct pending *pending,
			 struct judged *judged)
{
	const struct ns_exchange *exchange = &pending->exchange;
	bool is_asked = exchange->side == NS_EXCHANGE_ASKED;

	judged->delayed = exchange->head.conn;
	if (judged->judgement == JUDGED_STALL || judged->judgement == JUDGED_EXTENDS ||
	    !exchange->head.type || pending->kind != (is_asked ? PENDING_REQUEST : PENDING_TIMES))
		judged->delayed_by = 0;
	for (size_t i = 0; i < queue->provisional_count && judged->delayed_by; i++) {
		struct provisional *provisional = queue->provisional[i];

		if (provisional->number != judged->delayed_by)
			continue;
		if (is_one_more(queue->model, &provisional->finding.stall, judged->delayed))
			provisional->finding.stall.delayed++;
		judged->delayed_by = 0;
	}
}

static void judge(struct wait_queue *queue, const struct pending *pending, struct judged *judged)
{
	judged->judgement = JUDGED_NOTHING;
	judged->interval = NULL;
	judged->incident = NULL;
	judged->is_explained = false;
	judged->delayed_by = 0;
	/* What a wait was for counts all the same, and the tables are of what is known in the end.
	 */
	if (pending->kind != PENDING_WAIT && pending->kind != PENDING_WALK &&
	    acks_of(queue, &pending->exchange, 0).is_sure)
		return;
	switch (pending->kind) {
	case PENDING_WAIT:
	case PENDING_AGAIN:
		judge_wait(queue, pending, judged);
		break;
	case PENDING_REQUEST:
		judge_request(queue, pending, judged);
		break;
	case PENDING_WALK:
		judge_walk(queue, &pending->exchange, &judged->walked);
		break;
	case PENDING_QUEUED:
		judge_queued(queue, pending, judged);
		break;
	case PENDING_TIMES:
		judge_times(queue, pending, judged);
		break;
	}
	note_delayed(queue, pending, judged);
}

static bool due_before(const struct pending *a, const struct pending *b)
{
	if (a->due_ts != b->due_ts)
		return a->due_ts < b->due_ts;
	if (a->kind != b->kind && (a->kind == PENDING_REQUEST || b->kind == PENDING_REQUEST))
		return a->kind == PENDING_REQUEST;
	return a->wait.head.ts != b->wait.head.ts ? a->wait.head.ts < b->wait.head.ts
						  : a->wait.head.tid < b->wait.head.tid;
}

/* Is there an incident under way on the connection that it is about? */
static bool incidents_pend(const struct wait_queue *queue, const struct pending *pending)
{
	uint64_t from = pending->wait.off_ts, to = pending->wait.head.ts;
	uint32_t conn = pending->wait.head.conn;

	if (pending->kind == PENDING_REQUEST || pending->kind == PENDING_WALK) {
		conn = pending->exchange.head.conn;
		from = ns_passed(WAIT_AT_ONCE_NS, pending->exchange.begin_ts);
		to = pending->exchange.head.ts;
	}
	return conn && incident_queue__pending(queue->incidents, conn, from, to);
}

/* The stall that was provisional is one, or none. False: that is not known yet. */
static bool settle_provisional(struct wait_queue *queue, struct provisional *provisional,
			       uint64_t now, struct judged *judged)
{
	struct stall *stall = &provisional->finding.stall;
	struct request_place place = request__place(queue->model, &stall->wait);
	enum background background = background__find(queue->model, &stall->wait, &place,
						      provisional->cause, &stall->path);
	const struct ns_exchange *request = request_of(&place);
	struct acks acks = provisional->acked ? acks__of(queue->model, provisional->acked)
					      : acks_of(queue, request, stall->conn);
	bool is_open =
		background == BACKGROUND_MAYBE || provisional->acked || (request && acks.may_be) ||
		(background == BACKGROUND_BETWEEN && !asks_later(queue->model, &stall->wait)) ||
		may_go_on(queue, &stall->wait, &place);

	if (acks.is_sure)
		background = BACKGROUND_IS;
	else if (is_open && provisional->until_ts > now)
		return false;
	stall->is_between = background == BACKGROUND_BETWEEN && !provisional->is_awaited;
	forget_links(queue, provisional->number);
	judged->judgement = JUDGED_STALL;
	judged->interval = NULL;
	judged->is_explained = false;
	judged->finding = provisional->finding;
	judged->incident = provisional->incident;
	/* One that may be acknowledged is of the request as a whole already. */
	if (background != BACKGROUND_IS &&
	    (provisional->acked || !is_judged_as_whole(queue, &place, &stall->wait)))
		return true;
	judged->judgement = JUDGED_NOTHING;
	incident__free(judged->incident);
	if (background != BACKGROUND_IS) /* its request's stall shows what it waited for */
		return true;
	note_idle(queue, stall->wait.head.tid, stall->wait.off_ts);
	for (size_t i = 0; i < stall->slice_count; i++) {
		uint64_t *counted = &queue->by_cause[stall->slices[i].cause];
		uint64_t ns = min_u64(stall->slices[i].ns, *counted);

		*counted -= ns;
		queue->by_cause[CAUSE_IDLE] += ns;
	}
	return true;
}

/* False: nothing more is known of any. */
static bool judge_provisional(struct wait_queue *queue, uint64_t now, struct judged *judged)
{
	size_t i = queue->provisional_at;

	if (!queue->provisional_count ||
	    (queue->news < queue->judge_at && queue->provisional[0]->until_ts > now))
		return false;
	for (; i < queue->provisional_count; i++) {
		struct provisional *provisional = queue->provisional[i];

		if (!settle_provisional(queue, provisional, now, judged))
			continue;
		free(provisional);
		memmove(&queue->provisional[i], &queue->provisional[i + 1],
			(--queue->provisional_count - i) * sizeof(*queue->provisional));
		queue->provisional_at = i;
		return true;
	}
	queue->provisional_at = 0;
	queue->judge_at = trim__next(queue->news, queue->provisional_count, 1);
	return false;
}

bool wait_queue__judge(struct wait_queue *queue, uint64_t now, struct judged *judged)
{
	struct pending first;
	size_t next = 0;

	judged->walked.conn = judged->delayed_by = 0;
	if (judge_provisional(queue, now, judged))
		return true;
	for (size_t i = 1; i < queue->count; i++) {
		if (due_before(&queue->pending[i], &queue->pending[next]))
			next = i;
	}
	if (!queue->count ||
	    (queue->pending[next].due_ts > now && queue->count <= WAIT_QUEUE_PENDING))
		return false;
	first = queue->pending[next];
	/* What may explain it comes first. */
	if (now != UINT64_MAX && queue->count <= WAIT_QUEUE_PENDING &&
	    first.kind != PENDING_TIMES && first.kind != PENDING_QUEUED &&
	    incidents_pend(queue, &first)) {
		queue->pending[next].due_ts = now + SETTLE_NS;
		judged->judgement = JUDGED_NOTHING;
		judged->is_explained = false;
		return true;
	}
	queue->pending[next] = queue->pending[--queue->count];
	uring_wait__fill_in(queue->model, &first.wait);
	judge(queue, &first, judged);
	return true;
}

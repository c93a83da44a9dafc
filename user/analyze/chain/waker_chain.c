// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * One recursion: a wait leads to what ended it (explain_wait), that to a thread (explain_thread),
 * and that to its own waits. What is between them, by the kind of the wait, stands in the order in
 * which it is passed.
 */
#include "user/analyze/chain/waker_chain.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/analyze/chain/answerer.h"
#include "user/analyze/chain/spent.h"
#include "user/analyze/waits/pending_reply.h"
#include "user/analyze/waits/request.h"
#include "user/analyze/waits/socket_wait.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait.h"
#include "user/analyze/waits/wait_kind.h"
#include "user/analyze/waits/wakers.h"
#include "user/base/array.h"
#include "user/base/xalloc.h"

#define CHAIN_DEPTH STALL_LINKS
/*
 * Waits of one explanation. Recorded runs take 30 at most; where each of many threads wakes the
 * next there are as many as the model keeps of all, and that for each wait anew.
 */
#define CHAIN_WAITS 512
#define LINKED_OPS  8 /* linked operations of a ring that are looked at */
#define UNKNOWN_RTT UINT32_MAX
/* What runs between a lock's time-out and the next try. */
#define AGAIN_NS 200000

/* What a level of the chain makes of the causes below it. */
struct level {
	enum cause cause; /* of what is not the network's */
	bool idle_stays;  /* idle below is idle above: nobody was held up */
	bool runqueue_stays;
	bool timer_stays; /* that was the program's own wish, whichever thread of it had it */
	bool is_targets;  /* the thread below belongs to a target */
	uint32_t serves;  /* the thread is to answer on this connection, 0 none */
	uint64_t sent_ts; /* when all of the request was written; 0 not known */
};

static const struct level level_lock = {.cause = CAUSE_LOCK};
static const struct level level_signal = {.cause = CAUSE_LOCK, .idle_stays = true};
static const struct level level_message = {.cause = CAUSE_IPC, .idle_stays = true};
static const struct level level_worker = {
	.cause = CAUSE_IPC, .idle_stays = true, .timer_stays = true};
static const struct level level_name_service = {.cause = CAUSE_DNS, .idle_stays = true};
static const struct level level_ring = {.cause = CAUSE_URING, .runqueue_stays = true};

/* A thread. */
struct who {
	uint32_t pid;
	uint32_t tid;
	const char *comm;
};

struct waker_chain {
	const struct model *model;
	const struct intervals *intervals;
	uint64_t at; /* explained up to here */
	uint64_t to; /* the end of all that is explained */
	size_t depth;
	struct level levels[CHAIN_DEPTH];
	struct {
		uint32_t tid;
		uint64_t off_ts;
	} visited[CHAIN_DEPTH];
	size_t visited_count;
	size_t explained;   /* waits of this explanation */
	bool is_cut;        /* it had more than it may have */
	uint64_t cut;       /* explanations of which that was so, ever */
	bool linked;        /* the links of this branch are kept */
	bool leaves_stalls; /* waits of the root's thread that are stalls of their own */
	bool is_unread;     /* meanwhile bytes lie there, and nobody reads them */
	bool is_due; /* a request waits for what this thread does: it has to answer, or others do */
	bool is_asking; /* it is still writing its request: nobody owes it anything */
	const struct ns_exchange *written; /* that request; NULL: it is no walk of one */
	bool is_loops_clock;               /* what is spent is a time-out of an event loop */
	unsigned linked_ops;               /* on the way here */
	const struct ns_exchange *request; /* that is explained as a whole, or NULL */
	const struct reply *reply;         /* the wait for its answer, of one that was made */
	const struct ns_exchange *served; /* that one of the threads is at, as far as it is known */
	struct who who;                   /* the thread whose time it is */
	struct {
		struct path_part part; /* a wait that the chain is in */
		bool is_made;          /* it is in out.path, under this number: */
		size_t number;
	} open[CHAIN_DEPTH + 2];
	size_t open_count;
	struct attribution out;
};

static void explain_wait(struct waker_chain *chain, const struct ns_wait *wait, uint64_t until);

/* ---- time ---- */

static uint64_t clip(const struct waker_chain *chain, uint64_t ts, uint64_t until)
{
	return ts < chain->at ? chain->at : ts > until ? until : ts;
}

/*
 * The network's causes pass through every level: that is where a change helps. Of the others
 * each level makes its own: whatever a lock's holder did, for who waits it is the lock.
 */
static enum cause seen_from_above(const struct waker_chain *chain, const struct level *level,
				  enum cause cause)
{
	if (level->cause == CAUSE_ACCEPT_QUEUE) /* whatever kept the thread: others could accept */
		return level->cause;
	/* Whom a server asks by datagrams is its own affair. */
	if (level->serves && (cause == CAUSE_UDP || cause == CAUSE_DNS))
		return level->cause;
	if (cause__rank(cause) == CAUSE_RANK_NETWORK)
		return cause;
	/* Another program is named as a whole, a target by what it does itself. */
	if (level->cause == CAUSE_PEER_APP && level->is_targets && cause != CAUSE_IDLE)
		return cause;
	if (cause == CAUSE_IDLE && level->idle_stays)
		return cause;
	if (cause == CAUSE_TIMER &&
	    (level->timer_stays || (chain->is_loops_clock && level->cause == CAUSE_LOCK)))
		return cause;
	if (cause == CAUSE_RUNQUEUE && level->runqueue_stays)
		return cause;
	/* A quota is its owner's: at another end of a connection it is that program's time. */
	if (cause == CAUSE_THROTTLED && level->runqueue_stays && level->cause != CAUSE_PEER_APP)
		return cause;
	return level->cause;
}

/* ---- whose time it was ---- */

static struct path_part part_of(const struct waker_chain *chain, enum path_kind kind,
				enum cause cause)
{
	struct path_part part = {.kind = kind,
				 .cause = cause,
				 .pid = chain->who.pid,
				 .tid = chain->who.tid,
				 .syscall = NS_SYSCALL_NONE,
				 .count = 1};

	if (chain->who.comm)
		memcpy(part.comm, chain->who.comm, sizeof(part.comm));
	return part;
}

/* The waits that the chain is in become parts when there is something to say of them. */
static size_t innermost_part(struct waker_chain *chain)
{
	size_t parent = 0;

	for (size_t i = 0; i < chain->open_count; i++) {
		if (!chain->open[i].is_made) {
			chain->open[i].part.parent = (uint16_t)parent;
			chain->open[i].number = path__add(&chain->out.path, &chain->open[i].part);
			chain->open[i].is_made = true;
		}
		parent = chain->open[i].number;
	}
	return parent;
}

static void open_part(struct waker_chain *chain, const struct path_part *part)
{
	chain->open[chain->open_count].part = *part;
	chain->open[chain->open_count++].is_made = false;
}

static void spend_part(struct waker_chain *chain, uint64_t ns, enum path_kind kind,
		       enum cause cause, uint32_t count)
{
	struct path_part part = part_of(chain, kind, cause);
	size_t parent;

	/* What ended a wait may say more of it than its call. */
	if (kind == PATH_BLOCKED && chain->open_count &&
	    !chain->open[chain->open_count - 1].is_made)
		chain->open[chain->open_count - 1].part.cause = cause;
	parent = innermost_part(chain);
	if (kind == PATH_BLOCKED) {
		chain->out.path.parts[parent].ns += ns;
		return;
	}
	if (kind == PATH_RUNS && chain->is_unread)
		part.kind = PATH_UNREAD;
	if (kind == PATH_HELD || kind == PATH_TRANSIT) {
		part.pid = part.tid = 0;
		part.comm[0] = '\0';
	}
	part.parent = (uint16_t)parent;
	part.ns = ns;
	part.count = count;
	path__add(&chain->out.path, &part);
}

/* What a cause is a part of, if nothing else is known: of the wait that the chain is in. */
static enum path_kind kind_of(enum cause cause)
{
	if (cause == CAUSE_SELF)
		return PATH_RUNS;
	if (cause == CAUSE_RUNQUEUE || cause == CAUSE_THROTTLED)
		return PATH_READY;
	if (cause == CAUSE_NETWORK)
		return PATH_TRANSIT;
	if (cause__info(cause)->group == CAUSE_GROUP_WRITES ||
	    cause__info(cause)->group == CAUSE_GROUP_TCP ||
	    cause__info(cause)->group == CAUSE_GROUP_LOSS)
		return PATH_HELD;
	return PATH_BLOCKED;
}

/*
 * The time up to until is this cause's, as the levels above make of it. Of count times, which are
 * too short to be known one by one.
 */
static void spend_as(struct waker_chain *chain, uint64_t until, enum path_kind kind,
		     enum cause cause, uint32_t count)
{
	if (until <= chain->at)
		return;
	spend_part(chain, until - chain->at, kind, cause, count);
	for (size_t depth = chain->depth; depth-- > 0;)
		cause = seen_from_above(chain, &chain->levels[depth], cause);
	attribution__add(&chain->out, cause, until - chain->at);
	chain->at = until;
}

static void spend(struct waker_chain *chain, uint64_t until, enum cause cause)
{
	spend_as(chain, until, kind_of(cause), cause, 1);
}

/* It waits for a CPU up to until. */
static void spend_queued(struct waker_chain *chain, uint64_t until)
{
	uint64_t from = chain->at;

	spend(chain, until, CAUSE_RUNQUEUE);
	if (chain->at - from <= chain->out.ran_ns)
		return;
	chain->out.ran =
		model_thread__ran(model__thread(chain->model, chain->who.tid), from, chain->at);
	chain->out.ran_ns = chain->at - from;
}

/* The thread is ready to run up to until; what its quota has of that time is told apart. */
static void spend_ready(struct waker_chain *chain, uint64_t until)
{
	const struct model_thread *thread = model__thread(chain->model, chain->who.tid);
	const struct ns_throttle *throttle;
	uint64_t from;

	while (chain->at < until && (throttle = model_thread__throttle(thread, chain->at, until))) {
		spend_queued(chain, clip(chain, throttle->since_ts, until));
		from = chain->at;
		spend(chain, clip(chain, throttle->head.ts, until), CAUSE_THROTTLED);
		if (chain->at - from <= chain->out.throttle_ns)
			continue;
		chain->out.throttle = throttle;
		chain->out.throttle_ns = chain->at - from;
	}
	spend_queued(chain, until);
}

/* Of several things that were not seen the one that is nearest to the target. */
static void missing(struct waker_chain *chain, enum stall_missing what)
{
	if (!chain->out.missing)
		chain->out.missing = what;
}

/*
 * What TCP holds back for several reasons in turn is one hold: of a request's time it is what took
 * most of it.
 */
static enum cause cause_of_slice(const struct waker_chain *chain, const struct interval *interval,
				 enum cause cause)
{
	bool is_hold = kind_of(interval->cause) == PATH_HELD && kind_of(cause) == PATH_HELD;

	return chain->request && is_hold ? interval->cause : cause;
}

/* An incident on the connection, from where it begins. */
static void spend_interval(struct waker_chain *chain, struct interval *interval, uint64_t until)
{
	uint64_t start = chain->at, end = interval->span.start_ts;

	if (interval->cause == CAUSE_UNKNOWN)
		missing(chain, MISSING_TCP_REASON);
	until = clip(chain, interval->span.end_ts, until);
	for (size_t i = 0; i < interval->slice_count; i++) {
		end += interval->slices[i].ns;
		spend(chain, end < until ? end : until,
		      cause_of_slice(chain, interval, interval->slices[i].cause));
	}
	attribution__add_interval(&chain->out, interval, chain->at - start);
	spend(chain, until, interval->cause); /* whatever its slices left */
}

/* The next incident on the connection, NULL: none; *start: where it begins, or until. */
static struct interval *next_interval(const struct waker_chain *chain, uint32_t conn,
				      uint64_t until, uint64_t *start)
{
	struct interval *interval = intervals__first(chain->intervals, conn, chain->at, until);

	*start = interval ? clip(chain, interval->span.start_ts, until) : until;
	return interval;
}

/* Incidents on the connection; the time between them has this cause. */
static void spend_on_conn(struct waker_chain *chain, uint32_t conn, uint64_t until,
			  enum cause cause)
{
	while (chain->at < until) {
		uint64_t start;
		struct interval *interval = next_interval(chain, conn, until, &start);

		spend(chain, start, cause);
		if (interval)
			spend_interval(chain, interval, until);
	}
}

/*
 * The other end waits on the very connection that it is to answer on: a part of the request
 * has yet to come. Either TCP holds it back here, for shorter than makes a stall of its own,
 * or it is under way.
 */
static void spend_on_request(struct waker_chain *chain, uint32_t serves, uint64_t until)
{
	const struct model_conn *conn =
		model__peer(chain->model, model__conn(chain->model, serves));
	const union event *event;

	for (size_t i = 0; conn && (event = events__next(&conn->events, NS_RELEASE, &i));) {
		if (event->head.ts <= chain->at)
			continue;
		if (event->head.ts - event->release.held_ns >= until)
			break;
		spend(chain, clip(chain, event->head.ts - event->release.held_ns, until),
		      CAUSE_NETWORK);
		spend(chain, clip(chain, event->head.ts, until),
		      cause__of_hold(event->release.reason));
	}
	spend(chain, until, CAUSE_NETWORK);
}

/* ---- the waits of another thread ---- */

static bool is_visited(const struct waker_chain *chain, const struct ns_wait *wait)
{
	for (size_t i = 0; i < chain->visited_count; i++) {
		if (chain->visited[i].tid == wait->head.tid &&
		    chain->visited[i].off_ts == wait->off_ts)
			return true;
	}
	return false;
}

/* ---- what a thread did between two waits ---- */

static const enum cause cause_of_short[NS_SHORTS] = {
	[NS_SHORT_TIMER] = CAUSE_TIMER,    [NS_SHORT_INPUT] = CAUSE_IPC,
	[NS_SHORT_LOCK] = CAUSE_LOCK,      [NS_SHORT_DISK] = CAUSE_DISK,
	[NS_SHORT_URING] = CAUSE_URING,    [NS_SHORT_OTHER] = CAUSE_UNKNOWN,
	[NS_SHORT_REPLY] = CAUSE_PEER_APP, [NS_SHORT_DATAGRAM] = CAUSE_UDP,
	[NS_SHORT_NAME] = CAUSE_DNS,
};

static enum cause cause_of(const struct waker_chain *chain, const struct wait_view *view);

/* Of no kind that is counted by itself: for room in a pipe or a socket, for a child, for a
 * connection. */
static bool is_of_other_kind(const struct model *model, const struct wait_view *view)
{
	const char *call = syscall__name(model__session(model)->arch, view->wait->syscall);

	return call && strncmp(call, "read", 4) != 0 && !view->is_completion &&
	       (view->kind == WAIT_IPC || view->kind == WAIT_SEND || view->kind == WAIT_CHILD ||
		view->kind == WAIT_CONNECT);
}

/* What its waits of that kind were for that have a record: the short ones are for the same.
 * Unknown: there is none, or they differ. */
static enum cause cause_of_others(const struct waker_chain *chain)
{
	const struct model_thread *thread = model__thread(chain->model, chain->who.tid);
	enum cause all = CAUSE_UNKNOWN, cause;
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		const struct wait_view view = wait_view__of(chain->model, wait);

		if (!is_of_other_kind(chain->model, &view))
			continue;
		cause = cause_of(chain, &view);
		if (all != CAUSE_UNKNOWN && cause != all)
			return CAUSE_UNKNOWN;
		all = cause;
	}
	return all;
}

/* What a thread's short waits of a kind are for. */
static enum cause cause_of_shorts(struct waker_chain *chain, size_t kind, uint64_t ns)
{
	enum cause cause = cause_of_short[kind];

	if (kind != NS_SHORT_OTHER || !ns)
		return cause;
	cause = cause_of_others(chain);
	if (cause != CAUSE_UNKNOWN && ns >= model__threshold(chain->model)) {
		chain->out.confidence = CONFIDENCE_INFERRED;
		chain->out.inferred = INFERRED_FROM_WAITS_LIKE_THEM;
	}
	return cause;
}

static enum cause cause_of_held(const struct ns_exchange *exchange)
{
	return exchange->hold_reason == NS_HOLD_NAGLE && exchange->delack_ts
		       ? CAUSE_NAGLE_DELACK
		       : cause__of_hold(exchange->hold_reason);
}

/*
 * Nothing is known of what the thread did up to until. While it writes its request there was no
 * room for so long, in holds too short for incidents, that it cannot all be in the rest of it.
 */
static void spend_unseen(struct waker_chain *chain, uint64_t until, enum path_kind kind)
{
	const struct ns_exchange *written = chain->depth ? NULL : chain->written;
	uint64_t unseen = ns_passed(chain->at, until), rest, held = 0;

	if (written && cause__waits_for_reader(cause_of_held(written))) {
		rest = ns_passed(unseen, written->head.ts - written->begin_ts);
		held = ns_passed(rest, written->held_ns);
	}
	if (held) {
		chain->out.confidence = CONFIDENCE_INFERRED;
		chain->out.inferred = INFERRED_FROM_HOLDS_IN_SUM;
		spend(chain, clip(chain, chain->at + held, until), cause_of_held(written));
	}
	spend_as(chain, until, kind, CAUSE_UNKNOWN, 1);
}

/*
 * The time up to until, in which a thread had no wait of its own record. In which order it did what
 * was counted is not known; of what the sums do not account for nothing is known but that the
 * thread was not seen to wait. As much as a wait that has a record is nobody's: that may be lost.
 * Where they are of a longer time, each has its part of this one; but who waits for input has
 * nothing to do, so that lay in the rest of it as far as it could.
 */
static void spend_spent(struct waker_chain *chain, uint64_t until, const struct spent *spent)
{
	uint64_t counted = clip(chain, spent->runs_from, until), length = counted - chain->at;
	uint64_t input = spent->sums.short_us[NS_SHORT_INPUT] * 1000ull;
	uint64_t idle = spent->is_request ? 0 : input, busy = ns_passed(idle, spent->whole_ns);
	/* For input, at the least. */
	uint64_t here = min_u64(ns_passed(busy, length), idle);
	double part = busy ? (double)min_u64(length - here, busy) / (double)busy * 1000 : 0;
	uint64_t nobodys = ns_passed(spent->whole_ns, length);

	bool asks = input && spent__asks(chain->model, chain->who.tid, chain->at, counted);

	for (size_t i = 0; i < NS_SHORTS; i++) {
		uint64_t ns = i == NS_SHORT_INPUT && idle
				      ? here
				      : (uint64_t)(spent->sums.short_us[i] * part);

		spend_as(chain, clip(chain, chain->at + ns, counted), PATH_SHORTS,
			 asks && i == NS_SHORT_INPUT ? CAUSE_PEER_APP
						     : cause_of_shorts(chain, i, ns),
			 spent->sums.shorts[i]);
	}
	spend(chain, clip(chain, chain->at + (uint64_t)(spent->sums.ready_us * part), counted),
	      CAUSE_RUNQUEUE);
	if (nobodys >= model__threshold(chain->model) / 8)
		spend_unseen(chain, clip(chain, chain->at + nobodys, counted),
			     kind_of(CAUSE_UNKNOWN));
	spend(chain, until, CAUSE_SELF);
}

/* It looked for the answer when it was done with other things. */
static bool never_slept(const struct waker_chain *chain)
{
	const struct ns_exchange *asked = chain->reply ? chain->reply->asked : NULL;

	return asked && asked->head.tid == chain->who.tid && !asked->off_ts &&
	       chain->at >= asked->ready_ts;
}

/* Of a target's thread all that is longer has a record. */
static bool is_too_short_for_a_wait(const struct waker_chain *chain, uint64_t until)
{
	return model__is_target(chain->model, chain->who.pid) &&
	       until - chain->at < model__threshold(chain->model) / 8;
}

/* The side of the request that is walked on which the thread is. */
static const struct ns_exchange *request_at(const struct waker_chain *chain)
{
	const struct ns_exchange *served = chain->reply ? chain->reply->served : NULL;

	return served && served->head.tid == chain->who.tid ? served : chain->request;
}

/*
 * Between two waits the thread ran, or slept too shortly for records. While it takes in a long
 * request that means that it slept for each segment.
 */
static void spend_running(struct waker_chain *chain, const struct between *between, uint64_t until,
			  const struct level *level)
{
	const struct ns_wait *next = between->after;
	struct spent spent;

	if (until <= chain->at)
		return;
	if (level->serves && next && next->head.conn == level->serves &&
	    until - chain->at < model__threshold(chain->model) &&
	    (!level->sent_ts || chain->at < level->sent_ts)) {
		spend_on_request(chain, level->serves, until);
		return;
	}
	if (spent__find(chain->model, chain->who.tid, request_at(chain), between, chain->at, until,
			&spent))
		spend_spent(chain, until, &spent);
	else if (between->before || never_slept(chain) || is_too_short_for_a_wait(chain, until))
		spend(chain, until, CAUSE_SELF);
	else
		spend_unseen(chain, until, PATH_UNKNOWN);
}

static struct who who_is(const struct model *model, uint32_t tid)
{
	const struct model_thread *thread = model__thread(model, tid);

	return (struct who){
		.tid = tid, .pid = thread ? thread->tgid : 0, .comm = thread ? thread->comm : NULL};
}

/* A request is walked soon after its end, a wait when all of its chain is there. */
static uint64_t known_until(const struct waker_chain *chain)
{
	return chain->request ? chain->to + WALK_KNOWS_NS : UINT64_MAX;
}

/* A wait that is a stall of its own, where that is asked for. */
static bool is_left_out(const struct waker_chain *chain, const struct ns_wait *wait, uint64_t until)
{
	return chain->leaves_stalls && !chain->depth && wait->off_ts >= chain->at &&
	       wait->head.ts <= until &&
	       wait->head.ts - wait->off_ts >= model__threshold(chain->model);
}

/* No more waits are followed. */
static bool is_cut(struct waker_chain *chain)
{
	if (chain->explained < CHAIN_WAITS)
		return false;
	chain->cut += !chain->is_cut;
	chain->is_cut = true;
	return true;
}

/* What a thread did up to until: its waits, and between them it ran. */
static void explain_times(struct waker_chain *chain, uint32_t tid, uint64_t until,
			  const struct level *level)
{
	const struct model_thread *thread = model__thread(chain->model, tid);
	struct between between = {.known_until = known_until(chain)};
	struct who before = chain->who;
	const struct ns_wait *wait, *is_for;
	struct ns_wait whole;

	chain->who = who_is(chain->model, tid);
	for (size_t i = 0; chain->depth < CHAIN_DEPTH && (wait = model_thread__wait(thread, i));
	     i++) {
		if (wait->head.ts <= chain->at || is_visited(chain, wait)) {
			between.before = wait;
			continue;
		}
		between.after = wait;
		/* Waits of one thread that overlap, in a damaged recording, have no time left. */
		if (wait->off_ts >= until || chain->at >= until)
			break;
		if (is_cut(chain)) {
			spend(chain, until, CAUSE_UNKNOWN);
			break;
		}
		spend_running(chain, &between, clip(chain, wait->off_ts, until), level);
		is_for = wait;
		if (request__whole_wait(chain->model, chain->served, wait, &whole))
			is_for = wait = &whole;
		else if (chain->served &&
			 request__past_others(chain->model, chain->served, wait, &whole))
			is_for = &whole;
		if (is_left_out(chain, wait, until))
			chain->at = wait->head.ts;
		else
			explain_wait(chain, is_for, clip(chain, wait->head.ts, until));
		between.before = model_thread__wait(thread, i);
		between.after = NULL;
	}
	spend_running(chain, &between, until, level);
	chain->who = before;
}

/* Likewise at a level of its own, of another thread. On a request's path nobody is idle. */
static void explain_thread(struct waker_chain *chain, uint32_t tid, uint64_t until,
			   const struct level *level)
{
	bool was_due = chain->is_due;

	chain->levels[chain->depth] = *level;
	chain->levels[chain->depth].is_targets =
		model__is_target(chain->model, who_is(chain->model, tid).pid);
	chain->levels[chain->depth++].idle_stays &= !was_due;
	chain->is_due |= level->serves != 0;
	explain_times(chain, tid, until, level);
	spend(chain, until, level->cause);
	chain->is_due = was_due;
	chain->depth--;
}

/* Did the thread itself wait for less than half of the time up to until? */
static bool was_busy(const struct waker_chain *chain, uint32_t tid, uint64_t until)
{
	const struct model_thread *thread = model__thread(chain->model, tid);
	const struct ns_wait *wait;
	uint64_t ns = 0;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++)
		ns += wait__overlap(wait, chain->at, until);
	return 2 * ns < until - chain->at;
}

/* No wake was seen, which is rather a time-out's than another thread's. */
static bool is_open_ended(const struct ns_wait *wait, const struct level *level)
{
	return level->cause == CAUSE_LOCK && !wait->wake_ts;
}

/* For half of the time at least: a thread that was made for the request need not have slept. */
static bool was_watched(const struct waker_chain *chain, const struct answerer *by)
{
	const struct between any = {.known_until = known_until(chain)};
	uint64_t from = by->ts > chain->at ? chain->at + (by->ts - chain->at) / 2 : by->ts;
	struct spent spent;

	return answerer__was_watched(chain->model, by) ||
	       spent__find(chain->model, by->tid, NULL, &any, from, by->ts, &spent);
}

static const struct level *level_of_message(const struct ns_wait *wait)
{
	return socket_wait__cause(wait, CAUSE_IPC) == CAUSE_DNS ? &level_name_service
								: &level_message;
}

/* Another thread was to end it: by unlocking, signalling, writing to a pipe. */
static void explain_waker(struct waker_chain *chain, const struct wait_view *view, uint64_t until,
			  const struct level *level)
{
	const struct ns_wait *wait = view->wait;

	switch (view->waker) {
	case WAKER_TASK:
		if (wait->waker_tgid != wait->head.tgid &&
		    !was_watched(chain, &(struct answerer){wait->waker_tid, until}))
			missing(chain, MISSING_THE_WAKERS_WAIT);
		explain_thread(chain, wait->waker_tid, until, level);
		break;
	case WAKER_TIMER:
		/* Nobody came within the time that it had given itself. */
		spend(chain, until, CAUSE_TIMER);
		break;
	case WAKER_UNSEEN:
		missing(chain, MISSING_WAKER);
		spend(chain, until, is_open_ended(wait, level) ? CAUSE_UNKNOWN : level->cause);
		break;
	default:
		spend(chain, until, level->cause);
		break;
	}
}

/*
 * Its call's time-out ended the wait: a server's, between requests, is nobody's affair, nor that of
 * a master which looks after its workers.
 */
static bool is_own_time_out(const struct waker_chain *chain, const struct wait_view *view)
{
	uint32_t tgid = view->wait->head.tgid;

	return view->waker == WAKER_TIMER &&
	       (chain->is_due || (!pending_reply__is_server(chain->model, tgid) &&
				  !model__owned(chain->model, tgid).workers));
}

/* One descriptor is rather somebody's who asks there, perhaps with a lock in his hand. */
static bool is_event_loop(const struct model *model, const struct ns_wait *wait)
{
	const char *arch = model__session(model)->arch, *call = syscall__name(arch, wait->syscall);

	if (!call || syscall__is_epoll(arch, wait->syscall))
		return call != NULL;
	return (!strcmp(call, "poll") || !strcmp(call, "ppoll")) && wait->arg1 > 1;
}

/*
 * Nobody holds a lock while his event loop waits for its next timer: such a loop signals. Whoever
 * was to be signalled (the other threads of an asynchronous run time, as tokio's) had asked for it.
 */
static void spend_time_out(struct waker_chain *chain, const struct ns_wait *wait, uint64_t until)
{
	chain->is_loops_clock = is_event_loop(chain->model, wait);
	spend(chain, until, CAUSE_TIMER);
	chain->is_loops_clock = false;
}

/*
 * A condition or a semaphore holds a thread up when somebody who should signal it is late,
 * and keeps a worker without work asleep as well. It is the latter when whoever signals
 * was not waiting itself: work came when it came; and when nobody had come until the process was
 * killed.
 */
static void explain_signal(struct waker_chain *chain, const struct wait_view *view, uint64_t until)
{
	bool is_due = chain->is_due || pending_reply__due_here(chain->model, view->wait);

	if (!is_due && (view->is_by_signal || (view->waker == WAKER_TASK &&
					       was_busy(chain, view->wait->waker_tid, until))))
		spend(chain, until, CAUSE_IDLE);
	else
		explain_waker(chain, view, until, &level_signal);
}

/*
 * A kernel thread of io_uring's that had nothing to do: nobody was held up. For who waits for it
 * the thread that gave it something to do is the one that was to come.
 */
static void explain_work(struct waker_chain *chain, const struct wait_view *view, uint64_t until)
{
	if (chain->depth)
		explain_waker(chain, view, until, &level_message);
	else
		spend(chain, until, CAUSE_IDLE);
}

/*
 * A parent waits as long as its child lives: that the child lives is no stall, and what a child
 * that is a target waits for is reported of itself. Where the parent was to answer, it was late.
 */
static void explain_child(struct waker_chain *chain, const struct wait_view *view, uint64_t until)
{
	const struct ns_wait *wait = view->wait;
	struct level level = level_message;

	if (!chain->depth && !chain->is_due && view->waker == WAKER_TASK &&
	    wait->waker_tgid != wait->head.tgid && model__is_target(chain->model, wait->waker_tgid))
		level.cause = CAUSE_IDLE;
	explain_waker(chain, view, until, &level);
}

/* ---- the other end of a connection ---- */

/*
 * The other end is on another host. The least round trip of this connection is what the path
 * takes when nothing is wrong; what is left is the program's, or that of a path that had a
 * bad moment, which looks the same from this end.
 */
static void spend_on_remote(struct waker_chain *chain, const struct model_conn *conn,
			    const struct ns_wait *wait, uint64_t until)
{
	uint64_t way, length = until - chain->at;
	uint32_t rtt_us = wait->min_rtt_us;

	if (!rtt_us && conn) /* a request may outlive what is known of its connection */
		rtt_us = conn->totals.min_rtt_us;
	if (!rtt_us || rtt_us == UNKNOWN_RTT) {
		missing(chain, MISSING_ROUND_TRIP);
		spend(chain, until, CAUSE_UNKNOWN);
		return;
	}
	chain->out.confidence = CONFIDENCE_INFERRED;
	chain->out.inferred = INFERRED_FROM_BEYOND_ROUND_TRIP;
	way = 1000ull * rtt_us;
	if (way > length)
		way = length;
	spend(chain, chain->at + way / 2, CAUSE_NETWORK);
	spend(chain, until - (way - way / 2), conn__answer_cause(conn));
	spend(chain, until, CAUSE_NETWORK);
}

/*
 * The other end as its own record of the request has it: the way there, the bytes that lay unread
 * while the thread did something else, the wait for a CPU, the work.
 */
static void explain_served(struct waker_chain *chain, const struct ns_exchange *asked,
			   const struct ns_exchange *served, uint64_t until)
{
	struct level level = {
		.cause = conn__answer_cause(model__conn(chain->model, asked->head.conn)),
		.runqueue_stays = true,
		.serves = served->head.conn,
		.sent_ts = asked->ready_ts};
	const struct answerer by = {served->head.tid, served->head.ts};
	const struct ns_exchange *before = chain->served;
	const struct ns_wait *reading = answerer__reading(
		chain->model, &by, served->head.conn, asked->head.tid, asked->ready_ts, chain->at);
	uint64_t arrived = served->arrived_ts ? served->arrived_ts : served->begin_ts;
	/* It had come by then, unless the client wrote later. */
	bool was_queued = chain->at == request__accepted(request__queued(chain->model, asked));
	/* TCP may have looked at its clock again since it arrived: half of the least round trip. */
	uint64_t way = asked->min_rtt_us == UNKNOWN_RTT ? 0 : 500ull * asked->min_rtt_us;

	if (until > served->head.ts)
		until = served->head.ts;
	chain->served = served;
	if (was_queued)
		arrived = chain->at;
	else if (reading)
		arrived = wait__woken(reading);
	else if (served->begin_ts < served->ready_ts && request__was_awaited(chain->model, served))
		arrived = served->begin_ts;
	else if (arrived > chain->at + way + WAIT_AT_ONCE_NS)
		arrived = chain->at + way;
	/* Threads that share a connection write when they like: until then nobody was to answer. */
	if (asked->ready_ts > chain->at)
		spend(chain, clip(chain, asked->ready_ts, until), CAUSE_IDLE);
	spend(chain, clip(chain, arrived, until), CAUSE_NETWORK);
	if (reading && !was_queued)
		spend(chain, clip(chain, reading->head.ts, until), CAUSE_RUNQUEUE);
	if (served->begin_ts > chain->at) {
		chain->is_unread = true;
		explain_thread(chain, served->head.tid, clip(chain, served->begin_ts, until),
			       &level);
		chain->is_unread = false;
	}
	spend(chain, clip(chain, served->ready_ts, until), CAUSE_RUNQUEUE);
	if (!was_watched(chain, &by))
		missing(chain, MISSING_PEER_THREAD);
	explain_thread(chain, served->head.tid, until, &level);
	chain->served = before;
}

/*
 * The connection lay in the listen queue, and its request with it, when what ends the handshake had
 * come there. Meanwhile the thread that was to accept it did something else.
 */
static void explain_queued(struct waker_chain *chain, const struct ns_exchange *exchange,
			   uint64_t until)
{
	const struct level level = {.cause = CAUSE_ACCEPT_QUEUE};
	struct path_part part = {.kind = PATH_BLOCKED,
				 .cause = CAUSE_ACCEPT_QUEUE,
				 .conn = exchange->head.conn,
				 .syscall = NS_SYSCALL_NONE,
				 .count = 1};
	uint64_t accepted = clip(chain, request__accepted(exchange), until);

	if (!exchange->queued_ts || accepted <= chain->at)
		return;
	spend(chain, clip(chain, exchange->queued_ts, accepted), CAUSE_NETWORK);
	chain->out.confidence = CONFIDENCE_INFERRED;
	chain->out.inferred = INFERRED_FROM_SOCKET;
	open_part(chain, &part);
	if (exchange->accept_tid)
		explain_thread(chain, exchange->accept_tid, accepted, &level);
	else
		spend(chain, accepted, CAUSE_ACCEPT_QUEUE);
	chain->open_count--;
}

/* Nothing of either end is held: the request went out, was worked on, and answered. */
static void explain_peer(struct waker_chain *chain, const struct ns_wait *wait, uint64_t until)
{
	const struct model_conn *conn = model__conn(chain->model, wait->head.conn);
	const struct model_conn *peer = model__peer(chain->model, conn);
	uint64_t requested = pending_reply__requested_at(chain->model, wait);
	const struct ns_exchange *asked, *served;
	const struct ns_wait *reading;
	uint64_t answered = until;
	struct answerer by;

	if (!peer || !peer->id.head.type) {
		spend_on_remote(chain, conn, wait, until);
		return;
	}
	if (chain->reply && !chain->depth) {
		asked = chain->reply->asked;
		served = chain->reply->served;
	} else {
		asked = request__awaited(chain->model, wait, conn->number);
		served = asked ? model__served_side(chain->model, asked) : NULL;
	}
	if (asked)
		explain_queued(chain, request__queued(chain->model, asked), until);
	if (served && served->ready_ts) {
		explain_served(chain, asked, served, until);
		if (served->held_ns)
			spend(chain, clip(chain, served->head.ts + served->held_ns, until),
			      cause_of_held(served));
		spend(chain, until, CAUSE_NETWORK);
		return;
	}
	if (served)
		answered = clip(chain, exchange__first_write(served), until);
	by = answerer__find(chain->model, wait, peer, chain->at, answered);
	reading = answerer__reading(chain->model, &by, peer->number, wait->head.tid,
				    requested ? requested : chain->at, chain->at);
	if (reading) {
		spend(chain, clip(chain, wait__woken(reading), by.ts), CAUSE_NETWORK);
		spend(chain, clip(chain, reading->head.ts, by.ts), CAUSE_RUNQUEUE);
	}
	if (!by.tid) {
		missing(chain, wait->ended == NS_WAIT_LASTS    ? MISSING_END_WINDOW
			       : wait->ended == NS_WAIT_KILLED ? MISSING_END_PROCESS
							       : MISSING_ANSWERING_THREAD);
		spend(chain, by.ts, conn__answer_cause(conn));
	} else {
		if (!was_watched(chain, &by))
			missing(chain, MISSING_PEER_THREAD);
		explain_thread(chain, by.tid, by.ts,
			       &(struct level){.cause = conn__answer_cause(conn),
					       .runqueue_stays = true,
					       .serves = peer->number,
					       .sent_ts = requested});
	}
	spend(chain, until, CAUSE_NETWORK);
}

/* So much of what the request's incidents on its connection tell was held. */
static uint64_t held_in_incidents(const struct waker_chain *chain, const struct ns_exchange *asked)
{
	const struct interval *interval;
	uint64_t held = 0;
	size_t cursor = 0;

	while ((interval = intervals__next(chain->intervals, &cursor))) {
		if (interval->span.conn != asked->head.conn ||
		    interval->span.end_ts <= asked->begin_ts ||
		    interval->span.start_ts >= asked->head.ts)
			continue;
		for (size_t i = 0; i < interval->slice_count; i++)
			held += kind_of(interval->slices[i].cause) == PATH_HELD
					? interval->slices[i].ns
					: 0;
	}
	return held;
}

/*
 * The request's own record has the sum of all that was held of it: what its incidents do not
 * account for came behind the last of them, in holds too short for incidents.
 */
static void spend_rest_of_hold(struct waker_chain *chain, const struct interval *last,
			       uint64_t until)
{
	const struct ns_exchange *asked = chain->reply ? chain->reply->asked : NULL;
	uint64_t start, held;

	if (!chain->request || !asked || chain->depth || asked->head.conn != last->span.conn ||
	    next_interval(chain, last->span.conn, until, &start))
		return;
	held = ns_passed(held_in_incidents(chain, asked), asked->held_ns);
	spend(chain, clip(chain, chain->at + held, until), last->cause);
}

/* Bytes were to come from the other end: incidents on the connection, and between them the peer. */
static void explain_reply(struct waker_chain *chain, const struct ns_wait *wait, uint64_t until)
{
	while (chain->at < until) {
		uint64_t start;
		struct interval *interval = next_interval(chain, wait->head.conn, until, &start);

		if (start > chain->at)
			explain_peer(chain, wait, start);
		if (interval) {
			spend_interval(chain, interval, until);
			spend_rest_of_hold(chain, interval, until);
		}
	}
}

/*
 * An answer was due on a socket that is no TCP connection. Its sender is the thread that woke this
 * one, where it is on this host; else nothing but the time until it came is known.
 */
static void explain_answer(struct waker_chain *chain, const struct wait_view *view, uint64_t until,
			   enum cause cause)
{
	const struct level level = {.cause = cause, .runqueue_stays = true};
	const struct ns_wait *wait = view->wait;
	bool was_due = chain->is_due;

	if (wait->socket.asked_ts > chain->at) /* by another thread, or through a ring */
		spend(chain, clip(chain, wait->socket.asked_ts, until), CAUSE_IDLE);
	if (view->waker == WAKER_TASK && wait->waker_tid != wait->head.tid) {
		chain->is_due = true;
		explain_waker(chain, view, until, &level);
		chain->is_due = was_due;
	} else if (view->waker != WAKER_TIMER) {
		chain->out.confidence = CONFIDENCE_INFERRED;
		chain->out.inferred = INFERRED_FROM_OWN_END;
	}
	spend(chain, until, cause);
}

/* On loopback who sends wakes: a thread of another process that is known. */
static bool is_from_another(const struct model *model, const struct ns_wait *wait)
{
	const struct model_thread *sender = model__thread(model, wait->waker_tid);

	return sender && sender->tgid && sender->tgid != wait->head.tgid;
}

/* A thread that asks others waits for one of its own process that does something for it first. */
static bool is_for_own_worker(const struct waker_chain *chain, const struct wait_view *view,
			      uint64_t until)
{
	const struct ns_wait *wait = view->wait;
	const struct model_process *process = model__process(chain->model, wait->head.tgid);
	const struct model_thread *thread = model__thread(chain->model, wait->head.tid);

	return view->waker == WAKER_TASK && wait->waker_tgid == wait->head.tgid && thread &&
	       thread->asks && process && !process->serves &&
	       !was_busy(chain, wait->waker_tid, until);
}

/* Neither its wake nor its return was seen, as a segment's would have been. */
static bool is_bound(const struct wait_view *view)
{
	return view->waker == WAKER_UNSEEN && view->wait->ended == NS_WAIT_BOUND;
}

/*
 * Data of one socket, or an event of one of several. Without a pending reply it is the idle
 * wait of a server, a time-out that the program set itself, or another thread's message.
 */
static void explain_receive(struct waker_chain *chain, const struct wait_view *view, uint64_t until)
{
	const struct model *model = chain->model;
	const struct ns_wait *wait = view->wait;
	const struct level *level = chain->depth ? &chain->levels[chain->depth - 1] : NULL;
	uint32_t serves = level ? level->serves : 0;
	const struct ns_exchange *asked;
	bool was_due = chain->is_due;
	enum by_others by_others = was_due && chain->served
					   ? request__by_others(model, chain->served, wait)
					   : BY_OTHERS_NOT;

	if (socket_wait__awaits_datagram(wait)) {
		explain_answer(chain, view, until, socket_wait__cause(wait, CAUSE_UDP));
	} else if (socket_wait__awaits_message(model, wait) && view->waker == WAKER_TASK) {
		explain_waker(chain, view, until, level_of_message(wait));
	} else if (serves && wait->head.conn == serves && view->waker == WAKER_TIMER) {
		spend(chain, until, CAUSE_TIMER); /* the request came, and did not wake it */
	} else if (serves && wait->head.conn == serves &&
		   (!level->sent_ts || wait->off_ts < level->sent_ts)) {
		spend_on_request(chain, serves, until);
	} else if (view->waker == WAKER_ROOM && view->kind == WAIT_RECEIVE) {
		/* Another thread writes there, and nothing came: perhaps no reply is pending. */
		spend_on_conn(chain, wait->head.conn, until, CAUSE_IDLE);
	} else if (view->waker == WAKER_ROOM && (chain->is_asking || chain->written)) {
		spend_on_conn(chain, wait->head.conn, until, CAUSE_SNDBUF);
	} else if (!level && chain->is_asking && (view->waker == WAKER_TIMER || is_bound(view))) {
		spend(chain, until, CAUSE_TIMER); /* its own time-out let it go on */
	} else if (pending_reply__awaited(model, wait)) {
		/* It waited for anything there, until another thread asked. */
		if (wait->turn_ts > chain->at)
			spend(chain, clip(chain, wait->turn_ts, until), CAUSE_IDLE);
		explain_reply(chain, wait, until);
	} else if ((asked = request__awaited(model, wait, 0)) && asked->head.conn != serves) {
		struct ns_wait seen = *wait; /* what came of it says what it was for */

		seen.head.conn = asked->head.conn;
		explain_reply(chain, &seen, until);
	} else if (!chain->depth && !was_due && socket_wait__is_for_request(wait)) {
		spend(chain, until, CAUSE_IDLE);
	} else if (is_own_time_out(chain, view)) {
		spend_time_out(chain, wait, until);
	} else if (is_for_own_worker(chain, view, until)) {
		explain_waker(chain, view, until, &level_worker);
	} else if (view->waker == WAKER_TASK && (was_due || pending_reply__due_here(model, wait))) {
		chain->is_due = true;
		explain_waker(chain, view, until, &level_message);
		chain->is_due = was_due;
	} else if (by_others == BY_OTHERS_AND_CLOCK) {
		spend_time_out(chain, wait, until);
	} else if (by_others == BY_OTHERS_PERHAPS) {
		spend_as(chain, until, PATH_UNKNOWN, CAUSE_UNKNOWN, 1);
	} else if (was_due && is_from_another(model, wait)) {
		/* It can answer one only when another one has asked: a queue, a lock between
		 * clients. Whoever waits for this thread is not that one's peer. */
		explain_thread(chain, wait->waker_tid, until,
			       &(struct level){.cause = level ? CAUSE_IDLE : CAUSE_PEER_APP});
	} else {
		spend_on_conn(chain, wait->head.conn, until, CAUSE_IDLE);
	}
}

/* ---- one wait ---- */

/* What a wait of a kind is by itself, before what ended it is known. */
static const enum cause causes[] = {
	[WAIT_UNKNOWN] = CAUSE_UNKNOWN,
	[WAIT_PREEMPTED] = CAUSE_RUNQUEUE,
	[WAIT_STOPPED] = CAUSE_STOPPED,
	[WAIT_RECEIVE] = CAUSE_IDLE, /* a pending reply: the peer's */
	[WAIT_SEND] = CAUSE_SNDBUF,
	[WAIT_CONNECT] = CAUSE_NETWORK,
	[WAIT_ACCEPT] = CAUSE_IDLE,
	[WAIT_MANY] = CAUSE_IDLE, /* likewise */
	[WAIT_URING] = CAUSE_URING,
	[WAIT_MUTEX] = CAUSE_LOCK,
	[WAIT_SIGNAL] = CAUSE_LOCK,
	[WAIT_IPC] = CAUSE_IPC,
	[WAIT_CHILD] = CAUSE_IPC,
	[WAIT_DISK] = CAUSE_DISK,
	[WAIT_SLEEP] = CAUSE_TIMER,
	[WAIT_PAUSE] = CAUSE_IDLE,
	[WAIT_WORK] = CAUSE_IDLE,
	[WAIT_MEMORY] = CAUSE_MEMORY,
};

static enum stall_missing missing_of(const struct waker_chain *chain, const struct wait_view *view)
{
	switch (view->kind) {
	case WAIT_STOPPED:
		/* Who let it go on is rather who stopped it than nobody. */
		return view->waker == WAKER_TASK ? MISSING_NOTHING : MISSING_STOPPER;
	case WAIT_UNKNOWN:
		return MISSING_WHAT_IT_WAITED_FOR;
	case WAIT_URING:
		if (uring_wait__has_operation(view->wait))
			return MISSING_WHAT_RING_WAITED_FOR;
		return model__sees(chain->model, NS_FACT_URING_COURSE) ? MISSING_OPERATION
								       : MISSING_OPERATION_HIDDEN;
	default:
		return MISSING_NOTHING;
	}
}

/* What the wait was for, up to until, without what came before its operation. */
static void explain_sleep(struct waker_chain *chain, const struct wait_view *view, uint64_t until)
{
	missing(chain, missing_of(chain, view));
	switch (view->kind) {
	case WAIT_RECEIVE:
	case WAIT_MANY:
		explain_receive(chain, view, until);
		break;
	case WAIT_SEND:
	case WAIT_CONNECT:
		spend_on_conn(chain, view->wait->head.conn, until, causes[view->kind]);
		break;
	case WAIT_WORK:
		explain_work(chain, view, until);
		break;
	case WAIT_MUTEX:
		explain_waker(chain, view, until, &level_lock);
		break;
	case WAIT_SIGNAL:
		explain_signal(chain, view, until);
		break;
	case WAIT_IPC:
		if (socket__is_unfollowed(&view->wait->socket) ||
		    (!chain->depth && !chain->is_due && socket_wait__is_for_request(view->wait)))
			spend(chain, until, CAUSE_IDLE); /* of the first what goes on is not seen */
		else
			explain_waker(chain, view, until, level_of_message(view->wait));
		break;
	case WAIT_CHILD:
		explain_child(chain, view, until);
		break;
	case WAIT_SLEEP:
		if (wait_view__is_cut_short(view))
			explain_waker(chain, view, until, &level_message);
		else
			spend(chain, until, causes[view->kind]);
		break;
	default:
		spend(chain, until, causes[view->kind]);
		break;
	}
}

/* ---- completions of io_uring ---- */

static bool by_submission_thread(const struct waker_chain *chain, const struct ns_wait *wait)
{
	const struct model_ring *ring = model__ring(chain->model, wait->ring);

	return ring && wait->op_tid && ring->id.sq_tid == wait->op_tid;
}

/* A thread of the ring's should come by itself, and does the operation as soon as it does. */
static void explain_ring_thread(struct waker_chain *chain, uint32_t tid, uint64_t until,
				enum stall_missing what_kept_it)
{
	uint64_t begin = chain->at, before = chain->out.ns[CAUSE_URING];

	explain_thread(chain, tid, until, &level_ring);
	if (2 * (chain->out.ns[CAUSE_URING] - before) > until - begin)
		missing(chain, what_kept_it);
}

/*
 * Until it was submitted the operation did not exist: who waits for completions of a ring waits
 * for the thread that submits there.
 */
static void explain_submission(struct waker_chain *chain, const struct ns_wait *wait,
			       uint64_t until)
{
	if (until <= chain->at || !wait->op_tid || wait->op_tid == wait->head.tid)
		return;
	if (by_submission_thread(chain, wait))
		explain_ring_thread(chain, wait->op_tid, until, MISSING_SQPOLL_WAIT);
	else if (was_busy(chain, wait->op_tid, until))
		spend(chain, until, CAUSE_IDLE);
	else
		explain_thread(chain, wait->op_tid, until, &level_signal);
}

static bool is_by_worker(const struct ns_wait *wait)
{
	return wait->op_how == NS_URING_WORKER && wait->op_by_tid &&
	       wait->op_by_tid != wait->head.tid && wait->op_by_tid != wait->op_tid;
}

/*
 * The worker waited last for work, or for a CPU: for nothing that the operation needs. One that did
 * not wait at all, as a new one, has not waited for room either.
 */
static bool worker_came_late(const struct waker_chain *chain, const struct wait_view *view,
			     uint64_t until)
{
	const struct model_thread *thread = model__thread(chain->model, view->wait->op_by_tid);
	const struct ns_wait *wait, *last = NULL;
	enum wait_kind kind;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++) {
		if (wait->head.ts > chain->at && wait->head.ts <= until)
			last = wait;
	}
	if (!last)
		return view->kind == WAIT_SEND;
	kind = wait_view__of(chain->model, last).kind;
	return kind == WAIT_WORK || kind == WAIT_PREEMPTED;
}

/* The wait with who brought the operation about as its waker. */
static struct ns_wait by_operation(const struct waker_chain *chain, const struct ns_wait *wait)
{
	uint32_t tid = uring_wait__done_by(wait);
	const struct model_thread *thread = model__thread(chain->model, tid);
	struct ns_wait seen = *wait;

	seen.waker_tid = tid;
	if (tid != wait->waker_tid && thread)
		seen.waker_tgid = thread->tgid;
	return seen;
}

/* The operation itself, since it began. */
static void explain_operation(struct waker_chain *chain, const struct wait_view *view,
			      const struct ns_uring *done, uint64_t until)
{
	const struct ns_wait *wait = view->wait, seen = by_operation(chain, wait);
	struct wait_view seen_view;

	/* Done as it came to it: whatever the operation needs was there before, but not that
	 * thread. */
	if (wait->op_how == NS_URING_INLINE && by_submission_thread(chain, wait)) {
		explain_ring_thread(chain, wait->op_tid, until, MISSING_SQPOLL_WAIT);
		return;
	}
	if (is_by_worker(wait) && wait_kind__is_socket(view->kind) &&
	    worker_came_late(chain, view, until)) {
		explain_ring_thread(chain, wait->op_by_tid, until, MISSING_RING_WORKER_WAIT);
		return;
	}
	/* A worker thread (io-wq) did it: what that one waited for. */
	if (is_by_worker(wait) && view->kind == WAIT_DISK)
		explain_thread(chain, wait->op_by_tid, until,
			       &(struct level){.cause = CAUSE_DISK, .runqueue_stays = true});
	else if (is_by_worker(wait) && view->kind == WAIT_IPC)
		explain_thread(chain, wait->op_by_tid, until,
			       &(struct level){.cause = CAUSE_IPC,
					       .idle_stays = true,
					       .runqueue_stays = true});
	/* A server's clock, between requests. */
	else if (view->kind == WAIT_SLEEP && !chain->depth && !is_own_time_out(chain, view))
		spend(chain, until, CAUSE_IDLE);
	/* Of a zero-copy send the bytes have gone, and are acknowledged last. */
	else if (view->kind == WAIT_SEND && done && done->cqe_flags & NS_CQE_NOTIF)
		spend_on_conn(chain, wait->head.conn, until, CAUSE_NETWORK);
	if (chain->at >= until)
		return;
	seen_view = wait_view__of(chain->model, &seen);
	explain_sleep(chain, &seen_view, until);
}

/* First its submission, then the operation that it is linked to, then the operation itself. */
static void explain_completion(struct waker_chain *chain, const struct wait_view *view,
			       uint64_t until)
{
	const struct ns_wait *wait = view->wait;
	const struct ns_uring *done = uring_wait__completion(chain->model, wait);
	const struct ns_uring *before = done ? uring_wait__before(chain->model, done) : NULL;

	if (wait->op_submit_ts)
		explain_submission(chain, wait, clip(chain, wait->op_submit_ts, until));
	if (before && before->head.ts > chain->at && chain->linked_ops < LINKED_OPS) {
		struct ns_wait first = uring_wait__as_if(wait, before);
		struct wait_view first_view = wait_view__of(chain->model, &first);

		chain->linked_ops++;
		explain_completion(chain, &first_view, clip(chain, before->head.ts, until));
		chain->linked_ops--;
	}
	explain_operation(chain, view, done, until);
}

/* ---- the way in ---- */

/* For most of it. */
static bool is_throttled(const struct model *model, const struct ns_wait *wait)
{
	const struct ns_throttle *throttle = model_thread__throttle(
		model__thread(model, wait->head.tid), wait->off_ts, wait->head.ts);

	return throttle &&
	       2 * (throttle->head.ts - throttle->since_ts) >= wait->head.ts - wait->off_ts;
}

/* What a link is by itself, before what it waited for is known. */
static enum cause cause_of(const struct waker_chain *chain, const struct wait_view *view)
{
	const struct model *model = chain->model;

	if (view->kind == WAIT_PREEMPTED && is_throttled(model, view->wait))
		return CAUSE_THROTTLED;
	if (view->kind == WAIT_RECEIVE || view->kind == WAIT_MANY) {
		if (socket_wait__awaits_datagram(view->wait))
			return socket_wait__cause(view->wait, CAUSE_UDP);
		if (pending_reply__awaited(model, view->wait))
			return conn__answer_cause(model__conn(model, view->wait->head.conn));
		if (is_own_time_out(chain, view) && !request__awaited(model, view->wait, 0))
			return CAUSE_TIMER;
	}
	if ((view->kind == WAIT_MUTEX || view->kind == WAIT_SIGNAL) && view->waker == WAKER_TIMER)
		return CAUSE_TIMER;
	if (wait_view__is_cut_short(view))
		return CAUSE_IPC;
	return view->kind == WAIT_IPC ? level_of_message(view->wait)->cause : causes[view->kind];
}

/*
 * One link a level: of several waits there, the one that took longest, with what is below
 * it. Returns whether this wait is it.
 */
static bool link_up(struct waker_chain *chain, const struct wait_view *view, uint64_t until)
{
	const struct ns_wait *wait = view->wait;
	struct attribution *out = &chain->out;
	struct stall_link *link = &out->links[chain->depth];

	if (!chain->linked || chain->depth > out->link_count)
		return false;
	if (chain->depth < out->link_count && link->end_ts - link->start_ts >= until - chain->at)
		return false;
	out->link_count = chain->depth + 1;
	*link = (struct stall_link){
		.cause = cause_of(chain, view),
		.start_ts = chain->at,
		.end_ts = until,
		.wait = *wait,
	};
	if (view->kind == WAIT_STOPPED) {
		link->wait.state = NS_STATE_STOPPED; /* frozen in a sleep, it may look asleep */
		link->wait.syscall = NS_SYSCALL_NONE;
	}
	return true;
}

/* Who ended it by writing to its connection, as far as nobody watches that one's process. */
static void name_stranger(const struct waker_chain *chain, const struct wait_view *view,
			  struct path_part *part)
{
	const struct ns_wait *wait = view->wait;
	struct wake_judged judged;

	if (view->waker != WAKER_NETWORK || !wait->waker_tid ||
	    !model__stack(chain->model, wait->waker_stack_id) ||
	    model__process(chain->model, wait->waker_tgid))
		return;
	wait__judge_wake(chain->model, wait, &judged);
	if (judged.kind != WAKER_IS_THREAD)
		return;
	part->waker_tid = wait->waker_tid;
	memcpy(part->waker_comm, wait->waker_comm, sizeof(part->waker_comm));
}

/* It sleeps on: in the same call, on the same lock or condition variable, having done next to
 * nothing. */
static bool is_tried_again(const struct ns_wait *wait, const struct ns_wait *next,
			   uint64_t ready_ts)
{
	return next->syscall == wait->syscall && wait__is_one_lock(wait->arg0, next->arg0) &&
	       next->off_ts <= ready_ts + AGAIN_NS;
}

/*
 * Who looks each few milliseconds whether he has the lock waits for who lets go of it in the end
 * (CPython's interpreter lock).
 */
static void look_who_lets_go(struct waker_chain *chain, struct ns_wait *wait,
			     struct wait_view *view)
{
	const struct model *model = chain->model;
	const struct model_thread *thread = model__thread(model, wait->head.tid);
	uint64_t ready_ts = wait->head.ts;
	const struct ns_wait *next;
	enum waker waker;

	if ((view->kind != WAIT_MUTEX && view->kind != WAIT_SIGNAL) || view->waker != WAKER_TIMER)
		return;
	for (size_t i = 0; (next = model_thread__wait(thread, i)); i++) {
		if (next->off_ts <= wait->off_ts)
			continue;
		if (next->head.ts > chain->to) /* it may not have come yet */
			return;
		waker = next->state ? wait_view__of(model, next).waker : WAKER_TIMER;
		if (next->state && !is_tried_again(wait, next, ready_ts))
			return;
		if (waker != WAKER_TIMER)
			break;
		ready_ts = next->head.ts;
	}
	if (!next || waker != WAKER_TASK)
		return;
	wait->waker_tgid = next->waker_tgid;
	wait->waker_tid = next->waker_tid;
	wait->waker_stack_id = next->waker_stack_id;
	memcpy(wait->waker_comm, next->waker_comm, sizeof(wait->waker_comm));
	view->waker = WAKER_TASK;
	chain->out.tried_again = true;
}

/* Explain the wait from where the chain is up to until, which the wait reaches. */
static void explain_wait(struct waker_chain *chain, const struct ns_wait *recorded, uint64_t until)
{
	bool was_linked = chain->linked;
	uint64_t woken = wait__woken(recorded);
	struct ns_wait wait = *recorded;
	struct who before = chain->who;
	struct path_part part;
	struct wait_view view;

	chain->explained++;
	uring_wait__fill_in(chain->model, &wait);
	view = wait_view__of(chain->model, &wait);
	look_who_lets_go(chain, &wait, &view);
	chain->who = (struct who){wait.head.tgid, wait.head.tid, wait.comm};
	if (wait.state) {
		part = part_of(chain, PATH_BLOCKED, cause_of(chain, &view));
		/* What is stopped is so in any call, and waits for none. */
		if (view.kind != WAIT_STOPPED) {
			part.conn = wait.head.conn;
			part.syscall = wait.syscall;
		}
		name_stranger(chain, &view, &part);
		open_part(chain, &part);
	}
	chain->linked = link_up(chain, &view, until);
	chain->visited[chain->visited_count].tid = wait.head.tid;
	chain->visited[chain->visited_count++].off_ts = wait.off_ts;
	if (wait.state && view.is_completion && uring_wait__has_operation(&wait))
		explain_completion(chain, &view, clip(chain, woken, until));
	else if (wait.state)
		explain_sleep(chain, &view, clip(chain, woken, until));
	chain->visited_count--;
	chain->linked = was_linked;
	chain->open_count -= wait.state != 0;
	spend_ready(chain, until);
	chain->who = before;
}

uint64_t waker_chain__cut(const struct waker_chain *chain)
{
	return chain->cut;
}

static void begin(struct waker_chain *chain, uint32_t tid, uint64_t from, uint64_t to)
{
	struct path_part whole;

	attribution__clear(&chain->out);
	chain->out.from_ts = chain->at = from;
	chain->to = to;
	chain->linked = true;
	chain->open_count = 0;
	chain->explained = 0;
	chain->is_cut = false;
	chain->is_due = chain->is_asking = chain->leaves_stalls = false;
	chain->request = NULL;
	chain->reply = NULL;
	chain->served = NULL;
	chain->written = NULL;
	chain->who = who_is(chain->model, tid);
	whole = part_of(chain, PATH_BLOCKED, CAUSE_UNKNOWN);
	chain->out.path.parts[chain->out.path.count++] = whole;
}

const struct attribution *waker_chain__explain(struct waker_chain *chain,
					       const struct ns_wait *wait,
					       const struct request_place *place, uint64_t from,
					       uint64_t to)
{
	struct ns_wait whole;

	begin(chain, wait->head.tid, from, to);
	chain->served = place->served;
	chain->is_due = place->served != NULL;
	chain->is_asking = place->is_written;
	if (place->served && request__past_others(chain->model, place->served, wait, &whole))
		wait = &whole;
	explain_wait(chain, wait, to);
	spend(chain, to, CAUSE_UNKNOWN);
	return &chain->out;
}

/* All of the wait for the answer, as one wait that the chain is in. */
static struct ns_wait enter_reply(struct waker_chain *chain, const struct reply *reply)
{
	struct ns_wait wait = reply->wait;
	struct path_part part;

	wait.off_ts = reply->from;
	wait.wake_ts = reply->arrived;
	wait.head.ts = reply->to;
	wait.head.conn = reply->asked->head.conn;
	part = part_of(chain, PATH_BLOCKED,
		       conn__answer_cause(model__conn(chain->model, wait.head.conn)));
	part.conn = wait.head.conn;
	part.syscall = wait.syscall;
	open_part(chain, &part);
	chain->visited[0].tid = wait.head.tid;
	chain->visited[0].off_ts = reply->wait.off_ts;
	chain->visited_count = 1;
	return wait;
}

static void leave_reply(struct waker_chain *chain)
{
	chain->visited_count = 0;
	chain->open_count = 0;
}

const struct attribution *waker_chain__explain_reply(struct waker_chain *chain,
						     const struct reply *reply, uint64_t from,
						     uint64_t to)
{
	struct wait_view view = wait_view__of(chain->model, &reply->wait);
	struct ns_wait wait;

	begin(chain, reply->wait.head.tid, from, to);
	chain->reply = reply;
	wait = enter_reply(chain, reply);
	link_up(chain, &view, to);
	chain->out.links[0].cause = chain->open[0].part.cause;
	explain_reply(chain, &wait, clip(chain, reply->arrived, to));
	leave_reply(chain);
	spend_ready(chain, to);
	return &chain->out;
}

const struct attribution *waker_chain__explain_times(struct waker_chain *chain,
						     const struct ns_exchange *of, uint64_t from,
						     uint64_t to)
{
	const struct level level = {.cause = CAUSE_SELF};

	begin(chain, of->head.tid, from, to);
	chain->is_due = true;
	chain->leaves_stalls = true;
	if (of->side == NS_EXCHANGE_SERVED) {
		chain->served = of;
		/* What its thread did is counted from there on. */
		explain_times(chain, of->head.tid, clip(chain, of->ready_ts, to), &level);
	} else if (to <= of->ready_ts) {
		chain->written = of;
	}
	explain_times(chain, of->head.tid, to, &level);
	return &chain->out;
}

const struct attribution *waker_chain__explain_queued(struct waker_chain *chain,
						      const struct ns_exchange *served,
						      uint64_t from, uint64_t to)
{
	begin(chain, 0, from, to);
	explain_queued(chain, served, to);
	return &chain->out;
}

/* TCP held the end of the answer back, and the request was over when that left; NULL: it did not.
 */
static struct interval *held_answer(const struct waker_chain *chain,
				    const struct ns_exchange *served)
{
	struct interval *interval = intervals__first(chain->intervals, served->head.conn,
						     served->head.ts, served->head.ts + 1);

	return interval && interval->span.conn == served->head.conn &&
			       cause__info(interval->cause)->group != CAUSE_GROUP_LOSS
		       ? interval
		       : NULL;
}

/*
 * The last that came of the request had been held back, by TCP of the end that asks: all of it was
 * written as that began. NULL: it had not.
 */
static struct interval *held_request(const struct waker_chain *chain,
				     const struct ns_exchange *served)
{
	uint64_t arrived = request__arrived(served);
	struct interval *interval = intervals__first(chain->intervals, served->head.conn,
						     ns_passed(WAIT_AT_ONCE_NS, arrived), arrived);

	return interval && (interval->is_peers || interval->span.conn != served->head.conn) &&
			       interval->span.end_ts <= arrived + WAIT_AT_ONCE_NS &&
			       cause__info(interval->cause)->group == CAUSE_GROUP_WRITES
		       ? interval
		       : NULL;
}

/*
 * It begins when all of it was written, as far as that is known: what TCP there held back of it is
 * its time as well, as it is the asking end's.
 */
const struct attribution *waker_chain__explain_served(struct waker_chain *chain,
						      const struct ns_exchange *served)
{
	const struct level level = {.cause = CAUSE_SELF};
	struct interval *asking = held_request(chain, served), *held = held_answer(chain, served);
	uint64_t arrived = request__arrived(served);
	uint32_t tid = served->head.tid;

	begin(chain, tid, asking ? asking->span.start_ts : arrived, served->head.ts);
	chain->is_due = true;
	chain->request = chain->served = served;
	if (asking)
		spend_interval(chain, asking, arrived);
	spend(chain, arrived, CAUSE_NETWORK);
	explain_queued(chain, served, served->head.ts);
	if (request__was_awaited(chain->model, served)) {
		spend(chain, clip(chain, served->begin_ts, served->head.ts), CAUSE_SELF);
	} else {
		chain->is_unread = true;
		explain_times(chain, tid, clip(chain, served->begin_ts, served->head.ts), &level);
		chain->is_unread = false;
	}
	spend_ready(chain, clip(chain, served->ready_ts, served->head.ts));
	explain_times(chain, tid, served->head.ts, &level);
	spend(chain, served->head.ts, CAUSE_UNKNOWN);
	if (held)
		spend_interval(chain, held, held->span.end_ts);
	else /* for too short a time for an incident */
		spend(chain, served->head.ts + served->held_ns, cause_of_held(served));
	return &chain->out;
}

/* It lay there while the thread that reads it was at something else: what held it up cost nothing.
 */
static bool lay_unread(const struct reply *reply)
{
	const struct ns_exchange *served = reply->served;

	return served && served->ready_ts && served->arrived_ts &&
	       served->begin_ts > served->arrived_ts + WAKE_AT_ONCE_NS;
}

/*
 * TCP held bytes of the request back for too short a time for an incident. Only the sum is known:
 * Nagle's algorithm holds from the last write on, a cork from the first, and neither for longer
 * than until the other end, or failing that this one, is woken by what came of it.
 */
static void spend_held(struct waker_chain *chain, const struct reply *reply, uint64_t until)
{
	const struct ns_exchange *asked = reply->asked, *served = reply->served;
	bool is_corked =
		asked->hold_reason == NS_HOLD_CORK || asked->hold_reason == NS_HOLD_MSG_MORE;
	uint64_t end = (is_corked ? asked->begin_ts : asked->ready_ts) + asked->held_ns;
	uint64_t start;

	if (!asked->held_ns || lay_unread(reply))
		return;
	if (served)
		until = clip(chain, exchange__first_write(served), until);
	/* Woken by all of the request; if earlier, by a part, or by something else. */
	if (served && served->begin_ts >= asked->begin_ts + asked->held_ns)
		until = clip(chain, served->begin_ts, until);
	end = clip(chain, end, until);
	if (next_interval(chain, asked->head.conn, end, &start))
		return;
	spend(chain, end, cause_of_held(asked));
}

/* It was made for the request. What lies between them the thread did. */
static void explain_connect(struct waker_chain *chain, const struct ns_exchange *asked,
			    const struct level *level)
{
	if (!asked->connect_ts)
		return;
	spend(chain, clip(chain, asked->connected_ts, asked->begin_ts),
	      asked->connect_syns ? CAUSE_SYN_RETRANSMIT : CAUSE_NETWORK);
	explain_times(chain, asked->head.tid, clip(chain, asked->begin_ts, chain->to), level);
}

const struct attribution *waker_chain__explain_made(struct waker_chain *chain,
						    const struct reply *reply)
{
	const struct level level = {.cause = CAUSE_SELF};
	const struct ns_exchange *asked = reply->asked;
	uint32_t tid = asked->head.tid;
	uint64_t to = asked->head.ts;
	struct ns_wait wait;

	begin(chain, tid, request__begun(asked), to);
	chain->is_due = true;
	chain->request = asked;
	chain->reply = reply;
	explain_connect(chain, asked, &level);
	chain->is_asking = true;
	chain->written = asked;
	explain_times(chain, tid, clip(chain, reply->from, to), &level);
	chain->is_asking = false;
	chain->written = NULL;
	wait = enter_reply(chain, reply);
	chain->is_due = false;
	spend_held(chain, reply, clip(chain, reply->arrived, to));
	explain_reply(chain, &wait, clip(chain, reply->arrived, to));
	chain->is_due = true;
	leave_reply(chain);
	spend_ready(chain, clip(chain, reply->to, to));
	explain_times(chain, tid, to, &level);
	spend(chain, to, CAUSE_UNKNOWN);
	return &chain->out;
}

struct waker_chain *waker_chain__new(const struct model *model, const struct intervals *intervals)
{
	struct waker_chain *chain = xcalloc(1, sizeof(*chain));

	chain->model = model;
	chain->intervals = intervals;
	return chain;
}

void waker_chain__free(struct waker_chain *chain)
{
	free(chain);
}

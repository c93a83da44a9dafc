// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/sites.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/analyze/waits/kernel_stack.h"
#include "user/analyze/waits/wait.h"
#include "user/base/array.h"
#include "user/base/table.h"
#include "user/base/xalloc.h"
#include "user/record/syscalls.h"

/* What tells a wait from others in the same system call. */
struct slept {
	bool known;
	uint32_t syscall;
	uint32_t arg0;
	uint32_t arg2;
	uint32_t waker_stack_id;
	uint64_t ns;
};

struct kept {
	struct ns_call call;
	struct slept slept; /* after the call; not known: it is none, or not over */
};

struct calls {
	size_t count; /* ever */
	size_t room;
	struct kept v[];
};

struct shelf {
	struct table *calls;
	size_t room;                 /* of each */
	uint32_t order[SITES_CONNS]; /* a ring of their numbers */
	size_t next;
};

struct sites {
	struct shelf conns;
	struct shelf threads; /* of a release, who had waited */
	struct shelf busy;    /* threads too, of what they compute alone */
};

struct sites *sites__new(void)
{
	struct sites *sites = xcalloc(1, sizeof(*sites));

	sites->conns.calls = table__new(SITES_CONNS);
	sites->threads.calls = table__new(SITES_CONNS);
	sites->busy.calls = table__new(SITES_CONNS);
	sites->conns.room = sites->threads.room = SITES_CALLS;
	sites->busy.room = SITE_LOOKS;
	return sites;
}

void sites__free(struct sites *sites)
{
	if (!sites)
		return;
	table__free(sites->conns.calls, free);
	table__free(sites->threads.calls, free);
	table__free(sites->busy.calls, free);
	free(sites);
}

static size_t kept_of(const struct calls *calls)
{
	return calls->count < calls->room ? calls->count : calls->room;
}

static struct calls *entry_of(struct shelf *shelf, uint32_t number)
{
	struct calls *calls = table__get(shelf->calls, number);
	uint32_t *place;

	if (calls)
		return calls;
	place = &shelf->order[shelf->next++ % SITES_CONNS];
	if (table__count(shelf->calls) == SITES_CONNS)
		free(table__take(shelf->calls, *place));
	*place = number;
	calls = xcalloc(1, sizeof(*calls) + shelf->room * sizeof(calls->v[0]));
	calls->room = shelf->room;
	table__put(shelf->calls, number, calls);
	return calls;
}

static struct slept slept_of(const struct ns_wait *wait)
{
	return (struct slept){.known = true,
			      .syscall = wait->syscall,
			      .arg0 = wait->arg0,
			      .arg2 = wait->arg2,
			      .waker_stack_id = wait->waker_stack_id,
			      .ns = wait->head.ts - wait->off_ts};
}

/* Where it reads there says more. A connection that was only written on before is a guess, and the
 * sleep may be for anything. */
static bool names_conn(const struct ns_wait *wait)
{
	return wait->head.conn && wait->conn_basis != NS_CONN_WRITTEN;
}

/* The wait of a call, if that came first. */
static struct slept slept_before(const struct model *model, const struct ns_call *call)
{
	const struct model_thread *thread =
		model__thread(model, call->slept ? call->slept : call->head.tid);
	const struct ns_wait *wait;

	for (size_t i = 0; (wait = model_thread__wait(thread, i)); i++)
		if (call->off_ts && wait->off_ts == call->off_ts && !names_conn(wait))
			return slept_of(wait);
	return (struct slept){0};
}

void sites__learn(struct sites *sites, const struct model *model, const struct ns_call *call)
{
	struct calls *calls;

	if (!call->stack_id)
		return;
	if (call->head.conn)
		calls = entry_of(&sites->conns, call->head.conn);
	else if (call->what == NS_CALL_BUSY)
		calls = entry_of(&sites->busy, call->head.tid);
	else
		calls = entry_of(&sites->threads, call->slept ? call->slept : call->head.tid);
	calls->v[calls->count++ % calls->room] =
		(struct kept){.call = *call, .slept = slept_before(model, call)};
}

void sites__learn_wait(struct sites *sites, const struct ns_wait *wait)
{
	struct calls *calls =
		names_conn(wait) ? NULL : table__get(sites->threads.calls, wait->head.tid);

	for (size_t i = 0; calls && i < kept_of(calls); i++)
		if (calls->v[i].call.off_ts == wait->off_ts)
			calls->v[i].slept = slept_of(wait);
}

/* ---- which call was it ---- */

/* What is known of the write whose call is sought. */
struct wanted {
	bool known;
	uint32_t write_seq;
	uint32_t bytes;
	uint32_t held;
};

/* The very same write, else the latest of the same size that went the same way. */
static const struct ns_call *find(const struct calls *calls, const struct wanted *wanted)
{
	const struct ns_call *like = NULL;
	size_t kept = kept_of(calls);

	for (size_t i = 0; wanted->known && i < kept; i++) {
		const struct ns_call *call = &calls->v[i].call;

		if (call->what != NS_CALL_WRITE)
			continue;
		if (call->write_seq == wanted->write_seq && call->bytes == wanted->bytes)
			return call;
		if (call->bytes == wanted->bytes && call->held == wanted->held &&
		    (!like || call->head.ts >= like->head.ts))
			like = call;
	}
	return like;
}

static struct wanted first_of(const struct stall *stall)
{
	const struct ns_send *first = &stall->first;
	struct wanted wanted = {.known = first->head.type || stall->hold.head.type,
				.write_seq = stall->hold.seq,
				.bytes = stall->hold.unacked};

	if (first->head.type) {
		wanted.write_seq = first->write_seq;
		wanted.bytes = first->bytes;
	}
	return wanted;
}

static struct wanted second_of(const struct stall *stall)
{
	const struct ns_send *second = &stall->second;
	struct wanted wanted = {.known = second->head.type || stall->held_bytes,
				.write_seq = stall->hold.end,
				.bytes = stall->held_bytes,
				.held = 1};

	if (second->head.type) {
		wanted.write_seq = second->write_seq;
		wanted.bytes = second->bytes;
	}
	return wanted;
}

/* Of that wait, else the latest of its thread there, else of its process. */
static const struct ns_call *find_read(const struct calls *calls, const struct ns_wait *wait)
{
	size_t kept = kept_of(calls);
	const struct ns_call *like = NULL;

	for (size_t i = 0; i < kept; i++) {
		const struct ns_call *call = &calls->v[i].call;

		if (call->what != NS_CALL_READ || call->head.tgid != wait->head.tgid)
			continue;
		if (call->off_ts == wait->off_ts && call->head.tid == wait->head.tid)
			return call;
		if (!like ||
		    (call->head.tid == wait->head.tid) > (like->head.tid == wait->head.tid) ||
		    ((call->head.tid == wait->head.tid) == (like->head.tid == wait->head.tid) &&
		     call->head.ts >= like->head.ts))
			like = call;
	}
	return like;
}

/* The latest. */
static const struct ns_call *find_answer(const struct calls *calls)
{
	size_t kept = kept_of(calls);
	const struct ns_call *last = NULL;

	for (size_t i = 0; i < kept; i++) {
		const struct ns_call *call = &calls->v[i].call;

		if (call->what == NS_CALL_ANSWER && (!last || call->head.ts >= last->head.ts))
			last = call;
	}
	return last;
}

static void join_answer(const struct sites *sites, const struct model *model, struct stall *stall)
{
	const struct calls *calls =
		stall->peer ? table__get(sites->conns.calls, stall->peer) : NULL;
	const struct ns_call *call = calls ? find_answer(calls) : NULL;

	if (call)
		stall->sites.answer = model__kept_site(model, call->stack_id);
}

static void join_read(const struct calls *calls, const struct model *model, struct stall *stall)
{
	const struct ns_call *call = find_read(calls, &stall->wait);

	if (call)
		stall->sites.read = model__kept_site(model, call->stack_id);
}

/* It had asked to be woken then. */
static bool is_timed(const struct model *model, const struct slept *slept)
{
	return syscall__wait_kind(model__session(model)->arch, slept->syscall) == WAIT_SLEEP ||
	       waker__by_stack_alone(model__stack(model, slept->waker_stack_id)) == WAKER_TIMER;
}

static bool is_same_object(const struct model *model, const struct slept *a, const struct slept *b)
{
	const char *call = syscall__name(model__session(model)->arch, a->syscall);

	return a->arg0 == b->arg0 ||
	       (call && !strcmp(call, "futex") && wait__is_one_lock(a->arg0, b->arg0));
}

/* In the same system call, with the same arguments as far as they are known: what is slept for
 * shows in how long it takes. */
static bool is_alike(const struct model *model, const struct slept *a, const struct slept *b)
{
	const struct slept *longer = a->ns > b->ns ? a : b, *shorter = longer == a ? b : a;
	bool is_one_timed = is_timed(model, a),
	     are_both_known = a->waker_stack_id && b->waker_stack_id;

	if (!a->known || !b->known || a->syscall != b->syscall || !is_same_object(model, a, b) ||
	    a->arg2 != b->arg2 || (are_both_known && is_one_timed != is_timed(model, b)))
		return false;
	is_one_timed |= is_timed(model, b);
	return !is_one_timed || longer->ns - shorter->ns <= longer->ns / 4;
}

/* A call of that kind for this very wait; else what all say that were for one like it. NULL: there
 * is none, or they differ. */
static const char *find_of_wait(const struct calls *calls, const struct model *model,
				const struct ns_wait *wait, uint32_t what)
{
	const struct slept slept = slept_of(wait);
	const char *like = NULL, *text;
	size_t kept = kept_of(calls);

	for (size_t i = 0; i < kept; i++) {
		const struct ns_call *call = &calls->v[i].call;

		if (call->what != what)
			continue;
		text = model__kept_site(model, call->stack_id);
		if (call->off_ts == wait->off_ts)
			return text;
		if (!text || !is_alike(model, &calls->v[i].slept, &slept))
			continue;
		if (like && strcmp(like, text) != 0)
			return NULL;
		like = text;
	}
	return like;
}

/* What all waits of a thread in one system call say. NULL: nothing, or they differ. */
static const char *find_of_all(const struct calls *calls, const struct model *model,
			       uint32_t syscall)
{
	const char *all = NULL, *text;

	for (size_t i = 0; i < kept_of(calls); i++) {
		const struct ns_call *call = &calls->v[i].call;

		if (call->what != NS_CALL_WAIT || call->syscall != syscall)
			continue;
		text = model__kept_site(model, call->stack_id);
		if (!text || (all && strcmp(all, text) != 0))
			return NULL;
		all = text;
	}
	return all;
}

/* How much of its stall's time a wait has. Only if most is where it was where the time went. */
enum part {
	PART_LITTLE,
	PART_AMONG_OTHERS, /* its thread's waits in that call have most of it together */
	PART_MOST,
};

/* A wait of the stall's chain, and what it has of the stall's time. */
struct share {
	enum part part;
	uint64_t ns;
	uint64_t together_ns; /* with its thread's other waits in that call */
};

static void join_wait(const struct sites *sites, const struct model *model,
		      const struct ns_wait *wait, size_t link, const struct share *share,
		      struct call_sites *of)
{
	const struct slept slept = slept_of(wait);
	const struct calls *calls;
	const char *begin, *all;

	if (!wait->head.type || names_conn(wait))
		return;
	calls = table__get(sites->threads.calls, wait->head.tid);
	if (!calls)
		return;
	begin = find_of_wait(calls, model, wait, NS_CALL_WAIT);
	/* Nobody releases a wait whose time-out has run out. */
	if (!of->release && !is_timed(model, &slept)) {
		of->release = find_of_wait(calls, model, wait, NS_CALL_RELEASE);
		of->lock = of->release ? begin : NULL;
		if (of->lock && of->wait_tid == wait->head.tid)
			of->wait = NULL;
	}
	all = find_of_all(calls, model, wait->syscall);
	if (share->part == PART_AMONG_OTHERS)
		begin = all;
	/* Whoever let a lock go may have waited as well: where that was is not known then. */
	if (begin && share->part && !of->wait && (!of->lock || strcmp(begin, of->lock) != 0)) {
		of->wait = begin;
		of->wait_pid = wait->head.tgid;
		of->wait_tid = wait->head.tid;
		of->wait_call = wait->syscall;
		of->wait_link = link;
		of->wait_of_ns = share->together_ns;
		of->wait_ns = all ? share->together_ns : share->ns;
		of->wait_of_count = 1;
	}
}

/* An answer on a socket that is no TCP connection: where that is read. */
static void join_own_wait(const struct sites *sites, const struct model *model, struct stall *stall)
{
	const struct calls *calls = table__get(sites->threads.calls, stall->wait.head.tid);

	if (calls && !stall->sites.read && stall->wait.socket.role == NS_ASKS)
		stall->sites.read = find_of_wait(calls, model, &stall->wait, NS_CALL_WAIT);
}

static struct share share_of(const struct stall *stall, const struct stall_link *link)
{
	const struct path *path = &stall->path;
	uint64_t half = (stall->end_ts - stall->start_ts + 1) / 2;
	/* Who is ready to run waits at no place. */
	uint64_t woken = min_u64(wait__woken(&link->wait), link->end_ts);
	struct share share = {.ns = ns_passed(link->start_ts, woken)};

	for (size_t i = 0; i < path->count; i++)
		if (path->parts[i].kind == PATH_BLOCKED &&
		    path->parts[i].tid == link->wait.head.tid &&
		    path->parts[i].syscall == link->wait.syscall)
			share.together_ns += path->parts[i].ns;
	if (share.together_ns < share.ns)
		share.together_ns = share.ns;
	share.part = share.ns >= half            ? PART_MOST
		     : share.together_ns >= half ? PART_AMONG_OTHERS
						 : PART_LITTLE;
	return share;
}

/* The deepest ones of which something is known; of one that is alone and reads, that says it. */
static void join_waits(const struct sites *sites, const struct model *model, struct stall *stall)
{
	const struct stall_link whole = {
		.start_ts = stall->start_ts, .end_ts = stall->end_ts, .wait = stall->wait};
	struct share share;

	join_own_wait(sites, model, stall);
	for (size_t i = stall->link_count; i > 0; i--) {
		share = share_of(stall, &stall->links[i - 1]);
		join_wait(sites, model, &stall->links[i - 1].wait, i, &share, &stall->sites);
	}
	share = share_of(stall, &whole);
	join_wait(sites, model, &stall->wait, 0, &share, &stall->sites);
	if (stall->sites.wait && stall->sites.read && !strcmp(stall->sites.wait, stall->sites.read))
		stall->sites.wait = NULL;
}

/* In the stall itself: at another time it may do something else. What could not be unwound tells
 * nothing. Of a stall that is long over the looks may have made room for others. */
static void join_busy(const struct sites *sites, const struct model *model, struct stall *stall)
{
	const struct path_part *part = path__main(&stall->path, stall->cause);
	const struct calls *calls =
		part && part->kind == PATH_RUNS ? table__get(sites->busy.calls, part->tid) : NULL;
	struct call_sites *of = &stall->sites;
	const char *looks[SITE_LOOKS];
	uint32_t count = 0;

	for (size_t i = 0; calls && i < kept_of(calls); i++) {
		const struct ns_call *call = &calls->v[i].call;
		const char *text = model__kept_site(model, call->stack_id);

		if (!text || strstr(text, "[unknown]"))
			continue;
		of->computes = text;
		if (call->head.ts >= stall->start_ts && call->head.ts <= stall->end_ts)
			looks[count++] = text;
	}
	if (count > of->busy_count) {
		memcpy(of->busy_looks, looks, count * sizeof(looks[0]));
		of->busy_count = count;
	}
	if (!of->busy && of->busy_count)
		of->busy = of->busy_looks[0];
}

void sites__join(const struct sites *sites, const struct model *model, struct stall *stall)
{
	const struct calls *calls =
		stall->conn ? table__get(sites->conns.calls, stall->conn) : NULL;
	bool nagle = stall->reason == NS_HOLD_NAGLE;
	struct wanted first = first_of(stall), second = second_of(stall);
	const struct ns_call *call;

	if (calls && !stall->sites.read)
		join_read(calls, model, stall);
	if (!stall->sites.answer)
		join_answer(sites, model, stall);
	join_waits(sites, model, stall);
	join_busy(sites, model, stall);
	if (!calls || !stall->held_bytes)
		return;
	if (!nagle && stall->reason != NS_HOLD_CORK && stall->reason != NS_HOLD_MSG_MORE)
		return;
	/* A cork holds by itself: what was written before it is of no matter. */
	call = nagle && !stall->sites.first_write ? find(calls, &first) : NULL;
	if (call)
		stall->sites.first_write = model__kept_site(model, call->stack_id);
	call = stall->sites.second_write ? NULL : find(calls, &second);
	if (call)
		stall->sites.second_write = model__kept_site(model, call->stack_id);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/waits.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/chain/chain.h"
#include "user/analyze/waits/awaited.h"
#include "user/analyze/waits/cover.h"
#include "user/analyze/waits/owed.h"
#include "user/analyze/waits/waiting.h"
#include "user/base/xalloc.h"

struct pending {
	struct ns_wait wait;
	uint64_t due_ts;
};

/* A link of the chain of a stall that was told. */
struct told {
	uint32_t stall;
	enum cause cause;
	uint32_t tid;
	uint64_t off_ts;
	bool last; /* what it all hung on */
};

struct waits {
	const struct model *model;
	const struct incidents *incidents;
	struct roots *roots;
	struct pending *pending;
	size_t count;
	size_t size;
	struct told told[WAITS_TOLD];
	size_t told_count; /* ever */
	uint64_t longest;
	enum cause longest_cause;
	uint64_t by_cause[CAUSE_COUNT];
	bool explains_all;
};

struct waits *waits__new(const struct model *model, const struct incidents *incidents,
			 struct roots *roots)
{
	struct waits *waits = xcalloc(1, sizeof(*waits));

	waits->model = model;
	waits->incidents = incidents;
	waits->roots = roots;
	return waits;
}

void waits__free(struct waits *waits)
{
	if (!waits)
		return;
	free(waits->pending);
	free(waits);
}

void waits__explain_all(struct waits *waits)
{
	waits->explains_all = true;
}

uint64_t waits__longest(const struct waits *waits, enum cause *cause)
{
	*cause = waits->longest_cause;
	return waits->longest;
}

const uint64_t *waits__by_cause(const struct waits *waits)
{
	return waits->by_cause;
}

/* Too short for a stall; the longest of these is told all the same. */
static void note_short(struct waits *waits, const struct ns_wait *wait)
{
	uint64_t length = wait->head.ts - wait->off_ts;
	struct blame blame;

	if (length <= waits->longest || !model__is_target(waits->model, wait->head.tgid) ||
	    !owed__answer(waits->model, wait))
		return;
	blame__wait(waits->model, waits->roots, wait, wait->off_ts, wait->head.ts, &blame);
	waits->longest = length;
	waits->longest_cause = blame__cause(&blame);
}

/*
 * A sleep may be what somebody else waits for, who wakes up only after it: the lock's waiter
 * tells of it, and the client of a server that sleeps. So those who wait for others are
 * judged before those who do not, and for a socket before for a lock.
 */
static uint64_t patience(const struct model *model, const struct ns_wait *wait)
{
	enum waiting waiting = waiting__of(model, wait);

	/* A time-out that ran out is a sleep by another name. */
	if (waiting__for_socket(waiting) &&
	    (waker__of(model, wait) != WAKER_TIMER || owed__answer(model, wait)))
		return 0;
	if (waiting__is_rings(wait->comm))
		return 3 * SETTLE_NS; /* it sleeps for those who wait on the ring */
	return waiting__for_thread(waiting) ? SETTLE_NS : 2 * SETTLE_NS;
}

void waits__feed(struct waits *waits, const struct ns_wait *wait, uint64_t now)
{
	uint64_t length = wait->head.ts - wait->off_ts, end = wait->head.ts;
	bool knows_threshold = model__session(waits->model)->head.type;

	if (knows_threshold && length < session__threshold(waits->model)) {
		note_short(waits, wait);
		return;
	}
	if (waits->count == waits->size) {
		waits->size = waits->size ? 2 * waits->size : 16;
		waits->pending =
			xreallocarray(waits->pending, waits->size, sizeof(*waits->pending));
	}
	waits->pending[waits->count++] = (struct pending){
		.wait = *wait,
		.due_ts = (end > now ? end : now) + SETTLE_NS + patience(waits->model, wait)};
}

/* ---- the same incident as one that is told ---- */

/*
 * Two waits that hang on the same thing are one stall when they are of one cause: the lock
 * that others wait for while its holder sleeps is not that sleep.
 */
static uint32_t told_before(const struct waits *waits, const struct stall *stall)
{
	size_t count = waits->told_count < WAITS_TOLD ? waits->told_count : WAITS_TOLD;
	const struct stall_link *last;

	if (!stall->link_count)
		return 0;
	last = &stall->links[stall->link_count - 1];
	for (size_t i = 0; i < count; i++) {
		const struct told *told = &waits->told[i];

		if (told->last && told->cause == stall->cause && told->tid == last->tid &&
		    told->off_ts == last->wait.off_ts)
			return told->stall;
	}
	return 0;
}

void waits__told(struct waits *waits, const struct judged *judged, uint32_t number)
{
	const struct stall *stall = &judged->finding.stall;

	if (judged->root)
		root__told(judged->root, number);
	for (size_t i = 0; i < stall->link_count; i++)
		waits->told[waits->told_count++ % WAITS_TOLD] = (struct told){
			.stall = number,
			.cause = stall->cause,
			.tid = stall->links[i].tid,
			.off_ts = stall->links[i].wait.off_ts,
			.last = i + 1 == stall->link_count,
		};
}

/* The stall that has this very wait in its chain, 0 none. */
static uint32_t link_of(const struct waits *waits, const struct ns_wait *wait)
{
	size_t count = waits->told_count < WAITS_TOLD ? waits->told_count : WAITS_TOLD;

	for (size_t i = 0; i < count; i++) {
		if (waits->told[i].tid == wait->head.tid && waits->told[i].off_ts == wait->off_ts)
			return waits->told[i].stall;
	}
	return 0;
}

/* ---- judging ---- */

static void join(struct judged *judged, const struct ns_wait *wait, uint32_t stall)
{
	judged->judgement = JUDGED_JOINED;
	judged->stall = stall;
	judged->wait = chain__shown(wait);
}

/*
 * Hung on what stalls tell already, mainly: one incident, or one after another, as whoever waits
 * for the end of a program does that is a target too. 0: it did not.
 */
static uint32_t told_by_roots(const struct blame *blame, uint64_t length)
{
	enum cause cause = blame__cause(blame);

	if (!blame->told)
		return 0;
	if (2 * blame->told_ns >= length ||
	    (blame->told->cause == cause && 2 * blame->told_ns >= blame__of(blame, cause)))
		return blame->told->stall;
	return 0;
}

/* The chain decides. */
static void judge_chain(struct waits *waits, const struct ns_wait *wait, uint64_t start,
			uint64_t length, const struct cover *cover, struct judged *judged)
{
	uint32_t same = link_of(waits, wait);
	struct blame blame;

	blame__wait(waits->model, waits->roots, wait, start, start + length, &blame);
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		waits->by_cause[i] += blame.ns[i];
	if (length - blame__of(&blame, CAUSE_IDLE) < session__threshold(waits->model))
		return;
	if (!same)
		same = told_by_roots(&blame, length);
	/* What was held has to travel all the same: that is the rest of one incident. */
	if (!same && blame__cause(&blame) == CAUSE_NETWORK)
		same = cover->stall;
	if (same) {
		join(judged, wait, same);
		return;
	}
	chain__fill(waits->model, wait, &blame, &judged->finding);
	same = told_before(waits, &judged->finding.stall);
	if (same) {
		join(judged, wait, same);
		return;
	}
	/* It went on as it had begun, in holds too short to be told by themselves. */
	same = cover__until(cover, start);
	if (same && judged->finding.stall.cause == cover->cause &&
	    roots__extend(waits->roots, same, cover->cause, start + length)) {
		join(judged, wait, same);
		judged->judgement = JUDGED_EXTENDS;
		return;
	}
	judged->judgement = JUDGED_STALL;
	if (blame.root && blame.root->finding && blame.root->cause == judged->finding.stall.cause)
		judged->root = blame.root;
	judged->incident = chain__evidence(waits->model, judged->root, &judged->finding.stall);
}

static void judge(struct waits *waits, const struct ns_wait *wait, struct judged *judged)
{
	uint64_t start, gap, length = wait->head.ts - wait->off_ts;
	struct cover cover;

	judged->judgement = JUDGED_NOTHING;
	judged->root = NULL;
	judged->incident = NULL;
	judged->is_explained = false;
	if (!length || !model__is_target(waits->model, wait->head.tgid) ||
	    length < session__threshold(waits->model))
		return;
	cover__find(&cover, waits->model, waits->roots, waits->incidents, wait);
	waits->by_cause[cover.cause] += cover__total(&cover);
	if (waits->explains_all) {
		waited__explain(waits->model, waits->roots, &cover, wait, &judged->waited);
		judged->is_explained = true;
	}
	gap = cover__gap(&cover, &start);
	/* Covered in substance, by half or more: one incident is one stall. */
	if (2 * cover__total(&cover) >= length || gap < session__threshold(waits->model)) {
		if (cover.stall)
			join(judged, wait, cover.stall);
		return;
	}
	judge_chain(waits, wait, start, gap, &cover, judged);
}

static bool due_before(const struct pending *a, const struct pending *b)
{
	if (a->due_ts != b->due_ts)
		return a->due_ts < b->due_ts;
	return a->wait.head.ts != b->wait.head.ts ? a->wait.head.ts < b->wait.head.ts
						  : a->wait.head.tid < b->wait.head.tid;
}

bool waits__judge(struct waits *waits, uint64_t now, struct judged *judged)
{
	struct ns_wait wait;
	size_t next = 0;

	for (size_t i = 1; i < waits->count; i++) {
		if (due_before(&waits->pending[i], &waits->pending[next]))
			next = i;
	}
	if (!waits->count || (waits->pending[next].due_ts > now && waits->count <= WAITS_PENDING))
		return false;
	wait = waits->pending[next].wait;
	/* What it may hang on is to be told first. */
	if (now != UINT64_MAX && waits->count <= WAITS_PENDING && wait.head.conn &&
	    incidents__pending(waits->incidents, wait.head.conn, wait.off_ts, wait.head.ts)) {
		waits->pending[next].due_ts = now + SETTLE_NS;
		judged->judgement = JUDGED_NOTHING;
		judged->is_explained = false;
		return true;
	}
	waits->pending[next] = waits->pending[--waits->count];
	awaited__recall(waits->model, &wait);
	judge(waits, &wait, judged);
	return true;
}

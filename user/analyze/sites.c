// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/sites.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/table.h"
#include "user/base/xalloc.h"

struct calls {
	size_t count; /* ever */
	struct ns_call v[SITES_CALLS];
};

struct sites {
	struct table *conns;
	uint32_t order[SITES_CONNS]; /* a ring of their numbers */
	size_t next;
};

struct sites *sites__new(void)
{
	struct sites *sites = xcalloc(1, sizeof(*sites));

	sites->conns = table__new(SITES_CONNS);
	return sites;
}

void sites__free(struct sites *sites)
{
	if (!sites)
		return;
	table__free(sites->conns, free);
	free(sites);
}

void sites__learn(struct sites *sites, const struct ns_call *call)
{
	struct calls *calls = table__get(sites->conns, call->head.conn);

	if (!call->stack_id)
		return;
	if (!calls) {
		uint32_t *place = &sites->order[sites->next++ % SITES_CONNS];

		if (table__count(sites->conns) == SITES_CONNS)
			free(table__take(sites->conns, *place));
		*place = call->head.conn;
		calls = xcalloc(1, sizeof(*calls));
		table__put(sites->conns, call->head.conn, calls);
	}
	calls->v[calls->count++ % SITES_CALLS] = *call;
}

/* ---- which call was it ---- */

static size_t kept_of(const struct calls *calls)
{
	return calls->count < SITES_CALLS ? calls->count : SITES_CALLS;
}

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
		const struct ns_call *call = &calls->v[i];

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
		const struct ns_call *call = &calls->v[i];

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
		const struct ns_call *call = &calls->v[i];

		if (call->what == NS_CALL_ANSWER && (!last || call->head.ts >= last->head.ts))
			last = call;
	}
	return last;
}

static void join_answer(const struct sites *sites, const struct model *model, struct stall *stall)
{
	const struct calls *calls = stall->peer ? table__get(sites->conns, stall->peer) : NULL;
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

void sites__join(const struct sites *sites, const struct model *model, struct stall *stall)
{
	const struct calls *calls = stall->conn ? table__get(sites->conns, stall->conn) : NULL;
	bool nagle = stall->reason == NS_HOLD_NAGLE;
	struct wanted first = first_of(stall), second = second_of(stall);
	const struct ns_call *call;

	if (calls && !stall->sites.read)
		join_read(calls, model, stall);
	if (!stall->sites.answer)
		join_answer(sites, model, stall);
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

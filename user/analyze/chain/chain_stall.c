// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/chain/chain_stall.h"

#include <string.h>

#include "user/analyze/waits/wait_kind.h"

struct stall_wait stall_wait__of(const struct ns_wait *wait)
{
	return (struct stall_wait){.pid = wait->head.tgid,
				   .tid = wait->head.tid,
				   .conn = wait->head.conn,
				   .off_ts = wait->off_ts,
				   .end_ts = wait->head.ts};
}

/* From its start_ts on. */
static void cut_slices(struct stall *stall, const struct attribution *attribution)
{
	stall->end_ts = stall->start_ts;
	stall->slice_count = 0;
	for (size_t i = 0; i < attribution->slice_count; i++) {
		stall__slice(stall, attribution->slices[i].cause, attribution->slices[i].ns);
		stall->end_ts += attribution->slices[i].ns;
	}
}

/* The cause by which the program can be helped: the longest but for idleness in between. */
static enum cause stall_cause(const struct attribution *attribution)
{
	enum cause best = CAUSE_UNKNOWN;
	uint64_t most = 0;

	for (size_t i = 0; i < attribution->slice_count; i++) {
		enum cause cause = attribution->slices[i].cause;
		uint64_t ns = cause == CAUSE_IDLE ? 0 : attribution->ns[cause];

		if (ns > most) {
			best = cause;
			most = ns;
		}
	}
	return best;
}

/*
 * The connection that it is about: of the first wait of the chain for data or room of a socket.
 * What a thread happened to write on before it took a lock is not it.
 */
static uint32_t stall_conn(const struct model *model, const struct attribution *attribution)
{
	for (size_t i = 0; i < attribution->link_count; i++) {
		const struct stall_link *link = &attribution->links[i];

		if (wait_kind__is_socket(wait_view__of(model, &link->wait).kind))
			return link->wait.head.conn;
	}
	return 0;
}

static void take_links(const struct model *model, struct stall *stall,
		       const struct attribution *attribution)
{
	stall->link_count = attribution->link_count;
	for (size_t i = 0; i < stall->link_count; i++) {
		struct stall_link *link = &stall->links[i];

		*link = attribution->links[i];
		link->wait_stack = model__kept_stack(model, link->wait.stack_id);
		link->waker_stack = model__kept_stack(model, link->wait.waker_stack_id);
	}
}

void chain_stall__fill(const struct model *model, const struct ns_wait *wait, uint64_t start_ts,
		       const struct attribution *attribution, struct finding *finding)
{
	const struct model_conn *conn;
	struct stall *stall = &finding->stall;
	const struct interval *interval = attribution->interval;

	memset(finding, 0, sizeof(*finding));
	stall->cause = stall_cause(attribution);
	if (cause__rank(stall->cause) == CAUSE_RANK_NETWORK)
		stall->conn = stall_conn(model, attribution);
	conn = model__conn(model, stall->conn);
	stall->peer = conn ? conn->peer : 0;
	stall->exact = true;
	stall->open = wait__goes_on(wait);
	stall->tried_again = attribution->tried_again;
	if (interval && interval->finding && interval->cause == stall->cause)
		*finding = *interval->finding;
	if (wait->ended == NS_WAIT_BOUND)
		stall->exact = false;
	stall->start_ts = start_ts;
	stall->pid = wait->head.tgid;
	stall->tid = wait->head.tid;
	stall->wait = *wait;
	stall->wait_stack = model__kept_stack(model, wait->stack_id);
	stall->waker_stack = model__kept_stack(model, wait->waker_stack_id);
	if (attribution->confidence == CONFIDENCE_INFERRED)
		stall->confidence = CONFIDENCE_INFERRED;
	if (!stall->inferred)
		stall->inferred = attribution->inferred;
	if (!stall->missing)
		stall->missing = attribution->missing;
	if (!stall->missing && wait->ended == NS_WAIT_BOUND)
		stall->missing = MISSING_RETURN_TO_CPU;
	if (stall->cause == CAUSE_UNKNOWN && path__main(&attribution->path, CAUSE_UNKNOWN))
		stall->missing = MISSING_SHORT_WAITS;
	if (!stall->missing && stall->cause == CAUSE_UNKNOWN)
		stall->missing = MISSING_THREADS_TIME;
	if (attribution->throttle)
		stall->throttle = *attribution->throttle;
	if (attribution->ran)
		stall->ran = *attribution->ran;
	take_links(model, stall, attribution);
	stall->path = attribution->path;
	stall->wait_count = 1;
	stall->waits[0] = stall_wait__of(wait);
	cut_slices(stall, attribution);
	stall__check(stall);
}

struct incident *chain_stall__evidence(const struct model *model, struct interval *interval,
				       const struct stall *stall)
{
	struct incident *incident;

	if (interval && interval->incident) {
		incident = interval->incident;
		interval->incident = NULL;
	} else {
		incident = incident__around(model, &stall->wait);
	}
	for (size_t i = 0; i < stall->link_count; i++) {
		union event event = {.wait = stall->links[i].wait};

		if (!event.head.type)
			continue;
		events__add(&incident->waits, &event, 0, UINT64_MAX);
		incident__add_ring(incident, model, &event.wait);
	}
	return incident;
}

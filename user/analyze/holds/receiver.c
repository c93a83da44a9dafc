// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/holds/receiver.h"

#include "bpf/times.h"
#include "user/analyze/holds/reader.h"
#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait.h"

/*
 * How likely is this the wait for the held bytes? 0: it is not. A call on the very
 * descriptor is better than one on many, and the thread that then read is the best.
 */
static int receiver_rank(const struct model *model, const struct ns_wait *recorded,
			 const struct model_conn *peer, uint32_t reader)
{
	struct ns_wait filled_in = *recorded;
	const struct ns_wait *wait = &filled_in;
	bool by_ring = uring_wait__fill_in(model, &filled_in);
	bool wrote_here = wait->head.conn == peer->number;
	uint32_t owner = peer->id.head.tgid;
	int rank = 0;

	if (owner ? wait->head.tgid != owner : !wrote_here)
		return 0;
	/* The operation that ended it was on this very connection, or on something else. */
	if (by_ring)
		return !wrote_here ? 0 : wait->head.tid == reader ? 12 : 4;
	switch (wait__syscall(model, wait)) {
	case SYSCALL_WAIT_FD:
		if (wait__is_on(model, wait, peer))
			rank = 4;
		else if (!owner || peer->id.fd == NS_FD_UNKNOWN)
			rank = 2;
		break;
	case SYSCALL_WAIT_MANY:
		rank = wrote_here ? 3 : 2;
		break;
	case SYSCALL_WAIT_OTHER:
		/* Machines whose system calls have no table here. */
		rank = wrote_here && !syscall__name(model__session(model)->arch, wait->syscall);
		break;
	}
	return rank && wait->head.tid == reader ? rank + 8 : rank;
}

const struct ns_wait *receiver__find(const struct model *model, const struct incident *incident,
				     uint32_t writer_tid)
{
	const struct model_conn *conn = model__conn(model, incident->conn);
	const struct model_conn *peer = model__peer(model, conn);
	const struct ns_wait *best = NULL;
	uint32_t reader = reader__tid(incident);
	int best_rank = 0;

	if (!peer || incident->open)
		return NULL;
	for (size_t i = 0; i < incident->waits.count; i++) {
		const struct ns_wait *wait = &incident->waits.v[i].wait;
		uint64_t woken = wait__woken(wait);
		int rank;

		/* A program that talks to itself: its writer waits for something else. */
		if (writer_tid && wait->head.tid == writer_tid && wait->head.tid != reader)
			continue;
		if (!wait->state || wait->off_ts >= incident->end_ts || woken < incident->end_ts ||
		    wait->head.ts > incident->end_ts + SETTLE_NS)
			continue;
		rank = receiver_rank(model, wait, peer, reader);
		if (rank > best_rank || (rank && rank == best_rank && woken < wait__woken(best))) {
			best = wait;
			best_rank = rank;
		}
	}
	return best;
}

void receiver__cut(struct stall *stall, const struct ns_wait *receiver)
{
	uint64_t travelled = ns_passed(stall->end_ts, wait__woken(receiver));

	stall__slice(stall, CAUSE_NETWORK, travelled);
	stall__slice(stall, CAUSE_RUNQUEUE, receiver->head.ts - stall->end_ts - travelled);
	stall->end_ts = receiver->head.ts;
}

static const struct ns_wait *delayed_wait(const struct model *model,
					  const struct incident *incident,
					  const struct finding *finding)
{
	const struct stall *stall = &finding->stall;
	const struct ns_wait *receiver = finding->receiver.head.type ? &finding->receiver : NULL;
	const struct ns_wait *best = NULL;
	struct span span = {.start_ts = stall->start_ts,
			    .end_ts = stall->end_ts,
			    .conn = stall->conn,
			    .peer = stall->peer,
			    .writer_tid = stall->hold.head.tid};
	uint64_t most = 0;

	if (receiver && model__is_target(model, receiver->head.tgid))
		return receiver;
	for (size_t i = 0; i < incident->waits.count; i++) {
		const struct ns_wait *wait = &incident->waits.v[i].wait;
		uint64_t overlap = wait__overlap(wait, stall->start_ts, stall->end_ts);

		/* Half of the stall, or half of the wait: else they only brush each other. */
		if (!wait->state || !model__is_target(model, wait->head.tgid) || overlap <= most ||
		    !wait__concerns(model, wait, &span))
			continue;
		if (2 * overlap >= stall->end_ts - stall->start_ts ||
		    2 * overlap >= wait->head.ts - wait->off_ts) {
			best = wait;
			most = overlap;
		}
	}
	return best ? best : receiver;
}

/* Whom did it delay, for want of a wait: the target among the two ends. */
static uint32_t target_of(const struct model *model, const struct stall *stall)
{
	const struct model_conn *conn = model__conn(model, stall->conn);
	const struct model_conn *peer = model__conn(model, stall->peer);

	if (conn && conn->id.role & NS_ROLE_TARGET && conn->id.head.tgid)
		return conn->id.head.tgid;
	if (peer && peer->id.role & NS_ROLE_TARGET)
		return peer->id.head.tgid;
	return 0;
}

void receiver__find_delayed(const struct model *model, const struct incident *incident,
			    struct finding *finding)
{
	const struct ns_wait *delayed = delayed_wait(model, incident, finding);
	struct stall *stall = &finding->stall;

	if (!delayed) {
		stall->pid = target_of(model, stall);
		return;
	}
	stall->wait = *delayed;
	uring_wait__fill_in(model, &stall->wait);
	stall->pid = delayed->head.tgid;
	stall->tid = delayed->head.tid;
	stall->wait_stack = model__kept_stack(model, delayed->stack_id);
	stall->waker_stack = model__kept_stack(model, delayed->waker_stack_id);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/owed.h"

#include "user/trace/syscalls.h"

/* What a connection's events say that was done on it before a time. */
struct acts {
	uint64_t out_ts; /* the last write, 0 none */
	uint64_t in_ts;  /* the last sign that data came in, 0 none */
};

/*
 * Reads are not always hooked: data that arrived, and a delayed ACK that was armed because
 * data arrived, tell of an answer as well.
 */
static void note_act(struct acts *acts, const union event *event)
{
	uint64_t ts = event->head.ts;

	switch (event->head.type) {
	case NS_SEND:
		if (ts > acts->out_ts)
			acts->out_ts = ts;
		break;
	case NS_RX:
		if (event->segment.seq == event->segment.end)
			break;
		/* fallthrough */
	case NS_RECV:
	case NS_DELACK_ARM:
		if (ts > acts->in_ts)
			acts->in_ts = ts;
		break;
	default:
		break;
	}
}

static struct acts acts_before(const struct model_conn *conn, uint64_t ts)
{
	struct acts acts = {0};

	for (size_t i = 0; i < conn->events.count && conn->events.v[i].head.ts <= ts; i++)
		note_act(&acts, &conn->events.v[i]);
	return acts;
}

/*
 * Where the kernel side did not say whose turn it was: when the thread has slept for the
 * network once since it wrote, that sleep is taken for the one that brought the answer.
 */
static bool slept_since(const struct model *model, const struct ns_wait *wait, uint64_t out_ts)
{
	const struct model_thread *thread = model__thread(model, wait->head.tid);
	const struct ns_session *session = model__session(model);

	if (session->verbose || !thread)
		return false;
	for (size_t i = 0; i < thread->waits.count; i++) {
		const struct ns_wait *earlier = &thread->waits.v[i].wait;

		if (earlier->off_ts >= out_ts && earlier->head.ts <= wait->off_ts &&
		    earlier->head.conn == wait->head.conn &&
		    syscall__waits_for_network(session->arch, earlier->syscall))
			return true;
	}
	return false;
}

/* Of this thread's process, and in a call that waits for it as far as one can see. */
static bool waits_for(const struct model *model, const struct ns_wait *wait,
		      const struct model_conn *conn)
{
	if (conn->id.head.tgid && conn->id.head.tgid != wait->head.tgid)
		return false;
	if (wait->conn_basis == NS_CONN_FD)
		return true;
	switch (syscall__wait(model__session(model)->arch, wait->syscall)) {
	case SYSCALL_WAIT_FD:
		return conn->id.fd == NS_FD_UNKNOWN || wait->arg0 == conn->id.fd;
	case SYSCALL_WAIT_MANY:
		return true;
	case SYSCALL_WAIT_OTHER:
		return false;
	}
	return false;
}

bool owed__answer(const struct model *model, const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);
	struct acts acts;

	if (!wait->state || !conn || !conn->id.head.type || conn->id.opener != NS_OPENER_SELF ||
	    !waits_for(model, wait, conn))
		return false;
	if (wait->turn != NS_TURN_UNKNOWN)
		return wait->turn == NS_TURN_WROTE;
	acts = acts_before(conn, wait->off_ts);
	return acts.out_ts && acts.out_ts >= acts.in_ts && !slept_since(model, wait, acts.out_ts);
}

bool owed__by_itself(const struct model *model, const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);

	return conn && conn->id.opener == NS_OPENER_PEER && wait->turn == NS_TURN_READ;
}

bool owed__serves(const struct model *model, uint32_t tgid)
{
	const struct model_conn *conn;
	size_t cursor = 0;

	while ((conn = model__next_conn(model, &cursor))) {
		if (conn->id.head.tgid == tgid && conn->id.opener == NS_OPENER_PEER)
			return true;
	}
	return false;
}

uint64_t owed__asked(const struct model *model, const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);

	return conn ? acts_before(conn, wait->off_ts).out_ts : 0;
}

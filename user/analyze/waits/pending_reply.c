// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/pending_reply.h"

#include "user/analyze/waits/uring_wait.h"
#include "user/analyze/waits/wait.h"

/* What a connection's events say that was done on it before a time. */
struct acts {
	uint64_t out_ts; /* the last write, 0 none */
	uint64_t in_ts;  /* the last sign that data came in, 0 none */
};

/*
 * Reads are not always hooked: data that arrived, and a delayed ACK that was armed because
 * data arrived, show an answer as well.
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
	case NS_URING:
		if (uring_wait__received(&event->uring) && ts > acts->in_ts)
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
	const struct ns_wait *earlier;

	if (model__session(model)->verbose)
		return false;
	for (size_t i = 0; (earlier = model_thread__wait(thread, i)); i++) {
		if (earlier->off_ts >= out_ts && earlier->head.ts <= wait->off_ts &&
		    earlier->head.conn == wait->head.conn &&
		    wait__syscall(model, earlier) != SYSCALL_WAIT_OTHER)
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
	if (wait->conn_basis == NS_CONN_FD || wait->conn_basis == NS_CONN_READY ||
	    uring_wait__has_operation(wait))
		return true;
	switch (wait__syscall(model, wait)) {
	case SYSCALL_WAIT_FD:
		return conn->id.fd == NS_FD_UNKNOWN || wait->arg0 == conn->id.fd;
	case SYSCALL_WAIT_MANY:
		return true;
	case SYSCALL_WAIT_OTHER:
		return false;
	}
	return false;
}

/* The last sends on a connection, as far as they are known. */
struct sends {
	unsigned count; /* since data came in */
	uint64_t bytes;
	uint64_t first_ts;
	uint64_t last_ts;
	bool by_others; /* none of them by this thread */
};

static struct sends sends_before(const struct model_conn *conn, const struct ns_wait *wait)
{
	struct sends sends = {.by_others = true};

	for (size_t i = 0; i < conn->events.count; i++) {
		const union event *event = &conn->events.v[i];
		struct acts acts = {0};

		if (event->head.ts > wait->head.ts)
			break;
		note_act(&acts, event);
		/* What comes while it waits ends the wait: it is no answer to these yet. */
		if (acts.in_ts && acts.in_ts < wait->off_ts)
			sends = (struct sends){.by_others = true};
		if (!acts.out_ts)
			continue;
		if (!sends.count++)
			sends.first_ts = event->head.ts;
		sends.last_ts = event->head.ts;
		sends.bytes += event->send.bytes;
		sends.by_others &= event->head.tid != wait->head.tid;
	}
	return sends;
}

/*
 * Another thread of the process sends and sends there, and nothing comes back: a stream, which
 * nobody answers. A reader beside it waits for whatever the other end may say, if ever.
 */
#define STREAM_SENDS    8
#define STREAM_BYTES_MS 1000

static bool is_stream(const struct model_conn *conn, const struct ns_wait *wait)
{
	struct sends sends = sends_before(conn, wait);
	uint64_t ms = (sends.last_ts - sends.first_ts) / 1000000;

	return sends.by_others && sends.count >= STREAM_SENDS &&
	       sends.bytes >= STREAM_BYTES_MS * ms;
}

bool pending_reply__awaited(const struct model *model, const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);
	struct acts acts;

	if (!wait->state || wait->state == NS_STATE_STOPPED || !conn || !conn->id.head.type ||
	    conn->id.opener != NS_OPENER_SELF || !waits_for(model, wait, conn) ||
	    is_stream(conn, wait))
		return false;
	if (wait->turn != NS_TURN_UNKNOWN)
		return wait->turn == NS_TURN_WROTE;
	acts = acts_before(conn, wait->off_ts);
	return acts.out_ts && acts.out_ts >= acts.in_ts && !slept_since(model, wait, acts.out_ts);
}

bool pending_reply__not_asked(const struct model *model, const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);

	return wait->conn_basis == NS_CONN_FD && conn && conn->id.opener == NS_OPENER_SELF &&
	       waits_for(model, wait, conn) && !pending_reply__awaited(model, wait);
}

bool pending_reply__due_here(const struct model *model, const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);

	return conn && conn->id.opener == NS_OPENER_PEER && wait->turn == NS_TURN_READ;
}

bool pending_reply__is_server(const struct model *model, uint32_t tgid)
{
	return model__owned(model, tgid).accepted;
}

uint64_t pending_reply__requested_at(const struct model *model, const struct ns_wait *wait)
{
	const struct model_conn *conn = model__conn(model, wait->head.conn);
	/* What it had submitted may be sent while it waits, by a thread of the kernel's. */
	uint64_t until = uring_wait__has_operation(wait) ? wait__woken(wait) : wait->off_ts;

	uint64_t wrote_ts = conn ? acts_before(conn, until).out_ts : 0;

	/* Another thread may have asked in the meantime. */
	return wait->turn_ts > wrote_ts ? wait->turn_ts : wrote_ts;
}

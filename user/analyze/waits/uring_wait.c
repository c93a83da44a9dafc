// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/uring_wait.h"

#include <errno.h>

#include "user/analyze/waits/wait.h"

#define OP_LINK_TIMEOUT 15

bool uring_wait__has_operation(const struct ns_wait *wait)
{
	return wait->state && wait->ring && wait->op_known;
}

bool uring_wait__ended_by_operation(const struct ns_wait *wait)
{
	return uring_wait__has_operation(wait) && wait->op_known == NS_OP_ENDED;
}

bool uring_wait__is_for_any(const struct ns_wait *wait)
{
	return uring_wait__has_operation(wait) && wait->op_known == NS_OP_PENDING &&
	       wait->op_code == NS_OPCODE_UNKNOWN;
}

/* The next completion of a ring from *i on, which is behind it then; NULL: none. */
static const struct ns_uring *next_done(const struct model_ring *ring, size_t *i)
{
	const union event *event;

	while (ring && (event = events__next(&ring->ops, NS_URING, i))) {
		if (event->uring.step == NS_URING_DONE)
			return &event->uring;
	}
	return NULL;
}

static bool is_of(const struct ns_uring *done, const struct ns_wait *wait)
{
	return done->user_data == wait->op_user_data && done->opcode == wait->op_code &&
	       (!done->submit_ts || !wait->op_submit_ts || done->submit_ts == wait->op_submit_ts);
}

/*
 * What ended by becoming ready completes after the wake: the first of its completions from there
 * on. What ended it by completing did so before.
 */
const struct ns_uring *uring_wait__completion(const struct model *model, const struct ns_wait *wait)
{
	const struct model_ring *ring = model__ring(model, wait->ring);
	uint64_t from = wait->op_done_ts ? wait->op_done_ts : wait__woken(wait);
	const struct ns_uring *done, *last = NULL;

	if (!uring_wait__has_operation(wait))
		return NULL;
	for (size_t i = 0; (done = next_done(ring, &i));) {
		if (!is_of(done, wait) || done->head.ts < wait->off_ts)
			continue;
		last = done;
		if (done->head.ts >= from)
			break;
	}
	return last;
}

/*
 * The last completion that lies before the wake woke it. Where completing is left to the waiting
 * thread itself (IORING_SETUP_DEFER_TASKRUN, and whatever task work does), it is the first that
 * this thread made when it ran again.
 */
#define SOON_NS 1000000ull

static const struct ns_uring *ending_completion(const struct model *model,
						const struct ns_wait *wait)
{
	const struct model_ring *ring = model__ring(model, wait->ring);
	uint64_t woken = wait__woken(wait);
	const struct ns_uring *done, *before = NULL;

	for (size_t i = 0; (done = next_done(ring, &i));) {
		if (done->head.ts <= wait->off_ts || (wait->op_known && !is_of(done, wait)))
			continue;
		if (done->head.ts <= woken)
			before = done;
		else if (before || done->head.ts > wait->head.ts + SOON_NS)
			break;
		else if (done->by_tid == wait->head.tid)
			return done;
	}
	return before;
}

struct ns_wait uring_wait__as_if(const struct ns_wait *wait, const struct ns_uring *done)
{
	struct ns_wait as_if = *wait;

	as_if.op_known = NS_OP_ENDED;
	as_if.op_code = done->opcode;
	as_if.op_user_data = done->user_data;
	as_if.op_submit_ts = done->submit_ts;
	as_if.op_done_ts = done->head.ts;
	as_if.op_fd = done->fd;
	as_if.op_flags = done->flags;
	as_if.op_file = done->file;
	as_if.op_how = done->how;
	as_if.op_tid = done->head.tid;
	as_if.op_by_tid = done->by_tid;
	as_if.head.conn = done->head.conn;
	as_if.conn_basis = done->head.conn ? NS_CONN_FD : NS_CONN_NONE;
	as_if.turn = done->turn;
	as_if.srtt_us = done->srtt_us;
	as_if.min_rtt_us = done->min_rtt_us;
	return as_if;
}

/* The completion completes the record of what had become ready and was not done yet. */
static void complete(const struct model *model, struct ns_wait *wait)
{
	const struct ns_uring *done = uring_wait__completion(model, wait);

	if (!done || wait->op_file != NS_URING_NO_FILE)
		return;
	wait->op_file = done->file;
	wait->op_fd = done->fd;
	wait->op_how = done->how;
	if (!wait->head.conn && done->head.conn) {
		wait->head.conn = done->head.conn;
		wait->conn_basis = NS_CONN_FD;
		wait->turn = done->turn;
	}
}

bool uring_wait__fill_in(const struct model *model, struct ns_wait *wait)
{
	const struct ns_uring *done;

	if (!wait->state || !wait->ring)
		return false;
	/* Of a request that is done already nothing but its opcode is left when it is let go. */
	if (!wait->op_known || (!wait->op_submit_ts && wait->op_file == NS_URING_NO_FILE)) {
		done = ending_completion(model, wait);
		if (done)
			*wait = uring_wait__as_if(wait, done);
		else if (!wait->op_known)
			return false;
	}
	complete(model, wait);
	/* Whatever else the thread wrote on: its operation is on no connection. */
	if (wait->op_file != NS_URING_TCP && wait->op_file != NS_URING_NO_FILE)
		wait->head.conn = 0;
	return true;
}

static bool is_chained(const struct ns_uring *one, const struct ns_uring *next)
{
	return one->link_head == next->link_head || one->user_data == next->link_head;
}

/* All operations of a chain are submitted before its first one is done. */
const struct ns_uring *uring_wait__before(const struct model *model, const struct ns_uring *done)
{
	const struct model_ring *ring = model__ring(model, done->ring);
	bool drains = done->flags & NS_SQE_IO_DRAIN;
	const struct ns_uring *earlier, *before = NULL;

	if ((!done->linked && !drains) || !done->submit_ts)
		return NULL;
	for (size_t i = 0; (earlier = next_done(ring, &i)) && earlier != done;) {
		if (earlier->head.ts >= done->submit_ts && earlier->head.ts < done->head.ts &&
		    earlier->submit_ts <= done->submit_ts && (drains || is_chained(earlier, done)))
			before = earlier;
	}
	return before;
}

static bool failed(const struct ns_uring *uring, int error)
{
	return uring->step == NS_URING_DONE && (int32_t)uring->result == -error;
}

bool uring_wait__timed_out(const struct model *model, const struct ns_uring *done)
{
	const struct model_ring *ring = model__ring(model, done->ring);
	const struct ns_uring *timeout;

	if (!failed(done, ECANCELED))
		return false;
	for (size_t i = 0; (timeout = next_done(ring, &i));) {
		/* The time-out follows its operation in their chain, and was submitted with it. */
		if (timeout->opcode == OP_LINK_TIMEOUT && failed(timeout, ETIME) &&
		    timeout->submit_ts >= done->submit_ts && timeout->submit_ts <= done->head.ts &&
		    is_chained(done, timeout))
			return true;
	}
	return false;
}

uint32_t uring_wait__done_by(const struct ns_wait *wait)
{
	uint32_t by = wait->op_by_tid;

	/* What the submitter does for the kernel (task work) is not what brought it about. */
	if (by && by != wait->head.tid && by != wait->op_tid)
		return by;
	if (wait->waker_tid && wait->waker_tid != wait->head.tid)
		return wait->waker_tid;
	return by != wait->head.tid ? by : 0;
}

bool uring_wait__received(const struct ns_uring *uring)
{
	return uring->head.conn && uring->step == NS_URING_DONE && (int32_t)uring->result > 0 &&
	       uring_op__act(uring->opcode) == ACT_RECEIVES;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/wait_kind_ring.h"

#include "user/analyze/waits/uring_wait.h"

/* Of a file that takes or gives bytes. */
static enum wait_kind of_file(const struct ns_wait *wait, enum wait_kind socket)
{
	switch (wait->op_file) {
	case NS_URING_TCP:
		return socket;
	case NS_URING_DISK:
		return WAIT_DISK;
	case NS_URING_SOCKET:
	case NS_URING_PIPE:
	case NS_URING_OTHER:
		return WAIT_IPC;
	default:
		return wait->head.conn ? socket : WAIT_URING;
	}
}

/* Nothing, of an operation that is done when it is asked for; by a worker thread: whatever. */
static enum wait_kind of_told(const struct ns_wait *wait)
{
	if (wait->op_how == NS_URING_WORKER)
		return WAIT_IPC;
	return uring_wait__done_by(wait) ? WAIT_SIGNAL : WAIT_URING;
}

static enum wait_kind by_opcode(const struct ns_wait *wait, enum waker waker)
{
	switch (uring_wait__act(wait->op_code)) {
	case ACT_RECEIVES:
		return of_file(wait, WAIT_RECEIVE);
	case ACT_POLLS:
		return of_file(wait, waker == WAKER_ROOM ? WAIT_SEND : WAIT_RECEIVE);
	case ACT_SENDS:
		return of_file(wait, WAIT_SEND);
	case ACT_CONNECTS:
		return wait->op_file == NS_URING_SOCKET ? WAIT_IPC : WAIT_CONNECT;
	case ACT_ACCEPTS:
		return WAIT_ACCEPT;
	case ACT_TIMES:
		return WAIT_SLEEP;
	case ACT_STORES:
		return WAIT_DISK;
	case ACT_IMMEDIATE:
		return of_told(wait);
	case ACT_POLLS_MANY:
		return WAIT_MANY;
	case ACT_LOCKS:
		return WAIT_SIGNAL;
	case ACT_REAPS:
		return WAIT_CHILD;
	case ACT_UNKNOWN:
		break;
	}
	return wait->head.conn ? of_file(wait, WAIT_RECEIVE) : WAIT_URING;
}

/*
 * For completions: what its operation waited for. A timer ended it where it was no operation but
 * the time-out of the call, where one ran out that was linked to the operation, or a timerfd.
 */
enum wait_kind wait_kind__of_operation(const struct model *model, const struct ns_wait *wait)
{
	const char *stack = model__stack(model, wait->waker_stack_id);
	const struct ns_uring *done = uring_wait__completion(model, wait);
	enum waker waker = waker__by_stack(wait, stack);
	enum wait_kind found = WAIT_URING;

	if (waker == WAKER_TIMER || stack__has(stack, "timerfd_tmrproc") ||
	    (done && uring_wait__timed_out(model, done)))
		return WAIT_SLEEP;
	if (uring_wait__has_operation(wait))
		found = by_opcode(wait, waker);
	return found == WAIT_URING && waker == WAKER_DISK ? WAIT_DISK : found;
}

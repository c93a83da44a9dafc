// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/waiting_ring.h"

#include "user/analyze/waits/awaited.h"

/* Of a file that takes or gives bytes. */
static enum waiting of_file(const struct ns_wait *wait, enum waiting socket)
{
	switch (wait->op_file) {
	case NS_URING_TCP:
		return socket;
	case NS_URING_DISK:
		return WAITING_DISK;
	case NS_URING_SOCKET:
	case NS_URING_PIPE:
	case NS_URING_OTHER:
		return WAITING_IPC;
	default:
		return wait->head.conn ? socket : WAITING_URING;
	}
}

/* Nothing, of an operation that is done when it is asked for; by a worker thread: whatever. */
static enum waiting of_told(const struct ns_wait *wait)
{
	if (wait->op_how == NS_URING_WORKER)
		return WAITING_IPC;
	return awaited__by(wait) ? WAITING_SIGNAL : WAITING_URING;
}

static enum waiting by_opcode(const struct ns_wait *wait, enum waker waker)
{
	switch (awaited__act(wait->op_code)) {
	case ACT_RECEIVES:
		return of_file(wait, WAITING_RECEIVE);
	case ACT_POLLS:
		return of_file(wait, waker == WAKER_ROOM ? WAITING_SEND : WAITING_RECEIVE);
	case ACT_SENDS:
		return of_file(wait, WAITING_SEND);
	case ACT_CONNECTS:
		return wait->op_file == NS_URING_SOCKET ? WAITING_IPC : WAITING_CONNECT;
	case ACT_ACCEPTS:
		return WAITING_ACCEPT;
	case ACT_TIMES:
		return WAITING_SLEEP;
	case ACT_STORES:
		return WAITING_DISK;
	case ACT_TELLS:
		return of_told(wait);
	case ACT_POLLS_MANY:
		return WAITING_MANY;
	case ACT_LOCKS:
		return WAITING_SIGNAL;
	case ACT_REAPS:
		return WAITING_CHILD;
	case ACT_UNKNOWN:
		break;
	}
	return wait->head.conn ? of_file(wait, WAITING_RECEIVE) : WAITING_URING;
}

/*
 * For completions: what its operation waited for. A timer ended it where it was no operation but
 * the time-out of the call, where one ran out that was linked to the operation, or a timerfd.
 */
enum waiting waiting__of_operation(const struct model *model, const struct ns_wait *wait)
{
	const char *stack = model__stack(model, wait->waker_stack_id);
	const struct ns_uring *done = awaited__done(model, wait);
	enum waker waker = waker__by_stack(wait, stack);
	enum waiting found = WAITING_URING;

	if (waker == WAKER_TIMER || stack__has(stack, "timerfd_tmrproc") ||
	    (done && awaited__timed_out(model, done)))
		return WAITING_SLEEP;
	if (awaited__ended(wait))
		found = by_opcode(wait, waker);
	return found == WAITING_URING && waker == WAKER_DISK ? WAITING_DISK : found;
}

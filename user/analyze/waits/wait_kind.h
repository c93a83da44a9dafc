/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a thread waited for, and who ended that, by the record of the wait alone: by the kernel
 * functions of its two stacks, for want of these by the system call.
 */
#ifndef NETSTALL_ANALYZE_WAITS_WAIT_KIND_H
#define NETSTALL_ANALYZE_WAITS_WAIT_KIND_H

#include "user/analyze/waits/kernel_stack.h"
#include "user/model/model.h"

struct wait_view {
	const struct ns_wait *wait;
	enum wait_kind kind; /* of completions of io_uring: what the operation waited for */
	enum waker waker;
	bool is_completion; /* it was in a call or a function that waits for such completions */
	bool is_by_signal;  /* a signal ended what another thread was to end */
};

/* After uring_wait__fill_in(), for completions of io_uring. It points to the wait. */
struct wait_view wait_view__of(const struct model *model, const struct ns_wait *wait);

/*
 * A sleep that another thread ended before its time, by a signal. That takes the waker's stack: a
 * thread that was merely current when a timer ran out is a bystander.
 */
static inline bool wait_view__is_cut_short(const struct wait_view *view)
{
	return view->kind == WAIT_SLEEP && view->waker == WAKER_TASK && !view->is_completion &&
	       view->wait->waker_stack_id;
}

/* Is it a kernel thread of io_uring's: worker (io-wq) or submission thread (SQPOLL)? */
bool uring_thread__is(const char comm[NS_COMM_LEN]);
/* The only thread of a process that is known to have waited, but for such; 0 when there are
 * several. */
uint32_t process__only_thread(const struct model *model, uint32_t tgid);

/* For data, room or the connection of a socket, or for any of several. */
static inline bool wait_kind__is_socket(enum wait_kind kind)
{
	return kind == WAIT_RECEIVE || kind == WAIT_SEND || kind == WAIT_CONNECT ||
	       kind == WAIT_MANY;
}

/* For what another thread does by itself: unlock, signal, write to a pipe. */
static inline bool wait_kind__is_thread(enum wait_kind kind)
{
	return kind == WAIT_MUTEX || kind == WAIT_SIGNAL || kind == WAIT_IPC || kind == WAIT_CHILD;
}

#endif

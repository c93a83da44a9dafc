/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a thread waited for, and who ended that, as one wait by itself tells: by the kernel
 * functions of its two stacks, for want of these by the system call.
 */
#ifndef NETSTALL_ANALYZE_WAITS_WAITING_H
#define NETSTALL_ANALYZE_WAITS_WAITING_H

#include "user/analyze/waits/waiting_stack.h"
#include "user/model/model.h"

/* A wait for completions of io_uring is what its operation waited for (awaited__recall()). */
enum waiting waiting__of(const struct model *model, const struct ns_wait *wait);
enum waker waker__of(const struct model *model, const struct ns_wait *wait);

/* Is it a kernel thread of io_uring's: worker (io-wq) or submission thread (SQPOLL)? */
bool waiting__is_rings(const char comm[NS_COMM_LEN]);
/* By itself, without its operation: in a call or a function that waits for completions? */
bool waiting__for_completions(const struct model *model, const struct ns_wait *wait);

/* For data, room or the connection of a socket, or for any of several. */
static inline bool waiting__for_socket(enum waiting waiting)
{
	return waiting == WAITING_RECEIVE || waiting == WAITING_SEND ||
	       waiting == WAITING_CONNECT || waiting == WAITING_MANY;
}

/* For what another thread does by itself: unlock, signal, write to a pipe. */
static inline bool waiting__for_thread(enum waiting waiting)
{
	return waiting == WAITING_MUTEX || waiting == WAITING_SIGNAL || waiting == WAITING_IPC ||
	       waiting == WAITING_CHILD;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One wait by its record: when it was woken, and which time and connection it is about. */
#ifndef NETSTALL_ANALYZE_WAITS_WAIT_H
#define NETSTALL_ANALYZE_WAITS_WAIT_H

#include "user/model/model.h"
#include "user/record/syscalls.h"

struct wake_judged;

/* A time in which a hold delayed its connection. */
struct span {
	uint64_t start_ts;
	uint64_t end_ts;
	uint32_t conn;
	uint32_t peer;
	uint32_t writer_tid;
};

/*
 * On this host a segment arrives within its send, and who sent it goes to sleep for what comes of
 * it behind that, unless it is preempted: what comes so much later has another reason.
 */
#define WAIT_AT_ONCE_NS 1000000
/* Who sleeps for what comes is woken within this time of that. */
#define WAKE_AT_ONCE_NS 100000

/* By the first arguments of two futex() calls: a condition variable's waiters sleep on two words of
 * it, in turns. */
static inline bool wait__is_one_lock(uint32_t word, uint32_t other)
{
	return (word > other ? word - other : other - word) < NS_CONDITION_BYTES;
}

/* What its system call waits for. */
enum syscall_wait wait__syscall(const struct model *model, const struct ns_wait *wait);
/* A wait in a call on this connection's own descriptor; conn may be NULL. */
bool wait__is_on(const struct model *model, const struct ns_wait *wait,
		 const struct model_conn *conn);
/* May this wait have been for the bytes that were held there? */
bool wait__concerns(const struct model *model, const struct ns_wait *wait, const struct span *span);
uint64_t wait__overlap(const struct ns_wait *wait, uint64_t start_ts, uint64_t end_ts);
/* Nothing had ended it by the end of the window, or of its process. */
bool wait__goes_on(const struct ns_wait *wait);
/* When the thread was made runnable: within the wait, its end when no wake was seen. */
uint64_t wait__woken(const struct ns_wait *wait);
/* Who woke it, by the stack of the wake. */
void wait__judge_wake(const struct model *model, const struct ns_wait *wait,
		      struct wake_judged *out);

#endif

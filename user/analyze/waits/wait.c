// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/waits/wait.h"

#include "user/analyze/waits/wakers.h"
#include "user/base/clock.h"

enum syscall_wait wait__syscall(const struct model *model, const struct ns_wait *wait)
{
	return syscall__wait_of(model__session(model)->arch, wait);
}

bool wait__is_on(const struct model *model, const struct ns_wait *wait,
		 const struct model_conn *conn)
{
	return conn && conn->id.head.type && conn->id.head.tgid == wait->head.tgid &&
	       conn->id.fd != NS_FD_UNKNOWN && wait->arg0 == conn->id.fd &&
	       wait__syscall(model, wait) == SYSCALL_WAIT_FD;
}

bool wait__concerns(const struct model *model, const struct ns_wait *wait, const struct span *span)
{
	if (wait->head.conn && (wait->head.conn == span->conn || wait->head.conn == span->peer))
		return true;
	/* Who waits on another one is not kept by what he wrote here. */
	if (span->writer_tid && wait->head.tid == span->writer_tid &&
	    !(wait->head.conn && wait->conn_basis == NS_CONN_FD))
		return true;
	return wait__is_on(model, wait, model__conn(model, span->conn)) ||
	       wait__is_on(model, wait, model__conn(model, span->peer));
}

bool wait__goes_on(const struct ns_wait *wait)
{
	return wait->ended == NS_WAIT_LASTS || wait->ended == NS_WAIT_KILLED;
}

uint64_t wait__woken(const struct ns_wait *wait)
{
	/* A wake before the switch-out is a thread that was woken on its way to sleep. */
	if (!wait->wake_ts || wait->wake_ts > wait->head.ts)
		return wait->head.ts;
	return wait->wake_ts < wait->off_ts ? wait->off_ts : wait->wake_ts;
}

uint64_t wait__overlap(const struct ns_wait *wait, uint64_t start_ts, uint64_t end_ts)
{
	return clock__common(wait->off_ts, wait->head.ts, start_ts, end_ts);
}

void wait__judge_wake(const struct model *model, const struct ns_wait *wait,
		      struct wake_judged *out)
{
	const struct wake_context context = {
		.kernel = model__stack(model, wait->waker_stack_id),
		.comm = wait->waker_comm,
	};

	wake__judge(&context, out);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/terminal/uring_steps.h"

#include <stdio.h>

#include "user/record/uring_ops.h"
#include "user/render/words/names_uring.h"

static bool is_same(const struct ns_uring *a, const struct ns_uring *b)
{
	return a->ring == b->ring && a->user_data == b->user_data && a->submit_ts == b->submit_ts;
}

/* Of what is done at once the connection is not always looked for; then it is the thread's own. */
static bool is_there(const struct ns_uring *op, const struct ns_head *act)
{
	return op->head.conn ? op->head.conn == act->conn
			     : op->how == NS_URING_INLINE && op->head.tid == act->tid;
}

/* The completion among the steps of the operation that did this on its connection. */
static const struct ns_uring *operation_of(const struct stall *stall, const struct ns_head *act,
					   enum op_act does)
{
	for (size_t i = 0; i < stall->step_count; i++) {
		const struct ns_uring *op = &stall->steps[i].uring;

		if (op->head.type == NS_URING && op->step == NS_URING_DONE && op->submit_ts &&
		    is_there(op, act) && op->submit_ts <= act->ts && act->ts <= op->head.ts &&
		    uring_op__act(op->opcode) == does)
			return op;
	}
	return NULL;
}

/* The operation that this send was; a thread that is in a call for its ring makes no other. */
static const struct ns_uring *send_operation(const struct stall *stall, const struct ns_send *send)
{
	const struct ns_uring *op = operation_of(stall, &send->head, ACT_SENDS);
	bool by_call = send->via == NS_VIA_CALL;

	if (op && by_call && (op->how != NS_URING_INLINE || op->head.tid != send->head.tid))
		return NULL;
	return op;
}

/* The send that this operation was, when its own line has it. */
static bool is_send(const struct stall *stall, const struct ns_uring *op)
{
	for (size_t i = 0; i < stall->step_count; i++) {
		const struct ns_send *send = &stall->steps[i].send;

		if (send->head.type == NS_SEND && send->bytes == op->result &&
		    send_operation(stall, send) == op)
			return true;
	}
	return false;
}

bool uring_steps__is_shown(const struct stall *stall, const struct ns_uring *step)
{
	if (step->step == NS_URING_DONE)
		return step->how == NS_URING_INLINE && !step->overflow && is_send(stall, step);
	/* What it was on the way stands with its end. */
	for (size_t i = 0; i < stall->step_count; i++) {
		const struct ns_uring *op = &stall->steps[i].uring;

		if (op->head.type == NS_URING && op->step == NS_URING_DONE && op->shot <= 1 &&
		    is_same(op, step))
			return true;
	}
	return false;
}

bool uring_steps__does_receive(const struct stall *stall, const struct ns_recv *recv)
{
	const struct ns_uring *op = operation_of(stall, &recv->head, ACT_RECEIVES);

	return op && op->result == recv->bytes;
}

void uring_steps__name_send(const struct stall *stall, const struct ns_send *send,
			    struct words *words)
{
	const struct ns_uring *op = send_operation(stall, send);

	if (op)
		print_to(words->what, "uring %s", uring_op_text(op->opcode, op->fd, op->flags));
}

bool uring_steps__ended(const struct ns_uring *op, const struct ns_wait *wait)
{
	return wait->head.type && wait->op_known == NS_OP_ENDED && (!wait->ring || wait->ring == op->ring) &&
	       wait->op_user_data == op->user_data && wait->op_submit_ts == op->submit_ts;
}

bool uring_steps__ended_a_wait(const struct stall *stall, const struct ns_uring *op)
{
	for (size_t i = 0; i < stall->link_count; i++)
		if (uring_steps__ended(op, &stall->links[i].wait))
			return true;
	return uring_steps__ended(op, &stall->wait);
}

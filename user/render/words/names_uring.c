// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/words/names_uring.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "user/base/array.h"
#include "user/record/uring_ops.h"

#define OP_MSG_RING 40u /* IORING_OP_MSG_RING */

char *name__uring_op(char *dst, size_t size, uint32_t opcode, uint32_t fd, uint32_t flags)
{
	snprintf(dst, size, "%s", opcode == NS_OPCODE_UNKNOWN ? "operation" : opcode_text(opcode));
	/* A negative one is AT_FDCWD, or none. */
	if (fd <= INT32_MAX && uring_op__has_file(opcode))
		text__add(dst, size, " ", flags & NS_SQE_FIXED_FILE ? "file #%u" : "fd %u", fd);
	return dst;
}

static void add_events(char *dst, size_t size, uint32_t events)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {{POLLIN, "POLLIN"},         {POLLPRI, "POLLPRI"},      {POLLOUT, "POLLOUT"},
		     {POLLRDHUP, "POLLRDHUP"},   {POLLERR, "POLLERR"},      {POLLHUP, "POLLHUP"},
		     {POLLRDNORM, "POLLRDNORM"}, {POLLWRNORM, "POLLWRNORM"}};

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (events & names[i].bit)
			text__add(dst, size, "|", "%s", names[i].name);
		events &= ~names[i].bit;
	}
	if (events || !*dst)
		text__add(dst, size, "|", "%#x", events);
}

char *name__uring_result(char *dst, size_t size, uint32_t opcode, uint32_t result)
{
	uint32_t error = (int32_t)result < 0 ? 0 - result : 0;
	const char *name = error_text(error);
	enum op_gives gives = uring_op__gives(opcode);

	dst[0] = '\0';
	if (error && strchr(name, ' ')) /* it has no name */
		snprintf(dst, size, "-%u", error);
	else if (error)
		snprintf(dst, size, "-%s", name);
	else if (gives == OP_GIVES_EVENTS && result)
		add_events(dst, size, result);
	else if (gives == OP_GIVES_FD && result)
		snprintf(dst, size, "fd %u", result);
	else
		text__count(dst, size, result);
	return dst;
}

char *name__ring_flags(char *dst, size_t size, uint32_t flags)
{
	/* IORING_SETUP_* of include/uapi/linux/io_uring.h, by bit. */
	static const char *const names[] = {
		"IOPOLL",        "SQPOLL",        "SQ_AFF",     "CQSIZE",
		"CLAMP",         "ATTACH_WQ",     "R_DISABLED", "SUBMIT_ALL",
		"COOP_TASKRUN",  "TASKRUN_FLAG",  "SQE128",     "CQE32",
		"SINGLE_ISSUER", "DEFER_TASKRUN", "NO_MMAP",    "REGISTERED_FD_ONLY",
		"NO_SQARRAY",    "HYBRID_IOPOLL", "CQE_MIXED",  "SQE_MIXED",
	};

	dst[0] = '\0';
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (flags & 1u << i)
			text__add(dst, size, ", ", "%s", names[i]);
		flags &= ~(1u << i);
	}
	if (flags)
		text__add(dst, size, ", ", "flags %#x", flags);
	return dst;
}

bool uring__failed(const struct ns_uring *op)
{
	int32_t result = (int32_t)op->result;

	return op->step == NS_URING_DONE && result < 0 &&
	       !(result == -ETIME && uring_op__act(op->opcode) == ACT_TIMES);
}

char *name__uring_asked(char *dst, size_t size, const struct ns_uring *op)
{
	dst[0] = '\0';
	if (op->linked)
		text__add(dst, size, ", ", "linked behind user_data 0x%llx",
			  (unsigned long long)op->link_head);
	if (op->flags & NS_SQE_IO_HARDLINK)
		text__add(dst, size, ", ", "the next is hard-linked to it");
	else if (op->flags & NS_SQE_IO_LINK)
		text__add(dst, size, ", ", "the next is linked to it");
	if (op->flags & NS_SQE_IO_DRAIN)
		text__add(dst, size, ", ", "drain");
	if (op->flags & NS_SQE_ASYNC)
		text__add(dst, size, ", ", "async");
	if (op->flags & NS_SQE_BUFFER_SELECT)
		text__add(dst, size, ", ", "takes a provided buffer");
	if (op->flags & NS_SQE_CQE_SKIP_SUCCESS)
		text__add(dst, size, ", ", "no completion if it succeeds");
	return dst;
}

/* Who completed it, where that was another thread than the one that submitted it. */
static void add_completer(char *dst, size_t size, const struct ns_uring *op)
{
	const char *name = safe_text(op->by_comm, NS_COMM_LEN);

	if (op->by_tid == op->head.tid || !op->by_comm[0] || op->how == NS_URING_INLINE)
		return;
	if (!op->by_tid)
		text__add(dst, size, ", ", "completed on an idle CPU");
	else if (op->how == NS_URING_WORKER)
		text__add(dst, size, ", ", "done by %s/%u", name, op->by_tid);
	else
		text__add(dst, size, ", ", "completed in %s/%u", name, op->by_tid);
}

char *name__uring_course(char *dst, size_t size, const struct ns_uring *op)
{
	dst[0] = '\0';
	if (!op->submit_ts)
		text__add(dst, size, ", ", "%s",
			  op->opcode == OP_MSG_RING ? "posted from another ring"
						    : "its submission was not seen");
	if (op->shot > 1 && !(op->cqe_flags & NS_CQE_NOTIF))
		text__add(dst, size, ", ", "completion %u of it", op->shot);
	if (op->how == NS_URING_INLINE)
		text__add(dst, size, ", ", "inline");
	if (op->armed_ts || op->how == NS_URING_POLLED)
		text__add(dst, size, ", ", "poll armed");
	if (op->queued_ts || op->how == NS_URING_WORKER)
		text__add(dst, size, ", ", "queued for a worker");
	if (op->linked)
		text__add(dst, size, ", ", "linked behind user_data 0x%llx",
			  (unsigned long long)op->link_head);
	if (op->cqe_flags & NS_CQE_BUFFER)
		text__add(dst, size, ", ", "buffer %u", op->cqe_flags >> NS_CQE_BUFFER_SHIFT);
	if (op->cqe_flags & NS_CQE_NOTIF)
		text__add(dst, size, ", ", "notification: the kernel is done with the buffer");
	else if (op->cqe_flags & NS_CQE_MORE)
		text__add(dst, size, ", ", "more to come");
	if (op->overflow)
		text__add(dst, size, ", ",
			  "no room in the completion queue: it waits in the kernel");
	add_completer(dst, size, op);
	return dst;
}

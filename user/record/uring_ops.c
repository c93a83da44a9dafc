// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/uring_ops.h"

#include <stdio.h>
#include <string.h>

#include "bpf/event.h"

/* IORING_OP_* of include/uapi/linux/io_uring.h, by number. */
static const struct {
	const char *name;
	enum op_gives gives;
	enum op_moves moves;
	bool asks_bytes;
} ops[] = {
	{"NOP", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"READV", OP_GIVES_BYTES, OP_MOVES_IN, false},
	{"WRITEV", OP_GIVES_BYTES, OP_MOVES_OUT, false},
	{"FSYNC", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"READ_FIXED", OP_GIVES_BYTES, OP_MOVES_IN, true},
	{"WRITE_FIXED", OP_GIVES_BYTES, OP_MOVES_OUT, true},
	{"POLL_ADD", OP_GIVES_EVENTS, OP_MOVES_NOTHING, false},
	{"POLL_REMOVE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"SYNC_FILE_RANGE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, true},
	{"SENDMSG", OP_GIVES_BYTES, OP_MOVES_OUT, false},
	{"RECVMSG", OP_GIVES_BYTES, OP_MOVES_IN, false},
	{"TIMEOUT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"TIMEOUT_REMOVE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"ACCEPT", OP_GIVES_FD, OP_MOVES_NOTHING, false},
	{"ASYNC_CANCEL", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"LINK_TIMEOUT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"CONNECT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"FALLOCATE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"OPENAT", OP_GIVES_FD, OP_MOVES_NOTHING, false},
	{"CLOSE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"FILES_UPDATE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"STATX", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"READ", OP_GIVES_BYTES, OP_MOVES_IN, true},
	{"WRITE", OP_GIVES_BYTES, OP_MOVES_OUT, true},
	{"FADVISE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, true},
	{"MADVISE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, true},
	{"SEND", OP_GIVES_BYTES, OP_MOVES_OUT, true},
	{"RECV", OP_GIVES_BYTES, OP_MOVES_IN, true},
	{"OPENAT2", OP_GIVES_FD, OP_MOVES_NOTHING, false},
	{"EPOLL_CTL", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"SPLICE", OP_GIVES_BYTES, OP_MOVES_NOTHING, true},
	{"PROVIDE_BUFFERS", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"REMOVE_BUFFERS", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"TEE", OP_GIVES_BYTES, OP_MOVES_NOTHING, true},
	{"SHUTDOWN", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"RENAMEAT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"UNLINKAT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"MKDIRAT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"SYMLINKAT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"LINKAT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"MSG_RING", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"FSETXATTR", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"SETXATTR", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"FGETXATTR", OP_GIVES_BYTES, OP_MOVES_NOTHING, false},
	{"GETXATTR", OP_GIVES_BYTES, OP_MOVES_NOTHING, false},
	{"SOCKET", OP_GIVES_FD, OP_MOVES_NOTHING, false},
	{"URING_CMD", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"SEND_ZC", OP_GIVES_BYTES, OP_MOVES_OUT, true},
	{"SENDMSG_ZC", OP_GIVES_BYTES, OP_MOVES_OUT, false},
	{"READ_MULTISHOT", OP_GIVES_BYTES, OP_MOVES_IN, false},
	{"WAITID", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"FUTEX_WAIT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"FUTEX_WAKE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"FUTEX_WAITV", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"FIXED_FD_INSTALL", OP_GIVES_FD, OP_MOVES_NOTHING, false},
	{"FTRUNCATE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"BIND", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"LISTEN", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"RECV_ZC", OP_GIVES_BYTES, OP_MOVES_IN, true},
	{"EPOLL_WAIT", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"READV_FIXED", OP_GIVES_BYTES, OP_MOVES_IN, false},
	{"WRITEV_FIXED", OP_GIVES_BYTES, OP_MOVES_OUT, false},
	{"PIPE", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"NOP128", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
	{"URING_CMD128", OP_GIVES_NUMBER, OP_MOVES_NOTHING, false},
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

const char *uring_op__name(uint32_t opcode)
{
	return opcode < OPS ? ops[opcode].name : NULL;
}

char *uring_op__text(char *dst, size_t size, uint32_t opcode)
{
	const char *name = uring_op__name(opcode);

	if (name || opcode == NS_OPCODE_UNKNOWN)
		snprintf(dst, size, "%s", name ? name : "unknown");
	else
		snprintf(dst, size, "OP_%u", opcode);
	return dst;
}

enum op_gives uring_op__gives(uint32_t opcode)
{
	return opcode < OPS ? ops[opcode].gives : OP_GIVES_NUMBER;
}

enum op_moves uring_op__moves(uint32_t opcode)
{
	return opcode < OPS ? ops[opcode].moves : OP_MOVES_NOTHING;
}

bool uring_op__asks_bytes(uint32_t opcode)
{
	return opcode < OPS && ops[opcode].asks_bytes;
}

/* Of these sqe->fd is a domain, a count, or flags. */
bool uring_op__has_file(uint32_t opcode)
{
	static const char *const without[] = {
		"SOCKET",     "PROVIDE_BUFFERS", "REMOVE_BUFFERS", "WAITID",
		"FUTEX_WAIT", "FUTEX_WAKE",      "FUTEX_WAITV",    "PIPE"};
	const char *name = uring_op__name(opcode);

	for (size_t i = 0; name && i < sizeof(without) / sizeof(without[0]); i++)
		if (!strcmp(name, without[i]))
			return false;
	return true;
}

bool uring_op__ends_by_time(uint32_t opcode)
{
	const char *name = uring_op__name(opcode);

	return name && (!strcmp(name, "TIMEOUT") || !strcmp(name, "LINK_TIMEOUT"));
}

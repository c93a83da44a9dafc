// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/uring_ops.h"

#include <stdio.h>

#include "bpf/event.h"

/* IORING_OP_* of include/uapi/linux/io_uring.h, by number. */
static const struct {
	const char *name;
	enum op_act act;
	enum op_gives gives;
	bool asks_bytes;
	bool no_file; /* sqe->fd is a domain, a count, or flags */
} ops[] = {
	{"NOP", .act = ACT_IMMEDIATE},
	{"READV", .act = ACT_RECEIVES, .gives = OP_GIVES_BYTES},
	{"WRITEV", .act = ACT_SENDS, .gives = OP_GIVES_BYTES},
	{"FSYNC", .act = ACT_STORES},
	{"READ_FIXED", .act = ACT_RECEIVES, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"WRITE_FIXED", .act = ACT_SENDS, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"POLL_ADD", .act = ACT_POLLS, .gives = OP_GIVES_EVENTS},
	{"POLL_REMOVE", .act = ACT_IMMEDIATE},
	{"SYNC_FILE_RANGE", .act = ACT_STORES, .asks_bytes = true},
	{"SENDMSG", .act = ACT_SENDS, .gives = OP_GIVES_BYTES},
	{"RECVMSG", .act = ACT_RECEIVES, .gives = OP_GIVES_BYTES},
	{"TIMEOUT", .act = ACT_TIMES},
	{"TIMEOUT_REMOVE", .act = ACT_IMMEDIATE},
	{"ACCEPT", .act = ACT_ACCEPTS, .gives = OP_GIVES_FD},
	{"ASYNC_CANCEL", .act = ACT_IMMEDIATE},
	{"LINK_TIMEOUT", .act = ACT_TIMES},
	{"CONNECT", .act = ACT_CONNECTS},
	{"FALLOCATE", .act = ACT_STORES},
	{"OPENAT", .act = ACT_STORES, .gives = OP_GIVES_FD},
	{"CLOSE", .act = ACT_IMMEDIATE},
	{"FILES_UPDATE", .act = ACT_IMMEDIATE},
	{"STATX", .act = ACT_STORES},
	{"READ", .act = ACT_RECEIVES, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"WRITE", .act = ACT_SENDS, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"FADVISE", .act = ACT_STORES, .asks_bytes = true},
	{"MADVISE", .act = ACT_STORES, .asks_bytes = true},
	{"SEND", .act = ACT_SENDS, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"RECV", .act = ACT_RECEIVES, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"OPENAT2", .act = ACT_STORES, .gives = OP_GIVES_FD},
	{"EPOLL_CTL", .act = ACT_IMMEDIATE},
	{"SPLICE", .act = ACT_PASSES_ON, .gives = OP_GIVES_BYTES,
	 .asks_bytes = true}, /* its fd is where the bytes go */
	{"PROVIDE_BUFFERS", .act = ACT_IMMEDIATE, .no_file = true},
	{"REMOVE_BUFFERS", .act = ACT_IMMEDIATE, .no_file = true},
	{"TEE", .act = ACT_PASSES_ON, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"SHUTDOWN", .act = ACT_IMMEDIATE},
	{"RENAMEAT", .act = ACT_STORES},
	{"UNLINKAT", .act = ACT_STORES},
	{"MKDIRAT", .act = ACT_STORES},
	{"SYMLINKAT", .act = ACT_STORES},
	{"LINKAT", .act = ACT_STORES},
	{"MSG_RING", .act = ACT_IMMEDIATE},
	{"FSETXATTR", .act = ACT_STORES},
	{"SETXATTR", .act = ACT_STORES},
	{"FGETXATTR", .act = ACT_STORES, .gives = OP_GIVES_BYTES},
	{"GETXATTR", .act = ACT_STORES, .gives = OP_GIVES_BYTES},
	{"SOCKET", .act = ACT_IMMEDIATE, .gives = OP_GIVES_FD, .no_file = true},
	{"URING_CMD", .act = ACT_UNKNOWN},
	{"SEND_ZC", .act = ACT_SENDS, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"SENDMSG_ZC", .act = ACT_SENDS, .gives = OP_GIVES_BYTES},
	{"READ_MULTISHOT", .act = ACT_RECEIVES, .gives = OP_GIVES_BYTES},
	{"WAITID", .act = ACT_REAPS, .no_file = true},
	{"FUTEX_WAIT", .act = ACT_LOCKS, .no_file = true},
	{"FUTEX_WAKE", .act = ACT_IMMEDIATE, .no_file = true},
	{"FUTEX_WAITV", .act = ACT_LOCKS, .no_file = true},
	{"FIXED_FD_INSTALL", .act = ACT_IMMEDIATE, .gives = OP_GIVES_FD},
	{"FTRUNCATE", .act = ACT_STORES},
	{"BIND", .act = ACT_IMMEDIATE},
	{"LISTEN", .act = ACT_IMMEDIATE},
	{"RECV_ZC", .act = ACT_RECEIVES, .gives = OP_GIVES_BYTES, .asks_bytes = true},
	{"EPOLL_WAIT", .act = ACT_POLLS_MANY},
	{"READV_FIXED", .act = ACT_RECEIVES, .gives = OP_GIVES_BYTES},
	{"WRITEV_FIXED", .act = ACT_SENDS, .gives = OP_GIVES_BYTES},
	{"PIPE", .act = ACT_IMMEDIATE, .no_file = true},
	{"NOP128", .act = ACT_IMMEDIATE},
	{"URING_CMD128", .act = ACT_UNKNOWN},
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

enum op_act uring_op__act(uint32_t opcode)
{
	return opcode < OPS ? ops[opcode].act : ACT_UNKNOWN;
}

bool uring_op__asks_bytes(uint32_t opcode)
{
	return opcode < OPS && ops[opcode].asks_bytes;
}

bool uring_op__has_file(uint32_t opcode)
{
	return opcode >= OPS || !ops[opcode].no_file;
}

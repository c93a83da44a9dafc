/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The operations of io_uring by number: what each is called, asks for and gives. */
#ifndef NETSTALL_RECORD_URING_OPS_H
#define NETSTALL_RECORD_URING_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a result that is not negative means. */
enum op_gives {
	OP_GIVES_NUMBER, /* 0 for most: it is done */
	OP_GIVES_BYTES,  /* so many were moved */
	OP_GIVES_FD,     /* a new descriptor; 0: it went to the ring's registered files */
	OP_GIVES_EVENTS, /* poll(2)'s */
};

/*
 * What who waits for an operation waits for, as far as the opcode says. What an opcode does to its
 * file is of include/uapi/linux/io_uring.h and the kernel's io_issue_defs (io_op_defs before 6.4);
 * numbers never change there.
 */
enum op_act {
	ACT_UNKNOWN,   /* none of these, or a later kernel's */
	ACT_RECEIVES,  /* from its file */
	ACT_SENDS,     /* to its file */
	ACT_PASSES_ON, /* to its file, what comes from another one */
	ACT_POLLS,     /* its file's becoming ready, for whatever */
	ACT_CONNECTS,
	ACT_ACCEPTS,
	ACT_TIMES,      /* TIMEOUT, LINK_TIMEOUT: -ETIME is how it ends when all is well */
	ACT_STORES,     /* in a file system, whatever its file is: FSYNC, OPENAT, STATX ... */
	ACT_IMMEDIATE,  /* nothing: NOP, MSG_RING, ASYNC_CANCEL and the like are done when asked */
	ACT_POLLS_MANY, /* EPOLL_WAIT */
	ACT_LOCKS,      /* FUTEX_WAIT */
	ACT_REAPS,      /* WAITID */
};

#define URING_OP_TEXT 24

/* "SEND", ...: IORING_OP_* without its prefix; NULL beyond the table. */
const char *uring_op__name(uint32_t opcode);
/* The same, "OP_77" beyond the table, "unknown" for NS_OPCODE_UNKNOWN; returns dst. */
char *uring_op__text(char *dst, size_t size, uint32_t opcode);
/* NS_OPCODE_UNKNOWN and numbers beyond the table give a number. */
enum op_gives uring_op__gives(uint32_t opcode);
enum op_act uring_op__act(uint32_t opcode);
/* ns_uring.len is bytes, not a count of something, or flags. */
bool uring_op__asks_bytes(uint32_t opcode);
/* ns_uring.fd is a descriptor, or an index of a registered file. */
bool uring_op__has_file(uint32_t opcode);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What io_uring's operations, results and rings are called in the output. */
#ifndef NETSTALL_RENDER_WORDS_NAMES_URING_H
#define NETSTALL_RENDER_WORDS_NAMES_URING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "user/base/text.h"
#include "user/record/uring_ops.h"

#define NAME_URING        40
#define NAME_URING_RESULT 64

/* "SEND fd 7", "READ file #3", "NOP" */
char *name__uring_op(char *dst, size_t size, uint32_t opcode, uint32_t fd, uint32_t flags);
/* "136", "fd 9", "POLLIN", "-ETIME" */
char *name__uring_result(char *dst, size_t size, uint32_t opcode, uint32_t result);
/* "SQPOLL, DEFER_TASKRUN" of IORING_SETUP_*; "" for none */
char *name__ring_flags(char *dst, size_t size, uint32_t flags);
/* A result that means that something went wrong. */
bool uring__failed(const struct ns_uring *op);

/* What is to be said of a submission: "linked behind user_data 0x5, drain"; "" for nothing */
char *name__uring_asked(char *dst, size_t size, const struct ns_uring *op);
/* How it came to this completion, without its duration: "poll armed, buffer 3" */
char *name__uring_course(char *dst, size_t size, const struct ns_uring *op);

/* The same in room of their own, which lasts as long as the block: see base/text.h. */
#define uring_op_text(opcode, fd, flags)                                                           \
	name__uring_op((char[NAME_URING]){""}, NAME_URING, opcode, fd, flags)
#define uring_result_text(opcode, result)                                                          \
	name__uring_result((char[NAME_URING_RESULT]){""}, NAME_URING_RESULT, opcode, result)
#define ring_flags_text(flags) name__ring_flags((char[256]){""}, 256, flags)
#define opcode_text(opcode)    uring_op__text((char[URING_OP_TEXT]){""}, URING_OP_TEXT, opcode)

#endif

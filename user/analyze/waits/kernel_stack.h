/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a thread waited for, by the functions on its kernel stack, and who ended that, by those on
 * the waker's stack. wait_kind.h builds on it, with the system call and the operation too.
 */
#ifndef NETSTALL_ANALYZE_WAITS_KERNEL_STACK_H
#define NETSTALL_ANALYZE_WAITS_KERNEL_STACK_H

#include <stdbool.h>

#include "bpf/event.h"
#include "user/record/syscalls.h"

enum waker {
	WAKER_UNSEEN,
	WAKER_TASK,      /* a thread, by what it did itself */
	WAKER_NETWORK,   /* a segment that was received, in softirq mostly */
	WAKER_ROOM,      /* an acknowledgement that made room to write: no data came */
	WAKER_TIMER,     /* its time-out ran out, or its sleep ended */
	WAKER_DISK,      /* the completion of block I/O */
	WAKER_INTERRUPT, /* another interrupt or softirq */
};

/* By the kernel functions of a stack alone, without the system call and its arguments:
 * WAIT_UNKNOWN and WAKER_TASK when they say nothing; a stack may be NULL. */
enum wait_kind wait_kind__by_stack(const char *stack);
enum waker waker__by_stack_alone(const char *stack);
/* Who ended a wait, by what the waker's stack says alone, */
enum waker waker__of(const struct ns_wait *wait, enum waker by_stack);
/* or by its text, NULL when there is none. */
enum waker waker__by_stack(const struct ns_wait *wait, const char *stack);

/* Of a stack (text, leaf first): is this frame of one of these functions, "a" or "a|b|c"? A suffix
 * such as ".part.0" counts as the same. */
bool frame__is(const char *frame, const char *names);
/* Does the stack hold such a frame? NULL: no. */
bool stack__has(const char *stack, const char *names);

#endif

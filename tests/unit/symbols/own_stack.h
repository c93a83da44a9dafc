/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For tests of unwinding: a copy of this program's own stack, as the kernel side takes it. */
#ifndef NETSTALL_TESTS_OWN_STACK_H
#define NETSTALL_TESTS_OWN_STACK_H

#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

#include "bpf/state.h"
#include "tests/unit/feed.h"
#include "tests/workload/kept.h"
#include "user/symbols/unwind.h"

static struct ns_call_raw call;
static volatile int work; /* behind each call, so that none becomes a jump */
/* The same stack, as much of it as there is: a signal's frame alone may have 12 KiB. */
static unsigned char stack_copy[1 << 16];
static size_t stack_copied;

/* Until the end of the stack at most; byte by byte, for the sanitizers know better. */
__attribute__((no_sanitize("address", "undefined"))) static void copy_stack(void)
{
	const unsigned char *from = (void *)call.regs[NS_REG_SP];
	pthread_attr_t attributes;
	void *stack;
	size_t size;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &stack, &size);
	pthread_attr_destroy(&attributes);
	for (stack_copied = 0; stack_copied < sizeof(stack_copy); stack_copied++) {
		if (from + stack_copied == (unsigned char *)stack + size)
			break;
		stack_copy[stack_copied] = ((volatile const unsigned char *)from)[stack_copied];
	}
	call.stack_len = stack_copied < NS_CALL_STACK ? stack_copied : NS_CALL_STACK;
	memcpy(call.stack, stack_copy, call.stack_len);
}

/* As the kernel side does: registers, then the stack from its pointer on. */
KEPT static void inner_write(void)
{
	ucontext_t here;

	memset(&call, 0, sizeof(call));
	call.call.head.tid = getpid();
	getcontext(&here);
#if defined(__x86_64__)
	static const int from[] = {REG_RIP, REG_RSP, REG_RBP, REG_RBX,
				   REG_R12, REG_R13, REG_R14, REG_R15};

	for (size_t i = 0; i < NS_REG_COUNT; i++)
		call.regs[i] = here.uc_mcontext.gregs[from[i]];
#elif defined(__aarch64__)
	call.regs[NS_REG_IP] = here.uc_mcontext.pc;
	call.regs[NS_REG_SP] = here.uc_mcontext.sp;
	call.regs[NS_REG_FP] = here.uc_mcontext.regs[29];
	call.regs[NS_REG_LR] = here.uc_mcontext.regs[30];
	for (size_t i = 0; i < 10; i++)
		call.regs[NS_REG_X19 + i] = here.uc_mcontext.regs[19 + i];
#endif
	copy_stack();
	work++;
}

KEPT static void middle_helper(void)
{
	volatile char room[200];

	room[0] = 1;
	inner_write();
	work += room[0];
}

KEPT static void outer_request(void)
{
	middle_helper();
	work++;
}

#endif

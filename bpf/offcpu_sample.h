/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A user stack as it is, to be unwound in user space: registers and the top of the stack, of a
 * thread that sleeps, or wakes another, at a place of the off-CPU profile. One stands for all
 * waits of its place. It goes from the kernel to the unwinder and nowhere else.
 */
#ifndef NETSTALL_BPF_OFFCPU_SAMPLE_H
#define NETSTALL_BPF_OFFCPU_SAMPLE_H

#include "bpf/event.h"

#define NS_OFFCPU_STACK_LEAST   1024u
#define NS_OFFCPU_STACK_MOST    65536u
#define NS_OFFCPU_STACK_DEFAULT 16384u
#define NS_OFFCPU_STACK_BLOCK   512u /* it is copied in blocks, those that are there */
#define NS_OFFCPU_STACK_BLOCKS  (NS_OFFCPU_STACK_MOST / NS_OFFCPU_STACK_BLOCK)

struct ns_offcpu_sample {
	__u32 type;  /* NS_OFFCPU_SAMPLE */
	__u32 place; /* its number */
	__u32 tgid;  /* as the kernel counts */
	__u32 pad;
	__u64 base;                               /* of stack: the stack pointer's block */
	__u64 there[NS_OFFCPU_STACK_BLOCKS / 64]; /* a bit each; a page never touched is not */
	__u64 regs[NS_CALL_REGS];                 /* by enum ns_call_reg */
	__u8 stack[];
};

_Static_assert(sizeof(struct ns_offcpu_sample) ==
		       24 + NS_OFFCPU_STACK_BLOCKS / 8 + 8 * NS_CALL_REGS,
	       "no padding");

#endif

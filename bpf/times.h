/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lengths of time, in the kernel and in user space. All times are CLOCK_MONOTONIC, in ns. */
#ifndef NETSTALL_BPF_TIMES_H
#define NETSTALL_BPF_TIMES_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * What lies between two times, never below zero: a thread that is woken on its way off the CPU is
 * woken before it sleeps, and the time of one CPU may be written behind a later one of another.
 */
static inline __attribute__((always_inline)) __u64 ns_passed(__u64 from, __u64 to)
{
	return to > from ? to - from : 0;
}

#endif

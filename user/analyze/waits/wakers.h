/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who woke a thread, by the kernel stack of the wake: the thread that ran there, or a
 * softirq or interrupt, which has nothing to do with whatever it interrupted.
 */
#ifndef NETSTALL_ANALYZE_WAITS_WAKERS_H
#define NETSTALL_ANALYZE_WAITS_WAKERS_H

#include "user/analyze/profile/profile.h"

#define WAKER_NAME 64

struct wake_context {
	const char *kernel; /* stack at the wake: text, leaf first, ';' between; NULL none */
	const char *comm;   /* of the thread that ran there, NULL when it is known to be nobody's */
	bool by_timer;      /* what was received then had been sent by a timer's softirq */
};

struct wake_judged {
	enum waker_kind kind;
	char name[WAKER_NAME]; /* "softirq:net_rx", "irq:timer"; "" of a thread */
	size_t kernel_length;  /* of the stack: what lies below belongs to the interrupted */
	bool received;         /* a segment's arrival woke, in softirq */
};

/*
 * A thread by what it did itself: also when a softirq ran inside its system call and received
 * what it had just sent over loopback or veth. Not when that softirq ran a timer, polled a
 * device, or received what a timer had sent: that the thread's call ran it was chance.
 */
void wake__judge(const struct wake_context *context, struct wake_judged *out);
/* Likewise where it received what the thread had just sent: not what it brought in from elsewhere.
 */
bool wake__is_by_sender(const struct wake_context *context);
/* An interrupt or softirq runs on this stack (text): what it interrupted is a victim, no waker. */
bool stack__in_interrupt(const char *stack);

#endif

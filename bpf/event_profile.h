/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The wire contract, continued: an off-CPU profile in a recording. No program of the kernel side
 * sends these: user space writes them behind the window, each entry with its wakes behind it;
 * a text stands before whatever names it. Included by event.h.
 */
#ifndef NETSTALL_BPF_EVENT_PROFILE_H
#define NETSTALL_BPF_EVENT_PROFILE_H

#define NS_PROFILE_LOSSES   5 /* kinds, as enum profile_loss_kind has them */
#define NS_PROFILE_TEXT_MAX 2008

/* head.ts: end of the window. */
struct ns_profile {
	struct ns_head head;
	__u64 start_ts;
	__u64 wall_offset_ns;    /* CLOCK_REALTIME - CLOCK_MONOTONIC, two's complement */
	__u64 least_ns, most_ns; /* waits of these lengths alone; 0 any */
	__u64 runqueue_ns;       /* of waits for a CPU alone that are in no entry */
	__u64 sample_waits, sample_ns, sample_looked_at; /* of short waits; 0: each was looked at */
	__u64 lost[NS_PROFILE_LOSSES];
	__u64 lost_ns[NS_PROFILE_LOSSES];
	__u32 depth;
	__u32 per_thread;
	__u32 by_cause;
	__u32 pad;
	char target[128]; /* as the user named it */
	char kernel[64];  /* uname -r */
	char arch[16];
	char hidden[160]; /* why kernel names are missing; "": they are not */
};

/* What is too long for one record goes on in the next one of the same number. */
struct ns_profile_text {
	struct ns_head head;
	__u32 id; /* from 1 */
	__u32 pad;
	char text[NS_PROFILE_TEXT_MAX];
};

/* head.tgid, head.tid: as netstall's pid namespace counts; tid 0: threads are not told apart. */
struct ns_profile_entry {
	struct ns_head head;
	__u64 count; /* waits */
	__u64 blocked_ns;
	__u64 runqueue_ns;
	__u32 kernel, user; /* texts: where it slept; 0 none */
	__u32 state;        /* as ns_wait.state */
	__u32 pad;
	char comm[72];
	char cause[24]; /* its id; "not-explained": too short for one; "": none was asked for
			 */
};

enum ns_profile_waker {
	NS_PROFILE_WAKER_UNKNOWN,
	NS_PROFILE_WAKER_THREAD,
	NS_PROFILE_WAKER_SOFTIRQ,
	NS_PROFILE_WAKER_IRQ,
};

/* head.tgid, head.tid: the waker, likewise. */
struct ns_profile_wake {
	struct ns_head head;
	__u32 kind;                   /* enum ns_profile_waker */
	__u32 kernel, user;           /* texts: its stack at the wake */
	__u32 wait_kernel, wait_user; /* its own last wait before that */
	__u32 pad;
	char comm[72]; /* or "softirq:timer", "irq:nvme0q1" */
};

NS_ASSERT_SIZE(ns_profile, 560);
NS_ASSERT_SIZE(ns_profile_text, 2048);
NS_ASSERT_SIZE(ns_profile_entry, 168);
NS_ASSERT_SIZE(ns_profile_wake, 128);

#endif

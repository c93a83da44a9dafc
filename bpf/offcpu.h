/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The off-CPU profile's kernel side, what both sides of it know: sums of blocked time by chain
 * of places, added up in the kernel. Not part of the wire contract.
 *
 *	chain  = the place of a sleep, and hops: who ended it, and what that thread had slept in
 *	place  = who, and where: interned, so that a chain is a few numbers
 *	stack  = the addresses of one stack, by their hash
 */
#ifndef NETSTALL_BPF_OFFCPU_H
#define NETSTALL_BPF_OFFCPU_H

#include "bpf/event.h"

#define NS_OFFCPU_FRAMES 127    /* PERF_MAX_STACK_DEPTH: what the kernel gives */
#define NS_OFFCPU_DEPTH  8      /* hops of a chain */
#define NS_OFFCPU_FLAGS  65536u /* buckets of followed threads by number; a power of two */
#define NS_OFFCPU_RANGES 2
#define NS_OFFCPU_OWN    8 /* frames of tracers on top of the traced function */

/* Waits below this may be taken for each other; and one slot of time is looked at of so many. */
#define NS_OFFCPU_SHORT_NS  1000000ull
#define NS_OFFCPU_SLOT_BITS 20 /* of a clock in ns: about 1 ms */
#define NS_OFFCPU_EVERY     8  /* log2 of the most slots that one stands for */

/* In place of a stack's hash. */
#define NS_OFFCPU_NO_STACK   0ull
#define NS_OFFCPU_LOST_STACK 1ull /* the table of stacks had no room */

/* In place of a place's number. */
#define NS_OFFCPU_NOWHERE    0u
#define NS_OFFCPU_LOST_PLACE 0xffffffffu /* the table of places had no room */

enum ns_offcpu_kind {
	NS_OFFCPU_SLEEP = 1, /* a thread leaves its CPU */
	NS_OFFCPU_WAKE =
		2, /* a thread wakes another, or a softirq run inside its system call does */
	NS_OFFCPU_IRQ = 3, /* the same in an interrupt: of nobody, the interrupted frames are cut */
	NS_OFFCPU_SEGMENT =
		4, /* a timer's softirq sends a segment, whose arrival wakes: of nobody */
	NS_OFFCPU_SEED =
		5, /* a sleep since before the attach: without its user stack, of one thread */
};

/* Read-only data: the verifier prunes what is switched off. */
struct ns_offcpu_config {
	__u32 on;          /* the profile is taken; else nothing below matters */
	__u32 everything;  /* all threads of the machine are targets */
	__u64 least_ns;    /* shorter waits do not count, */
	__u64 most_ns;     /* nor do longer ones; 0: no limit */
	__u64 tell_ns;     /* waits from here on are told one by one too; 0: none */
	__u64 unwind_ns;   /* user stacks of waits from here on are copied; 0: none are */
	__u32 stack_bytes; /* of each, a multiple of NS_OFFCPU_STACK_BLOCK */
	__u32 depth;       /* 1 to NS_OFFCPU_DEPTH */
	__u32 per_thread;
	__u32 user_threads;   /* kernel threads are no targets */
	__u32 kernel_threads; /* threads of programs are none */
	__u32 user_stacks;
	__u32 exact_places; /* where the thread stands in user mode is part of a place */
	__u32 state_given;
	__u32 state; /* as the kernel has it: 0 runnable; else waits of any of these states */
	__u32 pad;
};

struct ns_offcpu_place_key {
	__u64 kernel; /* hashes of its stacks, or NS_OFFCPU_*_STACK */
	__u64 user;
	__u64 python; /* ns_offcpu_python.number; 0: CPython runs nothing there */
	__u64 ip;     /* in user mode; 0 without exact_places, and for kernel threads */
	__u64 sp;
	__u32 tgid;  /* as the kernel counts; 0 of nobody */
	__u32 tid;   /* 0 when threads are not told apart */
	__u32 kind;  /* enum ns_offcpu_kind */
	__u32 state; /* of a sleep, as ns_wait.state: 0 preempted 1 S 2 D 4 stopped */
	char comm[NS_COMM_LEN];
};

struct ns_offcpu_place {
	__u32 id; /* from 1 */
	__u32 pad;
};

struct ns_offcpu_stack {
	__u64 frames[NS_OFFCPU_FRAMES]; /* leaf first; 0 ends them */
};

struct ns_offcpu_hop {
	__u32 wake;  /* place of the waker */
	__u32 via;   /* place that had sent the segment that woke, else 0; segment.bpf.h */
	__u32 sleep; /* place of the waker's own last wait, else 0 */
};

/* Only the first depth hops are part of the table's key. */
struct ns_offcpu_chain {
	__u32 sleep;
	struct ns_offcpu_hop hops[NS_OFFCPU_DEPTH];
};

/* Short waits. */
struct ns_offcpu_short {
	__u64 ns;
	__u64 runqueue_ns;
	__u64 count;
};

struct ns_offcpu_sum {
	__u64 ns;          /* blocked: from switch-out to wake */
	__u64 runqueue_ns; /* from wake to switch-in */
	__u64 count;
	struct ns_offcpu_short sample; /* the same of those that stand for others, by weight */
	__u32 id;                      /* from 1 */
	__u32 pad;
};

/*
 * The profile's part of a thread: of a target's, or of one that woke such a thread. off_ts is the
 * same instant as in the thread's NS_WAIT: with the thread it names one wait in both views.
 */
struct ns_offcpu_thread {
	__u64 off_ts;   /* left its CPU; 0: on it, or not known */
	__u64 wake_ts;  /* made runnable; 0: not yet */
	__u64 woken_ts; /* end of the last whole wait, that of chain; 0: none known */
	__u64 woke_ts;  /* it woke somebody of a chain last */
	__u32 level;    /* 0: a target's; n: woke one of level n - 1 */
	__u32 state;    /* when it left, as the kernel has it; 0: it could have run on */
	__u32 weight; /* waits that this one stands for; 0: another stands for it if it is short */
	__u32 quick;  /* its last wait was short */
	/* Of its last sleep with weight 0: its user side, as in a place, and a hash of all that
	 * user came from; 0 not known. */
	__u64 user;
	__u64 python;
	__u64 user_hash;
	struct ns_offcpu_chain chain;
};

/* Records that end in user space, beside those of the wire contract. */
enum ns_offcpu_record {
	NS_OFFCPU_TOLD = 0x100,
	NS_OFFCPU_PROCESS = 0x101,
	NS_OFFCPU_SAMPLE = 0x102, /* of a user stack, to be unwound: offcpu_sample.h */
	NS_OFFCPU_PYTHON = 0x103,
};

_Static_assert((int)NS_OFFCPU_TOLD > (int)NS_TYPE_MAX, "records are told apart");

/* A wait of tell_ns or more. */
struct ns_offcpu_told {
	__u32 type;
	__u32 sum; /* ns_offcpu_sum.id */
	__u32 tid; /* as the kernel counts */
	__u32 pad;
	__u64 off_ts;
	__u64 ns; /* what the sum counts of it */
};

/* A process came, became another program, or has a place that is new. */
struct ns_offcpu_process {
	__u32 type;
	__u32 tgid;
	__u32 parent; /* of one that came, else 0 */
	__u32 pad;
};

/* Functions that CPython runs, once for all places that have them. */
struct ns_offcpu_python {
	__u32 type;
	__u32 tgid;
	__u32 count;
	__u32 pad;
	__u64 number;                                    /* a hash of the frames */
	struct ns_python_frame frames[NS_PYTHON_FRAMES]; /* innermost first */
};

/* A thread that sleeps since before the attach: what the iterator tells of it. */
struct ns_offcpu_seed {
	__u32 tgid;
	__u32 tid;
	__u32 place; /* whose user stack is not known to the kernel side */
	__u32 pad;
	__u64 ip; /* in user mode */
	__u64 sp;
	__u64 fp;
	__u64 thread; /* its thread pointer */
};

/* Functions at whose tracepoints stacks are taken. */
enum ns_offcpu_hook {
	NS_OFFCPU_AT_SWITCH = 0, /* __schedule() */
	NS_OFFCPU_AT_WAKING = 1, /* try_to_wake_up() */
	NS_OFFCPU_AT_SEND = 2,   /* __dev_queue_xmit() */
	NS_OFFCPU_HOOKS
};

/* Waits whose chain had no room: their time is in no sum. */
struct ns_offcpu_loss {
	__u64 count;
	__u64 ns;
};

/* What a CPU does: what its softirqs are about (segment.bpf.h), and what of its waits is looked at.
 */
struct ns_offcpu_cpu {
	__u32 in_timer;  /* a timer's softirq runs */
	__u32 marked;    /* segments that are on their way to this CPU's receive softirq */
	__u32 receiving; /* the place that had sent what is received now, 0 unmarked */
	__u32 pad;
	__u64 looked_at; /* waits that were, */
	__u64 passed;    /* and short ones that were not */
	/* Of targets, that count: those, and the short ones that stand for them. */
	struct ns_offcpu_short others, sample;
	__u64 rest[6]; /* two cache lines */
};

/* Addresses of the kernel's code. */
struct ns_offcpu_range {
	__u64 begin;
	__u64 end; /* behind it */
};

#endif

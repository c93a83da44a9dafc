/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the kernel side keeps of io_uring's rings and operations. No part of the wire contract. */
#ifndef NETSTALL_BPF_URING_STATE_H
#define NETSTALL_BPF_URING_STATE_H

#include "bpf/state.h"

#define NS_RINGS        1024  /* watched at a time */
#define NS_URING_OPS    16384 /* under way at a time; -C uring.max */
#define NS_URING_COUNTS 1024  /* opcodes of processes */
#define NS_URING_ERRORS 4096  /* their errors, by number */
#define NS_RING_HISTORY 8     /* completions kept of a ring; a power of two */

/* The request that a thread submits just now, when it is one that sends. */
struct ns_issue {
	__u64 request;  /* struct io_kiocb; 0: it is done, and what is linked to it goes on */
	__u64 switches; /* the thread's voluntary ones */
	__u32 tid;      /* 0: nothing is noted */
	__u32 fd;
	__u32 flags; /* NS_SQE_* */
	__u32 pad;
};

/* Who noted such a request last on a CPU, and in which ring. */
struct ns_issuer {
	__u64 ring; /* struct io_ring_ctx */
	__u32 tid;
	__u32 pad;
};

/* A completion in the history of its ring. */
struct ns_uring_slot {
	struct ns_uring op;
	struct ns_mark mark;
};

/*
 * A watched ring, by the address of its struct io_ring_ctx. Submissions are its submitter's, under
 * uring_lock; completions come on any CPU, and the history has marks as a socket's; counts of both
 * may miss one of two at a time. gone is each_ring's.
 */
struct ns_ring_state {
	__u64 ctx; /* its address, as a number to reckon with */
	__u32 id;
	__u32 tgid;
	__u32 fd;
	__u32 origin;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 flags; /* IORING_SETUP_* */
	__u32 files;
	__u32 sq_tid;
	__u32 overflowed;
	__u32 dropped;    /* of these, lost: the ring's own count as it was read last */
	__u32 reaped;     /* the completion queue's head as it was told last */
	__u32 telling;    /* so many completions to come are told, whatever they took */
	__u32 next_index; /* of its next completion in the queue, as far as known */
	__u32 sq_told;    /* io_ring_ctx.cached_sq_head when the last submission was told */
	__u32 submit_tid; /* who submitted last, */
	__u32 gone;       /* so many looks in a row have found it ended */
	__u32 waits;      /* and how often such a thread began to wait on the ring */
	__s32 in_flight;  /* its operations under way, of those that were seen to begin */
	__u64 newest;     /* of these, the last one: ns_op_key.request */
	__u32 backlog;    /* completions from before its watch wait for room in the queue */
	struct ns_issue issue;
	/* What became ready or was completed last: it ended a wait that ends now. */
	__u64 last_ts;
	__u64 last_sk;        /* struct sock of its TCP connection, 0 none */
	struct ns_uring last; /* NS_URING_DONE when completed; else it has become ready */
	__u32 history_next;   /* completions ever kept there */
	__u32 history_told;   /* of these, told */
	struct ns_uring_slot history[NS_RING_HISTORY];
};

/*
 * An operation under way. From 6.1 on every tracepoint names the request; 5.10's completion
 * names its user_data alone, and operations of equal user_data in one ring are one entry.
 */
struct ns_op_key {
	__u64 ring;    /* struct io_ring_ctx, and NS_BY_DATA or NS_BY_NOTIF */
	__u64 request; /* struct io_kiocb; with these, and on 5.10: user_data */
};

/* Beside the address of a ring in ns_op_key, which has these bits clear. */
#define NS_BY_DATA  1 /* ns_op_state.request says which request has that user_data */
#define NS_BY_NOTIF 2 /* zero-copy sends that are done, but for their notification */

/*
 * By who submits, then by who completes, one after the other; same is added to (+).
 * Entries stay when their operation is done: the ring uses the same few requests again and
 * again, and writing into an entry costs a third of deleting and entering it. Those of rings
 * that are gone are swept out by user space.
 */
struct ns_op_state {
	struct ns_uring op; /* as told when it is done */
	__u64 sk;           /* struct sock of its TCP connection, 0 not known yet or none */
	__u64 switches;  /* of the submitting thread at the submission: tells inline from later */
	__u64 request;   /* as in the key; in an entry NS_BY_DATA: the one that it is for */
	__u64 shot_ts;   /* its last completion, of several */
	__u32 waits;     /* ns_ring_state.waits at the submission */
	__u32 under_way; /* enum ns_under_way */
	__u32 ready;     /* 1: its file became ready since it was armed */
	__u32 by_data;   /* 1: it has an entry NS_BY_DATA */
	__u32 refused;   /* 1: the kernel did not take it */
	__u32 same;      /* 5.10, and NS_BY_NOTIF: operations under way with this key */
	__u32 mixed;     /* 5.10: of different opcodes, so which completes is not known */
};

enum ns_under_way {
	NS_OP_DONE = 0,
	NS_OP_UNDER_WAY = 1,
	NS_OP_IGNORED = 2, /* likewise, of a thread that is not watched (-t) */
};

/* A request by its user_data: a direct-mapped table in front of the entries NS_BY_DATA. */
struct ns_op_slot {
	__u64 ring;
	__u64 request;
};

#define NS_OP_SLOTS 16384u /* a power of two */

struct ns_uring_key {
	__u32 tgid;
	__u32 opcode;
};

struct ns_uring_error_key {
	__u32 tgid;
	__u32 opcode;
	__u32 error;
	__u32 pad;
};

/* The ring's record but for its head. */
static inline void ns_ring_fill(struct ns_ring *out, const struct ns_ring_state *ring)
{
	out->ring = ring->id;
	out->fd = ring->fd;
	out->origin = ring->origin;
	out->sq_entries = ring->sq_entries;
	out->cq_entries = ring->cq_entries;
	out->flags = ring->flags;
	out->files = ring->files;
	out->sq_tid = ring->sq_tid;
	out->overflowed = ring->overflowed;
	out->dropped = ring->dropped;
}

#endif

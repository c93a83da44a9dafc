/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The part of the wire contract that io_uring has: rings, their operations, their counts. All
 * that event.h says of records holds here as well; it includes this file.
 *
 * An operation is one submission queue entry (SQE) that the kernel took. It is completed by a
 * completion queue entry (CQE); a multishot operation by many, a zero-copy send by two.
 * head.tgid of all of these is the process whose ring it is: worker threads (io-wq) and the
 * submission thread (SQPOLL) work for it, and in a completion the current thread may be any.
 */
#ifndef NETSTALL_BPF_EVENT_URING_H
#define NETSTALL_BPF_EVENT_URING_H

/* How far an operation is. */
enum ns_uring_step {
	NS_URING_SUBMITTED = 1, /* io_uring_submit_req, io_uring_submit_sqe */
	NS_URING_QUEUED = 2,    /* io_uring_queue_async_work: a worker thread will do it */
	NS_URING_ARMED = 3,     /* io_uring_poll_arm: it waits until its file is ready */
	NS_URING_DONE = 4,      /* io_uring_complete or io_uring_cqe_overflow: one CQE of it */
};

/* What brought a completion about. */
enum ns_uring_how {
	NS_URING_HOW_UNKNOWN = 0, /* its submission was not seen */
	NS_URING_INLINE = 1,      /* at once, within the submission */
	NS_URING_POLLED = 2,      /* its file had become ready */
	NS_URING_WORKER = 3,      /* a worker thread did it */
	NS_URING_LATER = 4,       /* a timer, a device, another operation or thread */
	NS_URING_HOWS
};

/* What an operation is on. */
enum ns_uring_file {
	NS_URING_NO_FILE = 0, /* or not known */
	NS_URING_TCP = 1,
	NS_URING_SOCKET = 2, /* of another kind */
	NS_URING_DISK = 3,   /* a regular file, a directory, a block device */
	NS_URING_PIPE = 4,
	NS_URING_OTHER = 5, /* eventfd, timerfd, character device, ... */
};

/* ns_uring.flags: those of the SQE, IOSQE_* of include/uapi/linux/io_uring.h. */
#define NS_SQE_FIXED_FILE       1u /* fd is an index into the ring's registered files */
#define NS_SQE_IO_DRAIN         2u
#define NS_SQE_IO_LINK          4u
#define NS_SQE_IO_HARDLINK      8u
#define NS_SQE_ASYNC            16u
#define NS_SQE_BUFFER_SELECT    32u
#define NS_SQE_CQE_SKIP_SUCCESS 64u

/* ns_uring.cqe_flags: IORING_CQE_F_*; the number of a provided buffer stands above. */
#define NS_CQE_BUFFER       1u
#define NS_CQE_MORE         2u /* the operation goes on: more completions follow */
#define NS_CQE_NOTIF        8u /* of a zero-copy send: the kernel is done with the buffer */
#define NS_CQE_BUFFER_SHIFT 16

#define NS_OPCODE_UNKNOWN                                                                          \
	0xffu /* of 5.10: its submission was not seen; of ns_wait: NS_OP_PENDING */

/* A ring under watch, or news of one; sent again at the end with its counts. */
struct ns_ring {
	struct ns_head head;
	__u32 ring;   /* its number, from 1 */
	__u32 fd;     /* in its owner, NS_FD_UNKNOWN if not known */
	__u32 origin; /* enum ns_origin: existed, connect (created while we watch), use */
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 flags;      /* IORING_SETUP_* */
	__u32 files;      /* registered files */
	__u32 sq_tid;     /* the submission thread (SQPOLL), 0 none or not known */
	__u32 overflowed; /* completions that found the completion queue full, and waited */
	__u32 dropped;    /* that were lost, for want of memory: the ring's own count */
};

/* One step of an operation. head.ts: the step; head.tid: the thread that submitted it, 0 not
 * known; head.conn: the watched TCP connection that it is on, 0 none. */
struct ns_uring {
	struct ns_head head;
	__u64 user_data;
	__u64 submit_ts; /* 0: not seen, it is older than the attach */
	__u64 queued_ts; /* 0: no worker thread was asked */
	__u64 armed_ts;  /* 0: its file was ready */
	__u64 link_head; /* user_data of the chain's first operation, when linked */
	__u32 ring;
	__u32 step;   /* enum ns_uring_step */
	__u32 opcode; /* IORING_OP_* */
	__u32 flags;  /* NS_SQE_* */
	__u32 fd;     /* NS_FD_UNKNOWN; an index with NS_SQE_FIXED_FILE */
	__u32 len;    /* as asked for: bytes for most, a count for others; 0 not known */
	__u32 file;   /* enum ns_uring_file */
	__u32 linked; /* 1: it begins when the one before it in its chain is done */
	/* All below: NS_URING_DONE alone. */
	__u32 result; /* of the CQE: two's complement, a negative one is -ERRNO */
	__u32 cqe_flags;
	__u32 how;      /* enum ns_uring_how */
	__u32 shot;     /* which completion of this operation, from 1 */
	__u32 cq_index; /* counts the ring's completions, and wraps */
	__u32 overflow; /* 1: the completion queue was full, it waits in a list of the kernel's */
	__u32 by_tid;   /* the thread that was current */
	__u32 turn;     /* enum ns_turn of head.conn before this operation read from it */
	__u32 srtt_us;  /* of head.conn, 0 not known */
	__u32 min_rtt_us;
	char by_comm[NS_COMM_LEN];
};

/*
 * The program has taken completions out of the queue, which is a store to memory and no event:
 * seen at the ring's next event. With --events=uring and --all only.
 */
struct ns_reap {
	struct ns_head head;
	__u32 ring;
	__u32 upto;  /* ns_uring.cq_index of the first one that it has not taken */
	__u32 left;  /* completions in the queue */
	__u32 taken; /* since the reap that was told before, or the first sight of the ring */
};

/*
 * Durations in 8 buckets for each power of two: 256 ns wide at first, from 4 us on an eighth of
 * the value or less. The last one takes all from 15 s on.
 */
#define NS_URING_BUCKETS 192

/* Of one opcode in one process. head.tgid: the process. */
struct ns_uring_totals {
	struct ns_head head;
	__u64 submitted; /* operations; without those that were refused at once */
	__u64 completed; /* CQEs without notifications */
	__u64 finished;  /* operations of which no more completions come */
	__u64 errors;    /* of completed: a result below 0 */
	__u64 notified;  /* NS_CQE_NOTIF */
	__u64 overflowed;
	__u64 how[NS_URING_HOWS + 1]; /* of completed */
	__u64 max_ns;                 /* of those in buckets */
	__u32 opcode;
	__u32 pad;
	/* From submission to the first completion; later ones of multishot operations are not in
	 * it, nor are those whose submission was not seen. */
	__u32 buckets[NS_URING_BUCKETS];
};

/* How often an opcode ended with an error in one process. */
struct ns_uring_error {
	struct ns_head head;
	__u32 opcode;
	__u32 error; /* ERRNO, positive */
	__u64 count;
};

/* The last bucket whose values are not above ns. */
static inline __u32 ns_uring_bucket(__u64 ns)
{
	__u64 value = ns >> 8;
	__u32 shift = 0;

	if (value >> 26)
		return NS_URING_BUCKETS - 1;
	if (value >> 20) {
		value >>= 16;
		shift += 16;
	}
	if (value >> 12) {
		value >>= 8;
		shift += 8;
	}
	if (value >> 8) {
		value >>= 4;
		shift += 4;
	}
	if (value >> 6) {
		value >>= 2;
		shift += 2;
	}
	if (value >> 5) {
		value >>= 1;
		shift += 1;
	}
	if (value >> 4) {
		value >>= 1;
		shift += 1;
	}
	return shift * 8 + value;
}

/* The least value of a bucket. */
static inline __u64 ns_uring_bucket_ns(__u32 bucket)
{
	__u32 shift = bucket < 16 ? 0 : bucket / 8 - 1;

	return ((__u64)bucket - shift * 8) << (shift + 8);
}

NS_ASSERT_SIZE(ns_ring, 72);
NS_ASSERT_SIZE(ns_uring, 160);
NS_ASSERT_OFFSET(ns_uring, result, 104);
NS_ASSERT_SIZE(ns_reap, 48);
NS_ASSERT_SIZE(ns_uring_totals, 912);
NS_ASSERT_OFFSET(ns_uring_totals, buckets, 144);
NS_ASSERT_SIZE(ns_uring_error, 48);

#endif

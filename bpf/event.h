/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The wire contract: what the BPF programs write and the decoder reads.
 *
 * One record is a struct ns_head and the fields of its type. All integers are
 * __u32 or __u64 in host byte order, padding is explicit and zero, and both
 * sides assert every size. A reader takes the fields that it knows from the
 * front of a record, skips unknown types by head.len, and treats a record
 * shorter than its type demands as damaged.
 *
 * Units: every ts is CLOCK_MONOTONIC in ns (bpf_ktime_get_ns); other times say
 * their unit in their name. Sequence numbers are TCP's own (RFC 9293, 3.4) and
 * wrap. No record carries payload: only sizes, sequence numbers and flags.
 *
 * Context belongs to the event, ownership to the connection: head.tgid and
 * head.tid are the thread that acted for NS_SEND, NS_RECV and NS_WAIT. For the
 * segment and timer events they are whatever thread the CPU had current, which
 * in softirq is any victim; the socket's owner is in the NS_CONN of head.conn.
 */
#ifndef NETSTALL_BPF_EVENT_H
#define NETSTALL_BPF_EVENT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define NS_WIRE_VERSION   1
#define NS_COMM_LEN       16
#define NS_STACK_TEXT_MAX 2008 /* symbolised stack, leaf first, ';' between */

enum ns_type {
	NS_SESSION = 1,      /* user space: what was traced, how, from when */
	NS_PROCESS = 2,      /* a process under watch, target or peer */
	NS_CONN = 3,         /* a TCP connection under watch, or news of one */
	NS_PEER = 4,         /* two watched sockets are the ends of one connection */
	NS_SEND = 5,         /* a send call returned */
	NS_HOLD = 6,         /* written bytes stay behind: snd_nxt < write_seq */
	NS_TX = 7,           /* a data segment was handed to the device */
	NS_ACK = 8,          /* a segment without data was handed to the device */
	NS_RX = 9,           /* a segment arrived, not yet processed */
	NS_DELACK_ARM = 10,  /* the delayed-ACK timer was armed */
	NS_DELACK_FIRE = 11, /* the delayed-ACK timer ran out */
	NS_RELEASE = 12,     /* the held bytes left */
	NS_RECV = 13,        /* a receive call returned */
	NS_WAIT = 14,        /* a thread was off the CPU, and is back */
	NS_CLOSE = 15,       /* the connection is gone; last totals went before */
	NS_CONN_TOTALS = 16,
	NS_THREAD_TOTALS = 17,
	NS_EXIT = 18,     /* a watched process ended */
	NS_LOST = 19,     /* something could not be kept */
	NS_STACK = 20,    /* user space: the text of a stack id */
	NS_END = 21,      /* user space: the window closed */
	NS_RETRANS = 22,  /* a segment was sent again */
	NS_CALL = 23,     /* where in its program a send was called */
	NS_EXCHANGE = 24, /* a request and its answer, one of a sample */
	/* Of io_uring, see event_uring.h: */
	NS_RING = 25,         /* a ring under watch, or news of one */
	NS_URING = 26,        /* a step of one of its operations */
	NS_REAP = 27,         /* completions were taken out of its queue */
	NS_URING_TOTALS = 28, /* of an opcode */
	NS_URING_ERROR = 29,
	NS_SUMS = 30,     /* what a thread has done until it woke another */
	NS_THROTTLE = 31, /* a thread that was ready had no CPU: its quota was used up */
	NS_RAN = 32,      /* who ran while a thread waited for a CPU */
	NS_FAILED = 33,   /* a connect() that came to nothing */
	NS_LISTENER = 34, /* connection attempts that a listener dropped */
	NS_SERVICE = 35,  /* healthy connections of an endpoint, added up */
	NS_MARK = 36,     /* user space: what the user said then */
	/* Of the off-CPU profile in a recording, all by user space, see event_profile.h: */
	NS_PROFILE = 37,       /* what it is of, and what it lacks */
	NS_PROFILE_TEXT = 38,  /* a stack or a name */
	NS_PROFILE_ENTRY = 39, /* a place where a thread slept */
	NS_PROFILE_WAKE = 40,  /* of the entry before: who ended its sleep */
	NS_REFUSED = 41,       /* user space: why a fact is missing */
	NS_TYPE_MAX
};

struct ns_head {
	__u32 type; /* enum ns_type */
	__u32 len;  /* of the whole record, bytes */
	__u64 ts;
	__u32 conn; /* number of the watched socket from 1, 0 none */
	__u32 cpu;
	__u32 tgid;
	__u32 tid;
};

enum ns_role {
	NS_ROLE_TARGET = 1, /* belongs to what the user asked for */
	NS_ROLE_PEER = 2,   /* the other end of a target's connection, on this host */
	NS_ROLE_CHAIN = 8,  /* woke a thread of those: its own waits are part of the chain */
};

enum ns_origin {
	NS_ORIGIN_EXISTED = 1, /* open before the attach, found by the iterator */
	NS_ORIGIN_CONNECT = 2,
	NS_ORIGIN_ACCEPT = 3,
	NS_ORIGIN_USE = 4, /* first seen when used */
};

enum ns_lost_kind {
	NS_LOST_RINGBUF = 1, /* records dropped, the ring buffer was full */
	NS_LOST_CONNS = 2,   /* sockets not watched, the table was full */
	NS_LOST_THREADS = 3, /* threads not watched, the table was full */
	NS_LOST_PROCESSES = 4,
	NS_LOST_RELEASES = 5, /* holds whose release was not seen itself */
	NS_LOST_DAMAGED = 6,  /* records that the decoder refused */
	NS_LOST_KEPT = 7,     /* events that user space had no room to keep */
	NS_LOST_SITES = 8,    /* call sites not taken: a second's budget was used up */
	NS_LOST_RINGS = 9,    /* io_uring rings not watched, the table was full */
	NS_LOST_OPS = 10,     /* their operations not followed to their end, likewise */
	NS_LOST_TORN = 11,    /* records written by two CPUs at a time */
	NS_LOST_DONE = 12,    /* io_uring's completions that no program of ours was run for */
	/*
	 * Runs of our programs that the kernel left out, because the same program was under way on
	 * that CPU (bpf_prog_inc_misses_counter(), 9ed9e9ba2337 in 5.12). Most are of processes
	 * that nobody asked for, so they are told and count as no lost event.
	 */
	NS_LOST_RUNS = 13,
	NS_LOST_STACKS = 14, /* user space: stacks of waits that were gone when they were needed */
	NS_LOST_HISTORIES = 15, /* records not kept: those of other connections were needed */
	NS_LOST_WAITS = 16,     /* too many to tell each: they are in their threads' sums alone */
	NS_LOST_RECORDING = 17, /* missing in a recording, or of a kind that is not known here */
	NS_LOST_KINDS
};

/* head.ts: start of the window. */
struct ns_session {
	struct ns_head head;
	__u64 wall_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC, two's complement */
	__u64 threshold_ns;
	__u32 verbose;   /* 1: --all, every event streams */
	__u32 missing;   /* bit NS_FACT_*: facts that this attach way cannot see */
	char way[16];    /* fentry, kprobe, tracepoint */
	char kernel[64]; /* uname -r */
	char arch[16];
	char target[64]; /* as the user named it */
	__u32 machine;   /* 1: every process that uses the network */
	__u32 reserved;
};

#define NS_MARK_LEN 80

struct ns_marked {
	struct ns_head head;
	char text[NS_MARK_LEN];
};

/* Facts a kernel or an attach way may not give: bits of ns_session.missing. */
enum ns_fact {
	NS_FACT_SEND = 0,
	NS_FACT_DECISION = 1, /* tcp_write_xmit's own arguments */
	NS_FACT_TRANSMIT = 2,
	NS_FACT_RECEIVE = 3,
	NS_FACT_DELACK_ARM = 4,
	NS_FACT_DELACK_FIRE = 5,
	NS_FACT_SCHED = 6,
	NS_FACT_LIFE = 7,     /* connect, accept, close */
	NS_FACT_READ = 8,     /* the application's receive calls */
	NS_FACT_SENDPAGE = 9, /* sendfile and splice before Linux 6.5 */
	NS_FACT_RETRANS = 10,
	NS_FACT_NAMES = 11, /* of kernel functions: what a thread sleeps in, and who woke it */
	NS_FACT_URING = 12, /* io_uring operations: submitted, completed */
	NS_FACT_URING_COURSE = 13,    /* what became of them in between; who waits on a ring */
	NS_FACT_CHILDREN = 14,        /* processes that watched ones start */
	NS_FACT_DATAGRAM = 15,        /* UDP: sent and read */
	NS_FACT_EARLY_SLEEPS = 16,    /* threads that sleep since before the attach */
	NS_FACT_OPEN_WAITS = 17,      /* waits that last at the end of the window */
	NS_FACT_BUSY = 18,            /* where busy threads compute */
	NS_FACT_SLEEPING_STACKS = 19, /* user stacks of threads that sleep long, for the profile */
	NS_FACT_COUNT
};

#define NS_REFUSED_LEN 32

/* What the kernel was asked to do with a program or a table, and refused. */
enum ns_refused_step {
	NS_REFUSED_TABLE = 0, /* to make it */
	NS_REFUSED_LOAD = 1,
	NS_REFUSED_ATTACH = 2,
	NS_REFUSED_RUN = 3,
};

/* Why a fact is missing: no other program gives it. */
struct ns_refused {
	struct ns_head head;
	__u32 fact;  /* enum ns_fact */
	__u32 step;  /* enum ns_refused_step */
	__u32 error; /* an errno */
	__u32 pad;
	char program[NS_REFUSED_LEN]; /* "": a table, whatever needs it; never in a record */
	char table[NS_REFUSED_LEN]; /* that the program needs; "": the program itself was refused */
};

#define NS_CONTAINER_LEN 24

/* head.tgid: the process. */
struct ns_process {
	struct ns_head head;
	__u32 role;   /* enum ns_role */
	__u32 ns_pid; /* its pid in its own pid namespace when that differs, else 0 */
	char comm[NS_COMM_LEN];
	__u32 master; /* its parent, when that has the same name: it is a worker; 0 none */
	__u32 pad;
	char container[NS_CONTAINER_LEN]; /* "docker 3f2a9c1d4b5e"; "": in none, or not known */
};

#define NS_FD_UNKNOWN 0xffffffffu

struct ns_exit {
	struct ns_head head;
};

/* A running count: the last record of a kind holds. */
struct ns_lost {
	struct ns_head head;
	__u32 kind; /* enum ns_lost_kind */
	__u32 pad;
	__u64 count;
	__u64 from_ts; /* what the record before did not count was lost from then on; 0: not known
			*/
};

struct ns_stack {
	struct ns_head head;
	__u32 id; /* from 1 */
	__u32 pad;
	char text[NS_STACK_TEXT_MAX]; /* leaf first, ';' between, NUL-terminated */
};

struct ns_end {
	struct ns_head head;
	__u32 children; /* processes below a target, none themselves, that have connections */
	__u32 pad;
};

#define NS_ASSERT_SIZE(type, size)                                                                 \
	_Static_assert(sizeof(struct type) == (size), "wire size of " #type)
#define NS_ASSERT_OFFSET(type, field, offset)                                                      \
	_Static_assert(__builtin_offsetof(struct type, field) == (offset),                         \
		       "wire offset of " #type "." #field)

NS_ASSERT_SIZE(ns_head, 32);
NS_ASSERT_OFFSET(ns_head, ts, 8);
NS_ASSERT_OFFSET(ns_head, conn, 16);
NS_ASSERT_SIZE(ns_session, 224);
NS_ASSERT_OFFSET(ns_session, way, 56);
NS_ASSERT_SIZE(ns_process, 88);
NS_ASSERT_SIZE(ns_exit, 32);
NS_ASSERT_SIZE(ns_lost, 56);
NS_ASSERT_SIZE(ns_stack, 2048);
NS_ASSERT_SIZE(ns_end, 40);
NS_ASSERT_SIZE(ns_refused, 112);

#include "bpf/event_thread.h"
#include "bpf/event_conn.h"
#include "bpf/event_uring.h"
#include "bpf/event_profile.h"

#endif

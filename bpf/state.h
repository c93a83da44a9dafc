/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the kernel side keeps, and the settings that it is loaded with. Not part
 * of the wire contract: both sides are always built together.
 */
#ifndef NETSTALL_BPF_STATE_H
#define NETSTALL_BPF_STATE_H

#include "bpf/event.h"
#include "bpf/offcpu.h"

#define NS_HISTORY        16      /* records kept of a socket; a power of two */
#define NS_HOLD_LAST      4       /* a hold's last records, kept beside its first; likewise */
#define NS_HISTORIES      4096    /* by default */
#define NS_CONNS_TOLD     1024    /* each that opens on a CPU; of later ones those with a finding */
#define NS_SERVICES       1024    /* endpoints, in which the others are added up */
#define NS_SLOT_WORDS     16      /* u64 words of the longest record in a history */
#define NS_PROC_HINTS     65536u  /* buckets of the process filter; a power of two */
#define NS_CHAIN_CONNS    256     /* watched at a time because a chain of waits passes there */
#define NS_CHAIN_CHILDREN 1024    /* watched in one run because others may wait for them */
#define NS_WINDOW_OPEN    (~0ull) /* of window_end, see common.bpf.h */
#define NS_EXCHANGES_TOLD 512     /* at most, between two looks of user space */
#define NS_WAITS_LASTING  1024    /* reported at the end of the window, at most */
#define NS_WAITS_TOLD     1024    /* in half a second; behind them those that are stalls */
#define NS_STALLS_TOLD    1024    /* of these; behind them, long ones alone */
#define NS_LONG_TIMES     8       /* thresholds: long from there on, or from later */
#define NS_CPUS           1024u   /* a power of two; CPUs beyond share a slot */
#define NS_TIDS           5       /* of -t */

#define NS_PYTHON_NONE 0xffff

/* How CPython's frames are found from a thread: what is where in one process. In bytes. */
struct ns_python {
	__u32 tls;   /* from the thread pointer to that to the thread's state */
	__u16 frame; /* in the state; to the innermost frame, */
	__u16 inner; /* or to what has it there; NS_PYTHON_NONE */
	__u16 code;  /* in a frame */
	__u16 previous;
	__u16 instr;
	__u16 lasti; /* 1: that is a number, of 32 bits */
};

/* Read-only data: the verifier prunes what is switched off. */
struct ns_config {
	__u64 threshold_ns;
	__u32 trace;           /* 0: the off-CPU profile alone, struct ns_offcpu_config */
	__u32 stopped;         /* the target is a program that waits for its release */
	__u32 verbose;         /* stream every record */
	__u32 any_process;     /* ports alone choose, or nothing: no process filter */
	__u32 everything;      /* nothing does: who uses the network is a target */
	__u32 leaves_out;      /* some processes are no targets, whatever else holds */
	__u32 follow_children; /* a target's children are targets */
	__u32 lport;           /* 0: any */
	__u32 rport;
	__u32 by_comm; /* processes that exec to comm become targets */
	__u32 by_cgroup;
	__u32 hz;           /* 0: not known */
	__u32 cpus;         /* possible ones */
	__u32 uring_events; /* stream every step of io_uring's operations */
	__u32 spares;       /* programs can be preempted, so some have a spare */
	__u32 reads;        /* the program's reads are seen: a request ends with its last one */
	__u32 histories;    /* a power of two */
	__u32 each_conn;    /* each connection is told, however many there are */
	__u32 long_jiffies; /* they move on by so many, at least, while a stall lasts; never 0 */
	char comm[NS_COMM_LEN];
	char not_comm[NS_COMM_LEN]; /* of those, "": none by name */
};

/* Whose turn a slot holds, from 1, and who writes there: see history.bpf.h. */
struct ns_mark {
	__u32 turn;
	__u32 by;     /* 0: it is whole; else a CPU, from 1 */
	__u32 told;   /* the turn that was told last here */
	__u32 wanted; /* the turn that its writer has to tell */
};

/* What goes on and is counted in active_holds: see active.bpf.h. */
enum ns_active {
	NS_ACTIVE_HOLD = 1,
	NS_ACTIVE_RECOVERY = 2,
	NS_ACTIVE_SAMPLE = 3, /* not counted there, but in samples_open */
	NS_ACTIVE_LOOK = 4,   /* not counted: at a hold, for a moment */
};

#define NS_ACTIVES 4 /* kinds */

struct ns_active_key {
	__u64 sk;     /* struct sock */
	__u32 number; /* ns_conn_state.hold_number; of a recovery 0; of a sample the answerer */
	__u32 what;   /* enum ns_active */
};

#define NS_EEXIST 17

/* One record of a history; the head tells which. */
struct ns_slot {
	__u64 words[NS_SLOT_WORDS];
	struct ns_mark mark;
};

_Static_assert(sizeof(struct ns_hold) <= 8 * NS_SLOT_WORDS, "a hold fits a slot");

/*
 * Where ns_call_raw.regs has what: the registers that a called function must restore, without
 * which the frames of its callers cannot be found, and where the thread was.
 */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
enum ns_call_reg {
	NS_REG_IP = 0,
	NS_REG_SP = 1,
	NS_REG_FP = 2,  /* x29 */
	NS_REG_LR = 3,  /* x30 */
	NS_REG_X19 = 4, /* to x28 */
	NS_REG_COUNT = 14
};
#else
enum ns_call_reg {
	NS_REG_IP = 0,
	NS_REG_SP = 1,
	NS_REG_BP = 2,
	NS_REG_BX = 3,
	NS_REG_R12 = 4, /* to r15 */
	NS_REG_COUNT = 8
};
#endif

_Static_assert(NS_REG_COUNT <= NS_CALL_REGS, "the registers fit the record");

/* Keys that an each_* program runs over at a time; one of 8 bytes leaves the second word 0. */
#define NS_KEYS_IN_HAND 64

struct ns_key_in_hand {
	__u64 key;
	__u64 more;
};

/* Call sites of a connection: so many of each kind, and of first writes that may be others. */
#define NS_SITES_HELD    2
#define NS_SITES_FIRST   2
#define NS_SITES_OTHER   4
#define NS_SITES_READS   2
#define NS_SITES_ANSWERS 2
#define NS_SITES_WAITS   4        /* of a thread */
#define NS_SITES_PLACE   16       /* of a place, by threads that have none of their own */
#define NS_SITE_PLACES   256u     /* buckets; a power of two */
#define NS_SITE_CALLS    512u     /* likewise, of system calls by their numbers */
#define NS_SITE_LOOKS    256      /* sleeps that are looked at behind a long one in such a call */
#define NS_PLACE_WANTED  4        /* long waits elsewhere, before one of these is wanted */
#define NS_SITES_SECOND  128      /* of all, in a second */
#define NS_SITES_BUSY_NS 50000000 /* of a thread that computes, from one to the next */
#define NS_SITES_IDLE    16       /* of waits, in a second: most delay nobody */
#define NS_SITES_BUSY    48       /* of busy threads, likewise */

/* One of many: has user space heard of it? */
enum ns_untold {
	NS_TOLD = 0,
	NS_UNTOLD = 1,
	NS_UNTOLD_ALONE = 2, /* and its other end is a part of the sums already */
};

#define NS_OWNER_LOOKS 4

/* How it is known whose a connection is. */
enum ns_owner {
	NS_OWNER_DEDUCED = 0, /* from who listens there */
	NS_OWNER_FOUND = 1,   /* has it open; so may another one, by fork(), that uses it */
	NS_OWNER_SEEN = 2,    /* uses it */
};

enum ns_phase {
	NS_PHASE_OPENING = 0, /* connect() was called, no addresses yet */
	NS_PHASE_OPEN = 1,
};

/*
 * A hold. Who looks at it has the socket's lock, or not: the end of a send by tracepoints, the
 * writer that goes to sleep, each_conn at the end. So a hold is begun by the CPU whose entry in
 * `active` is the first, ended by the CPU that deletes it (active.bpf.h), and told by these alone;
 * all other words are stored whole, by whoever looks, and the last one counts.
 */
struct ns_conn_hold {
	__u32 number; /* of the last one, 0 none: written by who begins it, at last */
	__u32 ended;  /* of the last one that is over: by whoever sees it */
	__u64 ts;     /* when it began: by who begins it, as all but what says else */
	__u32 there;  /* what had come in at the other end when it began: its rcv_nxt */
	__u32 there_known;
	__u64 part_ts; /* when a part of it left last, else ts: by the transmit */
	__u64 look_ts; /* when its reason was looked at last: by who looks */
	__u32 seq;     /* by the transmit too */
	__u32 end;     /* by a further send too */
	__u32 reason;  /* by who looks */
	__u32 pending; /* since part_ts, and why was not seen yet: by transmit and look */
	__u32 more;    /* the send said MSG_MORE, and TCP has not tried again since: by both */
	__u32 kept; /* records of it that went into looks and have not left yet: by who looks, who
		     * tells and who ends it. One too many or too few costs a look, which its own
		     * mark says */
	__u32 tgid; /* who wrote: by a send */
	__u32 tid;
	__u32 fd;   /* with which */
	__u32 told; /* its record has left, so its release has to follow: by who begins it and who
		     * tells */
	/* tcp_write_xmit()'s last refusal; under the socket's lock. */
	__u32 xmit_end; /* write_seq then */
	__u32 xmit_mss;
	__u32 xmit_nonagle;
	__u32 pad;
	/* As it was looked at last: by who looks, one at a time (begin_look()). */
	struct ns_slot look;
};

/* Loss recovery, from the first retransmission to the acknowledgement. */
struct ns_conn_recovery {
	__u64 ts;         /* since when, as far as known; 0: none goes on */
	__u64 retrans_ts; /* of the last segment sent again */
	__u32 retrans_seq;
	__u32 end;       /* acknowledged up to here it is over */
	__u32 timer_seq; /* for which bytes the timer ran out last, */
	__u32 timer_kind;
	__u32 timer_retries;  /* and how often */
	__u32 timer_loss;     /* a retransmission timer has run out, */
	__u32 timer_high_seq; /* and left this in high_seq */
	__u32 by[NS_RETRANS_KINDS];
};

/* Where in the program it is written on: sites.bpf.h. */
struct ns_conn_sites {
	__u32 wanted;  /* it was held: sends that may be the first writes are sampled */
	__u32 unacked; /* bytes that were unacknowledged then */
	__u32 held;    /* call sites taken */
	__u32 first;
	__u32 other;
	/* Bytes of a write whose call site is to be taken when the next one like it is submitted to
	 * a ring: it went out in no call of the program's. 0: none. */
	__u32 submit_first;
	__u32 submit_held;
	/* A thread waited long for what it is about to read. */
	__u32 reader; /* its tid; 0: none */
	__u32 reads;  /* call sites taken */
	__u64 reader_off_ts;
	__u32 answer_wanted; /* the other end has waited long for what this one writes */
	__u32 answers;       /* call sites taken */
};

/* What was read since the last write: by who reads, begun anew by who sends. */
struct ns_conn_reads {
	__u64 first_ts;   /* 0: none */
	__u64 last_ts;    /* 0: of none was the time taken */
	__u64 arrived_ts; /* by then TCP had it */
	__u64 woke_ts;    /* its reader was made runnable by it, */
	__u64 on_ts;      /* and got a CPU; both when it read, if it was awake */
	__u32 count;
	__u32 bytes;
	__u32 tgid; /* who read last, of those of which the time was taken */
	__u32 tid;
	__u32 read_at;     /* jiffies then, their low half */
	__u32 spent_known; /* the sums of tid: as of last_ts, of an end that answers as of on_ts */
	struct ns_spent spent;
};

/* A turn: what this end writes until it reads again. See exchange.bpf.h. All by who sends. */
struct ns_conn_turn {
	__u64 ts;          /* its first write has ended, or fallen asleep; 0 none yet */
	__u64 wrote_ts;    /* end of the last write */
	__u64 held_ns;     /* in which bytes of it were held */
	__u64 released_ts; /* the last release of a hold */
	__u64 fired_ts;    /* the delayed-ACK timer fired, with an ACK due */
	__u32 writes;
	__u32 bytes;
	__u32 tid;       /* who wrote first in it */
	__u32 exchanges; /* turns ever, */
	__u32 mss;
	__u32 small_writes;
	__u32 close_writes;
	__u32 sample_next; /* the next turn is taken for a sample, of this weight; 0: it is not */
	__u32 sampling;    /* this turn is */
	/* By the thread that comes back to a CPU: its first sleep for the answer, if that was long
	 * or the turn is a sample. */
	__u64 off_ts;
	__u64 wake_ts;
	__u64 on_ts;
	__u32 slow;      /* it was long: the request is reported, a sample or not */
	__u32 began_at;  /* jiffies at the first write, their low half */
	__u16 is_told;   /* nothing is left to tell of it */
	__u16 is_known;  /* ns_proc_state.is_known, as far as seen here */
	__u32 times_all; /* the time of each read is taken: the other end's request is a sample */
	/* Sums of a thread: of an end that asks, as the turn began; else of its last write. */
	__u64 spent_ts; /* 0: not known */
	__u32 spent_tid;
	struct ns_spent spent;
	struct ns_conn_reads reads;
	struct ns_conn_reads request; /* what it answers: the reads of the turn before */
	/* The process that is watched while that lasts: by the CPU that enters it in `active`, and
	 * by the one that ends it. */
	__u32 answerer;
	__u32 ports;     /* of both ends, in one */
	__u64 answering; /* struct sock of its end, whose reads are all timed meanwhile */
};

/*
 * Records that wait to be told, of the connection that wrote here last: history.bpf.h. There are
 * fewer of them than connections, most of which are idle.
 */
struct ns_history {
	__u64 owner; /* struct sock, 0 none yet: by who takes it */
	/* Slots ever written, and of these already streamed: by whoever writes or tells. Two that
	 * take the same slot find that out by its mark. Of all owners: turns only grow. */
	__u32 next;
	__u32 flushed;
	struct ns_slot slots[NS_HISTORY];
	/* The hold's last records, and at the end its first, as they are in the slots, which may
	 * lose them. By whoever looks: each has a mark. */
	struct ns_slot looks[NS_HOLD_LAST + 1];
};

/*
 * A watched socket, by the address of its struct sock. Its hooks have the socket's lock, or come at
 * its beginning or end, but for those that are named: what is not commented on is theirs. Counts
 * that others add to as well (writes, holds, delack_*) may miss one of two at a time.
 */
struct ns_conn_state {
	__u32 untold; /* enum ns_untold */
	__u32 wanted; /* something of it has left: it is to be told as soon as the stack has room */
	__u32 telling, closing; /* (+) see know_end() */
	__u32 id;
	__u32 role;
	__u64 key;  /* its own struct sock */
	__u64 peer; /* struct sock of the other end, 0 not known */
	__u32 phase;
	__u32 tgid; /* owner, 0 not known */
	__u32 fd;
	__u32 owner_sure;  /* enum ns_owner */
	__u32 owner_looks; /* so often it was looked for again, up to NS_OWNER_LOOKS */
	__u32 origin;
	__u32 opener;
	__u32 lport;           /* of its entry in tuples: at its close the socket has it no more */
	__u32 threads_watched; /* those of both ends' owners */

	__u32 writes;
	__u32 reads;
	__u32 copied_seq; /* the socket's at the last write, or at first sight */
	__u32 shown_seq;  /* the socket's copied_seq at the last read that was told */
	__u32 turn_found; /* enum ns_turn: whose turn it was at first sight */
	__u32 delack_armed;
	__u32 delack_fired;
	__u32 holds[NS_HOLD_REASONS];
	__u32 base_segs_out; /* the socket's own counters at first sight */
	__u32 base_data_segs_out;
	__u32 base_segs_in;
	__u32 base_retrans;
	__u32 base_limited[NS_LIMITS]; /* jiffies */
	__u64 base_bytes_out;
	__u64 base_bytes_in;
	__u64 first_ts;   /* first sight, or what came last of connect() and its success */
	__u64 connect_ts; /* of an end that connected and has no request behind it; 0: not so */
	__u64 delack_arm_ts;
	__u64 delack_until;  /* data that comes until then may have waited for a delayed ACK */
	__u32 told_seq;      /* write_seq at the end of the last send that was told */
	__u32 told_transmit; /* number of the last transmit, see on_transmit() */
	__s32 sends_begun;   /* and not ended, as far as told: kprobe way only */
	__u32 history; /* which of them is its own, from 1, unless another one has it by now */

	/* See queue.bpf.h. Of an end that is accepted; the last three also of one that connects, to
	 * a queue that was full. */
	__u64 queued_ts;   /* it came into the listen queue, 0 not seen */
	__u64 accepted_ts; /* it had left it by then */
	__u32 accept_tid;
	__u32 backlog;
	__u32 backlog_max;
	__u32 somaxconn;

	struct ns_conn_sites sites;
	struct ns_conn_recovery recovery;
	struct ns_conn_turn turn;
	struct ns_conn_hold hold;
};

/* An endpoint of a target's: ns_service has the same. */
struct ns_service_key {
	__u32 tgid;
	__u32 opener;
	__u32 family;
	__u32 port;
	__u32 addr[4];
};

#define NS_POLLED   8 /* descriptors kept of a poll(), and looked at of a select() */
#define NS_SELECTED 4 /* words kept of what a select() reads: as much room */

/* What is known of a thread's reads from sockets by recv(), which no counter of its own shows. */
enum ns_seen {
	NS_SEEN_UNKNOWN = 0,
	NS_SEEN_NONE = 1,   /* no socket was there to be read from */
	NS_SEEN_SOCKET = 2, /* seen_sk and seen_copied */
	NS_SEEN_POLLED = 3, /* seen_copied is the sum of all in polled */
};

enum ns_waker_known {
	NS_WAKER_NONE = 0,
	NS_WAKER_IDS = 1,
	NS_WAKER_STACK = 2, /* and its name */
};

/* Who woke a thread: by the one that does, which the kernel lets be one at a time. */
struct ns_thread_waker {
	__u32 known; /* enum ns_waker_known */
	__u32 tgid;
	__u32 tid;
	__u32 pad;
	char comm[NS_COMM_LEN];
	__u64 stack[NS_STACK_MAX];
};

/* Of its sleep, when it waits on an io_uring ring, as its wake-up found it. */
struct ns_thread_ring {
	__u64 key;          /* struct io_ring_ctx, 0 none */
	__u64 sk;           /* struct sock of op, 0 none */
	struct ns_uring op; /* the operation that ended it, or is to; head.len 0: not known */
	__u32 read;         /* bytes that this has read already, though not completed */
	__u32 known;        /* enum ns_op_known */
};

/* What it does between its sleeps for a descriptor: habits.bpf.h. */
struct ns_thread_habits {
	__u64 moved;       /* bytes that it had read and written when it slept for a descriptor */
	__u64 seen_sk;     /* struct sock that it may have read from since */
	__u32 seen_copied; /* that one's copied_seq; without one the sum of all it polls */
	__u32 seen;        /* enum ns_seen */
	__u32 suspect;     /* it has slept again without a sign of work: look closer from now on */
	__u32 call;        /* the system call of its last sleep for a descriptor */
	__u32 migrations;
	__u32 wakes;
	__u32 empty_wakes;
	__u32 polled_more; /* that one had more of them */
	union {
		__u32 polled[NS_POLLED];     /* descriptors of its last poll(), each + 1; 0 none */
		__u64 selected[NS_SELECTED]; /* or of its last select(), as bits; taken by a look */
	};
};

/* The system call of its last sleep, by number, and that one's arguments. */
struct ns_thread_sleep {
	__u32 call;
	__u32 arg0;
	__u32 arg1;
	__u32 kind; /* enum ns_short, should it be short */
	__u32 many; /* the call for a lock, or one of several descriptors, that it slept long in
		       last; else 0 */
	__u32 pad;
};

/*
 * Where the thread calls what it waits long in: a wait is known to be long when it is over, and
 * then its stack cannot be read. So the next sleep in that call, from that place on its stack, is
 * copied, in case that it becomes a long one too.
 */
struct ns_thread_place {
	__u64 sp;      /* of the long one */
	__u64 last_sp; /* of the one that was copied last */
	__u32 call;
	__u16 wanted;
	__u8 told;      /* waits that were copied, */
	__u8 released;  /* and releases of its lock */
	__u64 awake_ts; /* when it came to its CPU from its last sleep, */
	__u64 busy_ts;  /* and when a copy of what it computes was last made */
};

/*
 * Where threads of a process that come and go have waited long: by the call and how far their stack
 * went, below what the thread's own data stand above (a pthread's stack ends there).
 */
struct ns_site_place {
	__u32 key;    /* a hash of it, with the process */
	__u16 wanted; /* by how many that have no room here it is, at most */
	__u16 copied;
};

/* Its absences that are no records of their own, see spent.bpf.h. */
struct ns_thread_shorts {
	__u64 ready_ns;
	__u64 ns[NS_SHORTS];
	__u32 count[NS_SHORTS];
};

/* What a CPU has done for none of its tasks, ever: as of the clock of its run queue. */
struct ns_taken {
	__u64 queue; /* 0: not known */
	__u64 clock;
	__u64 irq_ns;
	__u64 steal_ns;
};

/* A watched thread is ready to run on a CPU and waits: see ran.bpf.h. */
struct ns_cpu_wait {
	__u32 tid; /* of the thread that waits there, 0 none */
	__u32 pad;
	__u64 from_ts;
	struct ns_taken taken; /* when it began */
};

/*
 * A watched thread, by its tid. By the CPU that switches it out or in, under its run queue's lock;
 * wake_ts and waker by the one that wakes it; conn, held, named_*, wrote and asked by the thread
 * itself, in its calls. offcpu as all else, its wake_ts, woke_ts, level and hops by who wakes. The
 * table has what is behind offcpu only where something is traced.
 */
struct ns_thread_state {
	__u32 tgid;
	__u32 profiled; /* offcpu is in use */
	struct ns_offcpu_thread offcpu;
	__u32 off;     /* 0 on the CPU, 1 off it */
	__u32 state;   /* when it left */
	__u64 since;   /* of the last change; 0 not known */
	__u64 wake_ts; /* made runnable; 0: not yet, and while on the CPU */
	__u64 on_cpu_ns;
	__u64 blocked_ns;
	__u64 runqueue_ns;
	__u32 voluntary;
	__u32 involuntary;
	__u64 conn;       /* struct sock that it wrote on since its last sleep, 0 none */
	__u64 held;       /* struct sock that it wrote on last while something was held */
	__u64 named_sk;   /* struct sock that it wrote on or connected last, ever */
	__u32 named_conn; /* its number */
	__u16 wrote;      /* on a watched socket, since it slept for a descriptor */
	__u16 awaits;     /* enum ns_short, of what it asked since its last sleep; 0: nothing */
	__u64 left_clock; /* the scheduler's clock when it left, 0 not known */
	__u64 began;      /* of its first sleep, where that is older than our sight of it; else 0 */
	__u64 asked;      /* struct sock on which its sampled request waits for an answer, 0 none */
	__u64 came_ts;    /* to its CPU, last: not changed while it is off it; */
	__u64 woke_ts;    /* made runnable before that: if it was preempted, when it left */
	__u64 ran_from;   /* came_ts of the time before that one */
	__u32 cpu;        /* that it left */
	__u32 throttled;  /* since it is ready its CPU quota is used up; see throttle.bpf.h */
	__u64 throttled_by; /* struct task_group whose quota that is, 0 not known */
	__u64 task;         /* its struct task_struct, as a number: for global functions */
	char comm[NS_COMM_LEN];
	struct ns_thread_sleep slept;
	struct ns_thread_place place;
	struct ns_thread_shorts shorts;
	struct ns_thread_habits habits;
	struct ns_thread_ring ring;
	struct ns_thread_waker waker;
};

/* The thread's totals as they stand in the table; head is the caller's. */
static inline void ns_thread_fill(struct ns_thread_totals *out,
				  const struct ns_thread_state *thread)
{
	out->on_cpu_ns = thread->on_cpu_ns;
	out->blocked_ns = thread->blocked_ns;
	out->runqueue_ns = thread->runqueue_ns;
	out->voluntary = thread->voluntary;
	out->involuntary = thread->involuntary;
	out->migrations = thread->habits.migrations;
	out->wakes = thread->habits.wakes;
	out->empty_wakes = thread->habits.empty_wakes;
	__builtin_memcpy(out->comm, thread->comm, NS_COMM_LEN);
}

/* What of it is there where nothing is traced. */
#define NS_THREAD_UNTRACED __builtin_offsetof(struct ns_thread_state, off)

/* Where seed_thread() splits what it clears. */
#define NS_THREAD_SHORTS __builtin_offsetof(struct ns_thread_state, shorts)

/*
 * A watched process: a byte for each role, which is stored as 1 and never taken back, by any CPU
 * at any time: two that come at once lose nothing. User space enters targets and processes of a
 * chain as a whole; a target needs no other role.
 */
struct ns_proc_state {
	__u8 target; /* enum ns_role */
	__u8 peer;
	__u8 chain;
	__u8 left_out; /* enum ns_left_out: is no target, nor becomes one */
	__u8 is_known; /* a request of its has been told */
	__u8 pad[3];
};

enum ns_left_out {
	NS_LEFT_OUT_BY_PID = 1,
	NS_LEFT_OUT_BY_COMM = 2, /* as long as it is called so */
};

static inline __u32 ns_proc_role(const struct ns_proc_state *proc)
{
	return (proc->target ? NS_ROLE_TARGET : 0) | (proc->peer ? NS_ROLE_PEER : 0) |
	       (proc->chain ? NS_ROLE_CHAIN : 0);
}

static inline void ns_proc_add(struct ns_proc_state *proc, __u32 role)
{
	if (role & NS_ROLE_TARGET)
		proc->target = 1;
	if (role & NS_ROLE_PEER)
		proc->peer = 1;
	if (role & NS_ROLE_CHAIN)
		proc->chain = 1;
}

/*
 * What the processes of a bucket are: a cheap "no" for all others of the machine. As above, by BPF
 * on any CPU and by user space.
 */
struct ns_proc_hint {
	__u8 watched; /* has any role */
	/*
	 * The threads are watched too. Those of targets always are; those of a peer only from the
	 * first hold or long wait on a connection with it, so that exchanges without a stall do
	 * not pay for both ends.
	 */
	__u8 threads;
};

/* A call that a thread has begun on a socket, where its end is told by a probe of its own. */
struct ns_begun {
	__u64 sk;
	__u32 write_seq; /* of a send: at its beginning, */
	__u32 counted;   /* and that it is in the connection's sends_begun */
};

/* Who wrote last on a CPU: tells sched_switch which socket the thread that leaves is about. */
struct ns_last_send {
	__u64 sk;
	__u32 tid;
	__u32 conn; /* its number, which lasts when the socket does not */
	/* A thread, and the enum ns_short of its wait for what it asks by that; 0: it asks nothing.
	 */
	__u32 awaits_tid;
	__u32 awaits;
	/* The same of the last connect(). */
	__u64 opened_sk;
	__u32 opened_tid;
	__u32 opened_conn;
};

/*
 * A socket on which a watched process sends datagrams, by its struct sock. By whoever sends and
 * reads there: words stored whole, of which any writer's will do.
 */
struct ns_datagrams {
	__u32 port;        /* its own, host byte order */
	__u32 role;        /* enum ns_socket_role */
	__u32 tries;       /* sent since something was read there last; the first of these: */
	__u32 drops;       /* what the socket had dropped when it was sent, */
	__u64 asked_ts;    /* and when; 0: none */
	__u64 sent_ts;     /* the last of them */
	__u32 reads_first; /* it read before it sent anything: it answers */
	__u32 burst;       /* of these, sent at once, and not answered yet */
	__u32 family; /* of the address that it was sent to, where the socket is not connected */
	__u32 rport;  /* host byte order; 0: it is */
	__u32 raddr[4];
};

#define NS_READ_HINTS 1024u /* buckets of the filter of reads; a power of two */

#define NS_SLEEPS 4 /* kept of a thread; a power of two */

/* The last sleeps of a thread that answers a sampled request. */
struct ns_sleeps {
	struct {
		__u64 off_ts;
		__u64 wake_ts;
		__u64 on_ts; /* 0: it lasts */
	} v[NS_SLEEPS];
	__u32 next; /* sleeps ever begun */
	__u32 pad;
};

/* Requests begun on a CPU, and how many to pass over until the next sample. One cache line. */
struct ns_turns {
	__u64 begun;
	__u64 skip;
	__u64 pad[6];
};

/* One thread of this machine, as the task iterator tells it. */
struct ns_task_entry {
	__u32 tgid; /* as the kernel counts */
	__u32 tid;
	__u32 view_tgid; /* as netstall's own pid namespace counts, 0 not in it */
	__u32 view_tid;
	__u32 ns_tgid; /* as its own pid namespace counts */
	__u32 kernel_thread;
	__u32 exiting;
	__u32 parent; /* its process; as the kernel counts */
	char comm[NS_COMM_LEN];
};

/* Of the table `listeners`. */
struct listener_key {
	__u32 netns;
	__u32 port; /* host byte order */
};

struct listener {
	__u64 sk;      /* struct sock, perhaps of the past; of several on the port the last */
	__u32 tgid;    /* 0 when several have it */
	__u32 several; /* sockets listen on the port, or did */
};

/* Of the table `listener_drops`, by struct sock. */
struct ns_listener_drops {
	__u32 tgid;
	__u32 port; /* when it closes it may have none any more */
	__u32 seen; /* count of the socket that is recorded, or of before the window */
};

#define NS_QUEUED                                                                                  \
	8 /* connections of a process that wait to be accepted: the last of them are looked at */

/* Of the table `queued`, by process. */
struct ns_queued {
	__u64 sk[NS_QUEUED]; /* 0 none */
	__u32 next;
	__u32 pad;
};

/* Registered files of each ring that one scan looks at; and of a ring whose process is not watched,
 * the first ones. */
#define NS_SCAN_FILES     16
#define NS_SCAN_STRANGERS 256

/* What iter_files and each_ring_files are to do. */
enum ns_scan {
	NS_SCAN_TARGETS = 0, /* adopt the targets' sockets, learn all listeners */
	NS_SCAN_PEERS = 1,   /* adopt the other ends, fill in owners and fds */
};

#endif

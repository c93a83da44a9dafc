/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The part of the wire contract that threads have: what they waited for, and how long. All that
 * event.h says of records holds here as well; it includes this file.
 */
#ifndef NETSTALL_BPF_EVENT_THREAD_H
#define NETSTALL_BPF_EVENT_THREAD_H

#define NS_STACK_MAX  24 /* kernel frames kept of one stack */
#define NS_CGROUP_LEN 48

/* Of one lock: the words of glibc's condition variable, whose two groups of waiters sleep on words
 * of their own. */
#define NS_CONDITION_BYTES 48

/* What a short sleep was for, by its system call and state: see struct ns_spent. */
enum ns_short {
	NS_SHORT_TIMER = 0, /* nanosleep() */
	NS_SHORT_INPUT = 1, /* read, recv, poll, select, epoll */
	NS_SHORT_LOCK = 2,  /* futex() */
	NS_SHORT_DISK = 3,  /* uninterruptible */
	NS_SHORT_URING = 4, /* io_uring_enter() */
	NS_SHORT_OTHER = 5,
	/* As NS_SHORT_INPUT, where the thread had asked somebody since the sleep before: */
	NS_SHORT_REPLY = 6,    /* on a TCP connection */
	NS_SHORT_DATAGRAM = 7, /* by UDP */
	NS_SHORT_NAME = 8,     /* by UDP, a name service */
	NS_SHORTS = 9
};

/*
 * What a thread did with a time: on a CPU, ready, and asleep, in us. Waits that are records of
 * their own (NS_WAIT) are not in it. Sums wrap, differences of two are right for 71 minutes.
 */
struct ns_spent {
	__u32 run_us;
	__u32 ready_us; /* made runnable, or preempted, and not yet on a CPU */
	__u32 short_us[NS_SHORTS];
	__u32 shorts[NS_SHORTS]; /* how many sleeps */
};

/* How ns_wait.head.conn is known. */
enum ns_conn_basis {
	NS_CONN_NONE = 0,
	NS_CONN_WRITTEN = 1, /* the thread wrote on it since its sleep before */
	NS_CONN_FD = 2,      /* the system call that it sleeps in names its descriptor */
	NS_CONN_READY = 3,   /* it became readable, and ended the wait for one of several */
};

/* What the connection's owner had done on it last when the thread went to sleep. */
enum ns_turn {
	NS_TURN_UNKNOWN = 0,
	NS_TURN_WROTE = 1, /* so the other end has the next move */
	NS_TURN_READ = 2,  /* so this end has */
};

#define NS_SOCKET_PATH 60

/* Who has the socket: does it ask there, or answer? */
enum ns_socket_role {
	NS_ASKS_UNKNOWN = 0,
	NS_ASKS = 1,
	NS_ANSWERS = 2,
};

/* A socket that is no TCP connection. Ports are in host byte order. */
struct ns_socket {
	__u32 family; /* AF_*, 0: none */
	__u32 type;   /* SOCK_* */
	__u32 protocol;
	__u32 lport;
	__u32 rport; /* of UDP: whom the datagram came from, or was sent to; 0 not known */
	__u32 raddr[4];
	__u32 role;        /* enum ns_socket_role */
	__u32 is_followed; /* what is sent and read there is seen */
	__u32 tries;       /* datagrams that it sent since it read one last */
	__u32 drops;       /* datagrams that found no room in its receive buffer meanwhile */
	__u32 is_ready;    /* at the end something lay there to be read */
	__u32 peer_tgid;   /* of a Unix socket: who listened there, or made the pair; 0 not known */
	char path[NS_SOCKET_PATH]; /* of a Unix socket, of either end; '@': abstract */
	__u64 asked_ts;            /* the first of tries; 0: nothing was sent, or it was answered */
};

/* What ns_wait says of a ring's operation. */
enum ns_op_known {
	NS_OP_NONE = 0,    /* nothing: the fields op_* mean nothing */
	NS_OP_ENDED = 1,   /* it ended the wait */
	NS_OP_PENDING = 2, /* none had ended it; the one that was in flight, or of several, or of
			      those from before the attach, NS_OPCODE_UNKNOWN */
};

/*
 * head.ts: back on the CPU. head.conn: the connection that it waited for, as conn_basis says. It
 * can have ended by then, which ended the wait: turn and times are unknown then.
 */
struct ns_wait {
	struct ns_head head;
	__u64 off_ts;
	__u64 wake_ts; /* made runnable; 0: no wake was seen */
	__u32 state;   /* task state when it left: 0 runnable (preempted) 1 S 2 D 4 stopped */
	__u32 syscall; /* number, NS_SYSCALL_NONE in user mode or not known */
	__u32 arg0;    /* first argument, a file descriptor for most */
	__u32 waker_tgid;
	__u32 waker_tid;      /* the thread that was current when the wake came */
	__u32 stack_id;       /* of the sleeper: NS_STACK, 0 none */
	__u32 waker_stack_id; /* 0 too when the wake came within threshold / 8 of off_ts */
	__u32 arg1;           /* futex operation, number of descriptors of poll() */
	char comm[NS_COMM_LEN];
	char waker_comm[NS_COMM_LEN];
	__u32 arg2; /* time-out in ms of poll() and epoll_wait(); NS_TIMEOUT_NEVER; 0 not known */
	__u32 conn_basis; /* enum ns_conn_basis */
	__u32 turn;       /* enum ns_turn, of head.conn */
	__u32 srtt_us;    /* of head.conn at the end of the wait, 0 unknown */
	__u32 min_rtt_us;
	__u32 ring;  /* the io_uring ring that it waited on, by number; 0 none */
	__u32 ended; /* enum ns_wait_end */
	/*
	 * The operation that ended it, as far as its end came from a ring: by becoming ready, or
	 * by its completion. head.conn is that operation's connection then, if it has one. Of a
	 * worker thread (ring 0, no system call) it is the operation that it was at. Where none
	 * had ended it, by the window's end or a signal, what it waited for.
	 */
	__u32 op_known; /* enum ns_op_known */
	__u64 op_user_data;
	__u64 op_submit_ts; /* 0: not seen */
	__u64 op_done_ts;   /* of the completion that woke the thread; 0: it completes after that */
	__u32 op_code;      /* IORING_OP_* */
	__u32 op_fd;
	__u32 op_flags;    /* NS_SQE_* */
	__u32 op_file;     /* enum ns_uring_file */
	__u32 op_how;      /* enum ns_uring_how, as far as it got */
	__u32 op_tid;      /* who submitted it, 0 not known */
	__u32 op_by_tid;   /* who completed it, or was current when it became ready */
	__u32 spent_known; /* 0: spent is not counted */
	/*
	 * Of the thread from its first sight to off_ts. From one of its waits to the next the
	 * difference is what it did in between.
	 */
	struct ns_spent spent;
	/*
	 * It slept when the window began, since about then: a tick of the scheduler's clock later
	 * than it did. 0: not known, or it fell asleep in the window. off_ts is in the window.
	 */
	__u64 began_ts;
	struct ns_socket socket; /* that it waited on, where that is no TCP connection */
	__u64 turn_ts;           /* NS_TURN_WROTE: when a thread began to write it; 0 not known */
	/*
	 * Of the TCP connection that epoll found ready as the wait ended, watched or not, where all
	 * that its owner had sent is acknowledged. Whether it has brought more bytes than were sent
	 * there; and when data was last sent there, 0: never, or nothing of this is known.
	 */
	__u64 ready_sent_ts;
	__u32 ready_brings;
	__u32 pad;
};

/* What was seen of the end of a wait (docs/limits.md, softirq runs that nobody sees). */
enum ns_wait_end {
	NS_WAIT_SEEN = 0,   /* the thread's return to a CPU: head.ts */
	NS_WAIT_WOKEN = 1,  /* not that, but its wake: head.ts is wake_ts */
	NS_WAIT_BOUND = 2,  /* neither: head.ts is an upper bound, when it next left its CPU */
	NS_WAIT_LASTS = 3,  /* it goes on: head.ts is the end of the window */
	NS_WAIT_KILLED = 4, /* it would go on: head.ts is the return of the thread to exit */
};

#define NS_STATE_STOPPED 4 /* ns_wait.state */
#define NS_SYSCALL_NONE  0xffffffffu
#define NS_TIMEOUT_NEVER 0xffffffffu /* any negative one means the same */

/* NS_WAIT as the kernel side writes it; the collector turns addresses into ids. */
struct ns_wait_raw {
	struct ns_wait wait;
	__u64 stack[NS_STACK_MAX]; /* 0 ends it */
	__u64 waker_stack[NS_STACK_MAX];
};

/*
 * Of a thread that ends the long sleep of another, as of head.ts: it may have no long sleeps of its
 * own, whose records would show what it does.
 */
struct ns_sums {
	struct ns_head head;
	__u64 on_ts; /* on its CPU since then */
	struct ns_spent spent;
	char comm[NS_COMM_LEN];
};

/*
 * Of a thread that is back on its CPU at head.ts, where its wait ends (NS_WAIT): from since_ts on
 * it was ready to run, and its cgroup's CPU quota was used up, or that of one above. The groups'
 * names are the last components of the path; "" is the root, or not known.
 */
struct ns_throttle {
	struct ns_head head;
	__u64 since_ts;
	__u32 quota_us; /* of CPU time in each period */
	__u32 period_us;
	__u32 periods; /* that the group had something to run in, as of now */
	__u32 throttled_periods;
	__u32 deeper; /* 1: there are groups above these */
	__u32 pad;
	char cgroup[NS_CGROUP_LEN]; /* whose quota it is */
	char cgroup_above[NS_CGROUP_LEN];
	char cgroup_top[NS_CGROUP_LEN];
};

#define NS_RUNNERS 3
#define NS_NICE_0  120 /* static_prio of nice 0 */

#define NS_TAKEN_IRQ   1
#define NS_TAKEN_STEAL 2

struct ns_runner {
	__u32 tgid;
	__u32 tid; /* 0: none */
	__u32 us;
	__u32 prio; /* the kernel's: below 100 real-time */
	char comm[NS_COMM_LEN];
};

/* Of a thread that comes to its CPU at head.ts, for which it was ready from from_ts on. */
struct ns_ran {
	struct ns_head head;
	__u64 from_ts;
	__u32 allowed; /* CPUs that it may run on */
	__u32 cpus;    /* that there are */
	__s32 nice;
	__u32 policy;                         /* SCHED_* */
	__u32 others_us;                      /* of those that are not among the three */
	__u32 irq_us;                         /* of the CPU's time meanwhile, hard and soft */
	__u32 steal_us;                       /* likewise: the host ran other guests */
	__u32 taken_known;                    /* NS_TAKEN_*: which of both this kernel counts */
	struct ns_runner runners[NS_RUNNERS]; /* on that CPU meanwhile, longest first */
};

#define NS_RUNNERS_RAW 8 /* a power of two */

struct ns_runner_raw {
	__u32 tgid;
	__u32 tid;
	__u32 us;
	__u32 prio;
};

/* NS_RAN as the kernel side writes it. */
struct ns_ran_raw {
	struct ns_ran ran;
	struct ns_runner_raw runners[NS_RUNNERS_RAW];
};

struct ns_thread_totals {
	struct ns_head head;
	__u64 on_cpu_ns;
	__u64 blocked_ns;
	__u64 runqueue_ns;
	__u32 voluntary; /* switches */
	__u32 involuntary;
	char comm[NS_COMM_LEN];
	__u32 migrations; /* switched in on another CPU than before */
	__u32 wakes;      /* sleeps that ended */
	/*
	 * Of these: it had slept in a call that waits to read (read, recv, poll, select, epoll),
	 * and slept in such a call again without having read or written a byte in between.
	 * Not counted where reading cannot be told: recv() on other sockets than TCP.
	 */
	__u32 empty_wakes;
	__u32 ended; /* it has exited; 0: it lived on */
};

NS_ASSERT_SIZE(ns_spent, 80);
NS_ASSERT_SIZE(ns_socket, 128);
NS_ASSERT_SIZE(ns_wait, 440);
NS_ASSERT_OFFSET(ns_wait, socket, 288);
NS_ASSERT_OFFSET(ns_wait, state, 48);
NS_ASSERT_OFFSET(ns_wait, comm, 80);
NS_ASSERT_OFFSET(ns_wait, arg2, 112);
NS_ASSERT_SIZE(ns_wait_raw, 824);
NS_ASSERT_SIZE(ns_sums, 136);
NS_ASSERT_SIZE(ns_throttle, 208);
NS_ASSERT_SIZE(ns_ran, 168);
NS_ASSERT_SIZE(ns_thread_totals, 96);

#endif

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
#ifndef NETSTALL_EVENT_H
#define NETSTALL_EVENT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define NS_WIRE_VERSION   1
#define NS_COMM_LEN       16
#define NS_STACK_MAX      24   /* kernel frames kept of one stack */
#define NS_HOLD_REASONS   16   /* counters by reason, room to grow */
#define NS_STACK_TEXT_MAX 2008 /* symbolised stack, leaf first, ';' between */
#define NS_CALL_STACK     4096 /* bytes of a user stack that are copied, to be unwound */
#define NS_CALL_REGS      16   /* registers that unwinding may need, see state.h */

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

/* Why bytes were held. A stable number: recordings carry it. */
enum ns_hold_reason {
	NS_HOLD_UNKNOWN = 0,
	NS_HOLD_NAGLE = 1,    /* tcp_nagle_test(), Minshall's variant */
	NS_HOLD_CORK = 2,     /* TCP_CORK: tcp_sock.nonagle & TCP_NAGLE_CORK */
	NS_HOLD_MSG_MORE = 3, /* the last send said MSG_MORE */
	NS_HOLD_RWND = 4,
	NS_HOLD_ZERO_WINDOW = 5,
	NS_HOLD_CWND = 6,
	NS_HOLD_PACING = 7,
	NS_HOLD_TSQ = 8,
	NS_HOLD_TSO_DEFER = 9,
	NS_HOLD_AUTOCORK = 10,
	NS_HOLD_SNDBUF = 11,
};

/* How the reason of a hold is known. */
enum ns_hold_basis {
	NS_BASIS_STATE = 0, /* rebuilt from the socket's state after the send */
	NS_BASIS_XMIT = 1,  /* seen at tcp_write_xmit: its own mss_now and nonagle */
};

/* How a hold came about. */
enum ns_hold_begun {
	NS_BEGUN_SEND = 0,    /* at the end of a send that left nothing of its bytes */
	NS_BEGUN_PARTLY = 1,  /* at the end of a send of which a part left */
	NS_BEGUN_CHANGED = 2, /* it was held already: the reason is another from now on */
	NS_BEGUN_LATER = 3,   /* outside a send: what a transmit left behind, or before we came */
};

enum ns_role {
	NS_ROLE_TARGET = 1, /* belongs to what the user asked for */
	NS_ROLE_PEER = 2,   /* the other end of a target's connection, on this host */
	NS_ROLE_CHAIN = 8,  /* woke a thread of those: its own waits are part of the chain */
};

/* What sent a segment again. */
enum ns_retrans_kind {
	NS_RETRANS_UNKNOWN = 0,
	NS_RETRANS_RTO = 1,  /* the retransmission timer, RFC 6298 */
	NS_RETRANS_TLP = 2,  /* a tail loss probe, RFC 8985 */
	NS_RETRANS_FAST = 3, /* acknowledgements told of the loss, RFC 5681 and 8985 */
	NS_RETRANS_SYN = 4,  /* the retransmission timer, before the connection stood */
	NS_RETRANS_KINDS = 5
};

/* How ns_wait.head.conn is known. */
enum ns_conn_basis {
	NS_CONN_NONE = 0,
	NS_CONN_WRITTEN = 1, /* the thread wrote on it since its sleep before */
	NS_CONN_FD = 2,      /* the system call that it sleeps in names its descriptor */
};

/* What the connection's owner had done on it last when the thread went to sleep. */
enum ns_turn {
	NS_TURN_UNKNOWN = 0,
	NS_TURN_WROTE = 1, /* so the other end has the next move */
	NS_TURN_READ = 2,  /* so this end has */
};

/* Whose view of an exchange it is. */
enum ns_exchange_side {
	NS_EXCHANGE_ASKED = 1,
	NS_EXCHANGE_SERVED = 2,
};

enum ns_origin {
	NS_ORIGIN_EXISTED = 1, /* open before the attach, found by the iterator */
	NS_ORIGIN_CONNECT = 2,
	NS_ORIGIN_ACCEPT = 3,
	NS_ORIGIN_USE = 4, /* first seen when used */
};

enum ns_opener {
	NS_OPENER_UNKNOWN = 0,
	NS_OPENER_SELF = 1, /* this end called connect() */
	NS_OPENER_PEER = 2, /* this end accepted */
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
	NS_FACT_COUNT
};

/* head.tgid: the process. */
struct ns_process {
	struct ns_head head;
	__u32 role;   /* enum ns_role */
	__u32 ns_pid; /* its pid in its own pid namespace when that differs, else 0 */
	char comm[NS_COMM_LEN];
};

/* head.tgid: owner, 0 unknown. Sent again when owner or fd become known. */
struct ns_conn {
	struct ns_head head;
	__u32 role;
	__u32 origin;
	__u32 opener;
	__u32 family; /* AF_INET 2, AF_INET6 10; v4-mapped addresses are AF_INET */
	__u32 lport;  /* host byte order */
	__u32 rport;
	__u32 laddr[4]; /* network byte order; IPv4 in laddr[0] */
	__u32 raddr[4];
	__u32 netns; /* inode number of its network namespace */
	__u32 fd;    /* in the owner, NS_FD_UNKNOWN if not known */
	char comm[NS_COMM_LEN];
};

#define NS_FD_UNKNOWN 0xffffffffu

struct ns_peer {
	struct ns_head head; /* head.conn: one end */
	__u32 peer;          /* the other end */
	__u32 pad;
};

/* head.ts: when the call had done its work; counters are the state after it. */
struct ns_send {
	struct ns_head head;
	__u32 bytes;
	__u32 fd;
	__u32 msg_flags; /* as far as known: MSG_MORE 0x8000 */
	__u32 write_seq;
	__u32 snd_nxt; /* == write_seq: all was sent at once */
	__u32 snd_una;
};

/*
 * head.ts: end of the send that left bytes behind, or what begun says. A hold lasts over parts
 * of its bytes that leave, as long as each part had to wait for as long as a stall takes. With
 * NS_HOLD_SNDBUF and seq == end all is in flight, and the writer waits for room.
 */
struct ns_hold {
	struct ns_head head;
	__u32 reason;  /* enum ns_hold_reason */
	__u32 basis;   /* enum ns_hold_basis */
	__u32 seq;     /* first held byte: snd_nxt */
	__u32 end;     /* behind the last: write_seq */
	__u32 unacked; /* bytes in flight: snd_nxt - snd_una */
	__u32 mss;
	__u32 nonagle; /* 0 Nagle on, 1 TCP_NODELAY, 2 TCP_CORK */
	__u32 packets_out;
	__u32 cwnd;
	__u32 snd_wnd; /* bytes */
	__u32 srtt_us;
	__u32 min_rtt_us;
	__u64 last_tx_ts; /* the socket's own stamp of its last transmit, 0 unknown */
	__u32 fd;
	__u32 begun;       /* enum ns_hold_begun */
	__u64 pacing_rate; /* bytes per second, 0 not paced */
	__u32 pacing_us;   /* until the pacing timer lets the next segment go, 0 not waiting */
	__u32 in_flight;   /* packets that count against cwnd: tcp_packets_in_flight() */
	__u32 wmem_alloc;  /* bytes of transmitted segments that the device still has */
	__u32 wmem_queued; /* bytes in the send queue, against sndbuf */
	__u32 sndbuf;
	__u32 pad;
};

/* NS_TX, NS_ACK, NS_RX. NS_ACK and an NS_RX without data have seq == end. */
struct ns_segment {
	struct ns_head head;
	__u32 seq;
	__u32 end;
	__u32 ack;
	__u32 flags;            /* TCP header flags: FIN 1 SYN 2 RST 4 PSH 8 ACK 16 */
	char comm[NS_COMM_LEN]; /* of the current thread */
};

/* NS_DELACK_ARM (delay_us alone), NS_DELACK_FIRE (all else). */
struct ns_delack {
	struct ns_head head;
	__u32 delay_us;         /* until it fires; 0 when CONFIG_HZ is not known */
	__u32 pending;          /* icsk_ack.pending: SCHED 1, TIMER 2, PUSHED 4 */
	__u32 ato_us;           /* icsk_ack.ato, 0 unknown */
	__u32 owned;            /* 1: the user owned the socket, the ACK comes at its release */
	char comm[NS_COMM_LEN]; /* of the current thread */
};

struct ns_release {
	struct ns_head head; /* ts: the transmit that took the held bytes */
	__u64 held_ns;
	__u32 seq; /* what was held */
	__u32 end;
	__u32 reason;  /* at last */
	__u32 inexact; /* 1: the transmit itself was not seen, ts is an upper bound */
	__u32 nonagle; /* as in ns_hold, when they left: an option may have been set meanwhile */
	__u32 nonagle_known;
	__u32 unread; /* what the other end's program could read since the hold began, and had not
		       */
	__u32 unread_known;
};

struct ns_recv {
	struct ns_head head;
	__u32 bytes;
	__u32 fd;
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
	__u32 pad;
};

#define NS_SYSCALL_NONE  0xffffffffu
#define NS_TIMEOUT_NEVER 0xffffffffu /* any negative one means the same */

/* NS_WAIT as the kernel side writes it; the collector turns addresses into ids. */
struct ns_wait_raw {
	struct ns_wait wait;
	__u64 stack[NS_STACK_MAX]; /* 0 ends it */
	__u64 waker_stack[NS_STACK_MAX];
};

/* head.ts: the transmit. Sequence range sent again; a SYN has seq == end. */
struct ns_retrans {
	struct ns_head head;
	__u32 kind; /* enum ns_retrans_kind */
	__u32 seq;
	__u32 end;
	__u32 rto_us;  /* the retransmission time-out before it was doubled for this */
	__u32 retries; /* of the timer for these bytes, this one included; 0 not by timer */
	__u32 srtt_us;
	__u32 min_rtt_us;
	__u32 cwnd;
	__u32 in_flight;
	__u32 ca_state; /* enum tcp_ca_state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss */
	__u64 sent_ts;  /* when these bytes had been sent before, 0 unknown */
	__u32 arrived;  /* 1: the other end, on this host, had them already */
	__u32 pad;
};

/* head.ts: the end of the send that was called there. */
struct ns_call {
	struct ns_head head;
	__u32 write_seq; /* behind its bytes */
	__u32 bytes;
	__u32 stack_id;  /* NS_STACK of the user stack, 0 none */
	__u32 truncated; /* 1: it goes deeper than what was copied */
	__u32 held;      /* 1: bytes of it were held; 0: all was sent and is unacknowledged */
	__u32 pad;
};

/*
 * NS_CALL as the kernel side writes it; the collector unwinds it and keeps nothing of the
 * stack's bytes but the frames: they are never recorded, nor shown.
 */
struct ns_call_raw {
	struct ns_call call;
	__u64 regs[NS_CALL_REGS]; /* of the thread in user mode, by enum ns_call_reg of state.h */
	__u32 stack_len;          /* bytes copied from the stack pointer on */
	__u32 pad;
	__u8 stack[NS_CALL_STACK];
};

/*
 * A request and its answer as a thread of one end saw them. head.ts: asked, back on the CPU
 * with the answer; served, its first write of the answer.
 */
struct ns_exchange {
	struct ns_head head;
	__u32 side;      /* enum ns_exchange_side */
	__u32 writes;    /* of the request, or the answer so far */
	__u64 begin_ts;  /* asked: end of the first write. served: made runnable by the request */
	__u64 ready_ts;  /* asked: end of the last write. served: on the CPU with it */
	__u64 off_ts;    /* asked: went to sleep. served: slept since; both 0: did not sleep */
	__u64 wake_ts;   /* asked: made runnable by the answer */
	__u64 held_ns;   /* asked: in which TCP held bytes of it back */
	__u32 bytes_out; /* in these writes */
	__u32 weight;    /* exchanges that this one stands for, itself included */
	__u64 delack_ts; /* asked: the other end's delayed-ACK timer fired during it, 0 not seen */
	__u32 hold_reason; /* asked: of the last hold in it, enum ns_hold_reason */
	__u32 min_rtt_us;  /* asked */
};

/* Since the first sight of the connection. */
struct ns_conn_totals {
	struct ns_head head;
	__u64 bytes_out;
	__u64 bytes_in;
	__u32 writes;
	__u32 reads; /* 0 when reads are not hooked */
	__u32 segs_out;
	__u32 data_segs_out;
	__u32 segs_in;
	__u32 retrans;
	__u32 delack_armed;
	__u32 delack_fired; /* with an ACK due: a timer that finds none is not counted */
	__u32 holds[NS_HOLD_REASONS];
	__u64 first_ts;
	__u32 retrans_by[NS_RETRANS_KINDS];
	__u32 exchanges;    /* requests that an answer followed, 0 not counted */
	__u32 small_writes; /* of less than a quarter of the mss */
	__u32 close_writes; /* within 1 ms after the one before, and nothing was read between */
	__u32 mss;
	__u32 srtt_us;
	__u32 min_rtt_us;
	__u32 pad;
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
	__u32 pad;
};

struct ns_exit {
	struct ns_head head;
};

/* A running count: the last record of a kind holds. */
struct ns_lost {
	struct ns_head head;
	__u32 kind; /* enum ns_lost_kind */
	__u32 pad;
	__u64 count;
};

struct ns_stack {
	struct ns_head head;
	__u32 id; /* from 1 */
	__u32 pad;
	char text[NS_STACK_TEXT_MAX]; /* leaf first, ';' between, NUL-terminated */
};

struct ns_end {
	struct ns_head head;
};

#define NS_ASSERT_SIZE(type, size)                                                                 \
	_Static_assert(sizeof(struct type) == (size), "wire size of " #type)
#define NS_ASSERT_OFFSET(type, field, offset)                                                      \
	_Static_assert(__builtin_offsetof(struct type, field) == (offset),                         \
		       "wire offset of " #type "." #field)

NS_ASSERT_SIZE(ns_head, 32);
NS_ASSERT_OFFSET(ns_head, ts, 8);
NS_ASSERT_OFFSET(ns_head, conn, 16);
NS_ASSERT_SIZE(ns_session, 216);
NS_ASSERT_OFFSET(ns_session, way, 56);
NS_ASSERT_SIZE(ns_process, 56);
NS_ASSERT_SIZE(ns_conn, 112);
NS_ASSERT_OFFSET(ns_conn, laddr, 56);
NS_ASSERT_OFFSET(ns_conn, comm, 96);
NS_ASSERT_SIZE(ns_peer, 40);
NS_ASSERT_SIZE(ns_send, 56);
NS_ASSERT_SIZE(ns_hold, 128);
NS_ASSERT_OFFSET(ns_hold, last_tx_ts, 80);
NS_ASSERT_SIZE(ns_segment, 64);
NS_ASSERT_SIZE(ns_delack, 64);
NS_ASSERT_SIZE(ns_release, 72);
NS_ASSERT_SIZE(ns_recv, 40);
NS_ASSERT_SIZE(ns_wait, 136);
NS_ASSERT_OFFSET(ns_wait, state, 48);
NS_ASSERT_OFFSET(ns_wait, comm, 80);
NS_ASSERT_OFFSET(ns_wait, arg2, 112);
NS_ASSERT_SIZE(ns_wait_raw, 520);
NS_ASSERT_SIZE(ns_retrans, 88);
NS_ASSERT_SIZE(ns_call, 56);
NS_ASSERT_SIZE(ns_call_raw, 4288);
NS_ASSERT_SIZE(ns_exchange, 104);
NS_ASSERT_SIZE(ns_conn_totals, 200);
NS_ASSERT_OFFSET(ns_conn_totals, holds, 80);
NS_ASSERT_SIZE(ns_thread_totals, 96);
NS_ASSERT_SIZE(ns_exit, 32);
NS_ASSERT_SIZE(ns_lost, 48);
NS_ASSERT_SIZE(ns_stack, 2048);
NS_ASSERT_SIZE(ns_end, 32);

#endif

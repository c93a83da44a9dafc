/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The part of the wire contract that TCP connections have: what they are, what went over them, what
 * was held back. All that event.h says of records holds here as well; it includes this file.
 */
#ifndef NETSTALL_BPF_EVENT_CONN_H
#define NETSTALL_BPF_EVENT_CONN_H

#define NS_HOLD_REASONS 16   /* counters by reason, room to grow */
#define NS_CALL_STACK   4096 /* bytes of a user stack that are copied, to be unwound */
#define NS_CALL_REGS    16   /* registers that unwinding may need, see state.h */

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

/* What sent a segment again. */
enum ns_retrans_kind {
	NS_RETRANS_UNKNOWN = 0,
	NS_RETRANS_RTO = 1,  /* the retransmission timer, RFC 6298 */
	NS_RETRANS_TLP = 2,  /* a tail loss probe, RFC 8985 */
	NS_RETRANS_FAST = 3, /* acknowledgements told of the loss, RFC 5681 and 8985 */
	NS_RETRANS_SYN = 4,  /* the retransmission timer, before the connection stood */
	NS_RETRANS_KINDS = 5
};

/* Whose view of an exchange it is. */
enum ns_exchange_side {
	NS_EXCHANGE_ASKED = 1,
	NS_EXCHANGE_SERVED = 2,
};

/* How a send was asked for. */
enum ns_via {
	NS_VIA_CALL = 0,   /* a system call of its own */
	NS_VIA_URING = 1,  /* a ring, in the call that submits or waits there */
	NS_VIA_WORKER = 2, /* a ring, by a kernel thread: submission thread or worker */
};

enum ns_opener {
	NS_OPENER_UNKNOWN = 0,
	NS_OPENER_SELF = 1, /* this end called connect() */
	NS_OPENER_PEER = 2, /* this end accepted */
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
	__u32 via; /* enum ns_via */
	__u32 pad;
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
	__u32 ack_due_us; /* until the other end's delayed-ACK timer runs out; 0 none, or not known
			   */
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
	/* Of a SYN that met a full listen queue on this host, as far as that was seen. */
	__u32 listen_port; /* 0: none */
	__u32 backlog;     /* connections there */
	__u32 backlog_max; /* of listen() */
	__u32 somaxconn;
};

/* head.ts: when the attempt was over. */
struct ns_failed {
	struct ns_head head;
	__u32 error;  /* errno that connect() returns; 0: the program gave up */
	__u32 syns;   /* connection requests (SYN) that were sent */
	__u32 family; /* of whom it wanted to reach */
	__u32 rport;
	__u32 raddr[4];
	__u64 began_ts; /* connect() */
};

/* head.tgid: of those that have the listener, the one that was seen with it first. */
struct ns_listener {
	struct ns_head head;
	__u32 listen_port;
	__u32 drops; /* SYNs, last ACKs of handshakes: since the record before; 0 in the first */
	__u32 backlog_max; /* of listen() */
	__u32 somaxconn;   /* of its network namespace */
};

/*
 * Ends of connections that are closed, of which nothing else is told: nothing was found on them,
 * and there were many. head.tgid: the target, 0 of other ends, and of what has no room in the
 * table. All since the window began: a later record of the same endpoint has all of an earlier one.
 */
struct ns_service {
	struct ns_head head;
	__u32 opener; /* enum ns_opener; NS_OPENER_PEER: the target serves, at port */
	__u32 family; /* of the address that it asks, 0 where it serves */
	__u32 addr[4];
	__u32 port;
	__u32 last; /* 1: its process has ended, what comes of that number is another one's */
	__u64 ends;
	/* Of targets' ends. */
	__u64 targets;
	__u64 accepted;  /* the other end has opened them */
	__u64 exchanges; /* of all, */
	__u64 asked;     /* and in which the target asks */
	__u64 writes;
	/* Of these once where both ends are targets. */
	__u64 used;     /* with bytes in either direction, or an exchange */
	__u64 attempts; /* without */
	__u64 used_exchanges;
	__u64 bytes_out;
	__u64 bytes_in;
};

/*
 * head.ts: the end of the send that was called there; of one that was submitted to a ring there, to
 * go out later, the submission.
 */
struct ns_call {
	struct ns_head head;
	__u32 write_seq; /* behind its bytes; 0: it was submitted, and stands for those like it */
	__u32 bytes;
	__u32 stack_id;  /* NS_STACK of the user stack, 0 none */
	__u32 truncated; /* 1: it goes deeper than what was copied */
	__u32 held;      /* 1: bytes of it were held; 0: all was sent and is unacknowledged. Of a
			  * submission: it has as many bytes as such a one */
	__u32 what;      /* enum ns_call_what */
	__u64 off_ts;    /* since when its thread had waited, of a read; waits from now on, of a
			  * wait; the thread that it lets go on had waited; and has not slept, of
			  * who is busy; else 0 */
	__u32 syscall;   /* of a wait and its release: what is slept in; else 0 */
	__u32 slept;     /* of a release: the tid of who had waited; else 0 */
};

enum ns_call_what {
	NS_CALL_WRITE = 0,  /* one of those of which a later one is held */
	NS_CALL_READ = 1,   /* by who waited long for it */
	NS_CALL_ANSWER = 2, /* a write at the other end of one that is waited for long */
	/* On no connection; head.conn is 0. */
	NS_CALL_WAIT = 3,    /* a sleep like one that was long; it may be a short one */
	NS_CALL_RELEASE = 4, /* of a lock that was waited for long */
	NS_CALL_BUSY = 5,    /* none: what a thread computes that has not slept for long */
	NS_CALL_WHATS,
};

#define NS_PYTHON_FRAMES 32

/* A function that CPython runs: its code object, and the instruction: its address, or (before 3.11)
 * its number. */
struct ns_python_frame {
	__u64 code;
	__u64 instr;
};

/*
 * NS_CALL as the kernel side writes it; the collector unwinds it and keeps nothing of the
 * stack's bytes but the frames: they are never recorded, nor shown.
 */
struct ns_call_raw {
	struct ns_call call;
	__u64 regs[NS_CALL_REGS]; /* of the thread in user mode, by enum ns_call_reg of state.h */
	__u32 stack_len;          /* bytes copied from the stack pointer on */
	__u32 python_count;
	struct ns_python_frame python[NS_PYTHON_FRAMES]; /* innermost first */
	__u8 stack[NS_CALL_STACK];
};

/* How the end of a request was seen. */
enum ns_exchange_end {
	NS_EXCHANGE_ANSWERED = 0, /* the thread is back on a CPU with an answer: no more is known */
	NS_EXCHANGE_FOLLOWED = 1, /* the next request was written */
	NS_EXCHANGE_CLOSED = 2,   /* the connection closed, or this end of it */
	NS_EXCHANGE_OPEN = 3,     /* the window ended: what is known by then */
};

/*
 * A request and its answer as a thread of one end saw them. head.ts: asked, the last read of the
 * answer before the next request (ended ANSWERED: back on the CPU with its first bytes); served,
 * the last write of the answer.
 */
struct ns_exchange {
	struct ns_head head;
	__u32 side;        /* enum ns_exchange_side */
	__u32 writes;      /* of the request, or the answer so far */
	__u64 begin_ts;    /* asked: first write over, or asleep. served: woken by the request, 0
			      not seen */
	__u64 ready_ts;    /* asked: end of the last write. served: on the CPU with it */
	__u64 off_ts;      /* asked: went to sleep. served: slept since; both 0: did not sleep */
	__u64 wake_ts;     /* asked: made runnable by the answer */
	__u64 held_ns;     /* asked: in which TCP held bytes of it back. served: from the last write
			      until TCP had let go of all of the answer */
	__u32 bytes_out;   /* in these writes */
	__u32 weight;      /* exchanges that this one stands for, itself included */
	__u64 delack_ts;   /* the other end's delayed-ACK timer fired during it, 0 not seen */
	__u32 hold_reason; /* of the last hold in it, enum ns_hold_reason */
	__u32 min_rtt_us;  /* asked */
	__u64 answer_ts; /* asked: the first read of the answer. served: its first write; 0 not seen
			  */
	__u64 arrived_ts;  /* served: the request was there to be read; 0 not seen */
	__u32 ended;       /* enum ns_exchange_end */
	__u32 bytes_in;    /* asked: of the answer. served: of the request */
	__u32 reads;       /* asked: calls that read of the answer, 0 not counted */
	__u32 spent_known; /* 0: spent is not counted */
	/* Of head.tid: asked, from begin_ts to head.ts; served, from ready_ts to head.ts. */
	struct ns_spent spent;
	/* Of the connection's first one: the listen queue that the accepting end took it from. */
	__u64 queued_ts; /* the connection stood, and lay there; 0 not seen, or of an earlier one */
	__u64 accepted_ts; /* by then it was accepted; 0: it had not been */
	__u32 accept_tid;  /* by whom */
	__u32 listen_port;
	__u32 backlog;     /* in the queue as it came, itself included; 0 not known */
	__u32 backlog_max; /* of listen() */
	__u32 somaxconn;   /* of its network namespace */
	/* asked, of the connection's first one, where that followed at once: */
	__u32 connect_syns; /* sent again */
	__u64 connect_ts;   /* connect() was called; 0: not seen, or another one */
	__u64 connected_ts; /* and the other end had answered */
	/*
	 * It was open when the window began, and is open at its end, and on the connection neither
	 * end did anything meanwhile: the last of its bytes left or came about then. What else is
	 * here of it begins with the window, and head.tid is 0. 0: it began in the window.
	 */
	__u64 since_ts;
};

/* What the kernel says that bytes to be sent waited for, in jiffies: tcp_chrono_start(). */
enum ns_limit {
	NS_LIMIT_RWND = 0,   /* TCP_CHRONO_RWND_LIMITED: room in the window */
	NS_LIMIT_SNDBUF = 1, /* TCP_CHRONO_SNDBUF_LIMITED: all is under way, and no room for more */
	NS_LIMITS = 2
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
	__u64 limited_ns[NS_LIMITS]; /* 0 when CONFIG_HZ is not known */
};

NS_ASSERT_SIZE(ns_conn, 112);
NS_ASSERT_OFFSET(ns_conn, laddr, 56);
NS_ASSERT_OFFSET(ns_conn, comm, 96);
NS_ASSERT_SIZE(ns_peer, 40);
NS_ASSERT_SIZE(ns_send, 64);
NS_ASSERT_SIZE(ns_hold, 128);
NS_ASSERT_OFFSET(ns_hold, last_tx_ts, 80);
NS_ASSERT_SIZE(ns_segment, 64);
NS_ASSERT_SIZE(ns_delack, 64);
NS_ASSERT_SIZE(ns_release, 72);
NS_ASSERT_SIZE(ns_recv, 40);
NS_ASSERT_SIZE(ns_retrans, 104);
NS_ASSERT_SIZE(ns_call, 72);
NS_ASSERT_SIZE(ns_call_raw, 4816);
NS_ASSERT_SIZE(ns_exchange, 280);
NS_ASSERT_SIZE(ns_failed, 72);
NS_ASSERT_SIZE(ns_listener, 48);
NS_ASSERT_SIZE(ns_service, 152);
NS_ASSERT_SIZE(ns_conn_totals, 216);
NS_ASSERT_OFFSET(ns_conn_totals, holds, 80);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small world of threads and connections, from a seed: it knows who did what in each nanosecond
 * (oracle.c), and what the kernel side would record of it (kernel_side.c).
 */
#ifndef NETSTALL_TESTS_SIMULATOR_H
#define NETSTALL_TESTS_SIMULATOR_H

#include "tests/unit/test.h"
#include "user/analyze/cause.h"
#include "user/record/record.h"

#define SIM_THREADS 16
#define SIM_ENDS    16
#define SIM_PROCS   3
#define SIM_LOCKS   1
#define SIM_PIPES   8
#define SIM_OPS     192
#define SIM_TICKS   1024 /* events that are to come */
#define SIM_NOBODY  (-1)

#define SIM_THRESHOLD DEFAULT_THRESHOLD_NS
#define SIM_US        1000ull
#define SIM_MS        1000000ull

/* Bytes of each request and of each answer, and a connection's first sequence number. */
#define SIM_REQUEST_LEN 120
#define SIM_ANSWER_LEN  160
#define SIM_FIRST_SEQ   1000

/* What the requests of a world are made of. */
enum sim_kind {
	SIM_SLEEP,
	SIM_COMPUTE,
	SIM_NAPS, /* many short sleeps, which are in sums alone */
	SIM_LOCK,
	SIM_HELPER,
	SIM_READY,        /* waits for a CPU */
	SIM_REQUEST_HELD, /* in two writes, Nagle */
	SIM_ANSWER_HELD,
	SIM_ANSWER_PARTS, /* in two writes with something done between them, TCP_NODELAY */
	SIM_CORKED,       /* the answer's end waits for the program to uncork */
	SIM_NESTED,
	SIM_NESTED_HELD,
	SIM_NESTED_ANSWER_HELD,
	SIM_QUEUE, /* several clients of one event loop */
	/* Each thousand of seeds has its own, and for mixed worlds all up to these: a kind that is
	 * added behind leaves the worlds before what they are. */
	SIM_KINDS_0,
	SIM_POOL = SIM_KINDS_0, /* a loop that reads, and threads that answer */
	SIM_AFTERWORK,          /* who has answered does something else before he reads again */
	SIM_KINDS_1000,
	SIM_OWN_TIMER = SIM_KINDS_1000, /* an event loop does something else by its own clock */
	SIM_EVENT_CLIENT,               /* one thread asks on several connections at a time */
	SIM_KINDS_2000,
	SIM_KINDS = SIM_KINDS_2000
};

const char *sim_kind__name(enum sim_kind kind);

enum sim_proc { SIM_CLIENT, SIM_FRONT, SIM_BACK };

enum sim_view { SIM_VIEW_CLIENT, SIM_VIEW_SERVER, SIM_VIEW_BOTH, SIM_VIEWS };

const char *sim_view__name(enum sim_view view);
bool sim_view__has(enum sim_view view, int proc); /* is it a target? */

/* ---- what a program does ---- */

enum sim_op_kind {
	SIM_OP_RUN,
	SIM_OP_SLEEP,
	SIM_OP_LOCK,
	SIM_OP_UNLOCK,
	SIM_OP_WRITE,
	SIM_OP_UNCORK,
	SIM_OP_READ, /* until all of a message is there */
	SIM_OP_ASK,  /* write to a pipe */
	SIM_OP_TAKE, /* read from it */
	SIM_OP_EPOLL,
	SIM_OP_PUT, /* for a thread of the pool */
	SIM_OP_GET,
	SIM_OP_SERVE, /* what has been read is a request: what follows from it */
};

struct sim_op {
	enum sim_op_kind kind;
	int at; /* end, lock or pipe */
	uint32_t bytes;
	bool more; /* corked */
	uint64_t ns;
};

/* ---- what happened ---- */

enum sim_wait {
	SIM_WAIT_CPU, /* preempted */
	SIM_WAIT_SLEEP,
	SIM_WAIT_LOCK,
	SIM_WAIT_READ,
	SIM_WAIT_PIPE,
	SIM_WAIT_EPOLL,
	SIM_WAIT_JOB, /* a condition variable */
};

/* A time that a thread is off its CPU. */
struct sim_away {
	uint64_t off, wake, on; /* UINT64_MAX: not yet */
	enum sim_wait wait;
	int at;
	int waker; /* thread, or SIM_NOBODY */
	bool by_timer;
};

/* A write: bytes that go the same way together. */
struct sim_piece {
	uint32_t seq, end;
	int writer;
	uint64_t written, sent, arrived; /* UINT64_MAX: not yet */
	enum cause held;                 /* what kept it between written and sent */
};

#define SIM_GROWS(type)                                                                            \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t count, room;                                                                \
	}

enum sim_hook_kind {
	SIM_HOOK_SEND,    /* a: bytes, b: write_seq, c: snd_nxt, d: snd_una */
	SIM_HOOK_READ,    /* a: copied_seq, b: jiffies at its last data, t: TCP's clock */
	SIM_HOOK_ARRIVED, /* a: rcv_nxt, of data; t: 0 in softirq of nobody's */
	SIM_HOOK_HOLD,    /* a: reason, b: seq, c: end, d: unacked */
	SIM_HOOK_TX,      /* a: seq, b: end, c: ack */
	SIM_HOOK_ACK,     /* a: seq, c: ack */
	SIM_HOOK_RX,      /* a: seq, b: end, c: ack */
	SIM_HOOK_ARM,     /* a: delay_us */
	SIM_HOOK_FIRE,
	SIM_HOOK_OUT,  /* a: enum sim_wait, b: end, lock or pipe, c: its time-out in ms */
	SIM_HOOK_WAKE, /* a: waker + 1, b: by a timer */
	SIM_HOOK_IN,
};

#define SIM_JIFFY (4 * SIM_MS)

/* Where the kernel side looks. */
struct sim_hook {
	enum sim_hook_kind kind;
	int thread, end;
	uint32_t a, b, c, d;
	uint64_t ts; /* the record's */
	uint64_t t;
};

struct sim_thread {
	int proc;
	uint32_t tid;
	int end;         /* whose requests it makes, or answers; SIM_NOBODY: a helper's, a loop's */
	int back;        /* where it makes nested requests, or SIM_NOBODY */
	int asks, takes; /* pipes */
	bool is_client, is_loop, is_helper, is_worker;
	bool is_event_client;
	uint64_t next_job; /* of an event loop's own, 0 none */
	unsigned made;     /* requests */
	struct sim_op ops[SIM_OPS];
	size_t op, op_count;
	int phase;
	bool is_off;
	SIM_GROWS(struct sim_away) away;
};

struct sim_end {
	int proc, peer;
	bool asks;
	int poller;           /* whose event loop it is in, or SIM_NOBODY */
	uint64_t next_asking; /* of an event loop that asks; 0: it waits for an answer */
	bool nodelay, corked;
	uint32_t write_seq, snd_nxt, snd_una, rcv_nxt, copied;
	uint32_t got, wanted; /* of the message that is being read */
	uint64_t clock;       /* TCP's own: moved by each segment, and by the delayed-ACK timer */
	uint64_t data_ts;     /* the last data came: icsk_ack.lrcvtime */
	uint64_t due;         /* of the delayed-ACK timer, 0 not armed */
	uint64_t ready;       /* since when there is something to be read */
	int reader;           /* the thread that sleeps for it */
	bool is_held;
	bool by_timer; /* the acknowledgement that let it go was the timer's */
	SIM_GROWS(struct sim_piece) pieces;
};

/* As it was, from the first byte to the last. */
struct sim_request {
	int end;                  /* that asks */
	int thread;               /* that asks */
	int answerer;             /* the thread that answers */
	uint64_t asked, answered; /* first byte written, last one read */
	uint64_t there, sent;     /* all of it was written, or came; the answer's end has left */
	uint64_t wrote;           /* the answer's last write */
	/* Its end is known only then, within the window: */
	bool is_followed;    /* by another request */
	bool answer_is_over; /* and by the answer to that one */
};

struct sim_lock {
	int owner;
	int waiting[SIM_THREADS];
	size_t count;
};

struct sim_queue {
	int jobs[SIM_ENDS]; /* ends with a request */
	size_t count;
	int waiting[SIM_THREADS];
	size_t waiting_count;
};

struct sim_pipe {
	size_t full;
	struct sim_op job[4];
	int reader;
	int writer; /* who wrote last */
};

struct sim_tick {
	uint64_t ts, order;
	int kind, a;
	uint32_t b, c, d;
	int e;
};

struct sim_world {
	uint64_t seed, random;
	uint64_t now, end_ts, order;
	uint32_t kinds; /* bits of enum sim_kind */
	enum sim_kind kind;
	bool is_mixed;
	size_t thread_count, end_count;
	struct sim_thread threads[SIM_THREADS];
	struct sim_end ends[SIM_ENDS];
	struct sim_lock lock;
	struct sim_queue queue;
	struct sim_pipe pipes[SIM_PIPES];
	size_t pipe_count;
	struct sim_tick ticks[SIM_TICKS]; /* a heap */
	size_t tick_count;
	SIM_GROWS(struct sim_hook) hooks;
	SIM_GROWS(struct sim_request) requests;
};

struct sim_world *sim_world__run(uint64_t seed);
void sim_world__free(struct sim_world *world);
const char *sim_world__label(const struct sim_world *world, char *text, size_t size);

static inline uint32_t sim_proc__pid(int proc)
{
	return 1000 + 100 * (uint32_t)proc;
}

/* The number of a connection's end. */
static inline uint32_t sim_end__number(int end)
{
	return (uint32_t)end + 1;
}

/* ---- what the kernel side would record ---- */

/* One behind the other, each as long as its head says, in their order of arrival. */
struct sim_records {
	uint8_t *bytes;
	size_t len, room;
	size_t *at; /* where each begins */
	size_t count, at_room;
};

void kernel_side__record(const struct sim_world *world, enum sim_view view,
			 struct sim_records *out);
void sim_records__free(struct sim_records *records);

static inline union record *sim_record(const struct sim_records *records, size_t i)
{
	return (union record *)(void *)(records->bytes + records->at[i]);
}

/* ---- how it was ---- */

#define ORACLE_PIECES 512

struct oracle_piece {
	uint64_t from, to;
	enum cause cause;
	int thread; /* whose time it is; SIM_NOBODY: a connection's */
};

/* A request as one of its ends is to see it. */
struct oracle_view {
	uint64_t from, to;
	size_t count;
	struct oracle_piece pieces[ORACLE_PIECES];
	uint64_t ns[CAUSE_COUNT];
};

/* served: by the end that answers. */
void oracle__view(const struct sim_world *world, enum sim_view view,
		  const struct sim_request *request, bool served, struct oracle_view *out);

#endif

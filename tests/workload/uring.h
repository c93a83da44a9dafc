/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the files of the workload `uring` share: sockets, and rings that count their completions. */
#ifndef TESTS_WORKLOAD_URING_H
#define TESTS_WORKLOAD_URING_H

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define OPCODES  64  /* IORING_OP_*; a larger one counts as OPCODES - 1 */
#define RESULTS  600 /* 0: ok; else ERRNO, the kernel's own included */
#define SAMPLES  100000
#define STALL_NS 10000000u

/* The truth about one process: what it asked for and what came. Its rings share it. */
struct tally {
	int pid;
	uint64_t submitted[OPCODES]; /* SQEs */
	uint64_t refused[OPCODES];   /* of these, such as the kernel must refuse at once */
	uint64_t early[OPCODES];     /* of these, submitted before the gate */
	uint64_t notified[OPCODES];
	uint64_t results[OPCODES][RESULTS]; /* CQEs without notifications */
	uint64_t overflowed, dropped;
	char left_out[400]; /* what this kernel has not got: "a", "b" */
	uint64_t exchanges;
	uint64_t samples[SAMPLES]; /* ns */
};

/* What main() was asked for. */
struct arguments {
	unsigned count;
	unsigned batch;
	unsigned setup; /* IORING_SETUP_* of every ring */
	bool before;    /* rings are made before the gate */
	bool eventfd;   /* completions are waited for on an eventfd */
	bool one;       /* an exchange's operations one by one, not as a chain */
	bool late;      /* its writes go out in no call that submits them */
};
extern struct arguments asked;
extern struct tally *client, *server; /* in memory that both processes have */

struct ring {
	struct io_uring u;
	struct tally *tally;
	int due; /* completions to come, without such as are not the last of their operation */
	int eventfd;
	int last_result; /* of the completion that was taken last */
	unsigned last_flags;
};

/* CQEs so far, without notifications. */
uint64_t tally__results(const struct tally *tally, unsigned opcode);
/* One line: uring.c shows one. */
void tally__print(const struct tally *tally, const char *mode);
/* The opcodes of which something is due, a line each; those of skipped completions among them. */
void tally__print_missing(const struct tally *tally, FILE *to);

void die(const char *what, int error) __attribute__((noreturn));
/* This kernel has not got what the mode is about. Status 3. */
void cannot(const char *what) __attribute__((noreturn));
void left_out(const char *what);
uint64_t now_ns(void);
void note_exchange(uint64_t begin_ns);

void ring__open(struct ring *r, struct tally *tally, unsigned entries, unsigned cq_entries);
void ring__close(struct ring *r);
struct io_uring_sqe *ring__sqe(struct ring *r);
/* Says whose operation it is: to be called when the SQE is filled in. */
void ring__tag(struct ring *r, struct io_uring_sqe *sqe);
void ring__refuse(struct ring *r, struct io_uring_sqe *sqe);
void ring__submit(struct ring *r);
/* Submits, waits for at least one completion, takes all that are there. */
void ring__reap(struct ring *r);
/* Takes what is there without a system call. */
void ring__take(struct ring *r);
void ring__take_one(struct ring *r);
/* Until nothing is due. */
void ring__drain(struct ring *r);
void ring__drain_but(struct ring *r, int rest);
bool ring__has(struct ring *r, unsigned opcode);

#define OP(ring, prep, ...)                                                                        \
	({                                                                                         \
		struct io_uring_sqe *filled_ = ring__sqe(ring);                                    \
		prep(filled_, ##__VA_ARGS__);                                                      \
		ring__tag(ring, filled_);                                                          \
		filled_;                                                                           \
	})

int listen_here(int *port);
int connect_to(int port);
/* Both ends of a connection, without delays. */
void tcp_pair(int ends[2]);
int scratch_file(size_t size);
/* A child process that runs serve(fd) on one connection; returns our end. */
int with_server(void (*serve)(int fd));

/* The modes. Each begins with what is to be there before the gate, and calls gate() once. */
void gate(void);
void mode_mix(void);
void mode_split(void);
void mode_fixed(void);
void mode_echo(void);
void mode_nop(void);
void mode_rings(void);
void mode_worker(void);
void mode_direct(void);
void mode_overflow(void);
void mode_threads(void);
void mode_armed(void);
void mode_backlog(void);
void mode_buffers(void);
void mode_timer(void);
void mode_idle(void);

/* The parts of the mix. */
void mix_net(struct ring *r, unsigned n);
void mix_files(struct ring *r, unsigned n);
void mix_course(struct ring *r, unsigned n);

#endif

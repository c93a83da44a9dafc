/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Request/response exchanges over TCP between two child processes, slow or quick for a reason that
 * is known beforehand.
 *
 * The workload is an oracle: it counts and times its own exchanges, so that whoever traces it can
 * compare. Used by the demo command, by the self-test of doctor and by tests/workload/exchange.c.
 *
 *	struct workload *w = workload__new(&options);
 *
 *	if (!w || workload__start(w))
 *		...workload__error(w)...
 *	...attach a tracer to workload__client_pid(w): the client waits at its gate...
 *	workload__open_gate(w);
 *	workload__wait(w);
 *	workload__summarize(workload__result(w), &summary);
 *	workload__free(w);
 */
#ifndef NETSTALL_DEMO_WORKLOAD_H
#define NETSTALL_DEMO_WORKLOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum workload_mode {
	WORKLOAD_SPLIT,
	WORKLOAD_SINGLE,
	WORKLOAD_NODELAY,
	WORKLOAD_CORK,
	WORKLOAD_MORE,
	WORKLOAD_PIGGYBACK,
	WORKLOAD_LATE_SERVER,
	WORKLOAD_PACED,
	WORKLOAD_MODES,
};

/* What one exchange consists of. Zero sizes and times mean that the exchange has no such part. */
struct workload_script {
	enum workload_mode mode;
	const char *name;
	const char *description;
	const char *cause;    /* the id of the cause that makes it slow; NULL when it is not slow */
	uint32_t first_bytes; /* the request's first write */
	uint32_t rest_bytes;  /* the request's second write */
	uint32_t gap_us;      /* pause between the two writes, or before held bytes are let go */
	uint32_t early_reply_us;    /* the server awaits more than the first write so long ... */
	uint32_t early_reply_bytes; /* ... and then sends so many bytes */
	uint32_t reply_delay_us;    /* the server waits this long before it replies */
	uint32_t reply_bytes;
	uint32_t interval_us; /* from the start of a burst's last exchange to the next burst */
	uint32_t burst;       /* exchanges of a burst; 0: no pauses */
	bool nodelay;         /* TCP_NODELAY on the client's socket */
	bool cork;            /* TCP_CORK around the request */
	bool more;            /* MSG_MORE on the first write, pushed out by TCP_NODELAY */
};

enum workload_role { WORKLOAD_BOTH_ENDS, WORKLOAD_CLIENT_ONLY, WORKLOAD_SERVER_ONLY };

#define WORKLOAD_MAX_CONNECTIONS 1024
#define WORKLOAD_MAX_MESSAGE     65536 /* so small that it never blocks its writer */
#define WORKLOAD_STALL_NS        10000000
#define WORKLOAD_SAMPLES         (1u << 20)

/* Strings are borrowed and must outlive the workload. Start from workload_options__init(). */
struct workload_options {
	enum workload_mode mode;
	enum workload_role role;
	uint64_t exchanges;      /* of all connections together; 0: no limit */
	uint64_t window_ms;      /* stop this long after the warm-up; 0: no limit */
	uint64_t warmup_ms;      /* exchanges at the start that are neither counted nor timed */
	const char *host;        /* numeric address, listened on and connected to; NULL: loopback */
	uint16_t port;           /* 0: any free port */
	bool ipv6;               /* which loopback, when host is NULL */
	uint32_t connections;    /* 1: blocking calls; more: both ends use epoll */
	int cpu;                 /* both ends run on this CPU only; -1: anywhere */
	int64_t gap_us;          /* -1: the script's */
	uint32_t reply_bytes;    /* 0: the script's */
	uint32_t request_bytes;  /* of the request's first write; 0: the script's */
	bool connect_after_gate; /* the connections appear only after the gate has opened */
	const char *client_name; /* the names of the two processes */
	const char *server_name;
};

struct workload_sample {
	uint64_t start_ns;   /* CLOCK_MONOTONIC, before the first write */
	uint64_t latency_ns; /* to the reply's last byte, or the write's return if none */
};

/*
 * Written by the two ends in memory that the parent shares, so it may be read while they run.
 * Everything except @served is about the window, which is what follows the warm-up. The samples are
 * a ring: exchange n, counted from 0, is at n % WORKLOAD_SAMPLES, where the oldest are overwritten.
 */
struct workload_result {
	_Atomic uint64_t exchanges;
	_Atomic uint64_t served; /* requests dealt with by the server */
	uint64_t stalls;         /* exchanges of WORKLOAD_STALL_NS or longer */
	uint64_t max_ns;
	uint64_t window_ns;
	uint64_t client_cpu_ns; /* user + system */
	uint64_t server_cpu_ns;
	struct workload_sample samples[WORKLOAD_SAMPLES];
};

struct workload_summary {
	uint64_t exchanges;
	uint64_t stalls;
	double median_us; /* nearest rank, as p99: always a latency that occurred */
	double p99_us;
	double max_us;
	double cpu_us_per_exchange; /* both ends, as far as they run here */
	double seconds;
};

/* The script of a mode, NULL past the last one (so that a loop can list them). */
const struct workload_script *workload__script(unsigned int mode);
const struct workload_script *workload__find(const char *name);

void workload_options__init(struct workload_options *options, enum workload_mode mode);

struct workload;

/* NULL, with errno set, when there is no memory for the result. */
struct workload *workload__new(const struct workload_options *options);

/*
 * Starts the processes. On return the server listens and the client, connected unless
 * connect_after_gate says otherwise, waits at the gate. Returns 0 or -errno, and then
 * workload__error() has a sentence. The children get SIGKILL when the *thread* that called this
 * ends; they ignore SIGINT, so that Ctrl-C leaves the decision to the caller.
 */
int workload__start(struct workload *w);

/* The first exchange begins now. */
void workload__open_gate(struct workload *w);

/* Until the client, or a server alone, ends by itself or by workload__stop(). Returns 0 or -errno.
 */
int workload__wait(struct workload *w);

/*
 * Asks for the end, and does not wait for it: exchanges under way are completed, within 2 s. May be
 * called in a signal handler. Before the gate has opened there will be no exchange.
 */
void workload__stop(struct workload *w);

/* Ends whatever still runs. */
void workload__free(struct workload *w);

/* 0: it does not run, or not here. */
pid_t workload__client_pid(const struct workload *w);
pid_t workload__server_pid(const struct workload *w);

/* The server's port, and the descriptor of the first connection in the client (-1: none yet). */
uint16_t workload__port(const struct workload *w);
int workload__client_fd(const struct workload *w);

/* A sentence without a full stop; "" if nothing failed. */
const char *workload__error(const struct workload *w);

const struct workload_result *workload__result(const struct workload *w);

/* All zero when there was no exchange. */
void workload__summarize(const struct workload_result *result, struct workload_summary *summary);

#endif

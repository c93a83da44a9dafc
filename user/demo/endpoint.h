/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the two ends of a workload (see workload.h) have in common; each runs in a child process of
 * its own.
 *
 * Both are the same machine: a connection waits either for bytes (missing) or for a time
 * (deadline), and when it has got what it waited for, the end's step function says what comes next.
 * One connection is driven by blocking calls, which is the shape of most programs with this
 * trouble; several are driven by epoll.
 */
#ifndef NETSTALL_DEMO_ENDPOINT_H
#define NETSTALL_DEMO_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/demo/workload.h"

#define ENDPOINT_ERROR_SIZE 160
#define ENDPOINT_NEVER      UINT64_MAX
/* The peer closed the connection, where 0 is success and negative an errno. */
#define ENDPOINT_CLOSED 1

/* What the two children and the parent share. Each end has an error text of its own. */
struct workload_shared {
	struct workload_result result;
	int client_fd;
	char client_error[ENDPOINT_ERROR_SIZE];
	char server_error[ENDPOINT_ERROR_SIZE];
};

struct connection {
	int fd;            /* -1: free */
	bool muted;        /* bytes came while it was pausing */
	bool until_input;  /* bytes end the pause */
	int step;          /* what to do once nothing is missing and the deadline has passed */
	uint32_t missing;  /* bytes to read first */
	uint64_t deadline; /* CLOCK_MONOTONIC, to wait for first; 0: none */
	uint64_t start_ns; /* of the client's exchange */
};

struct endpoint {
	const struct workload_options *options;
	struct workload_script script; /* with the options' changes */
	struct workload_result *result;
	char *error;
	int (*step)(struct endpoint *e, struct connection *c);
	int listener; /* -1 in the client */
	int epoll_fd;
	bool has_pauses; /* this end's steps set deadlines */
	bool finished;
	struct connection connection[WORKLOAD_MAX_CONNECTIONS];
};

/*
 * Puts a sentence into @error, which has ENDPOINT_ERROR_SIZE bytes, and the meaning of @err, a
 * negative errno, behind it. Returns @err.
 */
int endpoint__fail(char *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A socket that listens, or is connected; or -errno with a sentence in @error. */
int endpoint__open(const struct workload_options *options, uint16_t port, bool listens,
		   char *error);
/* Its local port. */
uint16_t endpoint__port(int fd);

int endpoint__set_tcp_option(int fd, int option, int value);
int endpoint__send(int fd, uint32_t size, int flags);

void endpoint__init(struct endpoint *e, const struct workload_options *options,
		    struct workload_result *result, char *error);

/* NULL when all places are taken, or, with *err set, when accepting failed. */
struct connection *endpoint__add(struct endpoint *e, int fd, int step);
struct connection *endpoint__accept(struct endpoint *e, int *err);
void endpoint__drop(struct connection *c);

/* Drives the first connection. 0: this end is finished; ENDPOINT_CLOSED; or -errno. */
int endpoint__run_one(struct endpoint *e);

/* Drives all of them, and accepts more if there is a listener: then it returns only on failure. */
int endpoint__run_many(struct endpoint *e);

/* Serves all that connect to @listener; returns only on failure, with -errno. */
int server__run(const struct workload_options *options, int listener,
		struct workload_shared *shared);

struct client;

struct client *client__new(const struct workload_options *options, struct workload_shared *shared);
int client__connect(struct client *client, uint16_t port);

/* All exchanges. @server_pid, if not 0, is the process whose CPU time counts as the server's. */
int client__run(struct client *client, pid_t server_pid);

#endif

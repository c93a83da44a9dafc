// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A client whose requests go out in two writes, each from a function of its own, and the
 * server that it forks. Built without frame pointers; its truth is the names of its functions.
 * A line on standard input opens the gate, a second one ends it.
 *
 *   callsites [-n COUNT] [--library PATH] [--nodelay] [--thread]
 *
 * --library: the second write is made by the function library_body() of that file, which is
 * opened behind the gate. --thread: the requests are made by a thread that is not the first.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/workload/kept.h"

#define HEAD_BYTES  40
#define BODY_BYTES  136
#define REPLY_BYTES 8
#define STALL_MS    10

typedef int body_function(int fd, const char *bytes, size_t len);

static struct {
	unsigned count;
	const char *library;
	int nodelay;
	int thread;
	body_function *body;
	int fd;
	unsigned stalls;
} run = {.count = 12};

/* Work between the writes and the returns: no call may become a jump. */
static volatile unsigned written;

KEPT static int send_head(int fd, const char *bytes, size_t len)
{
	char room[64]; /* a frame that is not of the least size */

	memcpy(room, bytes, len);
	if (write(fd, room, len) != (ssize_t)len)
		err(1, "write");
	written += len;
	return 0;
}

KEPT static int send_body(int fd, const char *bytes, size_t len)
{
	if (write(fd, bytes, len) != (ssize_t)len)
		err(1, "write");
	written += len;
	return 0;
}

KEPT static void send_request(int fd)
{
	char head[HEAD_BYTES] = {1}, body[BODY_BYTES] = {2};

	send_head(fd, head, sizeof(head));
	run.body(fd, body, sizeof(body));
	written++;
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void take(int fd, size_t len)
{
	char bytes[256];

	while (len) {
		ssize_t got = read(fd, bytes, len < sizeof(bytes) ? len : sizeof(bytes));

		if (got <= 0)
			exit(0); /* the other end is done */
		len -= got;
	}
}

static void serve(int listener)
{
	int fd = accept(listener, NULL, NULL);

	for (;;) {
		take(fd, HEAD_BYTES + BODY_BYTES);
		if (write(fd, "answers", REPLY_BYTES) != REPLY_BYTES)
			exit(1);
	}
}

KEPT static void *make_requests(void *unused)
{
	for (unsigned i = 0; i < run.count; i++) {
		double start = now_ms();

		send_request(run.fd);
		take(run.fd, REPLY_BYTES);
		run.stalls += now_ms() - start >= STALL_MS;
	}
	return unused;
}

static void open_library(void)
{
	void *library = dlopen(run.library, RTLD_NOW);

	run.body = library ? (body_function *)dlsym(library, "library_body") : NULL;
	if (!run.body)
		errx(1, "%s", dlerror());
}

static void read_options(char **argv)
{
	while (*++argv) {
		if (!strcmp(*argv, "-n") && argv[1])
			run.count = atoi(*++argv);
		else if (!strcmp(*argv, "--library") && argv[1])
			run.library = *++argv;
		else if (!strcmp(*argv, "--nodelay"))
			run.nodelay = 1;
		else if (!strcmp(*argv, "--thread"))
			run.thread = 1;
		else if (!strcmp(*argv, "--gate") && argv[1])
			argv++; /* always standard input */
		else
			errx(64, "no option %s", *argv);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;
	pid_t server;
	char line[16];

	(void)argc;
	read_options(argv);
	run.body = send_body;
	if (bind(listener, (void *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &len))
		err(1, "listen");
	server = fork();
	if (!server)
		serve(listener);
	run.fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(run.fd, (void *)&address, len))
		err(1, "connect");
	setsockopt(run.fd, IPPROTO_TCP, TCP_NODELAY, &run.nodelay, sizeof(run.nodelay));
	printf("ready client_pid=%d server_pid=%d port=%d\n", getpid(), server,
	       ntohs(address.sin_port));
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	if (run.library)
		open_library();
	if (run.thread) {
		pthread_create(&thread, NULL, make_requests, NULL);
		pthread_join(thread, NULL);
	} else {
		make_requests(NULL);
	}
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	printf("done exchanges=%u stalls=%u median_us=0\n", run.count, run.stalls);
	fflush(stdout);
	/* Names can be looked up while the program lives. */
	return !fgets(line, sizeof(line), stdin);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Requests whose end is not the first byte of their answer, by a client with a clock of its own: it
 * stops when it has read the last byte.
 *
 *	requests --gate stdin --mode MODE -n N
 *	ready client_pid=812 server_pid=811 fd=3 port=46465
 *	done mode=body exchanges=20 stalls=20 median_us=60214.7	(after a line from stdin)
 *
 * Modes:
 *	body       the answer's body comes 60 ms after its head
 *	waitall    the same, and one recv() waits for both
 *	pipelined  ten requests at a time, an answer each 4 ms
 *	half-close the client shuts down when it has asked: the answer is two pieces and the end
 *	think      the server takes 15 ms, and the client 30 ms before it asks again: half of it
 *asleep, half computing busy       as body, by a server that computes for 20 ms and sleeps for 20
 *ms
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <netinet/tcp.h>

#define REQUEST   100
#define HEAD      100
#define BODY      1000
#define PIPELINED 10

struct mode {
	const char *name;
	int requests; /* asked at a time */
	int head_ms;  /* before the head of an answer, */
	int body_ms;  /* and from there to its body */
	int busy_ms;  /* the server computes before that */
	int think_ms;
	bool waitall;
	bool half_close;
};

static const struct mode modes[] = {
	{.name = "body", .requests = 1, .body_ms = 60},
	{.name = "waitall", .requests = 1, .body_ms = 60, .waitall = true},
	{.name = "pipelined", .requests = PIPELINED, .head_ms = 4},
	{.name = "half-close", .requests = 1, .head_ms = 30, .body_ms = 20, .half_close = true},
	{.name = "think", .requests = 1, .head_ms = 15, .think_ms = 30},
	{.name = "busy", .requests = 1, .busy_ms = 20, .body_ms = 20},
};

static const struct mode *mode;
static char bytes[PIPELINED * (HEAD + BODY)];

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static uint64_t time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ms(int ms)
{
	struct timespec t = {.tv_nsec = ms * 1000000L};

	if (ms)
		nanosleep(&t, NULL);
}

static void compute_ms(int ms)
{
	uint64_t end = time_of(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ms * 1000000;

	while (time_of(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* False: the other end has closed. */
static bool take(int fd, size_t size)
{
	ssize_t got;

	for (size_t have = 0; have < size; have += (size_t)got) {
		got = recv(fd, bytes, size - have, mode->waitall ? MSG_WAITALL : 0);
		if (got <= 0)
			return false;
	}
	return true;
}

static void put(int fd, size_t size)
{
	must(send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size, "send");
}

static void serve(int listener)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = accept(listener, NULL, NULL), on = 1;

		must(fd >= 0, "accept");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		while (take(fd, (size_t)mode->requests * REQUEST)) {
			for (int i = 0; i < mode->requests; i++) {
				compute_ms(mode->busy_ms);
				sleep_ms(mode->head_ms);
				put(fd, HEAD);
				sleep_ms(mode->body_ms);
				put(fd, BODY);
			}
			if (mode->half_close)
				break;
		}
		close(fd);
	}
}

static int connected(const struct sockaddr_in *server)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	must(fd >= 0 && !connect(fd, (const struct sockaddr *)server, sizeof(*server)), "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void ask(const struct sockaddr_in *server, int fd, int count)
{
	uint64_t *took = calloc((size_t)count, sizeof(*took)), begin;
	int stalls = 0;

	must(took, "calloc");
	for (int n = 0; n < count; n++) {
		if (n && mode->half_close) {
			close(fd);
			fd = connected(server);
		}
		begin = time_of(CLOCK_MONOTONIC);
		for (int i = 0; i < mode->requests; i++)
			put(fd, REQUEST);
		if (mode->half_close)
			shutdown(fd, SHUT_WR);
		must(take(fd, (size_t)mode->requests * (HEAD + BODY)), "recv");
		took[n] = time_of(CLOCK_MONOTONIC) - begin;
		stalls += took[n] >= 10000000;
		sleep_ms(mode->think_ms / 2);
		compute_ms(mode->think_ms / 2);
	}
	qsort(took, (size_t)count, sizeof(*took), by_value);
	printf("done mode=%s exchanges=%d stalls=%d median_us=%.1f\n", mode->name, count, stalls,
	       (double)took[(count - 1) / 2] / 1e3);
	free(took);
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), count = 20, fd;
	pid_t server;
	char byte;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "-n"))
			count = atoi(argv[i + 1]);
		for (size_t m = 0; !strcmp(argv[i], "--mode") && m < sizeof(modes) / sizeof(*modes);
		     m++)
			if (!strcmp(argv[i + 1], modes[m].name))
				mode = &modes[m];
	}
	if (!mode || count <= 0) {
		fprintf(stderr, "usage: requests --gate stdin --mode MODE -n N\n");
		return 64;
	}
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!bind(listener, (struct sockaddr *)&address, length) && !listen(listener, 16) &&
		     !getsockname(listener, (struct sockaddr *)&address, &length),
	     "listen");
	server = fork();
	must(server >= 0, "fork");
	if (!server)
		serve(listener);
	close(listener);
	fd = connected(&address);
	printf("ready client_pid=%d server_pid=%d fd=%d port=%d\n", getpid(), server, fd,
	       ntohs(address.sin_port));
	fflush(stdout);
	must(read(STDIN_FILENO, &byte, 1) == 1, "gate");
	ask(&address, fd, count);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return 0;
}

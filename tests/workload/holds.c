// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Programs whose bytes TCP holds back, each for one reason that is known beforehand. Every exchange
 * is a message and an answer of one byte, which the client times itself:
 *
 *	$ holds --mode zero-window -n 5
 *	ready client_pid=812 server_pid=811 fd=3 port=46465
 *	done mode=zero-window cause=zero-window exchanges=5 stalls=5 median_us=61204.1
 *max_us=63112.9
 *
 * Modes that need a slow device (tbf on an interface, with a small MTU) say so in --list.
 * Exit status: 0 done, 1 it failed, 64 usage.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/workload/holds_modes.h"

#define EXIT_USAGE   64
#define STALL_NS     10000000u
#define MAX_MESSAGE  (4u << 20)
#define MAX_EXCHANGE 10000
/* Small exchanges that end the receiver's quick acknowledgements, and TCP's pacing-free start. */
#define WARM_UPS 14

#define MODES (sizeof(modes) / sizeof(modes[0]))

struct run {
	const struct mode *mode;
	const char *host;
	unsigned ms;
	unsigned exchanges;
	bool gate;
	struct sockaddr_in address;
};

static char buffer[MAX_MESSAGE];

static void die(const char *what)
{
	fprintf(stderr, "holds: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void set(int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		die("setsockopt");
}

/* Of every kernel, with a window that begins at 10 segments and without pacing of its own. */
static void set_reno(int fd)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4))
		die("TCP_CONGESTION");
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_ms(unsigned ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static unsigned piece_times(const struct piece *piece)
{
	return piece->times ? piece->times : 1;
}

static uint32_t message_bytes(const struct mode *mode)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < PIECES; i++)
		bytes += piece_times(&mode->pieces[i]) * mode->pieces[i].bytes;
	return bytes;
}

/* Returns false at the end of the stream. */
static bool read_bytes(int fd, uint32_t bytes)
{
	while (bytes) {
		ssize_t got = recv(fd, buffer, bytes, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die("recv");
		if (!got)
			return false;
		bytes -= (uint32_t)got;
	}
	return true;
}

static void write_bytes(int fd, uint32_t bytes, int flags, bool nonblocking)
{
	while (bytes) {
		struct pollfd out = {.fd = fd, .events = POLLOUT};
		ssize_t put = send(fd, buffer, bytes, flags | (nonblocking ? MSG_DONTWAIT : 0));

		if (put < 0 && errno == EAGAIN)
			poll(&out, 1, -1);
		else if (put < 0 && errno != EINTR)
			die("send");
		if (put > 0)
			bytes -= (uint32_t)put;
	}
}

/* ---- the server ---- */

static void serve(const struct run *run, int fd)
{
	uint32_t bytes = message_bytes(run->mode);

	set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	for (unsigned i = 0; i < WARM_UPS; i++) {
		if (!read_bytes(fd, 1))
			return;
		write_bytes(fd, 1, 0, false);
	}
	for (;;) {
		struct pollfd in = {.fd = fd, .events = POLLIN};

		if (run->mode->reader_waits)
			set(fd, SOL_SOCKET, SO_RCVLOWAT, (int)bytes);
		if (run->mode->reader_waits || run->mode->reader_sleeps)
			poll(&in, 1, -1);
		if (run->mode->reader_sleeps)
			sleep_ms(run->ms);
		if (!read_bytes(fd, bytes))
			return;
		write_bytes(fd, 1, 0, false);
	}
}

static void run_server(const struct run *run, int listener)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "holds-server");
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			die("accept");
		serve(run, fd);
		close(fd);
	}
}

/* ---- the client ---- */

static int connect_to_server(const struct run *run)
{
	const struct mode *mode = run->mode;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		die("socket");
	if (mode->sndbuf)
		set(fd, SOL_SOCKET, SO_SNDBUF, mode->sndbuf);
	if (mode->rate)
		set(fd, SOL_SOCKET, SO_MAX_PACING_RATE, (int)mode->rate);
	set_reno(fd);
	if (connect(fd, (const struct sockaddr *)&run->address, sizeof(run->address)))
		die("connect");
	if (mode->nodelay)
		set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	for (unsigned i = 0; i < WARM_UPS; i++) {
		write_bytes(fd, 1, 0, false);
		if (!read_bytes(fd, 1))
			die("warm-up");
	}
	return fd;
}

static void write_piece(const struct run *run, int fd, const struct piece *piece)
{
	if (piece->sleep)
		sleep_ms(run->ms);
	if (piece->option)
		set(fd, IPPROTO_TCP, piece->option, piece->value);
	for (unsigned i = 0; piece->bytes && i < piece_times(piece); i++)
		write_bytes(fd, piece->bytes, piece->flags, run->mode->nonblocking);
}

static uint64_t exchange(const struct run *run, int fd)
{
	const struct mode *mode = run->mode;
	uint64_t start = now_ns();

	for (size_t i = 0; i < PIECES; i++)
		write_piece(run, fd, &mode->pieces[i]);
	if (!read_bytes(fd, 1)) {
		errno = ECONNRESET;
		die("the server");
	}
	return now_ns() - start;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void print_truth(const struct run *run, uint64_t *took)
{
	unsigned n = run->exchanges, stalls = 0;

	qsort(took, n, sizeof(*took), by_value);
	for (unsigned i = 0; i < n; i++)
		stalls += took[i] >= STALL_NS;
	printf("done mode=%s cause=%s exchanges=%u stalls=%u median_us=%.1f max_us=%.1f\n",
	       run->mode->name, run->mode->cause, n, stalls, (double)took[n / 2] / 1e3,
	       (double)took[n - 1] / 1e3);
}

static void wait_at_gate(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
		;
}

static void run_client(const struct run *run, pid_t server)
{
	static uint64_t took[MAX_EXCHANGE];
	int fd = connect_to_server(run);

	prctl(PR_SET_NAME, "holds-client");
	printf("ready client_pid=%d server_pid=%d fd=%d port=%u\n", getpid(), server, fd,
	       ntohs(run->address.sin_port));
	fflush(stdout);
	if (run->gate)
		wait_at_gate();
	for (unsigned i = 0; i < run->exchanges; i++) {
		if (run->mode->reconnect && i) {
			close(fd);
			fd = connect_to_server(run);
		}
		took[i] = exchange(run, fd);
	}
	print_truth(run, took);
}

/* ---- what is asked for ---- */

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; i < MODES; i++) {
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	}
	fprintf(stderr, "holds: there is no mode '%s'; --list shows all\n", name);
	exit(EXIT_USAGE);
}

static void list_modes(void)
{
	for (size_t i = 0; i < MODES; i++)
		printf("%-16s %-12s %s\n", modes[i].name, modes[i].cause, modes[i].description);
	exit(EXIT_SUCCESS);
}

static void parse_arguments(struct run *run, int argc, char **argv)
{
	static const struct option options[] = {
		{"mode", required_argument, NULL, 'm'},
		{"ms", required_argument, NULL, 's'},
		{"host", required_argument, NULL, 'a'},
		{"gate", required_argument, NULL, 'g'}, /* stdin or none */
		{"list", no_argument, NULL, 'l'},
		{0},
	};
	int option, ms = -1;

	*run = (struct run){.mode = &modes[0], .host = "127.0.0.1", .exchanges = 5};
	while ((option = getopt_long(argc, argv, "n:", options, NULL)) != -1) {
		if (option == 'm')
			run->mode = find_mode(optarg);
		else if (option == 's')
			ms = atoi(optarg);
		else if (option == 'a')
			run->host = optarg;
		else if (option == 'g')
			run->gate = !strcmp(optarg, "stdin");
		else if (option == 'n')
			run->exchanges = (unsigned)atoi(optarg);
		else if (option == 'l')
			list_modes();
		else
			exit(EXIT_USAGE);
	}
	run->ms = ms >= 0 ? (unsigned)ms : run->mode->ms;
	if (optind == argc && run->exchanges && run->exchanges <= MAX_EXCHANGE)
		return;
	fprintf(stderr, "usage: holds --mode MODE [-n N] [--ms MS] [--host IPV4] [--gate stdin]\n");
	exit(EXIT_USAGE);
}

static int listen_for_client(struct run *run)
{
	socklen_t size = sizeof(run->address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	run->address.sin_family = AF_INET;
	if (fd < 0 || inet_pton(AF_INET, run->host, &run->address.sin_addr) != 1)
		die(run->host);
	if (run->mode->rcvbuf)
		set(fd, SOL_SOCKET, SO_RCVBUF, run->mode->rcvbuf);
	if (bind(fd, (struct sockaddr *)&run->address, sizeof(run->address)) || listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)&run->address, &size))
		die("listen");
	return fd;
}

int main(int argc, char **argv)
{
	struct run run;
	pid_t server;
	int listener;

	parse_arguments(&run, argc, argv);
	listener = listen_for_client(&run);
	server = fork();
	if (server < 0)
		die("fork");
	if (!server)
		run_server(&run, listener);
	close(listener);
	run_client(&run, server);
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	return EXIT_SUCCESS;
}

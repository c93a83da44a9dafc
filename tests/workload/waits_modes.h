/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The modes of waits.c, which alone includes this: what each starts, and one round of each. */
#ifndef TESTS_WORKLOAD_WAITS_MODES_H
#define TESTS_WORKLOAD_WAITS_MODES_H

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STALL_NS    10000000u
#define CONNECTIONS 6
#define MESSAGE     64

/* What all processes of a run share. */
struct shared {
	pid_t client_pid, client_tid, waker_pid, waker_tid, backend_pid;
	int fd, port;
	volatile int begun; /* the gate is open */
};

static unsigned wait_ms = 30;
static struct shared *shared;
static int here[2], there[2]; /* pipes */
static int links[CONNECTIONS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken, next;

static void die(const char *what)
{
	fprintf(stderr, "waits: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void nap(void)
{
	struct timespec left = {wait_ms / 1000, wait_ms % 1000 * 1000000};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* One message; false at the end of the stream. */
static bool take(int fd)
{
	char message[MESSAGE];
	size_t got = 0;

	while (got < sizeof(message)) {
		ssize_t n = read(fd, message + got, sizeof(message) - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += n;
	}
	return true;
}

static void give(int fd)
{
	static const char message[MESSAGE];

	if (write(fd, message, sizeof(message)) != sizeof(message))
		die("write");
}

/* ---- TCP ---- */

static int listen_here(int *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) || listen(fd, 64) ||
	    getsockname(fd, (void *)&at, &length))
		die("listen");
	*port = ntohs(at.sin_port);
	return fd;
}

static int connect_to(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (void *)&to, sizeof(to)))
		die("connect");
	return fd;
}

/* Answers every message of one connection; before_answer() is what takes its time. */
static void serve(int fd, void (*before_answer)(void))
{
	while (take(fd)) {
		before_answer();
		give(fd);
	}
}

static int upstream; /* of the proxy */

static void ask_upstream(void)
{
	give(upstream);
	if (!take(upstream))
		exit(0);
}

static void nothing(void)
{
}

static pid_t child(const char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	return 0;
}

/* A process that accepts `count` connections and serves them; the first alone is slow. */
static pid_t server(const char *name, int listener, int count, void (*before_answer)(void))
{
	pid_t pid = child(name);
	struct pollfd set[CONNECTIONS];
	int i;

	if (pid)
		return pid;
	for (i = 0; i < count; i++)
		set[i] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
	if (count == 1)
		serve(set[0].fd, before_answer);
	while (count > 1 && poll(set, count, -1) > 0)
		for (i = 0; i < count; i++) {
			if (!set[i].revents)
				continue;
			if (!take(set[i].fd))
				exit(0);
			if (!i)
				before_answer();
			give(set[i].fd);
		}
	exit(0);
}

/* ---- what the client does in one round, and what it needs before ---- */

static void *hold_the_lock(void *unused)
{
	shared->waker_tid = gettid();
	for (;;) {
		pthread_mutex_lock(&lock);
		sem_post(&taken);
		nap();
		pthread_mutex_unlock(&lock);
		sem_wait(&next);
	}
	return unused;
}

static void futex_begin(void)
{
	pthread_t thread;

	sem_init(&taken, 0, 0);
	sem_init(&next, 0, 0);
	pthread_create(&thread, NULL, hold_the_lock, NULL);
	sem_wait(&taken);
	pthread_mutex_lock(&lock); /* the holder's first round is before the gate */
	pthread_mutex_unlock(&lock);
	shared->waker_pid = getpid();
}

static void futex_round(void)
{
	sem_post(&next);
	sem_wait(&taken);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

/* What it does between two long waits: shares that a clock of its own measures. */
static void mixed_round(void)
{
	static const struct timespec half_ms = {.tv_nsec = 500000};
	struct timespec cpu;
	uint64_t until = 0;
	int i;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
		if (!until)
			until = cpu.tv_sec * 1000000000ull + cpu.tv_nsec + 20000000;
	} while (cpu.tv_sec * 1000000000ull + cpu.tv_nsec < until);
	for (i = 0; i < 50; i++)
		nanosleep(&half_ms, NULL);
	nap();
}

static void pipe_setup(void)
{
	pid_t pid;

	if (pipe(here) || pipe(there))
		die("pipe");
	pid = child("waits-writer");
	if (!pid) {
		close(there[1]);
		while (take(there[0])) {
			nap();
			give(here[1]);
		}
		exit(0);
	}
	shared->waker_pid = shared->waker_tid = pid;
}

static void pipe_round(void)
{
	give(there[1]);
	take(here[0]);
}

static int listener, behind;

static void slow_server_setup(void)
{
	listener = listen_here(&shared->port);
	shared->waker_pid = shared->waker_tid = server("waits-server", listener, 1, nap);
}

static void connect_one(void)
{
	shared->fd = links[0] = connect_to(shared->port);
}

static void ask_round(void)
{
	give(links[0]);
	take(links[0]);
}

/* Asks for nothing, so nothing comes. */
static void poll_round(void)
{
	struct pollfd set = {.fd = links[0], .events = POLLIN};

	poll(&set, 1, wait_ms);
}

static void ask_poll_round(void)
{
	struct pollfd set = {.fd = links[0], .events = POLLIN};

	give(links[0]);
	poll(&set, 1, -1);
	take(links[0]);
}

static void many_setup(void)
{
	listener = listen_here(&shared->port);
	shared->waker_pid = shared->waker_tid = server("waits-server", listener, CONNECTIONS, nap);
}

static void connect_many(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int i;

	here[0] = epoll_create1(0);
	for (i = 0; i < CONNECTIONS; i++) {
		links[i] = connect_to(shared->port);
		event.data.fd = links[i];
		if (epoll_ctl(here[0], EPOLL_CTL_ADD, links[i], &event))
			die("epoll_ctl");
	}
	shared->fd = links[0];
}

/* Each takes what is there, of however many connections, and returns of how many. */
static int take_by_epoll(void)
{
	struct epoll_event events[CONNECTIONS];
	int count = epoll_wait(here[0], events, CONNECTIONS, -1);

	for (int i = 0; i < count; i++)
		take(events[i].data.fd);
	return count;
}

static int take_by_poll(void)
{
	struct pollfd set[CONNECTIONS];
	int count;

	for (int i = 0; i < CONNECTIONS; i++)
		set[i] = (struct pollfd){.fd = links[i], .events = POLLIN};
	count = poll(set, CONNECTIONS, -1);
	for (int i = 0; i < CONNECTIONS; i++)
		if (set[i].revents)
			take(set[i].fd);
	return count;
}

static int take_by_select(void)
{
	int highest = 0, count;
	fd_set set;

	FD_ZERO(&set);
	for (int i = 0; i < CONNECTIONS; i++) {
		FD_SET(links[i], &set);
		highest = links[i] > highest ? links[i] : highest;
	}
	count = select(highest + 1, &set, NULL, NULL, NULL);
	for (int i = 0; i < CONNECTIONS; i++)
		if (FD_ISSET(links[i], &set))
			take(links[i]);
	return count;
}

/* All but the first answer at once; it was written on first, so the last write tells nothing. */
static void many_round(int (*take_some)(void))
{
	int left;

	for (int i = 1; i < CONNECTIONS; i++)
		give(links[i]);
	for (left = CONNECTIONS - 1; left > 0;)
		left -= take_some();
	give(links[0]);
	give(links[1]);
	for (left = 2; left > 0;)
		left -= take_some();
}

static void epoll_round(void)
{
	many_round(take_by_epoll);
}

static void poll_many_round(void)
{
	many_round(take_by_poll);
}

static void select_many_round(void)
{
	many_round(take_by_select);
}

static void proxy_setup(void)
{
	int port;
	pid_t pid;

	behind = listen_here(&port);
	shared->backend_pid = server("waits-backend", behind, 1, nap);
	listener = listen_here(&shared->port);
	pid = child("waits-proxy");
	if (!pid) {
		upstream = connect_to(port);
		serve(accept(listener, NULL, NULL), ask_upstream);
		exit(0);
	}
	shared->waker_pid = shared->waker_tid = pid;
}

/* The server is the target: it waits for the next request, which nobody owes it. */
static void idle_setup(void)
{
	pid_t pid;

	listener = listen_here(&shared->port);
	pid = child("waits-asker");
	if (!pid) {
		int fd = connect_to(shared->port);

		for (;;) {
			nap();
			give(fd);
			take(fd);
		}
	}
	shared->waker_pid = shared->waker_tid = pid;
}

static void accept_one(void)
{
	shared->fd = links[0] = accept(listener, NULL, NULL);
}

static void answer_round(void)
{
	take(links[0]);
	give(links[0]);
}

static void stopper_setup(void)
{
	pid_t client = getpid(), pid;

	if (pipe(here))
		die("pipe");
	pid = child("waits-stopper");
	if (!pid) {
		while (take(here[0])) {
			kill(client, SIGSTOP);
			nap();
			kill(client, SIGCONT);
		}
		exit(0);
	}
	shared->waker_pid = shared->waker_tid = pid;
}

/* Runs until it is stopped, and a bit: a wait of its own would be another cause. */
static void stopped_round(void)
{
	uint64_t begin = now_ns(), last = begin, now = begin;

	give(here[1]);
	while (now - last < STALL_NS / 2 && now - begin < 1000000000u) {
		last = now;
		now = now_ns();
	}
}

#endif

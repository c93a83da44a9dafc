/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* More modes of waits.c, which alone includes this: wakes with and without work. */
#ifndef TESTS_WORKLOAD_WAITS_HABITS_H
#define TESTS_WORKLOAD_WAITS_HABITS_H

#include <netinet/tcp.h>
#include <sys/eventfd.h>

#include "tests/workload/waits_modes.h"

/* An event every --ms, of which the client takes note and no more: edge-triggered, not read. */
static void event_setup(void)
{
	pid_t pid;

	here[0] = eventfd(0, 0);
	if (here[0] < 0)
		die("eventfd");
	pid = child("waits-ringer");
	if (!pid) {
		uint64_t one = 1;

		for (;;) {
			nap();
			if (shared->begun && write(here[0], &one, sizeof(one)) != sizeof(one))
				die("write");
		}
	}
	shared->waker_pid = shared->waker_tid = pid;
}

static void watch_event(void)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	there[0] = epoll_create1(0);
	if (epoll_ctl(there[0], EPOLL_CTL_ADD, here[0], &event))
		die("epoll_ctl");
}

static void ignore_round(void)
{
	struct epoll_event event;

	epoll_wait(there[0], &event, 1, -1);
}

static void count_round(void)
{
	uint64_t count;

	ignore_round();
	if (read(here[0], &count, sizeof(count)) != sizeof(count))
		die("read");
}

/* A message every --ms, which the client takes by recv() alone and does not answer. */
static void push_setup(void)
{
	pid_t pid;

	listener = listen_here(&shared->port);
	pid = child("waits-pusher");
	if (!pid) {
		int fd = accept(listener, NULL, NULL);

		for (;;) {
			nap();
			if (shared->begun)
				give(fd);
		}
	}
	shared->waker_pid = shared->waker_tid = pid;
}

static void connect_watched(void)
{
	struct epoll_event event = {.events = EPOLLIN};

	connect_one();
	there[0] = epoll_create1(0);
	if (epoll_ctl(there[0], EPOLL_CTL_ADD, links[0], &event))
		die("epoll_ctl");
}

static void receive(void)
{
	char message[MESSAGE];

	if (recv(links[0], message, sizeof(message), MSG_WAITALL) != sizeof(message))
		die("recv");
}

/* ---- requests in two small pieces, to a server that acknowledges each at once ---- */

static void prompt_server_setup(void)
{
	int on = 1;
	pid_t pid;

	listener = listen_here(&shared->port);
	pid = child("waits-prompt");
	if (!pid) {
		int fd = accept(listener, NULL, NULL);
		char message[MESSAGE];

		while (setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on)) == 0 &&
		       recv(fd, message, 2, MSG_WAITALL) == 2)
			give(fd);
		_exit(0);
	}
	shared->waker_pid = shared->waker_tid = pid;
}

static void connect_nodelay(void)
{
	int on = 1;

	connect_one();
	if (setsockopt(links[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("TCP_NODELAY");
}

static void split_round(void)
{
	if (write(links[0], "a", 1) != 1 || write(links[0], "b", 1) != 1)
		die("write");
	receive();
}

/* ---- requests that two threads hand to and fro before one of them asks ---- */

static void ask_once(void)
{
	if (write(links[0], "ab", 2) != 2)
		die("write");
	receive();
}

static void *hand_back(void *unused)
{
	for (unsigned turn = 1; !sem_wait(&taken); turn++) {
		if (turn % 3 == 0)
			ask_once();
		sem_post(&next);
	}
	return unused;
}

static void handing_begin(void)
{
	pthread_t thread;

	connect_nodelay();
	if (sem_init(&taken, 0, 0) || sem_init(&next, 0, 0) ||
	    pthread_create(&thread, NULL, hand_back, NULL))
		die("pthread_create");
}

static void handing_round(void)
{
	for (int turn = 0; turn < 3; turn++) {
		sem_post(&taken);
		sem_wait(&next);
	}
}

/* One thread that looks for its answer every millisecond. */
static void steps_round(void)
{
	struct pollfd set = {.fd = links[0], .events = POLLIN};

	give(links[0]);
	while (poll(&set, 1, 1) == 0)
		;
	receive();
}

/* ---- a thread that wakes another one, which is done at once ---- */

static void *take_note(void *unused)
{
	char byte;

	while (read(here[0], &byte, 1) == 1)
		;
	return unused;
}

static void waker_begin(void)
{
	pthread_t thread;

	if (pipe(here) || pthread_create(&thread, NULL, take_note, NULL))
		die("pthread_create");
}

static void waker_round(void)
{
	for (int i = 0; i < 100; i++) {
		uint64_t until = now_ns() + 20000;

		if (write(here[1], "w", 1) != 1)
			die("write");
		while (now_ns() < until)
			;
	}
}

static void receive_round(void)
{
	receive();
}

static void poll_receive_round(void)
{
	struct pollfd set = {.fd = links[0], .events = POLLIN};

	poll(&set, 1, -1);
	receive();
}

static void epoll_receive_round(void)
{
	ignore_round();
	receive();
}

#endif

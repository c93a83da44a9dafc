/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* More modes of waits.c, which alone includes this: waits that are under way before the gate opens.
 */
#ifndef TESTS_WORKLOAD_WAITS_ATTACH_H
#define TESTS_WORKLOAD_WAITS_ATTACH_H

#include "tests/workload/waits_modes.h"

static pthread_t waiter;

/* In a thread of its own: the main one stays at the gate. */
static void begin_waiting(void *(*wait)(void *))
{
	volatile pid_t *tid = &shared->client_tid;

	*tid = 0;
	pthread_create(&waiter, NULL, wait, NULL);
	while (!*tid)
		usleep(1000);
	usleep(50000); /* by then it is asleep */
}

static void end_waiting(void)
{
	pthread_join(waiter, NULL);
}

/* Two answers at once, and the third when the gate has opened and --ms have passed. It sleeps for
 * so long at a time that the attach, even of a busy machine, lies within one sleep.
 */
static void answer_late(void)
{
	static unsigned answers;

	if (answers++ < 2)
		return;
	while (!shared->begun)
		sleep(8);
	nap();
}

static void late_server_setup(void)
{
	listener = listen_here(&shared->port);
	shared->waker_pid = shared->waker_tid = server("waits-server", listener, 1, answer_late);
}

static void *take_late(void *unused)
{
	shared->client_tid = gettid();
	take(links[0]);
	return unused;
}

/* The request follows so soon on the answers that TCP's stamps, in jiffies, say not which was last.
 */
static void ask_early(void)
{
	connect_one();
	ask_round();
	ask_round();
	give(links[0]);
	begin_waiting(take_late);
}

/* A listen queue for one, which is there. */
static void full_setup(void)
{
	listener = listen_here(&shared->port);
	listen(listener, 0);
	links[1] = connect_to(shared->port);
}

static void *connect_late(void *unused)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(shared->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	links[0] = shared->fd = socket(AF_INET, SOCK_STREAM, 0);
	shared->client_tid = gettid();
	if (connect(links[0], (void *)&to, sizeof(to)) && errno != ECONNREFUSED)
		die("connect");
	return unused;
}

static void connect_early(void)
{
	begin_waiting(connect_late);
}

/* The next SYN finds room. */
static void accept_round(void)
{
	if (accept(listener, NULL, NULL) < 0)
		die("accept");
	end_waiting();
}

/* The next SYN finds nobody. */
static void refuse_round(void)
{
	close(listener);
	end_waiting();
}

#endif

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Waits on io_uring rings, each of another kind, in a thread that is named for it, whose other side
 * is a thread `KIND-by` where it needs one:
 *
 *	ring_waits [--gate] [--rounds N] [--wait MS] [KIND...]
 *
 * --gate waits for a line or the end of stdin after `ready pid=P`. At its end it prints
 * `done wait_us=N kinds=KIND,KIND,...`, which names what this kernel has and N is what each of them
 * was kept waiting for in all, at least.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/workload/kept.h"

#define ENTRIES 8

static int rounds = 8;
static unsigned wait_ms = 20;
static pthread_barrier_t start;

struct kind;

struct wait {
	const struct kind *kind;
	struct io_uring ring;
	int fds[2]; /* what it waits for, and the other side's end */
	int out[2]; /* splice: where it goes */
	int event;
	char byte;
	pthread_t thread, other;
};

struct kind {
	const char *name;
	unsigned flags; /* IORING_SETUP_* */
	void (*prepare)(struct wait *wait);
	void (*round)(struct wait *wait);
	void (*other)(struct wait *wait); /* a round of the other side, behind its sleep; NULL: it
					     has none */
};

static void die(const char *what, int error)
{
	fprintf(stderr, "ring_waits: %s: %s\n", what, strerror(error));
	exit(1);
}

static void must(int done, const char *what)
{
	if (done < 0)
		die(what, errno);
}

/* ---- what is waited for ---- */

static void make_connection(struct wait *wait)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	must(bind(listener, (struct sockaddr *)&addr, len), "bind");
	must(listen(listener, 1), "listen");
	must(getsockname(listener, (struct sockaddr *)&addr, &len), "getsockname");
	wait->fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(wait->fds[0], (struct sockaddr *)&addr, len), "connect");
	wait->fds[1] = accept(listener, NULL, NULL);
	must(wait->fds[1], "accept");
	setsockopt(wait->fds[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

static void make_connection_and_eventfd(struct wait *wait)
{
	make_connection(wait);
	wait->event = eventfd(0, 0);
	must(wait->event, "eventfd");
	must(io_uring_register_eventfd(&wait->ring, wait->event), "register_eventfd");
}

static void make_pipes(struct wait *wait)
{
	must(pipe(wait->fds), "pipe");
	must(pipe(wait->out), "pipe");
}

/* ---- those who wait ---- */

static struct io_uring_sqe *next_sqe(struct wait *wait)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&wait->ring);

	if (!sqe)
		die("io_uring_get_sqe", ENOSPC);
	return sqe;
}

/* So many completions, each of at least `least`. */
static void take(struct wait *wait, unsigned count, int least)
{
	struct io_uring_cqe *cqe;

	while (count--) {
		int err = io_uring_wait_cqe(&wait->ring, &cqe);

		if (err)
			die("io_uring_wait_cqe", -err);
		if (cqe->res < least)
			die(wait->kind->name, -cqe->res);
		io_uring_cqe_seen(&wait->ring, cqe);
	}
}

KEPT static void wait_on_ring(struct wait *wait, unsigned count, int least)
{
	int err = io_uring_submit_and_wait(&wait->ring, count);

	if (err < 0)
		die("io_uring_submit_and_wait", -err);
	take(wait, count, least);
}

static void receive(struct wait *wait)
{
	io_uring_prep_recv(next_sqe(wait), wait->fds[0], &wait->byte, 1, 0);
	wait_on_ring(wait, 1, 1);
}

/* Two completions are waited for at once: the first one ends no call. */
static void receive_two(struct wait *wait)
{
	struct __kernel_timespec half = {.tv_nsec = wait_ms * 500000l};

	io_uring_prep_recv(next_sqe(wait), wait->fds[0], &wait->byte, 1, 0);
	io_uring_prep_timeout(next_sqe(wait), &half, 0, 0);
	wait_on_ring(wait, 2, -ETIME);
}

static void read_of_worker(struct wait *wait)
{
	io_uring_prep_splice(next_sqe(wait), wait->fds[0], -1, wait->out[1], -1, 1, 0);
	wait_on_ring(wait, 1, 1);
	must(read(wait->out[0], &wait->byte, 1), "read");
}

static void read_async(struct wait *wait)
{
	struct io_uring_sqe *sqe = next_sqe(wait);

	io_uring_prep_read(sqe, wait->fds[0], &wait->byte, 1, 0);
	sqe->flags |= IOSQE_ASYNC;
	wait_on_ring(wait, 1, 1);
}

static void let_time_pass(struct wait *wait)
{
	struct __kernel_timespec time = {.tv_nsec = wait_ms * 1000000l};

	io_uring_prep_timeout(next_sqe(wait), &time, 0, 0);
	wait_on_ring(wait, 1, -ETIME);
}

/* Nothing comes: its own time limit ends the wait. */
KEPT static void wait_on_ring_with_limit(struct wait *wait)
{
	struct __kernel_timespec time = {.tv_nsec = wait_ms * 1000000l};
	struct io_uring_cqe *cqe;
	int err = io_uring_wait_cqe_timeout(&wait->ring, &cqe, &time);

	if (err != -ETIME)
		die("io_uring_wait_cqe_timeout", -err);
}

KEPT static void wait_for_others(struct wait *wait)
{
	take(wait, 1, 0);
}

KEPT static void wait_on_eventfd(struct wait *wait)
{
	eventfd_t value;

	io_uring_prep_recv(next_sqe(wait), wait->fds[0], &wait->byte, 1, 0);
	must(io_uring_submit(&wait->ring), "io_uring_submit");
	must(eventfd_read(wait->event, &value), "eventfd_read");
	take(wait, 1, 1);
}

/* ---- those who end it ---- */

static void send_byte(struct wait *wait)
{
	must(send(wait->fds[1], "x", 1, 0), "send");
}

static void write_byte(struct wait *wait)
{
	must(write(wait->fds[1], "x", 1), "write");
}

/* Its sleeper submits nothing. */
static void submit_nop(struct wait *wait)
{
	io_uring_prep_nop(next_sqe(wait));
	must(io_uring_submit(&wait->ring), "io_uring_submit");
}

static void message(struct wait *wait)
{
	static __thread struct io_uring own;
	struct io_uring_cqe *cqe = NULL;

	if (!own.ring_fd && io_uring_queue_init(ENTRIES, &own, 0))
		die("io_uring_queue_init", errno);
	io_uring_prep_msg_ring(io_uring_get_sqe(&own), wait->ring.ring_fd, 1, 7, 0);
	if (io_uring_submit_and_wait(&own, 1) < 0 || io_uring_wait_cqe(&own, &cqe) || cqe->res)
		die("MSG_RING", EIO);
	io_uring_cqe_seen(&own, cqe);
}

#define DEFERRED (IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SINGLE_ISSUER)

static const struct kind kinds[] = {
	{"recv", 0, make_connection, receive, send_byte},
	{"deferred", DEFERRED, make_connection, receive, send_byte},
	{"two", 0, make_connection, receive_two, send_byte},
	{"two-deferred", DEFERRED, make_connection, receive_two, send_byte},
	{"sqpoll", IORING_SETUP_SQPOLL, make_connection, receive, send_byte},
	{"eventfd", 0, make_connection_and_eventfd, wait_on_eventfd, send_byte},
	{"worker", 0, make_pipes, read_of_worker, write_byte},
	{"async", 0, make_pipes, read_async, write_byte},
	{"timeout", 0, NULL, let_time_pass, NULL},
	{"limit", 0, NULL, wait_on_ring_with_limit, NULL},
	{"nop", 0, NULL, wait_for_others, submit_nop},
	{"message", 0, NULL, wait_for_others, message},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* ---- threads ---- */

static void *run_waiter(void *arg)
{
	struct wait *wait = arg;
	struct io_uring_params params = {.flags = wait->kind->flags, .sq_thread_idle = 1};
	int err;

	prctl(PR_SET_NAME, wait->kind->name);
	/* DEFER_TASKRUN wants the thread that submits to have made it. */
	err = io_uring_queue_init_params(ENTRIES, &wait->ring, &params);
	if (err)
		die("io_uring_queue_init_params", -err);
	if (wait->kind->prepare)
		wait->kind->prepare(wait);
	pthread_barrier_wait(&start);
	pthread_barrier_wait(&start);
	for (int i = 0; i < rounds; i++)
		wait->kind->round(wait);
	return NULL;
}

static void *run_other(void *arg)
{
	struct wait *wait = arg;
	struct timespec time = {.tv_nsec = wait_ms * 1000000l};
	char name[16];

	snprintf(name, sizeof(name), "%.12s-by", wait->kind->name);
	prctl(PR_SET_NAME, name);
	pthread_barrier_wait(&start);
	pthread_barrier_wait(&start);
	for (int i = 0; i < rounds; i++) {
		nanosleep(&time, NULL);
		wait->kind->other(wait);
	}
	return NULL;
}

static bool has_opcode(int opcode)
{
	struct io_uring_probe *probe = io_uring_get_probe();
	bool has = probe && io_uring_opcode_supported(probe, opcode);

	io_uring_free_probe(probe);
	return has;
}

static bool is_possible(const struct kind *kind)
{
	struct io_uring_params params = {.flags = kind->flags};
	struct io_uring ring;

	if (io_uring_queue_init_params(ENTRIES, &ring, &params))
		return false;
	io_uring_queue_exit(&ring);
	return kind->other != message || has_opcode(IORING_OP_MSG_RING);
}

static bool is_wanted(const struct kind *kind, char **names, int count)
{
	for (int i = 0; i < count; i++) {
		if (!strcmp(names[i], kind->name))
			return true;
	}
	return !count;
}

int main(int argc, char **argv)
{
	static struct wait waits[KINDS];
	unsigned count = 0, threads = 0;
	bool gate = false;
	int arg = 1;

	for (; arg < argc && argv[arg][0] == '-'; arg++) {
		if (!strcmp(argv[arg], "--gate"))
			gate = true;
		else if (!strcmp(argv[arg], "--rounds") && arg + 1 < argc)
			rounds = atoi(argv[++arg]);
		else if (!strcmp(argv[arg], "--wait") && arg + 1 < argc)
			wait_ms = atoi(argv[++arg]);
		else
			die(argv[arg], EINVAL);
	}
	for (size_t i = 0; i < KINDS; i++) {
		if (!is_wanted(&kinds[i], argv + arg, argc - arg) || !is_possible(&kinds[i]))
			continue;
		waits[count++].kind = &kinds[i];
		threads += 1 + !!kinds[i].other;
	}
	pthread_barrier_init(&start, NULL, threads + 1);
	for (unsigned i = 0; i < count; i++) {
		pthread_create(&waits[i].thread, NULL, run_waiter, &waits[i]);
		if (waits[i].kind->other)
			pthread_create(&waits[i].other, NULL, run_other, &waits[i]);
	}
	pthread_barrier_wait(&start);
	printf("ready pid=%d\n", getpid());
	fflush(stdout);
	if (gate)
		getchar();
	pthread_barrier_wait(&start);
	for (unsigned i = 0; i < count; i++) {
		pthread_join(waits[i].thread, NULL);
		if (waits[i].kind->other)
			pthread_join(waits[i].other, NULL);
	}
	printf("done wait_us=%u kinds=", rounds * wait_ms * 1000);
	for (unsigned i = 0; i < count; i++)
		printf("%s%s", i ? "," : "", waits[i].kind->name);
	printf("\n");
	return 0;
}

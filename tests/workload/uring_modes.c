// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The modes of the workload `uring` but the mix. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/workload/kept.h"
#include "tests/workload/uring.h"

#define FIRST  40
#define SECOND 136
#define REPLY  64

static char bytes[4096];

/* A mode's ring: whether it is there when somebody attaches is asked for. */
static void open_at_gate(struct ring *r, unsigned entries, unsigned cq_entries)
{
	if (asked.before)
		ring__open(r, client, entries, cq_entries);
	gate();
	if (!asked.before)
		ring__open(r, client, entries, cq_entries);
}

static bool take_all(int fd, size_t size)
{
	char buffer[4096];
	size_t got = 0;

	while (got < size) {
		size_t left = size - got;
		ssize_t n = read(fd, buffer, left < sizeof(buffer) ? left : sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += n;
	}
	return true;
}

/* ---- split ---- */

static void serve_plain(int fd)
{
	while (take_all(fd, FIRST + SECOND))
		if (write(fd, bytes, REPLY) != REPLY)
			return;
}

/* What the exchange does next begins when this is done: linked, or waited for. It is a caller of
 * its own, for who asks for call sites. */
KEPT static void then(struct ring *r, struct io_uring_sqe *sqe)
{
	if (asked.late && asked.one)
		sqe->flags |= IOSQE_ASYNC; /* a worker does it */
	if (asked.one)
		ring__drain(r);
	else
		sqe->flags |= IOSQE_IO_LINK;
}

/* What is linked to it goes on when the thread comes to it, in a call that submits nothing. */
static void put_off(struct ring *r, int timer)
{
	const struct itimerspec soon = {.it_value.tv_nsec = 100000};

	if (!asked.late || asked.one)
		return;
	if (timerfd_settime(timer, 0, &soon, NULL))
		die("timerfd_settime", errno);
	OP(r, io_uring_prep_poll_add, timer, POLLIN)->flags |= IOSQE_IO_LINK;
}

void mode_split(void)
{
	int fd = with_server(serve_plain), timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct ring r;

	open_at_gate(&r, 16, 0);
	for (unsigned i = 0; i < asked.count; i++) {
		uint64_t begin = now_ns();

		put_off(&r, timer);
		then(&r, OP(&r, io_uring_prep_write, fd, bytes, FIRST, 0));
		then(&r, OP(&r, io_uring_prep_write, fd, bytes, SECOND, 0));
		OP(&r, io_uring_prep_recv, fd, bytes, REPLY, MSG_WAITALL);
		ring__drain(&r);
		if (r.last_result != REPLY)
			die("an exchange failed", -r.last_result);
		note_exchange(begin);
	}
	ring__close(&r);
	close(timer);
	close(fd);
}

/* ---- fixed ---- */

/* Its descriptor is closed: no list of those has it. */
void mode_fixed(void)
{
	int fd = with_server(serve_plain);
	struct ring r;

	ring__open(&r, client, 16, 0);
	if (io_uring_register_files(&r.u, &fd, 1))
		die("io_uring_register_files", errno);
	close(fd);
	gate();
	for (unsigned i = 0; i < asked.count; i++) {
		uint64_t begin = now_ns();

		OP(&r, io_uring_prep_write, 0, bytes, FIRST, 0)->flags |=
			IOSQE_FIXED_FILE | IOSQE_IO_LINK;
		OP(&r, io_uring_prep_write, 0, bytes, SECOND, 0)->flags |=
			IOSQE_FIXED_FILE | IOSQE_IO_LINK;
		OP(&r, io_uring_prep_recv, 0, bytes, REPLY, MSG_WAITALL)->flags |= IOSQE_FIXED_FILE;
		ring__drain(&r);
		if (r.last_result != REPLY)
			die("an exchange failed", -r.last_result);
		note_exchange(begin);
	}
	ring__close(&r);
}

/* ---- echo ---- */

static void serve_by_ring(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	struct ring r;
	int first, rest;

	if (!asked.before)
		poll(&wait, 1, -1);
	ring__open(&r, server, 16, 0);
	for (;;) {
		OP(&r, io_uring_prep_recv, fd, bytes, REPLY, MSG_WAITALL);
		ring__drain(&r);
		first = r.last_result;
		if (first <= 0)
			break;
		OP(&r, io_uring_prep_send, fd, bytes, REPLY, 0);
		ring__drain(&r);
		rest = r.last_result;
		if (rest != REPLY)
			die("the server's send", rest < 0 ? -rest : EPIPE);
	}
	ring__close(&r);
}

void mode_echo(void)
{
	int fd = with_server(serve_by_ring);
	struct ring r;

	open_at_gate(&r, 16, 0);
	for (unsigned i = 0; i < asked.count; i++) {
		uint64_t begin = now_ns();

		OP(&r, io_uring_prep_send, fd, bytes, REPLY, 0);
		OP(&r, io_uring_prep_recv, fd, bytes, REPLY, MSG_WAITALL);
		ring__drain(&r);
		note_exchange(begin);
	}
	ring__close(&r);
	close(fd);
}

/* ---- without the network ---- */

void mode_nop(void)
{
	struct ring r;

	open_at_gate(&r, 128, 0);
	for (unsigned i = 0; i < asked.count; i += asked.batch) {
		for (unsigned j = 0; j < asked.batch; j++)
			OP(&r, io_uring_prep_nop);
		ring__drain(&r);
	}
	ring__close(&r);
}

/* One ring after the other: the memory of one that ended is the next one's. */
void mode_rings(void)
{
	struct ring r;

	gate();
	for (unsigned i = 0; i < asked.count; i++) {
		ring__open(&r, client, 8, 0);
		OP(&r, io_uring_prep_nop);
		ring__drain(&r);
		ring__close(&r);
	}
}

void mode_worker(void)
{
	int fd = scratch_file(1 << 20);
	struct ring r;

	open_at_gate(&r, 128, 0);
	for (unsigned i = 0; i < asked.count; i += asked.batch) {
		for (unsigned j = 0; j < asked.batch; j++)
			OP(&r, io_uring_prep_read, fd, bytes, sizeof(bytes), (i + j) % 256 * 4096)
				->flags |= IOSQE_ASYNC;
		ring__drain(&r);
	}
	ring__close(&r);
	close(fd);
}

/* ---- direct ---- */

#define BLOCK 4096

void mode_direct(void)
{
	static char block[BLOCK] __attribute__((aligned(BLOCK)));
	int fd = scratch_file(16 * BLOCK);
	struct ring r;

	if (fsync(fd) || fcntl(fd, F_SETFL, O_DIRECT))
		cannot("file that is read past the page cache here");
	open_at_gate(&r, 16, 0);
	for (unsigned i = 0; i < asked.count; i++) {
		OP(&r, io_uring_prep_read, fd, block, BLOCK, i % 16 * BLOCK);
		ring__drain(&r);
		if (r.last_result != BLOCK)
			die("a read", -r.last_result);
	}
	ring__close(&r);
	close(fd);
}

/* ---- overflow ---- */

#define QUEUE 64

static void expect_overflow(struct ring *r, unsigned more)
{
	if (io_uring_cq_ready(&r->u) != QUEUE || !io_uring_cq_has_overflow(&r->u))
		die("the completion queue is not full", EINVAL);
	client->overflowed += more;
}

static void overflow_at_once(struct ring *r)
{
	for (unsigned i = 0; i < 2 * QUEUE; i++) {
		OP(r, io_uring_prep_nop);
		if (i % QUEUE == QUEUE - 1)
			ring__submit(r);
	}
	expect_overflow(r, QUEUE);
	ring__drain(r);
}

/* All become ready at the same time. */
static void overflow_later(struct ring *r)
{
	uint64_t one = 1;
	int fd = eventfd(0, EFD_CLOEXEC);

	for (unsigned i = 0; i < QUEUE + QUEUE / 2; i++)
		OP(r, io_uring_prep_poll_add, fd, POLLIN);
	ring__submit(r);
	if (write(fd, &one, sizeof(one)) != sizeof(one))
		die("write", errno);
	expect_overflow(r, QUEUE / 2);
	ring__drain(r);
	close(fd);
}

void mode_overflow(void)
{
	struct ring r;

	open_at_gate(&r, QUEUE, QUEUE);
	for (unsigned i = 0; i < asked.count; i++) {
		overflow_at_once(&r);
		if (!asked.setup) /* else their completion waits for the next call */
			overflow_later(&r);
	}
	ring__close(&r);
}

/* Nobody counts what is done before the gate. */
static void submit_untold(struct ring *r)
{
	for (unsigned i = 0; i < 2 * QUEUE; i++) {
		io_uring_prep_nop(io_uring_get_sqe(&r->u));
		io_uring_submit(&r->u);
	}
}

void mode_backlog(void)
{
	struct io_uring_cqe *cqe;
	struct ring r;

	ring__open(&r, client, QUEUE, QUEUE);
	submit_untold(&r);
	gate();
	for (unsigned i = 0; i < 2 * QUEUE; i++) {
		if (io_uring_wait_cqe(&r.u, &cqe))
			die("io_uring_wait_cqe", errno);
		io_uring_cqe_seen(&r.u, cqe);
	}
	for (unsigned i = 0; i < asked.count; i++) {
		OP(&r, io_uring_prep_nop);
		ring__drain(&r);
	}
	ring__close(&r);
}

/* ---- threads ---- */

#define OWN_RINGS 3

static sem_t taken;

static void *submit_only(void *context)
{
	struct __kernel_timespec nap = {.tv_nsec = 1000000};
	struct ring *r = context;

	for (unsigned i = 0; i < asked.count; i++) {
		OP(r, io_uring_prep_nop);
		OP(r, io_uring_prep_timeout, &nap, 0, 0);
		ring__submit(r);
		sem_wait(&taken);
	}
	return NULL;
}

static void *own_ring(void *context)
{
	struct __kernel_timespec nap = {.tv_nsec = 1000000};
	struct ring r;

	ring__open(&r, client, 16, 0);
	for (unsigned i = 0; i < asked.count; i++) {
		OP(&r, io_uring_prep_nop);
		if (i % 4 == 0)
			OP(&r, io_uring_prep_timeout, &nap, 0, 0);
		ring__drain(&r);
	}
	ring__close(&r);
	return context;
}

/* The main thread waits for what another one submits. */
static void wait_only(struct ring *r)
{
	struct io_uring_cqe *cqe;

	for (unsigned got = 0; got < 2 * asked.count;) {
		unsigned ready;
		int err = io_uring_wait_cqe(&r->u, &cqe);

		if (err == -EINTR || err == -EAGAIN)
			continue;
		if (err)
			die("io_uring_wait_cqe", -err);
		ready = io_uring_cq_ready(&r->u);
		for (; ready; ready--, got++) {
			ring__take_one(r);
			if (got % 2)
				sem_post(&taken);
		}
	}
}

void mode_threads(void)
{
	pthread_t submitter, others[OWN_RINGS];
	struct ring r;

	if (asked.setup & IORING_SETUP_SINGLE_ISSUER)
		cannot("rings of one issuer for two");
	sem_init(&taken, 0, 0);
	open_at_gate(&r, 16, 0);
	pthread_create(&submitter, NULL, submit_only, &r);
	for (unsigned i = 0; i < OWN_RINGS; i++)
		pthread_create(&others[i], NULL, own_ring, NULL);
	wait_only(&r);
	pthread_join(submitter, NULL);
	for (unsigned i = 0; i < OWN_RINGS; i++)
		pthread_join(others[i], NULL);
	ring__close(&r);
}

/* ---- armed ---- */

static void serve_late(int fd)
{
	struct timespec nap = {.tv_nsec = 60000000};

	while (take_all(fd, 1)) {
		nanosleep(&nap, NULL);
		if (write(fd, bytes, REPLY) != REPLY)
			return;
	}
}

static void receive_registered(struct ring *r)
{
	OP(r, io_uring_prep_recv, 0, bytes, REPLY, MSG_WAITALL)->flags |= IOSQE_FIXED_FILE;
	ring__submit(r);
}

void mode_armed(void)
{
	struct __kernel_timespec long_time = {.tv_sec = 200};
	int fd = with_server(serve_late), event = eventfd(0, EFD_CLOEXEC), rest;
	uint64_t one = 1, timeout;
	struct ring r;

	ring__open(&r, client, 16, 0);
	if (io_uring_register_files(&r.u, &fd, 1))
		die("io_uring_register_files", errno);
	OP(&r, io_uring_prep_poll_add, event, POLLIN);
	timeout = OP(&r, io_uring_prep_timeout, &long_time, 0, 0)->user_data;
	rest = r.due;
	receive_registered(&r);
	gate();
	for (unsigned i = 0; i < asked.count; i++) {
		uint64_t begin = now_ns();

		if (i)
			receive_registered(&r);
		if (write(fd, bytes, 1) != 1)
			die("write", errno);
		while (r.due > rest)
			ring__reap(&r);
		note_exchange(begin);
	}
	if (write(event, &one, sizeof(one)) != sizeof(one))
		die("write", errno);
	OP(&r, io_uring_prep_timeout_remove, timeout, 0);
	ring__drain(&r);
	ring__close(&r);
	close(fd);
}

/* ---- buffers ---- */

#define LARGE 20000

static void read_late(int fd)
{
	const struct timespec nap = {.tv_nsec = 30000000};

	do
		nanosleep(&nap, NULL);
	while (take_all(fd, LARGE));
}

void mode_buffers(void)
{
	static char large[LARGE];
	int fd = with_server(read_late);
	struct ring r;

	open_at_gate(&r, 16, 0);
	if (!ring__has(&r, IORING_OP_SEND_ZC))
		cannot("zero-copy send");
	for (unsigned i = 0; i < asked.count; i++) {
		OP(&r, io_uring_prep_send_zc, fd, large, LARGE, MSG_WAITALL, 0);
		ring__drain(&r);
	}
	ring__close(&r);
	close(fd);
}

/* ---- timer ---- */

static void serve_by_timer(int fd)
{
	struct __kernel_timespec time = {.tv_nsec = 300000000};
	struct ring r;

	ring__open(&r, server, 16, 0);
	while (take_all(fd, 1)) {
		OP(&r, io_uring_prep_timeout, &time, 0, 0);
		ring__drain(&r);
		if (write(fd, bytes, REPLY) != REPLY)
			break;
	}
	ring__close(&r);
}

void mode_timer(void)
{
	int fd = with_server(serve_by_timer);

	gate();
	for (unsigned i = 0; i < asked.count; i++) {
		uint64_t begin = now_ns();

		if (write(fd, bytes, 1) != 1 || !take_all(fd, REPLY))
			die("an exchange failed", EPIPE);
		note_exchange(begin);
	}
	close(fd);
}

/* ---- idle ---- */

void mode_idle(void)
{
	int port, listener = listen_here(&port);
	struct ring r;

	ring__open(&r, client, 16, 0);
	OP(&r, io_uring_prep_accept, listener, NULL, NULL, 0);
	ring__submit(&r);
	gate();
	ring__drain(&r);
}

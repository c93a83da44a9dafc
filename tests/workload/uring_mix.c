// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Some of all operations, each with its errors: on files and descriptors, and the way they go. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/workload/uring.h"

#define IN_FLIGHT  32
#define NO_FD      9999
#define NO_PATH    "/nowhere/at/all"
#define NO_FLAG    0x80 /* of an SQE: no kernel knows it */
#define NO_REQUEST 0xfffffffffff0ull

static struct __kernel_timespec short_time = {.tv_nsec = 1000000}, long_time = {.tv_sec = 200};
static char bytes[4096];

/* After every few, what is under way is waited for. */
static void pace(struct ring *r, unsigned i)
{
	if (i % IN_FLIGHT == IN_FLIGHT - 1)
		ring__drain(r);
}

/* ---- files ---- */

static void rw(struct ring *r, unsigned n, int fd)
{
	struct iovec pieces[2] = {{bytes, 100}, {bytes + 100, 28}};

	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_write, fd, bytes, 64, i * 64);
		OP(r, io_uring_prep_writev, fd, pieces, 2, i * 64);
		OP(r, io_uring_prep_read, fd, bytes, 64, i * 64);
		OP(r, io_uring_prep_readv, fd, pieces, 2, i * 64);
		OP(r, io_uring_prep_read, fd, bytes, 64, 1 << 30); /* behind the end: 0 */
		OP(r, io_uring_prep_read, NO_FD, bytes, 64, 0);
		OP(r, io_uring_prep_write, fd, (void *)8, 64, 0); /* EFAULT */
		pace(r, i * 8 + 7);
	}
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_fsync, fd, i % 2 ? IORING_FSYNC_DATASYNC : 0);
		OP(r, io_uring_prep_fallocate, fd, 0, 0, 4096);
		pace(r, i);
	}
	ring__drain(r);
}

static void registered(struct ring *r, unsigned n, int fd)
{
	char *own =
		aligned_alloc(4096, 4096); /* 5.10 refuses memory that a file is behind, as ours */
	struct iovec buffer = {own, 4096};
	int err = io_uring_register_files(&r->u, &fd, 1);

	for (unsigned i = 0; i < n && !err; i++) {
		OP(r, io_uring_prep_read, 0, bytes, 64, 0)->flags |= IOSQE_FIXED_FILE;
		OP(r, io_uring_prep_read, 77, bytes, 64, 0)->flags |= IOSQE_FIXED_FILE;
		pace(r, i);
	}
	ring__drain(r);
	if (!err)
		err = io_uring_register_buffers(&r->u, &buffer, 1);
	for (unsigned i = 0; i < n && !err; i++) {
		OP(r, io_uring_prep_write_fixed, fd, own, 64, 0, 0);
		OP(r, io_uring_prep_read_fixed, fd, own, 64, 0, 0);
		OP(r, io_uring_prep_read_fixed, fd, own, 64, 0, 9); /* EFAULT */
		pace(r, i);
	}
	ring__drain(r);
	if (err)
		die("registering", -err);
	io_uring_unregister_files(&r->u);
	io_uring_unregister_buffers(&r->u);
	free(own);
}

static void paths(struct ring *r, unsigned n)
{
	static struct statx status;
	bool unlinkat = ring__has(r, IORING_OP_UNLINKAT);

	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
		ring__drain(r);
		if (r->last_result < 0)
			die("open", -r->last_result);
		OP(r, io_uring_prep_close, r->last_result);
		OP(r, io_uring_prep_close, NO_FD);
		OP(r, io_uring_prep_openat, AT_FDCWD, NO_PATH, O_RDONLY, 0);
		OP(r, io_uring_prep_statx, AT_FDCWD, "/", 0, STATX_SIZE, &status);
		OP(r, io_uring_prep_statx, AT_FDCWD, NO_PATH, 0, STATX_SIZE, &status);
		if (unlinkat)
			OP(r, io_uring_prep_unlinkat, AT_FDCWD, NO_PATH, 0);
		ring__drain(r);
	}
	if (!unlinkat)
		left_out("UNLINKAT");
}

static void watched(struct ring *r, unsigned n, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	int set = epoll_create1(EPOLL_CLOEXEC);

	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_epoll_ctl, set, fd, EPOLL_CTL_ADD, &event);
		OP(r, io_uring_prep_epoll_ctl, set, fd, EPOLL_CTL_DEL, &event);
		ring__drain(r);
	}
	close(set);
}

void mix_files(struct ring *r, unsigned n)
{
	int fd = scratch_file(8192), event = eventfd(0, EFD_CLOEXEC);

	rw(r, n, fd);
	registered(r, n, fd);
	paths(r, n);
	watched(r, n, event);
	close(event);
	close(fd);
}

/* ---- the way of an operation: at once, later, with others, never ---- */

static void nops(struct ring *r, unsigned n)
{
	for (unsigned i = 0; i < 2 * n; i++) {
		struct io_uring_sqe *sqe = OP(r, io_uring_prep_nop);

		if (i % 2) /* as programs have it that put no more than the kind into it */
			sqe->user_data = sqe->opcode;
		pace(r, i);
	}
	ring__drain(r);
}

static void timeouts(struct ring *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_timeout, &short_time, 0, 0);
		pace(r, i);
	}
	for (unsigned i = 0; i < n; i++) {
		uint64_t which = OP(r, io_uring_prep_timeout, &long_time, 0, 0)->user_data;

		ring__submit(r);
		OP(r, io_uring_prep_timeout_remove, which, 0);
		OP(r, io_uring_prep_timeout_remove, NO_REQUEST, 0);
		pace(r, i * 2 + 1);
	}
	ring__drain(r);
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_timeout, &long_time, 1, 0); /* or after one completion: 0 */
		OP(r, io_uring_prep_nop);
		ring__drain(r);
	}
}

static void polls(struct ring *r, unsigned n)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t count = 1;

	for (unsigned i = 0; i < n; i++) {
		uint64_t which = OP(r, io_uring_prep_poll_add, event, POLLIN)->user_data;

		ring__submit(r);
		OP(r, io_uring_prep_poll_remove, which);
		OP(r, io_uring_prep_poll_remove, NO_REQUEST);
		ring__drain(r);
		OP(r, io_uring_prep_poll_add, event, POLLIN);
		ring__submit(r);
		if (write(event, &count, sizeof(count)) < 0)
			die("write", errno);
		ring__drain(r);
		OP(r, io_uring_prep_poll_add, event, POLLIN); /* ready by now */
		ring__drain(r);
		if (read(event, &count, sizeof(count)) < 0)
			die("read", errno);
	}
	close(event);
}

/* One operation of many completions; then it is cancelled. */
static void multishot_poll(struct ring *r, unsigned n)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t count = 1, which;

	which = OP(r, io_uring_prep_poll_multishot, event, POLLIN)->user_data;
	ring__submit(r);
	for (unsigned i = 0; i < n && r->due; i++) {
		if (write(event, &count, sizeof(count)) < 0)
			die("write", errno);
		ring__reap(r);
		if (!(r->last_flags & IORING_CQE_F_MORE))
			break;
		if (read(event, &count, sizeof(count)) < 0)
			die("read", errno);
	}
	if (r->last_flags & IORING_CQE_F_MORE)
		OP(r, io_uring_prep_poll_remove, which);
	else
		left_out("multishot POLL_ADD");
	ring__drain(r);
	close(event);
}

/*
 * Until so many completions of `ender` have come, and what these were to end has ended. One that
 * comes while its receive is with a worker between two attempts, or was put off behind a drain
 * and not begun with yet, does not find it (ENOENT): then only what the receive waits for ends it.
 */
static void drain_ended(struct ring *r, unsigned ender, uint64_t so_many, const int ends[2])
{
	char byte;

	while (tally__results(r->tally, ender) < so_many)
		ring__reap(r);
	while (r->due) {
		if (write(ends[1], "", 1) != 1)
			die("write", errno);
		ring__reap(r);
	}
	while (recv(ends[0], &byte, 1, MSG_DONTWAIT) == 1)
		;
}

/* Chains that go on, break, and break without an end; time limits that count and that do not. */
static void chains(struct ring *r, unsigned n, const int ends[2])
{
	uint64_t limits;

	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_nop)->flags |= IOSQE_IO_LINK;
		OP(r, io_uring_prep_read, NO_FD, bytes, 1, 0)->flags |= IOSQE_IO_LINK;
		OP(r, io_uring_prep_nop)->flags |= IOSQE_IO_LINK;
		OP(r, io_uring_prep_nop);
		OP(r, io_uring_prep_read, NO_FD, bytes, 1, 0)->flags |= IOSQE_IO_HARDLINK;
		OP(r, io_uring_prep_nop);
		OP(r, io_uring_prep_nop)->flags |= IOSQE_IO_LINK;
		OP(r, io_uring_prep_link_timeout, &long_time, 0);
		pace(r, i * 8 + 7);
	}
	ring__drain(r);
	limits = tally__results(r->tally, IORING_OP_LINK_TIMEOUT);
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_recv, ends[0], bytes, 1, 0)->flags |= IOSQE_IO_LINK;
		OP(r, io_uring_prep_link_timeout, &short_time, 0);
		if (i % 8 == 7) {
			OP(r, io_uring_prep_nop)->flags |= IOSQE_IO_DRAIN;
			drain_ended(r, IORING_OP_LINK_TIMEOUT, limits + i + 1, ends);
		}
	}
	drain_ended(r, IORING_OP_LINK_TIMEOUT, limits + n, ends);
}

static void cancels(struct ring *r, unsigned n, const int ends[2])
{
	uint64_t before = tally__results(r->tally, IORING_OP_ASYNC_CANCEL);

	for (unsigned i = 0; i < n; i++) {
		uint64_t which = OP(r, io_uring_prep_recv, ends[0], bytes, 1, 0)->user_data;

		ring__submit(r);
		OP(r, io_uring_prep_cancel64, which, 0);
		OP(r, io_uring_prep_cancel64, NO_REQUEST, 0);
		drain_ended(r, IORING_OP_ASYNC_CANCEL, before + 2 * (i + 1), ends);
	}
}

/* Such as the kernel does not begin with. */
static void refusals(struct ring *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = ring__sqe(r);

		io_uring_prep_fsync(sqe, 0, 0);
		sqe->addr = 1;
		ring__refuse(r, sqe);
		sqe = ring__sqe(r);
		io_uring_prep_nop(sqe);
		sqe->flags |= NO_FLAG;
		ring__refuse(r, sqe);
		OP(r, io_uring_prep_nop);
		OP(r, io_uring_prep_nop)->flags |= IOSQE_IO_LINK; /* a link with it in the middle */
		sqe = ring__sqe(r);
		io_uring_prep_fsync(sqe, 0, 0);
		sqe->addr = 1;
		ring__refuse(r, sqe);
		pace(r, i * 8 + 7);
	}
	ring__drain(r);
}

static void skipped(struct ring *r, unsigned n)
{
	if (!(r->u.features & IORING_FEAT_CQE_SKIP)) {
		left_out("CQE_SKIP_SUCCESS");
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_nop)->flags |= IOSQE_CQE_SKIP_SUCCESS;
		r->due--;
		OP(r, io_uring_prep_read, NO_FD, bytes, 1, 0)->flags |= IOSQE_CQE_SKIP_SUCCESS;
		pace(r, i);
	}
	ring__drain(r);
}

/* A completion in another ring, and one here that says that it got there. */
static void messages(struct ring *r, unsigned n)
{
	struct ring other;

	if (!ring__has(r, IORING_OP_MSG_RING)) {
		left_out("MSG_RING");
		return;
	}
	ring__open(&other, client, 16, 0);
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_msg_ring, other.u.ring_fd, 1, IORING_OP_MSG_RING, 0);
		other.due++;
		ring__drain(r);
		ring__drain(&other);
	}
	ring__close(&other);
}

void mix_course(struct ring *r, unsigned n)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		die("socketpair", errno);
	nops(r, n);
	timeouts(r, n);
	polls(r, n);
	multishot_poll(r, n);
	chains(r, n, ends);
	cancels(r, n, ends);
	refusals(r, n);
	skipped(r, n);
	messages(r, n);
	close(ends[0]);
	close(ends[1]);
}

void mode_mix(void)
{
	struct ring r;

	if (asked.before)
		ring__open(&r, client, 256, 1024);
	gate();
	if (!asked.before)
		ring__open(&r, client, 256, 1024);
	mix_course(&r, asked.count);
	mix_files(&r, asked.count);
	mix_net(&r, asked.count);
	ring__close(&r);
}

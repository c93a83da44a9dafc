// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Rings whose completions are counted as the program takes them out: an operation's user_data holds
 * its opcode, so what is counted is nobody's word but the completion queue's own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/workload/uring.h"

static uint64_t serial;

static void add(uint64_t *count, uint64_t more)
{
	__atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

static unsigned index_of(unsigned opcode)
{
	return opcode < OPCODES ? opcode : OPCODES - 1;
}

void ring__open(struct ring *r, struct tally *tally, unsigned entries, unsigned cq_entries)
{
	struct io_uring_params params = {.flags = asked.setup, .sq_thread_idle = 20};
	int err;

	if (cq_entries) {
		params.flags |= IORING_SETUP_CQSIZE;
		params.cq_entries = cq_entries;
	}
	*r = (struct ring){.tally = tally, .eventfd = -1};
	err = io_uring_queue_init_params(entries, &r->u, &params);
	if (err == -EINVAL)
		cannot("rings of this setup");
	if (err == -ENOSYS)
		cannot("io_uring");
	if (err)
		die("io_uring_queue_init_params", -err);
	if (!asked.eventfd)
		return;
	r->eventfd = eventfd(0, EFD_CLOEXEC);
	err = io_uring_register_eventfd(&r->u, r->eventfd);
	if (err)
		die("io_uring_register_eventfd", -err);
}

void ring__close(struct ring *r)
{
	if (r->due)
		die("completions are missing, or too many", EPROTO);
	add(&r->tally->dropped, *r->u.cq.koverflow);
	io_uring_queue_exit(&r->u);
	if (r->eventfd >= 0)
		close(r->eventfd);
}

/* Until the kernel has taken all: before 5.18 it stops at each that it refuses. */
void ring__submit(struct ring *r)
{
	while (io_uring_sq_ready(&r->u)) {
		int done = io_uring_submit(&r->u);

		if (done == -EINTR || done == -EAGAIN)
			continue;
		if (done < 0)
			die("io_uring_submit", -done);
		if (asked.setup & IORING_SETUP_SQPOLL && io_uring_sq_ready(&r->u))
			usleep(50);
	}
}

struct io_uring_sqe *ring__sqe(struct ring *r)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&r->u);

	if (!sqe) {
		ring__submit(r);
		sqe = io_uring_get_sqe(&r->u);
	}
	if (!sqe)
		die("no submission queue entry", EBUSY);
	return sqe;
}

void ring__tag(struct ring *r, struct io_uring_sqe *sqe)
{
	uint64_t number = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);

	sqe->user_data = number << 8 | sqe->opcode;
	add(&r->tally->submitted[index_of(sqe->opcode)], 1);
	__atomic_fetch_add(&r->due, 1, __ATOMIC_RELAXED);
}

void ring__refuse(struct ring *r, struct io_uring_sqe *sqe)
{
	ring__tag(r, sqe);
	add(&r->tally->refused[index_of(sqe->opcode)], 1);
}

static void note(struct ring *r, const struct io_uring_cqe *cqe)
{
	unsigned opcode = index_of(cqe->user_data & 0xff);
	int error = cqe->res < 0 ? -cqe->res : 0;

	if (error >= RESULTS)
		die("a result that is no error", error);
	if (cqe->flags & IORING_CQE_F_NOTIF)
		add(&r->tally->notified[opcode], 1);
	else
		add(&r->tally->results[opcode][error], 1);
	r->last_result = cqe->res;
	r->last_flags = cqe->flags;
	if (!(cqe->flags & IORING_CQE_F_MORE))
		__atomic_fetch_sub(&r->due, 1, __ATOMIC_RELAXED);
}

void ring__take(struct ring *r)
{
	struct io_uring_cqe *cqe;
	unsigned head, count = 0;

	io_uring_for_each_cqe(&r->u, head, cqe)
	{
		note(r, cqe);
		count++;
	}
	io_uring_cq_advance(&r->u, count);
}

void ring__take_one(struct ring *r)
{
	struct io_uring_cqe *cqe;

	if (io_uring_peek_cqe(&r->u, &cqe))
		return;
	note(r, cqe);
	io_uring_cqe_seen(&r->u, cqe);
}

static void wait_on_eventfd(struct ring *r)
{
	uint64_t events;

	ring__submit(r);
	while (!io_uring_cq_ready(&r->u))
		if (read(r->eventfd, &events, sizeof(events)) < 0 && errno != EINTR)
			die("read of the eventfd", errno);
}

void ring__reap(struct ring *r)
{
	if (r->eventfd >= 0) {
		wait_on_eventfd(r);
	} else {
		int err = io_uring_submit_and_wait(&r->u, 1);

		if (err < 0 && err != -EINTR && err != -EAGAIN && err != -EBUSY)
			die("io_uring_submit_and_wait", -err);
	}
	ring__take(r);
}

void ring__drain_but(struct ring *r, int rest)
{
	ring__submit(r);
	while (__atomic_load_n(&r->due, __ATOMIC_RELAXED) > rest)
		ring__reap(r);
}

void ring__drain(struct ring *r)
{
	ring__drain_but(r, 0);
}

bool ring__has(struct ring *r, unsigned opcode)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(&r->u);
	bool has = probe && io_uring_opcode_supported(probe, opcode);

	io_uring_free_probe(probe);
	return has;
}

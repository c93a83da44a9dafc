// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A ring of io_uring's, without a library. */
#include <errno.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

static struct {
	int fd;
	struct io_uring_params params;
	char *sq, *cq;
	struct io_uring_sqe *sqes;
	unsigned queued; /* and not yet submitted */
} ring = {.fd = -1};

static void *map(size_t size, off_t what)
{
	void *at =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, what);

	if (at == MAP_FAILED)
		die("cannot map the ring: %s", strerror(errno));
	return at;
}

void uring__open(void)
{
	const struct io_uring_params *p = &ring.params;

	ring.fd = syscall(SYS_io_uring_setup, 8, &ring.params);
	if (ring.fd < 0)
		cannot("no io_uring: %s", strerror(errno));
	ring.sq = map(p->sq_off.array + p->sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	ring.cq = map(p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	ring.sqes = map(p->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	ring.queued = 0;
}

static uint32_t *at(char *base, uint32_t offset)
{
	return (uint32_t *)(void *)(base + offset);
}

static void queue(const struct io_uring_sqe *sqe)
{
	const struct io_uring_params *p = &ring.params;
	uint32_t tail = *at(ring.sq, p->sq_off.tail);
	uint32_t slot = tail & *at(ring.sq, p->sq_off.ring_mask);

	ring.sqes[slot] = *sqe;
	at(ring.sq, p->sq_off.array)[slot] = slot;
	__atomic_store_n(at(ring.sq, p->sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	ring.queued++;
}

/* Submits what is queued and waits, in one call, until so many completions are there. */
static void enter(unsigned wanted)
{
	long done = syscall(SYS_io_uring_enter, ring.fd, ring.queued, wanted,
			    IORING_ENTER_GETEVENTS, NULL, 0);

	if (done != ring.queued)
		die("io_uring_enter: %s", done < 0 ? strerror(errno) : "not all was taken");
	ring.queued = 0;
}

/* The result of the next completion. */
static int take(void)
{
	const struct io_uring_params *p = &ring.params;
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(void *)(ring.cq + p->cq_off.cqes);
	uint32_t head = *at(ring.cq, p->cq_off.head);
	int result;

	if (head == __atomic_load_n(at(ring.cq, p->cq_off.tail), __ATOMIC_ACQUIRE))
		die("a completion is missing");
	result = cqes[head & *at(ring.cq, p->cq_off.ring_mask)].res;
	__atomic_store_n(at(ring.cq, p->cq_off.head), head + 1, __ATOMIC_RELEASE);
	return result;
}

static int run(const struct io_uring_sqe *sqe)
{
	queue(sqe);
	enter(1);
	return take();
}

int uring__read(int fd, void *buffer, size_t size)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_READ, .fd = fd, .addr = (uintptr_t)buffer, .len = size};

	return run(&sqe);
}

static void queue_message(uint8_t opcode, int fd, size_t size, uint8_t flags)
{
	static char buffer[65536];

	queue(&(struct io_uring_sqe){.opcode = opcode,
				     .fd = fd,
				     .addr = (uintptr_t)buffer,
				     .len = size,
				     .flags = flags});
}

void uring__exchange(int fd, const uint32_t *pieces, size_t answer)
{
	unsigned count = 0;

	/* One by one: what is linked waits for the one before it, and what is not may overtake. */
	for (; pieces[count]; count++) {
		queue_message(IORING_OP_SEND, fd, pieces[count], 0);
		enter(1);
		if (take() != (int)pieces[count])
			die("a send through the ring failed");
	}
	if (!uring__receive(fd, answer))
		die("the server hung up");
}

bool uring__receive(int fd, size_t bytes)
{
	for (size_t got = 0; got < bytes;) {
		int result;

		queue_message(IORING_OP_RECV, fd, bytes - got, 0);
		enter(1);
		result = take();
		if (result <= 0)
			return false;
		got += (size_t)result;
	}
	return true;
}

bool uring__send(int fd, size_t bytes)
{
	queue_message(IORING_OP_SEND, fd, bytes, 0);
	enter(1);
	return take() == (int)bytes;
}

bool uring__serve(int fd, size_t request, size_t answer, uint32_t late_ms)
{
	if (!uring__receive(fd, request))
		return false;
	if (late_ms)
		uring__sleep(late_ms);
	return uring__send(fd, answer);
}

static struct __kernel_timespec time_of(uint32_t ms)
{
	return (struct __kernel_timespec){.tv_sec = ms / 1000, .tv_nsec = MS(ms % 1000)};
}

void uring__sleep(uint32_t ms)
{
	struct __kernel_timespec time = time_of(ms);
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_TIMEOUT, .fd = -1, .addr = (uintptr_t)&time, .len = 1};

	if (run(&sqe) != -ETIME)
		die("a time-out did not run out");
}

void uring__receive_in_vain(int fd, uint32_t ms)
{
	struct __kernel_timespec time = time_of(ms);

	queue_message(IORING_OP_RECV, fd, 1, IOSQE_IO_LINK);
	queue(&(struct io_uring_sqe){
		.opcode = IORING_OP_LINK_TIMEOUT, .fd = -1, .addr = (uintptr_t)&time, .len = 1});
	enter(2);
	if (take() > 0 || take() > 0)
		die("the server talks unasked");
}

void uring__store(int fd, const void *block, size_t size)
{
	queue(&(struct io_uring_sqe){
		.opcode = IORING_OP_WRITE, .fd = fd, .addr = (uintptr_t)block, .len = size});
	enter(1);
	if (take() != (int)size)
		die("a write through the ring failed");
}

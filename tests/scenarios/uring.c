// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* One io_uring operation at a time, waited for, without a library. */
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

	ring.fd = syscall(SYS_io_uring_setup, 4, &ring.params);
	if (ring.fd < 0)
		cannot("no io_uring: %s", strerror(errno));
	ring.sq = map(p->sq_off.array + p->sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	ring.cq = map(p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	ring.sqes = map(p->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
}

static uint32_t *at(char *base, uint32_t offset)
{
	return (uint32_t *)(void *)(base + offset);
}

static int run(const struct io_uring_sqe *sqe)
{
	const struct io_uring_params *p = &ring.params;
	uint32_t tail = *at(ring.sq, p->sq_off.tail), head = *at(ring.cq, p->cq_off.head);
	uint32_t slot = tail & *at(ring.sq, p->sq_off.ring_mask);
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(void *)(ring.cq + p->cq_off.cqes);
	int result;

	ring.sqes[slot] = *sqe;
	at(ring.sq, p->sq_off.array)[slot] = slot;
	__atomic_store_n(at(ring.sq, p->sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		die("io_uring_enter: %s", strerror(errno));
	result = cqes[head & *at(ring.cq, p->cq_off.ring_mask)].res;
	__atomic_store_n(at(ring.cq, p->cq_off.head), head + 1, __ATOMIC_RELEASE);
	return result;
}

int uring__read(int fd, void *buffer, size_t size)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_READ, .fd = fd, .addr = (uintptr_t)buffer, .len = size};

	return run(&sqe);
}

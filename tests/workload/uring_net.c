// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The mix's operations on sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/workload/uring.h"

#define MESSAGE  64
#define BUFFERS  4
#define GROUP    7
#define NO_FD    9999
#define ACCEPTED 128 /* at a time */

static char bytes[4096], pool[BUFFERS][MESSAGE];

static void give(int fd)
{
	if (send(fd, bytes, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
		die("send", errno);
}

static void transfers(struct ring *r, unsigned n)
{
	struct iovec one = {bytes, MESSAGE};
	struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};
	int ends[2];

	tcp_pair(ends);
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_recv, ends[1], bytes, MESSAGE,
		   MSG_WAITALL); /* before it is there */
		ring__submit(r);
		OP(r, io_uring_prep_send, ends[0], bytes, MESSAGE, 0);
		ring__drain(r);
		OP(r, io_uring_prep_sendmsg, ends[0], &message, 0);
		ring__drain(r);
		OP(r, io_uring_prep_recvmsg, ends[1], &message, 0);
		ring__drain(r);
		OP(r, io_uring_prep_recv, ends[1], bytes, MESSAGE, MSG_DONTWAIT); /* EAGAIN */
		OP(r, io_uring_prep_recv, NO_FD, bytes, MESSAGE, 0);
		OP(r, io_uring_prep_recv, STDOUT_FILENO, bytes, MESSAGE, 0); /* ENOTSOCK */
		ring__drain(r);
	}
	if (ring__has(r, IORING_OP_SHUTDOWN))
		OP(r, io_uring_prep_shutdown, ends[0], SHUT_WR);
	ring__drain(r);
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_send, ends[0], bytes, MESSAGE, MSG_NOSIGNAL); /* EPIPE */
		OP(r, io_uring_prep_recv, ends[1], bytes, MESSAGE, 0);            /* 0: the end */
		ring__drain(r);
	}
	close(ends[0]);
	close(ends[1]);
}

/* A port that nobody listens on, for as long as fd is open. */
static struct sockaddr_in refusing(int *fd)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(at);

	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0 || bind(*fd, (void *)&at, sizeof(at)) || getsockname(*fd, (void *)&at, &length))
		die("bind", errno);
	return at;
}

static int new_socket(struct ring *r, bool by_ring)
{
	if (!by_ring)
		return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	OP(r, io_uring_prep_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, 0);
	ring__drain(r);
	return r->last_result;
}

static void connections(struct ring *r, unsigned n)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int port, listener = listen_here(&port), closed;
	struct sockaddr_in nobody = refusing(&closed);
	bool by_ring = ring__has(r, IORING_OP_SOCKET);

	to.sin_port = htons(port);
	for (unsigned i = 0; i < n; i++) {
		int fd = new_socket(r, by_ring), accepted;

		OP(r, io_uring_prep_accept, listener, NULL, NULL, SOCK_CLOEXEC);
		ring__submit(r);
		if (fd < 0 || connect(fd, (void *)&to, sizeof(to)))
			die("connect", errno);
		ring__drain(r);
		accepted = r->last_result;
		OP(r, io_uring_prep_close, fd);
		OP(r, io_uring_prep_close, accepted);
		ring__drain(r);
		fd = new_socket(r, by_ring);
		OP(r, io_uring_prep_connect, fd, (void *)&to, sizeof(to));
		OP(r, io_uring_prep_accept, NO_FD, NULL, NULL, 0);
		ring__drain(r);
		accepted = accept(listener, NULL, NULL);
		close(accepted);
		close(fd);
		fd = new_socket(r, by_ring);
		OP(r, io_uring_prep_connect, fd, (void *)&nobody, sizeof(nobody));
		ring__drain(r);
		close(fd);
	}
	if (!by_ring)
		left_out("SOCKET");
	close(listener);
	close(closed);
}

static void provide(struct ring *r, int number)
{
	OP(r, io_uring_prep_provide_buffers, pool[number], MESSAGE, 1, GROUP, number);
}

static void receive_selected(struct ring *r, int fd, int group)
{
	struct io_uring_sqe *sqe = ring__sqe(r);

	io_uring_prep_recv(sqe, fd, NULL, MESSAGE, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = group;
	ring__tag(r, sqe);
}

/* The kernel takes buffers from a pool until there are none. */
static void provided(struct ring *r, unsigned n)
{
	int ends[2];

	tcp_pair(ends);
	for (unsigned i = 0; i < n; i++) {
		provide(r, 0);
		provide(r, 1);
		ring__drain(r);
		give(ends[0]);
		for (unsigned j = 0; j < 2; j++) { /* ENOBUFS is the second one's */
			receive_selected(r, ends[1], GROUP);
			ring__drain(r);
			if (j)
				continue;
			OP(r, io_uring_prep_remove_buffers, BUFFERS, GROUP);
			OP(r, io_uring_prep_remove_buffers, BUFFERS, GROUP + 1); /* ENOENT */
			ring__drain(r);
		}
	}
	close(ends[0]);
	close(ends[1]);
}

/* The same of a pool that is a ring itself, which no operation fills. */
static void buffer_ring(struct ring *r, unsigned n)
{
	struct io_uring_buf_reg reg = {.ring_entries = BUFFERS, .bgid = GROUP + 2};
	struct io_uring_buf_ring *buffers = aligned_alloc(4096, 4096);
	int ends[2];

	reg.ring_addr = (uintptr_t)buffers;
	if (!buffers || io_uring_register_buf_ring(&r->u, &reg, 0)) {
		left_out("buffer rings");
		free(buffers);
		return;
	}
	io_uring_buf_ring_init(buffers);
	tcp_pair(ends);
	for (unsigned i = 0; i < n; i++) {
		io_uring_buf_ring_add(buffers, pool[i % BUFFERS], MESSAGE, i % BUFFERS,
				      io_uring_buf_ring_mask(BUFFERS), 0);
		io_uring_buf_ring_advance(buffers, 1);
		give(ends[0]);
		receive_selected(r, ends[1], reg.bgid);
		ring__drain(r);
		receive_selected(r, ends[1], reg.bgid); /* ENOBUFS */
		ring__drain(r);
	}
	close(ends[0]);
	close(ends[1]);
	io_uring_unregister_buf_ring(&r->u, reg.bgid);
	free(buffers);
}

static void multishot_accept(struct ring *r, unsigned n)
{
	int port, listener = listen_here(&port);
	uint64_t which = 0;
	bool more = false;

	for (unsigned i = 0; i < n; i++) {
		int fd;

		if (!more) {
			which = OP(r, io_uring_prep_multishot_accept, listener, NULL, NULL, 0)
					->user_data;
			ring__submit(r);
		}
		fd = connect_to(port);
		ring__reap(r);
		more = r->last_flags & IORING_CQE_F_MORE;
		if (r->last_result >= 0)
			close(r->last_result);
		close(fd);
		if (r->last_result >= 0)
			continue;
		left_out("multishot ACCEPT");
		break;
	}
	if (more)
		OP(r, io_uring_prep_cancel64, which, 0);
	ring__drain(r);
	close(listener);
}

static uint64_t receive_all(struct ring *r, int fd)
{
	struct io_uring_sqe *sqe = ring__sqe(r);

	io_uring_prep_recv_multishot(sqe, fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	ring__tag(r, sqe);
	return sqe->user_data;
}

static void discard(int fd)
{
	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

/* One RECV for many messages. It ends when the buffers do, sooner or later: whether it goes on is
 * what is due, not what came last. */
static void multishot_receive(struct ring *r, unsigned n)
{
	int ends[2];
	uint64_t which = 0;

	tcp_pair(ends);
	for (unsigned i = 0; i < n; i++) {
		if (i % BUFFERS == 0) {
			int armed = r->due;

			for (int j = 0; j < BUFFERS; j++)
				provide(r, j);
			ring__drain_but(r, armed);
		}
		if (!r->due) {
			which = receive_all(r, ends[1]);
			ring__submit(r);
		}
		give(ends[0]);
		ring__reap(r);
		if (!i && !(r->last_flags & IORING_CQE_F_MORE)) {
			left_out("multishot RECV");
			break;
		}
		if (i % 16 != 15)
			continue;
		give(ends[0]); /* there may be no buffer left for it */
		OP(r, io_uring_prep_cancel64, which, 0);
		ring__drain(r);
		discard(ends[1]);
	}
	if (r->due)
		OP(r, io_uring_prep_cancel64, which, 0);
	OP(r, io_uring_prep_remove_buffers, BUFFERS, GROUP);
	ring__drain(r);
	close(ends[0]);
	close(ends[1]);
}

/* Two completions each, the second a notification; one alone where it fails at once. */
static void zero_copy(struct ring *r, unsigned n)
{
	int ends[2];

	if (!ring__has(r, IORING_OP_SEND_ZC)) {
		left_out("SEND_ZC");
		return;
	}
	tcp_pair(ends);
	for (unsigned i = 0; i < n; i++) {
		OP(r, io_uring_prep_send_zc, ends[0], bytes, MESSAGE, 0, 0);
		ring__submit(r);
		if (recv(ends[1], bytes, MESSAGE, MSG_WAITALL) != MESSAGE)
			die("recv", errno);
		OP(r, io_uring_prep_send_zc, NO_FD, bytes, MESSAGE, 0, 0);
		ring__drain(r);
	}
	close(ends[0]);
	close(ends[1]);
}

void mix_net(struct ring *r, unsigned n)
{
	transfers(r, n);
	connections(r, n);
	provided(r, n);
	buffer_ring(r, n);
	multishot_accept(r, n);
	multishot_receive(r, n);
	zero_copy(r, n);
}

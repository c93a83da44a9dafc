// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/demo/endpoint.h"

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL

int endpoint__fail(char *error, int err, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(error, ENDPOINT_ERROR_SIZE, format, args);
	va_end(args);
	if (length >= 0 && length < ENDPOINT_ERROR_SIZE)
		snprintf(error + length, ENDPOINT_ERROR_SIZE - length, ": %s", strerror(-err));
	return err;
}

static const char *host_of(const struct workload_options *o)
{
	return o->host ? o->host : o->ipv6 ? "::1" : "127.0.0.1";
}

uint16_t endpoint__port(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &size))
		return 0;
	if (address.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
	return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

/* Its size, 0: the host is no numeric address. */
static socklen_t fill_address(struct sockaddr_storage *address, const char *host, uint16_t port)
{
	struct sockaddr_in *four = (struct sockaddr_in *)address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		return sizeof(*four);
	}
	if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
		return 0;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	return sizeof(*six);
}

int endpoint__open(const struct workload_options *options, uint16_t port, bool listens, char *error)
{
	const char *host = host_of(options);
	struct sockaddr_storage address;
	socklen_t size = fill_address(&address, host, port);
	int err = 0, on = 1, fd;

	if (!size) {
		snprintf(error, ENDPOINT_ERROR_SIZE, "'%s' is no numeric address", host);
		return -EINVAL;
	}
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		err = -errno;
	else if (!listens)
		err = connect(fd, (struct sockaddr *)&address, size) ? -errno : 0;
	else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		 bind(fd, (struct sockaddr *)&address, size) ||
		 listen(fd, WORKLOAD_MAX_CONNECTIONS))
		err = -errno;
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return endpoint__fail(error, err, "cannot %s %s port %u",
			      listens ? "listen on" : "connect to", host, port);
}

int endpoint__set_tcp_option(int fd, int option, int value)
{
	return setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value)) ? -errno : 0;
}

/* By write() where that will do, because it is what the programs that we imitate call. */
int endpoint__send(int fd, uint32_t size, int flags)
{
	static const char message[WORKLOAD_MAX_MESSAGE];

	while (size) {
		ssize_t n = flags ? send(fd, message, size, flags) : write(fd, message, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			size -= n;
	}
	return 0;
}

void endpoint__init(struct endpoint *e, const struct workload_options *options,
		    struct workload_result *result, char *error)
{
	memset(e, 0, sizeof(*e));
	e->options = options;
	e->script = *workload__script(options->mode);
	if (options->gap_us >= 0 && (e->script.rest_bytes || e->script.cork || e->script.more))
		e->script.gap_us = options->gap_us;
	if (options->reply_bytes && e->script.reply_bytes)
		e->script.reply_bytes = options->reply_bytes;
	if (options->request_bytes)
		e->script.first_bytes = options->request_bytes;
	e->result = result;
	e->error = error;
	e->listener = -1;
	e->epoll_fd = -1;
	for (int i = 0; i < WORKLOAD_MAX_CONNECTIONS; i++)
		e->connection[i].fd = -1;
}

/* NULL when all places are taken. */
struct connection *endpoint__add(struct endpoint *e, int fd, int step)
{
	for (int i = 0; i < WORKLOAD_MAX_CONNECTIONS; i++) {
		struct connection *c = &e->connection[i];

		if (c->fd >= 0)
			continue;
		*c = (struct connection){.fd = fd, .step = step};
		return c;
	}
	return NULL;
}

void endpoint__drop(struct connection *c)
{
	close(c->fd);
	c->fd = -1;
}

/* Reads some of what is missing, waiting if @flags let it. Nothing to read is success. */
static int receive_some(struct connection *c, int flags)
{
	static char message[WORKLOAD_MAX_MESSAGE];
	size_t size = c->missing < sizeof(message) ? c->missing : sizeof(message);
	ssize_t n = flags ? recv(c->fd, message, size, flags) : read(c->fd, message, size);

	if (n > 0)
		c->missing -= n;
	else if (n == 0 || errno == ECONNRESET)
		return ENDPOINT_CLOSED;
	else if (errno != EINTR && errno != EAGAIN)
		return -errno;
	return 0;
}

static void sleep_until(uint64_t deadline)
{
	struct timespec t = {.tv_sec = deadline / NS_PER_S, .tv_nsec = deadline % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* For poll() and epoll_wait(): rounded up, so that they do not return too early and spin. */
static int ms_until(uint64_t deadline)
{
	uint64_t now = clock__now();

	return deadline <= now ? 0 : (deadline - now + NS_PER_MS - 1) / NS_PER_MS;
}

static void pause_of(struct connection *c)
{
	if (c->until_input)
		poll(&(struct pollfd){.fd = c->fd, .events = POLLIN}, 1, ms_until(c->deadline));
	else
		sleep_until(c->deadline);
	c->until_input = false;
	c->deadline = 0;
}

static int advance(struct endpoint *e, struct connection *c)
{
	int err;

	do
		err = e->step(e, c);
	while (!err && !c->missing && !c->deadline && !e->finished);
	return err == -EPIPE || err == -ECONNRESET ? ENDPOINT_CLOSED : err;
}

int endpoint__run_one(struct endpoint *e)
{
	struct connection *c = &e->connection[0];
	int err = 0;

	while (!err && !e->finished) {
		if (c->deadline)
			pause_of(c);
		while (!err && c->missing)
			err = receive_some(c, 0);
		if (!err)
			err = advance(e, c);
	}
	return err;
}

/* The epoll set has the connection for its mark, and NULL for the listener. */
static int watch(struct endpoint *e, int operation, int fd, struct connection *c, uint32_t what)
{
	struct epoll_event event = {.events = what, .data.ptr = c};

	if (!epoll_ctl(e->epoll_fd, operation, fd, &event))
		return 0;
	return endpoint__fail(e->error, -errno, "cannot watch a connection");
}

static int begin(struct endpoint *e, struct connection *c)
{
	int err = watch(e, EPOLL_CTL_ADD, c->fd, c, EPOLLIN);

	return err ? err : advance(e, c);
}

/* A peer that goes away ends the client, and only that connection of the server. */
static int settle(struct endpoint *e, struct connection *c, int err)
{
	if (err != ENDPOINT_CLOSED || e->listener < 0)
		return err;
	endpoint__drop(c);
	return 0;
}

struct connection *endpoint__accept(struct endpoint *e, int *err)
{
	int fd = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC);
	struct connection *c;

	*err = 0;
	if (fd < 0) {
		*err = endpoint__fail(e->error, -errno, "cannot accept a connection");
		return NULL;
	}
	/* Whatever this end writes leaves at once: the holds are to be the client's alone. */
	endpoint__set_tcp_option(fd, TCP_NODELAY, 1);
	c = endpoint__add(e, fd, 0);
	if (!c)
		close(fd);
	return c;
}

static int accept_another(struct endpoint *e)
{
	int err;
	struct connection *c = endpoint__accept(e, &err);

	return c ? settle(e, c, begin(e, c)) : err;
}

static int resume(struct endpoint *e, struct connection *c)
{
	int err = 0;

	c->deadline = 0;
	c->until_input = false;
	if (c->muted)
		err = watch(e, EPOLL_CTL_MOD, c->fd, c, EPOLLIN);
	c->muted = false;
	return err ? err : settle(e, c, advance(e, c));
}

static int readable(struct endpoint *e, struct connection *c)
{
	int err;

	if (!c)
		return accept_another(e);
	if (c->until_input)
		return resume(e, c);
	if (!c->missing) { /* it pauses; unmuted, epoll would report the same bytes on and on */
		c->muted = true;
		return watch(e, EPOLL_CTL_MOD, c->fd, c, 0);
	}
	err = receive_some(c, MSG_DONTWAIT);
	if (!err && !c->missing)
		err = advance(e, c);
	return settle(e, c, err);
}

static int resume_expired(struct endpoint *e)
{
	uint64_t now = clock__now();
	int err = 0;

	for (int i = 0; i < WORKLOAD_MAX_CONNECTIONS && !err && !e->finished; i++) {
		struct connection *c = &e->connection[i];

		if (c->fd >= 0 && c->deadline && c->deadline <= now)
			err = resume(e, c);
	}
	return err;
}

static int timeout_ms(const struct endpoint *e)
{
	uint64_t earliest = ENDPOINT_NEVER;

	for (int i = 0; i < WORKLOAD_MAX_CONNECTIONS; i++) {
		const struct connection *c = &e->connection[i];

		if (c->fd >= 0 && c->deadline && c->deadline < earliest)
			earliest = c->deadline;
	}
	return earliest == ENDPOINT_NEVER ? -1 : ms_until(earliest);
}

static int begin_all(struct endpoint *e)
{
	int err = 0;

	e->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (e->epoll_fd < 0)
		return endpoint__fail(e->error, -errno, "cannot create an epoll instance");
	if (e->listener >= 0)
		err = watch(e, EPOLL_CTL_ADD, e->listener, NULL, EPOLLIN);
	for (int i = 0; i < WORKLOAD_MAX_CONNECTIONS && !err && !e->finished; i++)
		if (e->connection[i].fd >= 0)
			err = begin(e, &e->connection[i]);
	return err;
}

int endpoint__run_many(struct endpoint *e)
{
	struct epoll_event events[64];
	int err = begin_all(e);

	while (!err && !e->finished) {
		int n = epoll_wait(e->epoll_fd, events, 64, e->has_pauses ? timeout_ms(e) : -1);

		if (n < 0 && errno != EINTR)
			return endpoint__fail(e->error, -errno, "cannot wait for the connections");
		for (int i = 0; i < n && !err && !e->finished; i++)
			err = readable(e, events[i].data.ptr);
		if (!err && e->has_pauses)
			err = resume_expired(e);
	}
	return err;
}

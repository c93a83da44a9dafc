// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sockets that work or end the scene. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/scenarios/scene.h"

static char bytes_to_send[1 << 20];

void set_option(int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		die("setsockopt %d: %s", option, strerror(errno));
}

/* Not whatever this machine likes: some pace of themselves. */
static void use_reno(int fd)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4))
		die("reno: %s", strerror(errno));
}

/* Several may share a port. */
static int listen_at(const struct sockaddr *address, socklen_t length, int backlog, bool shared)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("no socket: %s", strerror(errno));
	if (shared)
		set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (bind(fd, address, length) || listen(fd, backlog))
		die("cannot listen: %s", strerror(errno));
	use_reno(fd);
	return fd;
}

static void listen_on(struct stage *stage, const struct sockaddr *address, socklen_t length,
		      int backlog, bool shared)
{
	struct sockaddr_in6 bound = {0}, bound_udp = {0};
	socklen_t bound_length = sizeof(bound), bound_udp_length = sizeof(bound);

	stage->listener = listen_at(address, length, backlog, shared);
	if (getsockname(stage->listener, (struct sockaddr *)&bound, &bound_length))
		die("no port: %s", strerror(errno));
	stage->datagrams = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (stage->datagrams < 0 || bind(stage->datagrams, address, length) ||
	    getsockname(stage->datagrams, (struct sockaddr *)&bound_udp, &bound_udp_length))
		die("no UDP: %s", strerror(errno));
	stage->datagram_port = ntohs(bound_udp.sin6_port);
	/* The port stands at the same place in both families. */
	stage->port = ntohs(bound.sin6_port);
}

void stage__listen(struct stage *stage, int backlog)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = stage->address};

	listen_on(stage, (struct sockaddr *)&address, sizeof(address), backlog, false);
}

void stage__listen_twice(struct stage *stage, int backlog)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = stage->address};

	listen_on(stage, (struct sockaddr *)&address, sizeof(address), backlog, true);
	address.sin_port = htons(stage->port);
	stage->listener_behind =
		listen_at((struct sockaddr *)&address, sizeof(address), backlog, true);
}

void stage__listen_ipv6(struct stage *stage)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};

	stage->ipv6 = true;
	listen_on(stage, (struct sockaddr *)&address, sizeof(address), 64, false);
}

/* The thread's last connect() without a request behind it; 0 none. */
static _Thread_local uint64_t connecting_ns, connected_ns;

uint64_t asked_since(uint64_t start_ns)
{
	bool is_for_it =
		connected_ns && connected_ns <= start_ns && start_ns - connected_ns < 10000000;

	connected_ns = 0;
	return is_for_it ? connecting_ns : start_ns;
}

static int connect_port(const struct stage *stage, uint16_t port, int sndbuf)
{
	struct sockaddr_in v4 = {
		.sin_family = AF_INET, .sin_addr.s_addr = stage->address, .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback, .sin6_port = htons(port)};
	int fd = socket(stage->ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("no socket: %s", strerror(errno));
	use_reno(fd);
	if (sndbuf)
		set_option(fd, SOL_SOCKET, SO_SNDBUF, sndbuf);
	connecting_ns = now_ns();
	if (connect(fd, stage->ipv6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4,
		    stage->ipv6 ? sizeof(v6) : sizeof(v4)))
		die("cannot connect: %s", strerror(errno));
	connected_ns = now_ns();
	return fd;
}

static int accept_on(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		die("cannot accept: %s", strerror(errno));
	return fd;
}

int connect_to(const struct stage *stage)
{
	return connect_port(stage, stage->port, 0);
}

int connect_with(const struct stage *stage, int sndbuf)
{
	return connect_port(stage, stage->port, sndbuf);
}

void stage__listen_behind(struct stage *stage)
{
	stage__listen(stage, 64);
	stage->listener_behind = stage->listener;
	stage->port_behind = stage->port;
	stage__listen(stage, 64);
}

int connect_behind(const struct stage *stage)
{
	return connect_port(stage, stage->port_behind, 0);
}

int accept_behind(const struct stage *stage)
{
	return accept_on(stage->listener_behind);
}

int accept_one(const struct stage *stage)
{
	return accept_on(stage->listener);
}

void send_all(int fd, size_t bytes, int flags)
{
	while (bytes) {
		size_t part = bytes < sizeof(bytes_to_send) ? bytes : sizeof(bytes_to_send);
		ssize_t sent = send(fd, bytes_to_send, part, flags | MSG_NOSIGNAL);

		if (sent < 0)
			die("cannot send: %s", strerror(errno));
		bytes -= sent;
	}
}

void write_all(int fd, size_t bytes)
{
	while (bytes) {
		size_t part = bytes < sizeof(bytes_to_send) ? bytes : sizeof(bytes_to_send);
		ssize_t written = write(fd, bytes_to_send, part);

		if (written < 0)
			die("cannot write: %s", strerror(errno));
		bytes -= written;
	}
}

bool read_all(int fd, size_t bytes)
{
	char buffer[65536];

	while (bytes) {
		ssize_t got = read(fd, buffer, bytes < sizeof(buffer) ? bytes : sizeof(buffer));

		if (got < 0 && errno != ECONNRESET)
			die("cannot read: %s", strerror(errno));
		if (got <= 0)
			return false;
		bytes -= got;
	}
	return true;
}

uint64_t stage__ask(struct stage *stage, int fd, size_t request, size_t answer)
{
	uint64_t start_ns = now_ns();

	write_all(fd, request);
	if (!read_all(fd, answer))
		die("the server hung up");
	stage__request(stage, start_ns);
	atomic_fetch_add(&stage->exchanges, 1);
	return start_ns;
}

void sysctl(const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		cannot("cannot set %s: %s", name, strerror(errno));
	close(fd);
}

/* The file has pairs of lines: names, then values. */
uint64_t tcp_counter(const char *name)
{
	char names[8192], values[8192], *n, *v, *name_left, *value_left;
	uint64_t found = 0;
	FILE *f = fopen("/proc/self/net/netstat", "re");

	while (f && fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		n = strtok_r(names, " \n", &name_left);
		v = strtok_r(values, " \n", &value_left);
		for (; n && v;
		     n = strtok_r(NULL, " \n", &name_left), v = strtok_r(NULL, " \n", &value_left))
			if (!strcmp(n, name))
				found = strtoull(v, NULL, 10);
	}
	if (f)
		fclose(f);
	return found;
}

void start_thread(void *(*body)(void *), void *arg)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, body, arg);

	if (err)
		die("no thread: %s", strerror(err));
	pthread_detach(thread);
}

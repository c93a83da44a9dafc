// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * An HTTP server on loopback: one thread, epoll, connections kept alive, the same answer to
 * every request, written at once; until SIGTERM.
 *
 *	$ httpd
 *	ready pid=812 port=46465
 *	done requests=123456
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 64
#define FDS    1024

static const char answer[] =
	"HTTP/1.1 200 OK\r\n"
	"Content-Type: text/plain\r\n"
	"Content-Length: 6\r\n"
	"\r\n"
	"hello\n";

static uint64_t requests;
static volatile sig_atomic_t stop;
/* By descriptor: how far into the empty line that ends a request what came so far reaches. */
static unsigned char matched[FDS];

static void on_term(int signal_number)
{
	(void)signal_number;
	stop = 1;
}

/* Requests that end in these bytes. */
static unsigned count_requests(int fd, const char *data, ssize_t len)
{
	static const char end[] = "\r\n\r\n";
	unsigned count = 0;

	for (ssize_t i = 0; i < len; i++) {
		if (data[i] == end[matched[fd]])
			matched[fd]++;
		else
			matched[fd] = data[i] == '\r';
		if (matched[fd] == 4) {
			matched[fd] = 0;
			count++;
		}
	}
	return count;
}

static void serve(int fd)
{
	char data[4096];
	ssize_t n = read(fd, data, sizeof(data));
	unsigned count = n > 0 ? count_requests(fd, data, n) : 0;

	for (unsigned i = 0; i < count && n > 0; i++) {
		if (write(fd, answer, sizeof(answer) - 1) != sizeof(answer) - 1)
			n = -1;
		requests++;
	}
	if (n <= 0)
		close(fd);
}

static void take_in(int epoll, int listener)
{
	struct epoll_event event = {.events = EPOLLIN};
	int one = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (fd >= FDS) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	matched[fd] = 0;
	event.data.fd = fd;
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_listener(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) || listen(fd, 512) ||
	    getsockname(fd, (struct sockaddr *)&address, &len))
		return -1;
	printf("ready pid=%d port=%u\n", getpid(), ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_term}; /* no SA_RESTART: epoll_wait() ends */
	struct epoll_event events[EVENTS], event = {.events = EPOLLIN};
	int listener = open_listener(), epoll = epoll_create1(EPOLL_CLOEXEC);

	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	event.data.fd = listener;
	if (listener < 0 || epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) {
		perror("httpd");
		return 1;
	}
	while (!stop) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listener)
				take_in(epoll, listener);
			else
				serve(events[i].data.fd);
		}
	}
	printf("done requests=%" PRIu64 "\n", requests);
	return 0;
}

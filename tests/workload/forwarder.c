// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A TCP forwarder on loopback: a thread for each direction of each connection, which reads and
 * writes, until SIGTERM.
 *
 *	$ forwarder PORT [BUFFER_BYTES [COMPUTE_US]]	(of what it forwards to; 131072; at each
 *read) ready pid=812 port=46465 done bytes=104857600 reads=1600 sleeps=1580 busy_ms=412 ran_ms=390
 *
 * Busy is a thread on a CPU (it ran), and while it waits for one.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct direction {
	int from;
	int to;
};

static size_t buffer_bytes = 131072;
static uint64_t compute_ns;
static _Atomic uint64_t bytes, reads, sleeps, busy_ns, ran_in_all_ns;

/* The calling thread's, at its end. */
static void account(void)
{
	uint64_t ran_ns = 0, queued_ns = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	struct rusage usage;

	if (file) {
		if (fscanf(file, "%" SCNu64 " %" SCNu64, &ran_ns, &queued_ns) == 2) {
			busy_ns += ran_ns + queued_ns;
			ran_in_all_ns += ran_ns;
		}
		fclose(file);
	}
	getrusage(RUSAGE_THREAD, &usage);
	sleeps += usage.ru_nvcsw;
}

static struct sockaddr_in loopback(unsigned port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0)
			return -1;
		data += n;
		len -= n;
	}
	return 0;
}

static uint64_t on_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void compute(void)
{
	uint64_t until = on_cpu_ns() + compute_ns;

	while (compute_ns && on_cpu_ns() < until)
		;
}

static void *forward(void *argument)
{
	struct direction *direction = argument;
	char *buffer = malloc(buffer_bytes);
	ssize_t n = 0;

	while (buffer && (n = read(direction->from, buffer, buffer_bytes)) > 0) {
		bytes += n;
		reads++;
		compute();
		if (write_all(direction->to, buffer, n))
			break;
	}
	account();
	/* The other direction's thread ends by this as well; the process closes both. */
	shutdown(direction->to, SHUT_WR);
	free(buffer);
	free(direction);
	return NULL;
}

static int start(int from, int to)
{
	struct direction *direction = malloc(sizeof(*direction));
	pthread_t thread;

	if (!direction)
		return -1;
	direction->from = from;
	direction->to = to;
	if (pthread_create(&thread, NULL, forward, direction))
		return -1;
	return pthread_detach(thread);
}

static int serve(int accepted, unsigned port)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return -1;
	/* A forwarder does not know where a message ends, so it lets everything go. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return start(accepted, fd) || start(fd, accepted) ? -1 : 0;
}

static void on_term(int signal_number)
{
	char text[160];
	int len;

	(void)signal_number;
	account();
	len = snprintf(text, sizeof(text),
		       "done bytes=%" PRIu64 " reads=%" PRIu64 " sleeps=%" PRIu64
		       " busy_ms=%" PRIu64 " ran_ms=%" PRIu64 "\n",
		       (uint64_t)bytes, (uint64_t)reads, (uint64_t)sleeps,
		       (uint64_t)busy_ns / 1000000, (uint64_t)ran_in_all_ns / 1000000);
	_exit(write(STDOUT_FILENO, text, len) == len ? 0 : 1);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = loopback(0);
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: forwarder PORT [BUFFER_BYTES [COMPUTE_US]]\n");
		return 64;
	}
	if (argc > 2)
		buffer_bytes = strtoul(argv[2], NULL, 10);
	if (argc > 3)
		compute_ns = 1000 * strtoull(argv[3], NULL, 10);
	signal(SIGTERM, on_term);
	signal(SIGPIPE, SIG_IGN);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) ||
	    listen(listener, 64) || getsockname(listener, (struct sockaddr *)&address, &len)) {
		perror("forwarder");
		return 1;
	}
	printf("ready pid=%d port=%u\n", getpid(), ntohs(address.sin_port));
	fflush(stdout);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (serve(fd, strtoul(argv[1], NULL, 10)))
			close(fd);
	}
	perror("forwarder: accept");
	return 1;
}

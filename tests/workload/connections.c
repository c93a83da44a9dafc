// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Connections on loopback that do not live long, one after the other, to a server that is a thread
 * of the same process:
 *
 *	$ connections short 10000	a request, its answer, the end of both sides
 *	done connections=10000 exchanges=10000
 *	$ connections closed 50		closed at once, not a byte
 *	done connections=50 exchanges=0
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE 32

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static int listen_somewhere(struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)address, len) || listen(fd, 128) ||
	    getsockname(fd, (struct sockaddr *)address, &len))
		die("listen");
	return fd;
}

/* What comes is answered by as much; a connection at a time. */
static void *serve(void *listener)
{
	char message[MESSAGE];
	ssize_t got;
	int fd;

	while ((fd = accept(*(int *)listener, NULL, NULL)) >= 0) {
		while ((got = read(fd, message, sizeof(message))) > 0)
			if (write(fd, message, (size_t)got) != got)
				break;
		close(fd);
	}
	return NULL;
}

static bool exchange(int fd)
{
	char message[MESSAGE] = "hello";

	return write(fd, message, sizeof(message)) == sizeof(message) &&
	       recv(fd, message, sizeof(message), MSG_WAITALL) == sizeof(message);
}

int main(int argc, char **argv)
{
	bool closed = argc == 3 && !strcmp(argv[1], "closed");
	long count = argc == 3 ? atol(argv[2]) : 0, i, exchanges = 0;
	struct sockaddr_in address;
	pthread_t thread;
	int listener;

	if (count <= 0 || (!closed && strcmp(argv[1], "short"))) {
		fputs("usage: connections short|closed COUNT\n", stderr);
		return 64;
	}
	listener = listen_somewhere(&address);
	if (pthread_create(&thread, NULL, serve, &listener))
		die("pthread_create");
	for (i = 0; i < count; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
			die("connect");
		if (!closed && !exchange(fd))
			die("exchange");
		exchanges += !closed;
		close(fd);
	}
	printf("done connections=%ld exchanges=%ld\n", count, exchanges);
	return 0;
}

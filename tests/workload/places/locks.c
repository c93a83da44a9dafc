// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A request that its server answers when it has had a lock, which another thread keeps for 30 ms
 * each time. The lines that matter are marked.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile bool is_kept;

static void nap(int ms)
{
	struct timespec length = {.tv_nsec = ms * 1000000l};

	nanosleep(&length, NULL);
}

static __attribute__((noinline)) void keep_lock(void)
{
	pthread_mutex_lock(&mutex);
	is_kept = true;
	nap(30);
	is_kept = false;
	pthread_mutex_unlock(&mutex); // release
	__asm__ volatile("");
}

static void *keep_locks(void *context)
{
	(void)context;
	for (;;) {
		keep_lock();
		nap(1);
	}
	return NULL;
}

static __attribute__((noinline)) void take_lock(void)
{
	while (!is_kept)
		nap(1);
	pthread_mutex_lock(&mutex); // lock
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}

static void *serve(void *context)
{
	int conn = accept(*(int *)context, NULL, NULL);
	char request[176];

	while (recv(conn, request, sizeof(request), MSG_WAITALL) > 0) {
		take_lock();
		if (write(conn, "done", 4) != 4)
			break;
	}
	return NULL;
}

int main(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), conn = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(at);
	pthread_t server, keeper;
	char bytes[176] = "";

	if (bind(listener, (void *)&at, size) || listen(listener, 1) ||
	    getsockname(listener, (void *)&at, &size) || connect(conn, (void *)&at, size) ||
	    pthread_create(&server, NULL, serve, &listener) ||
	    pthread_create(&keeper, NULL, keep_locks, NULL))
		return 1;
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	for (int i = 0; i < 30; i++)
		if (write(conn, bytes, sizeof(bytes)) != sizeof(bytes) || read(conn, bytes, 4) != 4)
			return 1;
	return 0;
}

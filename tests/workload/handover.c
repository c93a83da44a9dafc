// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Three threads that hand work on: the first sleeps 6 ms and writes into a pipe, the second then
 * sleeps 4 ms and signals a futex, the third then sleeps 2 ms and answers over a TCP connection
 * on loopback, for which the first waits. How long each was blocked where, it tells itself, by its
 * own clocks and the time that the scheduler says it waited for a CPU:
 *
 *	handover [ROUNDS] [THREADS]
 *
 * THREADS more come in pairs that play with pipes of their own, for numbers' sake. Waits for a line
 * or the end of stdin after `ready pid=P first=T second=T third=T`, and prints
 * `done rounds=N first_sleep_us=.. first_recv_us=.. second_pipe_us=.. ...` at its end.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS  6
#define SECOND_MS 4
#define THIRD_MS  2

static int rounds = 100;
static int pipe_fds[2], sockets[2]; /* of the first: sockets[0] */
static uint32_t signalled;
static pthread_barrier_t start;
static pid_t tids[3];
/* Blocked in these calls, ns. */
static uint64_t first_sleep, first_recv, second_pipe, second_sleep, third_futex, third_sleep;

static uint64_t clock_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* How long this thread has waited for a CPU, in all, as the scheduler counts. */
static uint64_t run_delay(void)
{
	static __thread int fd = -1;
	unsigned long long on_cpu, delay = 0;
	char path[64], text[128] = "";

	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat",
			 (long)syscall(SYS_gettid));
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd >= 0 && pread(fd, text, sizeof(text) - 1, 0) > 0)
		sscanf(text, "%llu %llu", &on_cpu, &delay);
	return delay;
}

/* All time that passes is spent on a CPU, waiting for one, or blocked. */
static uint64_t blocked_until_now(void)
{
	return clock_of(CLOCK_MONOTONIC) - clock_of(CLOCK_THREAD_CPUTIME_ID) - run_delay();
}

static void sleep_ms(unsigned ms, uint64_t *spent)
{
	struct timespec time = {.tv_nsec = ms * 1000000l};
	uint64_t before = blocked_until_now();

	nanosleep(&time, NULL);
	*spent += blocked_until_now() - before;
}

static void begin(int number, const char *name)
{
	prctl(PR_SET_NAME, name);
	tids[number] = syscall(SYS_gettid);
	pthread_barrier_wait(&start); /* the numbers are told, */
	pthread_barrier_wait(&start); /* and the gate is open */
}

static void *first(void *unused)
{
	uint64_t before;
	char byte = 'x';

	(void)unused;
	begin(0, "hand-first");
	for (int i = 0; i < rounds; i++) {
		sleep_ms(FIRST_MS, &first_sleep);
		if (write(pipe_fds[1], &byte, 1) != 1)
			die("write");
		before = blocked_until_now();
		if (recv(sockets[0], &byte, 1, 0) != 1)
			die("recv");
		first_recv += blocked_until_now() - before;
	}
	return NULL;
}

static void *second(void *unused)
{
	uint64_t before;
	char byte;

	(void)unused;
	begin(1, "hand-second");
	for (int i = 0; i < rounds; i++) {
		before = blocked_until_now();
		if (read(pipe_fds[0], &byte, 1) != 1)
			die("read");
		second_pipe += blocked_until_now() - before;
		sleep_ms(SECOND_MS, &second_sleep);
		__atomic_add_fetch(&signalled, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &signalled, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void *third(void *unused)
{
	uint64_t before;
	char byte = 'y';

	(void)unused;
	begin(2, "hand-third");
	for (int i = 0; i < rounds; i++) {
		before = blocked_until_now();
		while (__atomic_load_n(&signalled, __ATOMIC_SEQ_CST) == (uint32_t)i)
			syscall(SYS_futex, &signalled, FUTEX_WAIT_PRIVATE, i, NULL, NULL, 0);
		third_futex += blocked_until_now() - before;
		sleep_ms(THIRD_MS, &third_sleep);
		if (send(sockets[1], &byte, 1, 0) != 1)
			die("send");
	}
	return NULL;
}

/* One of a pair: what comes is sent back, until the pipe is closed. */
static void *echo(void *fds)
{
	int *pair = fds;
	char byte;

	while (read(pair[0], &byte, 1) == 1) {
		usleep(20000);
		if (write(pair[1], &byte, 1) != 1)
			break;
	}
	return NULL;
}

static void start_pairs(int count)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (int i = 0; i < count / 2; i++) {
		int(*fds)[2] = calloc(4, sizeof(*fds)), there[2], back[2];

		if (!fds || pipe(there) || pipe(back))
			die("pipe");
		fds[0][0] = there[0], fds[0][1] = back[1];
		fds[1][0] = back[0], fds[1][1] = there[1];
		if (pthread_create(&thread, &attr, echo, fds[0]) ||
		    pthread_create(&thread, &attr, echo, fds[1]) || write(there[1], "z", 1) != 1)
			die("pthread_create");
	}
}

static void connect_sockets(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	socklen_t length = sizeof(at);

	sockets[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &length) ||
	    connect(sockets[0], (struct sockaddr *)&at, sizeof(at)))
		die("connect");
	sockets[1] = accept(listener, NULL, NULL);
	if (sockets[1] < 0 || setsockopt(sockets[1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("accept");
	close(listener);
}

static void print_truth(void)
{
	printf("done rounds=%d first_sleep_us=%.0f first_recv_us=%.0f second_pipe_us=%.0f "
	       "second_sleep_us=%.0f third_futex_us=%.0f third_sleep_us=%.0f\n",
	       rounds, first_sleep / 1e3, first_recv / 1e3, second_pipe / 1e3, second_sleep / 1e3,
	       third_futex / 1e3, third_sleep / 1e3);
}

int main(int argc, char **argv)
{
	void *(*const bodies[])(void *) = {first, second, third};
	pthread_t threads[3];
	char line[16];

	if (argc > 1)
		rounds = atoi(argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pipe(pipe_fds))
		die("pipe");
	connect_sockets();
	if (argc > 2)
		start_pairs(atoi(argv[2]));
	pthread_barrier_init(&start, NULL, 4);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, bodies[i], NULL))
			die("pthread_create");
	pthread_barrier_wait(&start);
	printf("ready pid=%d first=%d second=%d third=%d\n", getpid(), tids[0], tids[1], tids[2]);
	if (!fgets(line, sizeof(line), stdin))
		clearerr(stdin);
	pthread_barrier_wait(&start);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	print_truth();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two threads on one CPU that hand a message to and fro: two switches a round, and little else. For
 * tests/bench/switch_cost.sh.
 *
 *	pingpong ROUNDS         a byte through pipes
 *	pingpong ROUNDS udp     40 bytes by UDP, a question and its answer
 *
 * Reads a line first; then prints the CPU time of a switch, in ns.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int there[2], back[2];
static size_t size = 1;
static long rounds;

static void move(int from, int to)
{
	char message[40] = {0};

	if (from >= 0 && read(from, message, size) != (ssize_t)size)
		exit(1);
	if (to >= 0 && write(to, message, size) != (ssize_t)size)
		exit(1);
}

static void *answer(void *unused)
{
	for (long i = 0; i < rounds; i++)
		move(there[0], back[1]);
	return unused;
}

/* The one that asks has no port of its own choice. */
static int open_udp(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int asks = socket(AF_INET, SOCK_DGRAM, 0), answers = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t length = sizeof(in);

	if (bind(answers, (struct sockaddr *)&in, length) ||
	    getsockname(answers, (struct sockaddr *)&in, &length) ||
	    connect(asks, (struct sockaddr *)&in, length) ||
	    getsockname(asks, (struct sockaddr *)&in, &length) ||
	    connect(answers, (struct sockaddr *)&in, length))
		return -1;
	there[1] = back[0] = asks;
	there[0] = back[1] = answers;
	return 0;
}

static double cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

int main(int argc, char **argv)
{
	bool by_udp = argc == 3 && !strcmp(argv[2], "udp");
	cpu_set_t one;
	pthread_t other;
	double begin;

	rounds = argc == 2 || by_udp ? strtol(argv[1], NULL, 10) : 0;
	if (rounds <= 0) {
		fprintf(stderr, "usage: pingpong ROUNDS [udp]\n");
		return 64;
	}
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) ||
	    (by_udp ? open_udp() : pipe(there) || pipe(back)))
		return 1;
	move(STDIN_FILENO, -1);
	size = by_udp ? 40 : 1;
	begin = cpu_ns();
	if (pthread_create(&other, NULL, answer, NULL))
		return 1;
	for (long i = 0; i < rounds; i++) {
		move(-1, there[1]);
		move(back[0], -1);
	}
	pthread_join(other, NULL);
	printf("%.0f\n", (cpu_ns() - begin) / (2.0 * rounds));
	return 0;
}

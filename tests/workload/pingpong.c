// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two threads on one CPU that hand a byte to and fro through pipes: two switches a round, and
 * little else. For tests/bench/switch_cost.sh.
 *
 *	pingpong ROUNDS     reads a line first; then prints the CPU time of a switch, in ns
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int there[2], back[2];
static long rounds;

static void move(int from, int to)
{
	char byte = 0;

	if (from >= 0 && read(from, &byte, 1) != 1)
		exit(1);
	if (to >= 0 && write(to, &byte, 1) != 1)
		exit(1);
}

static void *answer(void *unused)
{
	for (long i = 0; i < rounds; i++)
		move(there[0], back[1]);
	return unused;
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
	cpu_set_t one;
	pthread_t other;
	double begin;

	rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	if (rounds <= 0) {
		fprintf(stderr, "usage: pingpong ROUNDS\n");
		return 64;
	}
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back))
		return 1;
	move(STDIN_FILENO, -1);
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

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program without frame pointers whose threads wait, each time through the same callers:
 *
 *	main         _start;..;main;run_rounds;NAME_outer;NAME_middle;NAME_leaf;libc's function
 *	rounds       clone..;start_thread;rounds_thread;run_rounds;..
 *	long-sleep   clone..;start_thread;long_thread;long_outer;long_middle;long_leaf, one wait
 *
 *	nofp [--rounds N] [--wait MS] [--gate]
 *
 * NAME: sleep (nanosleep), poll, read (of a timer's descriptor), futex (a condition), and signal:
 * a handler that sleeps, below it the kernel's frame and the callers of what it interrupted. Each
 * round is one wait of each. --gate: begins when a line comes on its standard input. Its last line
 * says how long each slept:
 *
 *	done rounds=8 wait_ms=20 main_ms=801
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/workload/kept.h"

static volatile int work; /* behind each call, so that none becomes a jump */
static unsigned rounds = 8, wait_ms = 20;

static struct timespec after(unsigned ms)
{
	return (struct timespec){ms / 1000, ms % 1000 * 1000000L};
}

/* ---- the waits ---- */

KEPT static void sleep_leaf(unsigned ms)
{
	struct timespec time = after(ms);

	nanosleep(&time, NULL);
	work++;
}

KEPT static void poll_leaf(unsigned ms)
{
	struct pollfd none = {.fd = -1, .events = POLLIN};

	poll(&none, 1, ms);
	work++;
}

KEPT static void read_leaf(unsigned ms)
{
	struct itimerspec once = {.it_value = after(ms)};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	uint64_t ticks;

	if (fd < 0 || timerfd_settime(fd, 0, &once, NULL) ||
	    read(fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		exit(1);
	close(fd);
	work++;
}

KEPT static void futex_leaf(unsigned ms)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&never, &mutex, &until);
	pthread_mutex_unlock(&mutex);
	work++;
}

KEPT static void signal_handler(int signal_number)
{
	(void)signal_number;
	sleep_leaf(wait_ms);
	work++;
}

KEPT static void signal_leaf(unsigned ms)
{
	(void)ms;
	raise(SIGUSR1);
	work++;
}

/* ---- their callers ---- */

typedef void leaf(unsigned ms);

static void tidy_up(const int *value)
{
	work += *value;
}

/* Every register that a callee must save is in use across the call, so that callers are found only
 * by what the call frame information says of them; tidy_up() makes it carry a handler for
 * exceptions. */
#define CALLERS(name, room)                                                                        \
	KEPT static void name##_middle(leaf *next, unsigned ms)                                    \
	{                                                                                          \
		volatile unsigned char local[room];                                                \
		int a = work, b = work, c = work, d = work, e = work;                              \
		__attribute__((cleanup(tidy_up), unused)) int f = a;                               \
                                                                                                   \
		local[0] = local[sizeof(local) - 1] = (unsigned char)a;                            \
		next(ms);                                                                          \
		work = a + b + c + d + e + local[0] + local[sizeof(local) - 1];                    \
	}                                                                                          \
	KEPT static void name##_outer(unsigned ms)                                                 \
	{                                                                                          \
		name##_middle(name##_leaf, ms);                                                    \
		work++;                                                                            \
	}

CALLERS(sleep, 16)
CALLERS(poll, 12 * 1024)
CALLERS(read, 200)
CALLERS(futex, 64)
CALLERS(signal, 16)

KEPT static void long_leaf(unsigned ms)
{
	sleep_leaf(ms);
	work++;
}

CALLERS(long, 32)

KEPT static void run_rounds(void)
{
	for (unsigned i = 0; i < rounds; i++) {
		sleep_outer(wait_ms);
		poll_outer(wait_ms);
		read_outer(wait_ms);
		futex_outer(wait_ms);
		signal_outer(wait_ms);
	}
	work++;
}

KEPT static void *rounds_thread(void *argument)
{
	pthread_setname_np(pthread_self(), "rounds");
	run_rounds();
	work++;
	return argument;
}

/* One wait as long as all of the others together. */
KEPT static void *long_thread(void *argument)
{
	pthread_setname_np(pthread_self(), "long-sleep");
	long_outer(5 * rounds * wait_ms);
	work++;
	return argument;
}

static unsigned number(const char *text)
{
	char *end;
	unsigned long value = text ? strtoul(text, &end, 10) : 0;

	if (!text || *end || !value || value > 1000000) {
		fprintf(stderr, "nofp: wants a number, not '%s'\n", text ? text : "");
		exit(64);
	}
	return value;
}

static unsigned now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	unsigned begin;
	int gate = 0;
	char line[64];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--rounds"))
			rounds = number(argv[++i]);
		else if (!strcmp(argv[i], "--wait"))
			wait_ms = number(argv[++i]);
		else if (!strcmp(argv[i], "--gate"))
			gate = 1;
		else
			return 64;
	}
	signal(SIGUSR1, signal_handler);
	printf("ready pid=%d\n", getpid());
	fflush(stdout);
	if (gate && !fgets(line, sizeof(line), stdin))
		return 1;
	begin = now_ms();
	if (pthread_create(&threads[0], NULL, rounds_thread, NULL) ||
	    pthread_create(&threads[1], NULL, long_thread, NULL))
		return 1;
	run_rounds();
	begin = now_ms() - begin;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("done rounds=%u wait_ms=%u main_ms=%u\n", rounds, wait_ms, begin);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Programs that wait, each for one reason that is known beforehand:
 *
 *	$ waits --mode futex -n 5
 *	ready client_pid=812 client_tid=812 waker_pid=812 waker_tid=813 backend_pid=0 fd=-1 port=0
 *	done mode=futex cause=lock exchanges=5 stalls=5 median_us=30104.1 max_us=30210.0
 *
 * client_tid is the thread that waits --ms (30) in each round, waker_tid the one that ends it,
 * backend_pid the process behind that of a chain over three. `--mode list` says what each does.
 * Exit status: 0 done, 1 it failed, 64 usage.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/workload/waits_attach.h"
#include "tests/workload/waits_habits.h"
#include "tests/workload/waits_modes.h"

#define EXIT_USAGE 64
#define MAX_ROUNDS 10000

struct mode {
	const char *name;
	const char *cause;
	const char *what;
	void (*setup)(void); /* starts the others */
	void (*begin)(void); /* then */
	void (*round)(void);
};

static const struct mode modes[] = {
	{"futex", "lock", "a mutex that another thread holds while it sleeps", nothing, futex_begin,
	 futex_round},
	{"pipe", "ipc", "a pipe whose writer sleeps first", pipe_setup, nothing, pipe_round},
	{"peer", "peer-app", "a server that sleeps before it answers", slow_server_setup,
	 connect_one, ask_round},
	{"peer-poll", "peer-app", "the same, waited for in poll()", slow_server_setup, connect_one,
	 ask_poll_round},
	{"poll-timeout", "timer", "a poll() that times out", slow_server_setup, connect_one,
	 poll_round},
	{"epoll", "peer-app", "one of six connections in epoll_wait(), not the one written on last",
	 many_setup, connect_many, epoll_round},
	{"poll-many", "peer-app", "the same in poll()", many_setup, connect_many, poll_many_round},
	{"select-many", "peer-app", "the same in select()", many_setup, connect_many,
	 select_many_round},
	{"proxy", "peer-app", "a proxy, whose backend sleeps", proxy_setup, connect_one, ask_round},
	{"idle", "idle", "the next request", idle_setup, accept_one, answer_round},
	{"empty", "idle", "an event that it does not read: every wake is an empty one", event_setup,
	 watch_event, ignore_round},
	{"counted", "idle", "the same event, read", event_setup, watch_event, count_round},
	{"push", "idle", "messages, by recv() alone", push_setup, connect_watched, receive_round},
	{"push-poll", "idle", "the same, by poll() and recv()", push_setup, connect_watched,
	 poll_receive_round},
	{"push-epoll", "idle", "the same, by epoll_wait() and recv()", push_setup, connect_watched,
	 epoll_receive_round},
	{"split-quick", "network", "two pieces, each acknowledged at once", prompt_server_setup,
	 connect_one, split_round},
	{"split-nodelay", "network", "two pieces that nothing holds", prompt_server_setup,
	 connect_nodelay, split_round},
	{"handing", "network", "requests that two threads hand to and fro", prompt_server_setup,
	 handing_begin, handing_round},
	{"steps", "peer-app", "an answer that is looked for every millisecond", slow_server_setup,
	 connect_one, steps_round},
	{"waker", "idle", "wakes a thread that is done at once, again and again", nothing,
	 waker_begin, waker_round},
	{"mixed", "timer", "20 ms of computing, 50 sleeps of 0.5 ms, then its own timer", nothing,
	 nothing, mixed_round},
	{"asked", "peer-app", "an answer that was owed before the gate opened; one round",
	 late_server_setup, ask_early, end_waiting},
	{"connecting", "syn-retransmit", "a connect() that was under way before; one round",
	 full_setup, connect_early, accept_round},
	{"refused", "syn-retransmit", "the same, and it fails", full_setup, connect_early,
	 refuse_round},
	{"stopped", "unknown", "SIGCONT after SIGSTOP", stopper_setup, nothing, stopped_round},
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

static unsigned rounds = 20;
static bool gate;
static uint64_t samples[MAX_ROUNDS];

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void run(const struct mode *mode)
{
	unsigned i, stalls = 0;
	char go;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("mmap");
	shared->fd = -1;
	signal(SIGPIPE, SIG_IGN);
	mode->setup();
	shared->client_pid = shared->client_tid = getpid();
	mode->begin();
	printf("ready client_pid=%d client_tid=%d server_pid=%d waker_pid=%d waker_tid=%d "
	       "backend_pid=%d fd=%d port=%d\n",
	       shared->client_pid, shared->client_tid, shared->waker_pid, shared->waker_pid,
	       shared->waker_tid, shared->backend_pid, shared->fd, shared->port);
	fflush(stdout);
	while (gate && read(STDIN_FILENO, &go, 1) == 1 && go != '\n')
		;
	shared->begun = 1;
	for (i = 0; i < rounds; i++) {
		uint64_t begin = now_ns();

		mode->round();
		samples[i] = now_ns() - begin;
		stalls += samples[i] >= STALL_NS;
	}
	qsort(samples, rounds, sizeof(samples[0]), by_length);
	printf("done mode=%s cause=%s exchanges=%u stalls=%u median_us=%.1f max_us=%.1f\n",
	       mode->name, mode->cause, rounds, stalls, samples[rounds / 2] / 1e3,
	       samples[rounds - 1] / 1e3);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"mode", required_argument, NULL, 'm'},
						{"ms", required_argument, NULL, 's'},
						{"gate", required_argument, NULL, 'g'},
						{0}};
	const char *name = "list";
	int option;
	size_t i;

	while ((option = getopt_long(argc, argv, "n:", options, NULL)) != -1) {
		switch (option) {
		case 'm':
			name = optarg;
			break;
		case 's':
			wait_ms = atoi(optarg);
			break;
		case 'g':
			gate = !strcmp(optarg, "stdin");
			break;
		case 'n':
			rounds = atoi(optarg);
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (!rounds || rounds > MAX_ROUNDS)
		return EXIT_USAGE;
	for (i = 0; i < MODES; i++) {
		if (!strcmp(name, "list"))
			printf("%-14s %-10s %s\n", modes[i].name, modes[i].cause, modes[i].what);
		if (strcmp(name, modes[i].name))
			continue;
		run(&modes[i]);
		return EXIT_SUCCESS;
	}
	return strcmp(name, "list") ? EXIT_USAGE : EXIT_SUCCESS;
}

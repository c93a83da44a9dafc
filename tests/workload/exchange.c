// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The workload library as a program, which prints its own ground truth for tests and benchmarks:
 *
 *	$ exchange --mode split -n 30
 *	ready client_pid=812 server_pid=811 fd=3 port=46465
 *	done mode=split exchanges=30 stalls=29 median_us=43995.2 p99_us=44112.9 max_us=44112.9
 *	    cpu_us_per_exchange=93.130 seconds=1.275		(all in one line)
 *
 * Exit status: 0 done, 1 it failed, 64 usage.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/workload/exchange_options.h"

static struct workload *running; /* for the signal handler */
static volatile sig_atomic_t interrupted;

static void on_signal(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
	if (running)
		workload__stop(running);
}

static void catch_signals(sigset_t *ours)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigemptyset(ours);
	sigaddset(ours, SIGINT);
	sigaddset(ours, SIGTERM);
	sigaddset(ours, SIGHUP);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static void read_line(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
		;
}

/* Called with the signals blocked: they come while it waits, or are there when it begins to. */
static void wait_at_gate(int gate_ms)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	struct timespec t = {.tv_sec = gate_ms / 1000, .tv_nsec = gate_ms % 1000 * 1000000L};
	sigset_t none;

	sigemptyset(&none);
	if (gate_ms != GATE_STDIN)
		ppoll(NULL, 0, &t, &none);
	else if (ppoll(&in, 1, NULL, &none) == 1)
		read_line();
}

static void print_ready(const struct workload *w)
{
	printf("ready client_pid=%d server_pid=%d fd=%d port=%u\n", workload__client_pid(w),
	       workload__server_pid(w), workload__client_fd(w), workload__port(w));
	fflush(stdout);
}

static void print_done(const struct workload *w, const char *mode_name)
{
	struct workload_summary s;

	workload__summarize(workload__result(w), &s);
	printf("done mode=%s exchanges=%" PRIu64 " stalls=%" PRIu64
	       " median_us=%.1f p99_us=%.1f max_us=%.1f cpu_us_per_exchange=%.3f seconds=%.3f\n",
	       mode_name, s.exchanges, s.stalls, s.median_us, s.p99_us, s.max_us,
	       s.cpu_us_per_exchange, s.seconds);
	fflush(stdout);
}

static int write_samples(const struct workload_result *r, const char *path)
{
	uint64_t end = atomic_load(&r->exchanges);
	uint64_t i = end > WORKLOAD_SAMPLES ? end - WORKLOAD_SAMPLES : 0;
	FILE *f = fopen(path, "w");

	if (!f) {
		complain("cannot open %s: %s", path, strerror(errno));
		return -errno;
	}
	for (; i < end; i++) {
		const struct workload_sample *s = &r->samples[i % WORKLOAD_SAMPLES];

		fprintf(f, "%" PRIu64 " %" PRIu64 "\n", s->start_ns, s->latency_ns);
	}
	if (!fclose(f))
		return 0;
	complain("cannot write %s: %s", path, strerror(errno));
	return -errno;
}

/* Called with the signals blocked, so that none is lost before there is something to stop. */
static int run(struct workload *w, const struct arguments *a, const sigset_t *signals)
{
	int err = workload__start(w);

	if (err)
		return err;
	running = w;
	print_ready(w);
	if (a->workload.role != WORKLOAD_SERVER_ONLY)
		wait_at_gate(a->gate_ms);
	if (!interrupted)
		workload__open_gate(w);
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	err = workload__wait(w);
	sigprocmask(SIG_BLOCK, signals, NULL);
	running = NULL;
	return err;
}

int main(int argc, char **argv)
{
	struct arguments a;
	struct workload *w;
	sigset_t signals;
	int err;

	arguments__parse(&a, argc, argv);
	catch_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	w = workload__new(&a.workload);
	if (!w) {
		complain("no memory: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	err = run(w, &a, &signals);
	if (err)
		complain("%s", workload__error(w));
	else
		print_done(w, workload__script(a.workload.mode)->name);
	if (!err && a.samples_path)
		err = write_samples(workload__result(w), a.samples_path);
	workload__free(w);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

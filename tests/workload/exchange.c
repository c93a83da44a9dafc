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
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/demo/workload.h"

#define EXIT_USAGE 64
#define GATE_STDIN -1

struct arguments {
	struct workload_options workload;
	int gate_ms; /* from ready to the first exchange, or GATE_STDIN */
	const char *samples_path;
};

/* Options without a letter. */
enum {
	OPTION_MODE = 256,
	OPTION_PORT,
	OPTION_HOST,
	OPTION_IPV6,
	OPTION_CONNECTIONS,
	OPTION_CPU,
	OPTION_SERVER_ONLY,
	OPTION_CLIENT_ONLY,
	OPTION_GATE,
	OPTION_CONNECT_AFTER_GATE,
	OPTION_SECONDS,
	OPTION_WARMUP,
	OPTION_NAME,
	OPTION_GAP,
	OPTION_REPLY,
	OPTION_REQUEST,
	OPTION_SAMPLES,
	OPTION_LIST,
};

static const struct option long_options[] = {
	{"mode", required_argument, NULL, OPTION_MODE},
	{"port", required_argument, NULL, OPTION_PORT},
	{"host", required_argument, NULL, OPTION_HOST},
	{"ipv6", no_argument, NULL, OPTION_IPV6},
	{"connections", required_argument, NULL, OPTION_CONNECTIONS},
	{"cpu", required_argument, NULL, OPTION_CPU},
	{"server-only", no_argument, NULL, OPTION_SERVER_ONLY},
	{"client-only", no_argument, NULL, OPTION_CLIENT_ONLY},
	{"gate", required_argument, NULL, OPTION_GATE},
	{"connect-after-gate", no_argument, NULL, OPTION_CONNECT_AFTER_GATE},
	{"seconds", required_argument, NULL, OPTION_SECONDS},
	{"warmup-ms", required_argument, NULL, OPTION_WARMUP},
	{"name", required_argument, NULL, OPTION_NAME},
	{"gap-us", required_argument, NULL, OPTION_GAP},
	{"reply", required_argument, NULL, OPTION_REPLY},
	{"request", required_argument, NULL, OPTION_REQUEST},
	{"samples", required_argument, NULL, OPTION_SAMPLES},
	{"list", no_argument, NULL, OPTION_LIST},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static const char help[] =
	"Usage: exchange [OPTION...]\n"
	"Makes request/response exchanges over TCP, and says how long they took.\n"
	"\n"
	"  --mode MODE           what an exchange is like (--list names them all; split)\n"
	"  -n N                  end after so many exchanges (0: never)\n"
	"  --seconds S           end after so long\n"
	"  --warmup-ms MS        exchanges at the start that do not count\n"
	"  --gate stdin|none|MS  begin when a line or the end of stdin is read; at once (none); or\n"
	"                        MS after the ready line\n"
	"  --connect-after-gate  connect only then\n"
	"  --connections K       so many at the same time; more than 1 use epoll\n"
	"  --host ADDRESS        numeric; listened on and connected to (loopback)\n"
	"  --port PORT           (any free one)\n"
	"  --ipv6                use the loopback address of IPv6\n"
	"  --server-only         no client; serve until SIGINT or SIGTERM\n"
	"  --client-only         no server\n"
	"  --cpu C               run both ends on this CPU\n"
	"  --name COMM           the client's process name (demo-client)\n"
	"  --gap-us US           pause between the two writes of a request\n"
	"  --reply BYTES         the reply's size\n"
	"  --request BYTES       the size of the request's first write, at both ends alike\n"
	"  --samples FILE        write 'START_NS LATENCY_NS' of every exchange\n"
	"  --list                list the modes\n"
	"A stall is an exchange of 10 ms or longer.\n";

static struct workload *running; /* for the signal handler */
static volatile sig_atomic_t interrupted;

static void on_signal(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
	if (running)
		workload__stop(running);
}

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
	va_list args;

	fputs("exchange: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\n", stderr);
}

static uint64_t number(const char *option, const char *text, uint64_t max)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > max) {
		complain("%s takes a number from 0 to %" PRIu64 ", not '%s'", option, max, text);
		exit(EXIT_USAGE);
	}
	return value;
}

static uint64_t milliseconds(const char *option, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds > 0 && seconds < 1e6)) {
		complain("%s takes a number of seconds, not '%s'", option, text);
		exit(EXIT_USAGE);
	}
	return seconds * 1e3;
}

static enum workload_mode mode(const char *name)
{
	const struct workload_script *script = workload__find(name);

	if (script)
		return script->mode;
	complain("there is no mode '%s'; --list shows all", name);
	exit(EXIT_USAGE);
}

static int gate(const char *text)
{
	if (!strcmp(text, "stdin"))
		return GATE_STDIN;
	return strcmp(text, "none") ? (int)number("--gate", text, 3600000) : 0;
}

static void list_modes(void)
{
	const struct workload_script *script;

	for (unsigned int i = 0; (script = workload__script(i)); i++)
		printf("%-12s %s\n", script->name, script->description);
	exit(EXIT_SUCCESS);
}

/* Returns whether the option was one of these. */
static bool set_number(struct workload_options *w, int option, const char *value)
{
	switch (option) {
	case 'n':
		w->exchanges = number("-n", value, UINT64_MAX);
		return true;
	case OPTION_PORT:
		w->port = number("--port", value, UINT16_MAX);
		return true;
	case OPTION_CONNECTIONS:
		w->connections = number("--connections", value, WORKLOAD_MAX_CONNECTIONS);
		return true;
	case OPTION_CPU:
		w->cpu = number("--cpu", value, 1023);
		return true;
	case OPTION_WARMUP:
		w->warmup_ms = number("--warmup-ms", value, 3600000);
		return true;
	case OPTION_GAP:
		w->gap_us = number("--gap-us", value, 3600000000);
		return true;
	case OPTION_REPLY:
		w->reply_bytes = number("--reply", value, WORKLOAD_MAX_MESSAGE);
		return true;
	case OPTION_REQUEST:
		w->request_bytes = number("--request", value, WORKLOAD_MAX_MESSAGE);
		return true;
	}
	return false;
}

/* Returns whether the option was one of these. */
static bool set_flag(struct workload_options *w, int option)
{
	switch (option) {
	case OPTION_IPV6:
		w->ipv6 = true;
		return true;
	case OPTION_SERVER_ONLY:
		w->role = WORKLOAD_SERVER_ONLY;
		return true;
	case OPTION_CLIENT_ONLY:
		w->role = WORKLOAD_CLIENT_ONLY;
		return true;
	case OPTION_CONNECT_AFTER_GATE:
		w->connect_after_gate = true;
		return true;
	}
	return false;
}

static void set_option(struct arguments *a, int option, char *value)
{
	struct workload_options *w = &a->workload;

	if (set_number(w, option, value) || set_flag(w, option))
		return;
	switch (option) {
	case OPTION_MODE:
		w->mode = mode(value);
		break;
	case OPTION_HOST:
		w->host = value;
		break;
	case OPTION_GATE:
		a->gate_ms = gate(value);
		break;
	case OPTION_SECONDS:
		w->window_ms = milliseconds("--seconds", value);
		break;
	case OPTION_NAME:
		w->client_name = value;
		break;
	case OPTION_SAMPLES:
		a->samples_path = value;
		break;
	case OPTION_LIST:
		list_modes();
		break;
	case 'h':
		fputs(help, stdout);
		exit(EXIT_SUCCESS);
	default: /* getopt has said what is wrong */
		exit(EXIT_USAGE);
	}
}

static void parse_arguments(struct arguments *a, int argc, char **argv)
{
	int option;

	*a = (struct arguments){0};
	workload_options__init(&a->workload, WORKLOAD_SPLIT);
	while ((option = getopt_long(argc, argv, "n:h", long_options, NULL)) != -1)
		set_option(a, option, optarg);
	if (optind == argc)
		return;
	complain("there is no use for '%s'; --help shows the options", argv[optind]);
	exit(EXIT_USAGE);
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

static int print_done(const struct workload *w, const char *mode_name)
{
	struct workload_summary s;

	if (workload__summarize(workload__result(w), &s)) {
		complain("no memory for the summary");
		return -ENOMEM;
	}
	printf("done mode=%s exchanges=%" PRIu64 " stalls=%" PRIu64
	       " median_us=%.1f p99_us=%.1f max_us=%.1f cpu_us_per_exchange=%.3f seconds=%.3f\n",
	       mode_name, s.exchanges, s.stalls, s.median_us, s.p99_us, s.max_us,
	       s.cpu_us_per_exchange, s.seconds);
	fflush(stdout);
	return 0;
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

	parse_arguments(&a, argc, argv);
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
		err = print_done(w, workload__script(a.workload.mode)->name);
	if (!err && a.samples_path)
		err = write_samples(workload__result(w), a.samples_path);
	workload__free(w);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

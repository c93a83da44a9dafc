// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "tests/workload/exchange_options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 64

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

void complain(const char *format, ...)
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

void arguments__parse(struct arguments *a, int argc, char **argv)
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

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/offcpu_sample.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/record/record.h"

#define PID_LIMIT 4194304 /* PID_MAX_LIMIT, include/linux/threads.h */

enum {
	OPT_COMM = 0x100,
	OPT_CHILDREN,
	OPT_THRESHOLD,
	OPT_JSON,
	OPT_NO_COLOR,
	OPT_ALL,
	OPT_SHOW,
	OPT_EVENTS
};

void options__init(struct options *options)
{
	memset(options, 0, sizeof(*options));
	options->session.way = WAY_AUTO;
	options->session.threshold_ns = DEFAULT_THRESHOLD_NS;
	options->show = SHOW_IN_REPORT;
}

void usage_error(const struct argp_state *state, const char *format, ...)
{
	char *raw, *line;
	va_list args;
	size_t size;

	va_start(args, format);
	raw = xvasprintf(format, args);
	va_end(args);
	size = TEXT_SAFE(strlen(raw));
	line = xcalloc(1, size);
	fprintf(stderr, "%s: %s (`%s --help` tells more)\n", state->name,
		text__safe_line(line, size, raw), state->name);
	exit(EXIT_USAGE);
}

long options__number(const char *text, const char *what, long low, long high,
		     const struct argp_state *state)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < low || value > high)
		usage_error(state, "%s must be a whole number from %ld to %ld, not '%s'", what, low,
			    high, text);
	return value;
}

double options__positive(const char *text, const char *what, double high,
			 const struct argp_state *state)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0 || value > high)
		usage_error(state, "%s must be more than 0 and at most %.10g, not '%s'", what, high,
			    text);
	return value;
}

uint64_t options__threshold(const char *text, const struct argp_state *state)
{
	return ceil(options__positive(text, "the threshold in milliseconds", 3.6e6, state) * 1e6);
}

void options__named(const char *name, const char *option, const struct argp_state *state)
{
	if (name && !*name)
		usage_error(state, "%s is followed by a name, not by an empty one", option);
}

static void parse_pids(char *list, struct target *target, struct argp_state *state)
{
	char *word, *rest = list;

	while ((word = strsep(&rest, ","))) {
		if (target->pid_count == TARGET_PIDS)
			usage_error(state, "-p takes at most %d pids; -c or --comm take any number",
				    TARGET_PIDS);
		target->pids[target->pid_count++] =
			options__number(word, "a pid", 1, PID_LIMIT, state);
	}
}

static void parse_tids(char *list, struct target *target, struct argp_state *state)
{
	char *word, *rest = list;

	target->tid_count = 0;
	while ((word = strsep(&rest, ","))) {
		if (target->tid_count == TARGET_TIDS)
			usage_error(state, "-t takes at most %d tids", TARGET_TIDS);
		target->tids[target->tid_count++] =
			options__number(word, "a tid", 1, PID_LIMIT, state);
	}
	target->tid = target->tids[0];
}

static unsigned ring_bytes(const char *text, struct argp_state *state)
{
	long bytes = options__number(text, "ringbuf.bytes", 4096, 1 << 30, state);

	if (bytes & (bytes - 1))
		usage_error(state, "ringbuf.bytes must be a power of two, not '%s'", text);
	return bytes;
}

static void parse_knob(char *text, struct session_options *session, struct argp_state *state)
{
	char *value = strchr(text, '=');

	if (!value)
		usage_error(state, "-C takes KEY=VALUE, not '%s'", text);
	*value++ = '\0';
	if (!strcmp(text, "attach")) {
		session->way = way__find(value);
		if (session->way == WAY_COUNT && strcmp(value, "auto"))
			usage_error(state, "attach is auto, fentry, kprobe or tracepoint, not '%s'",
				    value);
	} else if (!strcmp(text, "btf")) {
		if (!*value)
			usage_error(state, "btf takes a file: -C btf=FILE");
		session->btf_path = value;
	} else if (!strcmp(text, "ringbuf.bytes")) {
		session->ringbuf_bytes = ring_bytes(value, state);
	} else if (!strcmp(text, "conns.max")) {
		session->max_conns = options__number(value, "conns.max", 1, 1 << 20, state);
	} else if (!strcmp(text, "threads.max")) {
		session->max_threads = options__number(value, "threads.max", 1, 1 << 20, state);
	} else if (!strcmp(text, "uring.max")) {
		session->max_ops = options__number(value, "uring.max", 1, 1 << 20, state);
	} else if (!strcmp(text, "stack.bytes")) {
		session->stack_bytes = options__number(value, "stack.bytes", NS_OFFCPU_STACK_LEAST,
						       NS_OFFCPU_STACK_MOST, state);
	} else {
		usage_error(state,
			    "no knob '%s': there are attach, btf, ringbuf.bytes, conns.max, "
			    "threads.max, uring.max and stack.bytes",
			    text);
	}
}

static error_t parse_offwake_knobs(int key, char *arg, struct argp_state *state)
{
	if (key != 'C')
		return ARGP_ERR_UNKNOWN;
	parse_knob(arg, state->input, state);
	return 0;
}

static error_t parse_knobs(int key, char *arg, struct argp_state *state)
{
	const struct session_options *session = state->input;

	if (key == ARGP_KEY_END && session->stack_bytes)
		usage_error(state, "-C stack.bytes is for offwake: leave it out here");
	return parse_offwake_knobs(key, arg, state);
}

const char *options__analysis_knob(const struct session_options *session)
{
	if (session->way != WAY_AUTO)
		return "attach";
	if (session->ringbuf_bytes)
		return "ringbuf.bytes";
	if (session->max_conns)
		return "conns.max";
	if (session->max_threads)
		return "threads.max";
	return session->max_ops ? "uring.max" : NULL;
}

static void check_target(const struct target *target, struct argp_state *state)
{
	options__named(target->program ? target->program[0] : NULL, "--", state);
	options__named(target->cgroup, "-c", state);
	if (target__is_empty(target))
		usage_error(
			state,
			"name a target: -p PID, -t TID, --comm NAME, -c CGROUP, -L PORT, -D PORT, "
			"or -- PROGRAM");
	if (target->program && (target->pid_count || target->tid || target->comm || target->cgroup))
		usage_error(state,
			    "-- PROGRAM is a target of its own: leave out -p, -t, --comm and -c");
	if (target->tid && (target->pid_count || target->comm || target->cgroup))
		usage_error(state, "-t names threads: leave out -p, --comm and -c");
}

static error_t parse_target(int key, char *arg, struct argp_state *state)
{
	struct target *target = state->input;

	switch (key) {
	case 'p':
		parse_pids(arg, target, state);
		return 0;
	case 't':
		parse_tids(arg, target, state);
		return 0;
	case OPT_COMM:
		if (!*arg)
			usage_error(state, "--comm takes the name of a process");
		target->comm = arg;
		return 0;
	case 'c':
		target->cgroup = arg;
		return 0;
	case 'L':
		target->lport = options__number(arg, "a local port", 1, 65535, state);
		return 0;
	case 'D':
		target->rport = options__number(arg, "a remote port", 1, 65535, state);
		return 0;
	case OPT_CHILDREN:
		target->children = true;
		return 0;
	case ARGP_KEY_ARGS:
		target->program = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check_target(target, state);
		if (target->tid_count > 1)
			usage_error(state, "-t takes one thread here; offwake takes several");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_target_or_none(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_END)
		return parse_target(key, arg, state);
	if (!target__is_empty(state->input))
		check_target(state->input, state);
	return 0;
}

static void parse_events(const char *kind, struct options *options, const struct argp_state *state)
{
	if (strcmp(kind, "uring"))
		usage_error(state, "--events is uring, the operations of io_uring, not '%s'", kind);
	options->events_uring = options->session.uring_events = true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->target;
		state->child_inputs[1] = &options->session;
		return 0;
	case 'd':
		options->seconds = options__positive(arg, "the duration in seconds", 1e6, state);
		return 0;
	case OPT_THRESHOLD:
		options->session.threshold_ns = options__threshold(arg, state);
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case OPT_JSON:
		options->json = true;
		return 0;
	case 'v':
		options->verbose = true;
		log__set_verbose(true);
		return 0;
	case OPT_NO_COLOR:
		options->no_color = true;
		return 0;
	case OPT_ALL:
		options->all = options->session.verbose = true;
		return 0;
	case OPT_EVENTS:
		parse_events(arg, options, state);
		return 0;
	case ARGP_KEY_END:
		options__named(options->output, "-o", state);
		if (options->all && options->events_uring)
			usage_error(state,
				    "--all prints what --events does: leave one of them out");
		return 0;
	case OPT_SHOW:
		options->show = !strcmp(arg, "all")
					? UINT_MAX
					: options__number(arg, "--show", 0, 1000000, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option target_table[] = {
	{0, 0, 0, 0, "Target:", 1},
	{"pid", 'p', "PID[,PID]", 0, "Processes, by pid", 1},
	{"tid", 't', "TID", 0, "One thread (offwake: up to 5, TID,TID)", 1},
	{"comm", OPT_COMM, "NAME", 0, "Processes of that name, also ones that start later", 1},
	{"cgroup", 'c', "PATH", 0, "Processes of a cgroup (version 2) and those below it", 1},
	{"lport", 'L', "PORT", 0, "Only connections with that local port", 1},
	{"rport", 'D', "PORT", 0, "Only connections with that remote port", 1},
	{"children", OPT_CHILDREN, 0, 0, "Also processes that the targets have started, and will",
	 1},
	{0},
};

const struct argp targets_argp = {.options = target_table, .parser = parse_target};
const struct argp any_targets_argp = {.options = target_table, .parser = parse_target_or_none};

static const struct argp_option knob_table[] = {
	{0, 'C', "KEY=VALUE", 0,
	 "Rare knobs: attach=auto|fentry|kprobe|tracepoint, btf=FILE, ringbuf.bytes=N, conns.max=N, "
	 "threads.max=N, uring.max=N, stack.bytes=N (offwake)",
	 3},
	{0},
};

const struct argp knobs_argp = {.options = knob_table, .parser = parse_knobs};
const struct argp offwake_knobs_argp = {.options = knob_table, .parser = parse_offwake_knobs};

static const struct argp_option table[] = {
	{0, 0, 0, 0, "What and how long:", 2},
	{"duration", 'd', "SECS", 0,
	 "Stop after that time (default: at Ctrl-C or the target's end)", 2},
	{"threshold", OPT_THRESHOLD, "MS", 0, "The shortest stall (default 10)", 2},
	{"all", OPT_ALL, 0, 0, "Print every event, not only what surrounds a stall", 2},
	{"events", OPT_EVENTS, "uring", 0,
	 "Print the operations of io_uring as they complete, one line each, and no other event", 2},
	{"show", OPT_SHOW, "N", 0,
	 "Print time lines as stalls end, so many for each cause on each connection: a number or "
	 "'all' (default: one in the report at the end)",
	 2},
	{0, 0, 0, 0, "Output:", 3},
	{"output", 'o', "FILE", 0, "Write there (created for you alone), not to stdout", 3},
	{"json", OPT_JSON, 0, 0, "JSON Lines: events, and the report as the last line", 3},
	{"no-color", OPT_NO_COLOR, 0, 0, "No colours on a terminal (also: NO_COLOR set)", 3},
	{"verbose", 'v', 0, 0,
	 "The whole report; also say what is done and what the kernel answers", 3},
	{0},
};

static const struct argp_child children[] = {
	{&targets_argp, 0, NULL, 1}, {&knobs_argp, 0, NULL, 0}, {0}};

const struct argp options_argp = {.options = table, .parser = parse, .children = children};

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall trace: watch a target, explain each stall, sum up. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "user/cmd/commands.h"
#include "user/cmd/live.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"

static void parse_show(const struct option_row *row, char *arg, void *to,
		       const struct argp_state *state)
{
	if (!strcmp(arg, "all"))
		*(unsigned *)to = UINT_MAX;
	else
		option__number(row, arg, to, state);
}

static void parse_all(const struct option_row *row, char *arg, void *to,
		      const struct argp_state *state)
{
	struct options *options = to;

	(void)row;
	(void)arg;
	(void)state;
	options->all = options->session.verbose = true;
}

static void parse_events(const struct option_row *row, char *arg, void *to,
			 const struct argp_state *state)
{
	struct options *options = to;

	(void)row;
	if (strcmp(arg, "uring"))
		usage_error(state, "--events is uring, the operations of io_uring, not '%s'", arg);
	options->events_uring = options->session.uring_events = true;
}

static void parse_connections(const struct option_row *row, char *arg, void *to,
			      const struct argp_state *state)
{
	struct options *options = to;

	(void)row;
	if (strcmp(arg, "each") && strcmp(arg, "found"))
		usage_error(state, "--connections is each or found, not '%s'", arg);
	options->session.each_connection = !strcmp(arg, "each");
	options->connections = strcmp(arg, "each") ? CONNECTIONS_FOUND : CONNECTIONS_EACH;
}

static void parse_stacks(const struct option_row *row, char *arg, void *to,
			 const struct argp_state *state)
{
	(void)row;
	if (strcmp(arg, "own") && strcmp(arg, "full"))
		usage_error(state, "--stacks is own or full, not '%s'", arg);
	((struct options *)to)->full_stacks = !strcmp(arg, "full");
}

static const struct option_row rows[] = {
	{.help = "What and how long:"},
	{'d', "duration", "SECS",
	 "Stop after this time (default: at Ctrl-C or when the target ends)", option__positive,
	 INTO(struct options, seconds), .high = 1e6, .what = "the duration in seconds"},
	{0, "threshold", "MS", "The shortest stall (default 10)", option__threshold,
	 INTO(struct options, session.threshold_ns)},
	{0, "all", NULL, "Print every event", .parse = parse_all},
	{0, "events", "uring", "Print only io_uring operations, one line each, as they complete",
	 .parse = parse_events},
	{0, "show", "N",
	 "Print up to N time lines for each cause on each connection as stalls end; N is a number or 'all' (default: one time line, in the report)",
	 parse_show, INTO(struct options, show), 0, 1000000, "--show"},
	{.help = "Output:"},
	{0, "connections", "each|found",
	 "Connections with a row of their own: each, or those on which something was found, or all if they are few (found, the default; JSON: the worst 100). Their services have one row each",
	 .parse = parse_connections},
	{0, "stacks", "own|full",
	 "Call sites of the verdict: the program's own functions (own, the default), or all frames too",
	 .parse = parse_stacks},
	{0},
};

static void check(void *options, const struct argp_state *state)
{
	const struct options *trace = options;

	if (trace->all && trace->events_uring)
		usage_error(state, "--all includes --events: leave one of them out");
}

static const struct command_options command = {
	.command = COMMAND_TRACE,
	.usage = "[-- PROGRAM ARG...]",
	.help = "Find why a program waits on the network: the verdict, the time line that proves it, tables.\v"
		"Exit status: 0 done, 2 could not trace, 64 wrong usage.",
	.rows = rows,
	.takes_target = true,
	.check = check,
};

static bool on_tick(void *printer, struct live *live, uint64_t now_ns)
{
	printer__idle(printer, live__report(live), now_ns);
	return true;
}

static int trace(const struct options *options, struct output *output)
{
	struct printer printer;
	struct live_options live = {.session = options->session,
				    .target = &options->target,
				    .seconds = options->seconds,
				    .progress = isatty(STDERR_FILENO) && !options->all &&
						!options->events_uring,
				    .output = output->file,
				    .tick = on_tick,
				    .context = &printer};
	struct live *done;
	int err;

	printer__init(&printer, output, options);
	live.sink = printer__sink(&printer);
	err = live__run(&live, &done);
	if (!err)
		printer__finish(&printer, live__report(done));
	live__free(done);
	printer__free(&printer);
	return err ? EXIT_UNABLE : EXIT_OK;
}

int cmd_trace(int argc, char **argv)
{
	struct options options;
	struct output output;
	int status;

	options__init(&options);
	options__parse(&command, argc, argv, &options);
	if (output__open(&output, &options))
		return EXIT_UNABLE;
	status = trace(&options, &output);
	if (output__close(&output) && status == EXIT_OK)
		status = EXIT_UNABLE;
	return status;
}

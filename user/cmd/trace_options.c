// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/trace_options.h"

#include <limits.h>
#include <string.h>

#include "user/analyze/cause.h"
#include "user/base/array.h"
#include "user/cmd/flight.h"

#define WATCH (COMMAND_TRACE | COMMAND_RECORD)
#define SHOW  (COMMAND_TRACE | COMMAND_REPORT)

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
	if (!strcmp(arg, "stalls"))
		options->events = EVENTS_STALLS;
	else if (!strcmp(arg, "uring"))
		options->events = EVENTS_URING;
	else
		usage_error(state,
			    "--events is uring, the operations of io_uring, or stalls, not '%s'",
			    arg);
	options->session.uring_events = options->events == EVENTS_URING;
	if (options->events == EVENTS_STALLS && options->show == SHOW_IN_REPORT)
		options->show = UINT_MAX;
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

static void parse_chosen(const struct option_row *row, char *arg, void *to,
			 const struct argp_state *state)
{
	struct stall_choice *stalls =
		(struct stall_choice *)((char *)to - row->at + offsetof(struct options, stalls));

	option__number(row, arg, to, state);
	stalls->made = true;
}

static void no_cause(const char *id, const struct argp_state *state)
{
	const char *near = cause__nearest(id);

	usage_error(state, "there is no cause '%s': %s%s%sdocs/causes.md lists them", id,
		    near ? "did you mean " : "", near ? near : "", near ? "? " : "");
}

static void parse_cause(const struct option_row *row, char *arg, void *to,
			const struct argp_state *state)
{
	struct stall_choice *stalls = to;

	(void)row;
	if (cause__find(arg, strlen(arg)) == CAUSE_COUNT)
		no_cause(arg, state);
	stalls->cause = arg;
	stalls->made = true;
}

static void parse_from(const struct option_row *row, char *arg, void *to,
		       const struct argp_state *state)
{
	struct stall_choice *stalls = to;

	(void)row;
	stalls->from = options__positive(arg, "the time in seconds", 1e9, state);
	stalls->made = true;
}

static void parse_to(const struct option_row *row, char *arg, void *to,
		     const struct argp_state *state)
{
	struct stall_choice *stalls = to;

	(void)row;
	stalls->to = options__positive(arg, "the time in seconds", 1e9, state);
	stalls->made = true;
}

#define LAST_SECONDS 86400.0
#define LAST_MOST    1024 /* MiB */

static void parse_last(const struct option_row *row, char *arg, void *to,
		       const struct argp_state *state)
{
	struct options *options = to;
	size_t len = strlen(arg);
	char unit = len ? arg[len - 1] : '\0';

	(void)row;
	options->last_seconds = LAST_SECONDS;
	options->last_bytes = FLIGHT_BYTES;
	if (unit != 'M' && unit != 'G') {
		options->last_seconds =
			options__positive(arg, "what is kept, in seconds", LAST_SECONDS, state);
		return;
	}
	arg[len - 1] = '\0';
	options->last_bytes =
		(uint64_t)(options__positive(arg, "the size of what is kept",
					     unit == 'G' ? LAST_MOST / 1024.0 : LAST_MOST, state) *
			   (unit == 'G' ? 1 << 30 : 1 << 20));
}

static void parse_keep_cause(const struct option_row *row, char *arg, void *to,
			     const struct argp_state *state)
{
	struct options *options = to;
	char *comma = strchr(arg, ',');
	size_t len = comma ? (size_t)(comma - arg) : strlen(arg);

	(void)row;
	options->keep_cause = cause__find(arg, len);
	if (options->keep_cause == CAUSE_COUNT && (len != 3 || strncmp(arg, "any", 3)))
		no_cause(comma ? strndupa(arg, len) : arg, state);
	if (comma)
		options->keep_ns =
			(uint64_t)(options__positive(comma + 1 + (comma[1] == '>'),
						     "the length in milliseconds", 3.6e6, state) *
				   1e6);
	options->keep_some = true;
}

#define CHOICE(name, argument, member, help, least)                                                \
	{                                                                                          \
		0, name, argument, help, parse_chosen, INTO(struct options, stalls.member), least, \
			4294967295.0, "--" name, .commands = COMMAND_REPORT                        \
	}

const struct option_row trace_options[] = {
	{.help = "What and how long:", .commands = WATCH},
	{'d', "duration", "SECS",
	 "Stop after this time (default: at Ctrl-C or when the target ends)", option__positive,
	 INTO(struct options, seconds), .high = 1e6, .what = "the duration in seconds",
	 .commands = WATCH},
	{0, "threshold", "MS", "The shortest stall (default 10)", option__threshold,
	 INTO(struct options, session.threshold_ns), .commands = WATCH},
	{0, "last", "SECS|SIZE",
	 "Keep only the last SECS in memory, at most 128 MiB of them, or as many as fit into SIZE (64M), and write them at the end (a flight recorder)",
	 parse_last, .commands = COMMAND_RECORD},
	{0, "keep", "DIR",
	 "With --last: also write them to a file of this folder at each stall (of a cause at most each 10 s), and at SIGUSR1",
	 option__name, INTO(struct options, keep_stalls), .commands = COMMAND_RECORD},
	{0, "keep-cause", "CAUSE[,MS]",
	 "With --keep: only at stalls of this cause ('any': of all), of MS or longer",
	 parse_keep_cause, .commands = COMMAND_RECORD},
	{0, "keep-max", "N", "Files of --keep: the last N (default 20)", option__number,
	 INTO(struct options, keep_most), 1, 100000, "--keep-max", .commands = COMMAND_RECORD},
	{0, "keep-worst", NULL, "With --keep: those of the longest stalls, not the last ones",
	 option__flag, INTO(struct options, keep_worst), .commands = COMMAND_RECORD},
	{0, "record", "FILE",
	 "Also record the run in this file (readable by you alone), for `netstall report`",
	 option__name, INTO(struct options, recording), .commands = COMMAND_TRACE},
	{0, "offwake", NULL,
	 "Also record where threads sleep and who wakes them, for `netstall report --offwake`",
	 option__flag, INTO(struct options, offwake), .commands = COMMAND_RECORD},
	{0, "marks", NULL,
	 "Each line of stdin stands on the time line, and what stalled behind it is counted (deploys, phases of a test)",
	 option__flag, INTO(struct options, marks), .commands = WATCH},
	{.help = "What is shown:", .commands = COMMAND_REPORT},
	{0, "all", NULL, "Print every event", .parse = parse_all, .commands = SHOW},
	{0, "all", NULL, "Every event, so that the recordings of two hosts can be shown as one",
	 .parse = parse_all, .commands = COMMAND_RECORD},
	{0, "events", "uring|stalls",
	 "Print only io_uring operations, one line each, as they complete; or only stalls, as they end: their time lines, with --json one line each",
	 .parse = parse_events, .commands = SHOW},
	{0, "show", "N",
	 "Print up to N time lines for each cause on each connection as stalls end; N is a number or 'all' (default: one time line, in the report)",
	 parse_show, INTO(struct options, show), 0, 1000000, "--show", .commands = SHOW},
	{.help = "Only some stalls, whole:", .commands = COMMAND_REPORT},
	CHOICE("stall", "N", number, "The one of this number", 1),
	{0, "cause", "CAUSE", "Those of this cause", parse_cause, INTO(struct options, stalls),
	 .commands = COMMAND_REPORT},
	CHOICE("thread", "TID", thread, "Those of this thread, or process", 1),
	CHOICE("connection", "ID", connection, "Those on this connection, by its number in JSON",
	       1),
	{0, "from", "SECS", "Those that end behind this time", parse_from,
	 INTO(struct options, stalls), .commands = COMMAND_REPORT},
	{0, "to", "SECS", "Those that begin before this time", parse_to,
	 INTO(struct options, stalls), .commands = COMMAND_REPORT},
	{0, "text", NULL, "Print all records as a text trace, as netstall's own tests have them",
	 option__flag, INTO(struct options, text), .commands = COMMAND_REPORT},
	{.help = "The off-CPU profile of a recording, as offwake shows it:",
	 .commands = COMMAND_REPORT},
	{0, "offwake", NULL, "Show that, not what `trace` shows", option__flag,
	 INTO(struct options, offwake), .commands = COMMAND_REPORT},
	{0, "by-cause", NULL, "With it, put the cause of each wait in the first frame",
	 option__flag, INTO(struct options, by_cause), .about = "offwake",
	 .commands = COMMAND_REPORT},
	{'f', "folded", NULL,
	 "Folded stacks for flamegraph.pl (the default when stdout is no terminal)", option__flag,
	 INTO(struct options, folded), .about = "offwake", .commands = COMMAND_REPORT},
	{'d', "delimited", NULL, "Put a '-' between user and kernel stacks", option__flag,
	 INTO(struct options, delimited), .about = "offwake", .commands = COMMAND_REPORT},
	{0, "pprof", "FILE", "Also write a profile for pprof", option__name,
	 INTO(struct options, extras[EXTRA_PPROF]), .about = "offwake", .commands = COMMAND_REPORT},
	{.help = "Output:", .commands = SHOW},
	{0, "connections", "each|found",
	 "Connections with a row of their own: each, or those on which something was found, or all if they are few (found, the default; JSON: the worst 100). Their services have one row each",
	 .parse = parse_connections, .commands = SHOW},
	{0, "html", "FILE", "Also write a page to look at: the verdict, a picture of each stall",
	 option__name, INTO(struct options, extras[EXTRA_HTML]), .commands = SHOW},
	{0, "svg", "FILE",
	 "Also write the picture of one stall, for a ticket: the one of --stall, or the first of the verdict's cause. With --offwake: a flame graph",
	 option__name, INTO(struct options, extras[EXTRA_SVG]), .commands = SHOW},
	{0, "pcapng", "FILE",
	 "Also write the segments that were seen as a capture for Wireshark, with what held them as comments",
	 option__name, INTO(struct options, extras[EXTRA_PCAPNG]), .commands = SHOW},
	{0, "perfetto", "FILE", "Also write the run for ui.perfetto.dev", option__name,
	 INTO(struct options, extras[EXTRA_PERFETTO]), .commands = SHOW},
	{0, "anonymize", "FILE",
	 "Write the recording to this file instead, with other addresses and names of programs and files",
	 option__name, INTO(struct options, anonymized), .commands = COMMAND_REPORT},
	{0, "stacks", "own|full",
	 "Call sites of the verdict: the program's own functions (own, the default), or all frames too",
	 .parse = parse_stacks, .commands = SHOW},
	{0},
};

void trace_options__check(void *options, const struct argp_state *state)
{
	const struct options *trace = options;
	const char *files[3 + EXTRAS] = {trace->output, trace->recording, trace->anonymized};

	memcpy(files + 3, trace->extras, sizeof(trace->extras));
	for (size_t i = 0; i < COUNT_OF(files); i++)
		for (size_t j = 0; files[i] && j < i; j++)
			if (files[j] && !strcmp(files[i], files[j]) &&
			    strcmp(files[i], "/dev/null") != 0)
				usage_error(state, "two outputs cannot go to %s at the same time",
					    files[i]);

	if (trace->marks && trace->target.program)
		usage_error(state, "--marks reads stdin, which is the program's: name it by -p");
	if (trace->all && trace->events)
		usage_error(state, "--all includes --events: leave one of them out");
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/check_options.h"

#include <string.h>

#include "user/process/recorder.h"

/*
 * The shortest delayed acknowledgement that the kernel makes is one jiffy, 4 ms at HZ=250: a
 * shorter threshold finds no more of the causes that are gated by default.
 */
#define THRESHOLD_NS 4000000ull
#define LONGEST      1e6 /* seconds */

static void parse_budget(const struct option_row *row, char *arg, void *to,
			 const struct argp_state *state)
{
	char why[768]; /* all causes by name, too */

	(void)row;
	if (!budgets__parse(to, arg, why, sizeof(why)))
		usage_error(state, "--budget: %s", why);
}

static void parse_confidence(const struct option_row *row, char *arg, void *to,
			     const struct argp_state *state)
{
	option__positive(row, arg, to, state);
	if (*(double *)to < 0.5)
		usage_error(state, "%s must be at least 0.5, not '%s'", row->what, arg);
}

static void parse_inconclusive(const struct option_row *row, char *arg, void *to,
			       const struct argp_state *state)
{
	(void)row;
	if (!inconclusive__parse(to, arg))
		usage_error(state, "--inconclusive is pass, fail or 3, not '%s'", arg);
}

static void parse_report(const struct option_row *row, char *arg, void *to,
			 const struct argp_state *state)
{
	/* The list that it stands in. */
	const char **reports =
		(const char **)to - (row->at - offsetof(struct check_options, reports)) / row->size;

	if (!*arg)
		usage_error(state, "a report needs the name of a file, or - for stdout");
	for (int i = 0; i < CHECK_REPORTS; i++)
		if (&reports[i] != to && reports[i] && !strcmp(reports[i], arg))
			usage_error(state, "two reports cannot go to %s at the same time",
				    strcmp(arg, "-") ? arg : "stdout");
	*(const char **)to = arg;
}

#define CHECK(field) INTO(struct check_options, field)

static const struct option_row rows[] = {
	{.help = "What is allowed:"},
	{0, "budget", "CAUSE=LIMIT,...",
	 "How much of a cause: stalls (rto=2), their time (lock=100ms), their share of the time "
	 "watched (total=5%), or none to take its gate away; causes not named keep theirs. Default "
	 "nagle-delack=0, cork=0, rto=0, syn-retransmit=0; other causes are told, not gated",
	 parse_budget, CHECK(budgets)},
	{0, "threshold", "MS", "The shortest stall (default 4, the shortest delayed ACK at HZ=250)",
	 option__threshold, CHECK(common.session.threshold_ns)},
	{0, "baseline", "FILE",
	 "Fail also when a cause comes up significantly more often per exchange than there",
	 option__name, CHECK(baseline)},
	{0, "save-baseline", "FILE",
	 "Keep this run's rates there, to be committed; an older file stays when nothing differs",
	 option__name, CHECK(save_baseline)},
	{0, "baseline-confidence", "P", "How sure a difference has to be (default 0.99)",
	 parse_confidence, CHECK(confidence), .high = 0.999999, .what = "the baseline's confidence",
	 .about = "baseline"},
	{.help = "How long, and from when:"},
	{'d', "duration", "SECS",
	 "Judge for that time (default: until PROGRAM, or the target, ends, or Ctrl-C). A PROGRAM "
	 "that still runs then is ended",
	 option__positive, CHECK(common.seconds), .high = LONGEST,
	 .what = "the duration in seconds"},
	{0, "until-exit", NULL,
	 "PROGRAM's own end is awaited, after -d too; and an end by a signal is no less than another",
	 option__flag, CHECK(until_exit)},
	{0, "timeout", "SECS", "End PROGRAM and all that it started after that time: it has failed",
	 option__positive, CHECK(timeout), .high = LONGEST, .what = "the time-out in seconds"},
	{0, "wait-port", "PORT",
	 "Judge from when PROGRAM listens on that TCP port, for which it has --timeout, or 30 s",
	 option__number, CHECK(wait_port), 1, 65535, "a port"},
	{0, "warmup", "SECS", "Judge that much later", option__positive, CHECK(warmup),
	 .high = LONGEST, .what = "the warm-up in seconds"},
	{.help = "When a check proves nothing:"},
	{0, "inconclusive", "pass|fail|3",
	 "Exit with 0, 1 or 3 then (default 3); the reports say it either way", parse_inconclusive,
	 CHECK(inconclusive)},
	{0, "min-exchanges", "N", "Fewer requests and answers prove nothing (default 1)",
	 option__number, CHECK(min_exchanges), 0, 1000000000, "the least number of exchanges"},
	{0, "allow-no-traffic", NULL, "A target without TCP traffic passes", option__flag,
	 CHECK(allow_no_traffic)},
	{.help = "Reports, each to its file ('-': stdout, the text goes to stderr then):"},
	{0, "junit", "FILE", "JUnit XML, a test case for each gate", parse_report,
	 CHECK(reports[CHECK_REPORT_JUNIT])},
	{0, "json", "FILE", "JSON, by docs/check-schema.json", parse_report,
	 CHECK(reports[CHECK_REPORT_JSON])},
	{0, "tap", "FILE", "Test Anything Protocol", parse_report,
	 CHECK(reports[CHECK_REPORT_TAP])},
	{0, "github", NULL,
	 "Annotations for GitHub Actions, and a summary into $GITHUB_STEP_SUMMARY", option__flag,
	 CHECK(github)},
	{0, "keep", "DIR",
	 "Keep a time line and the seconds around of each stall over its budget there",
	 option__name, CHECK(keep)},
	{0, "keep-max", "N", "At most so many (default 20)", option__number, CHECK(keep_max), 1,
	 10000, .about = "keep"},
	{0, "on-stall", "CMD",
	 "Run CMD (no shell) at a stall of a gated cause, with NETSTALL_* in its environment",
	 option__name, CHECK(on_stall.command)},
	{0, "on-stall-shell", NULL, "CMD is for sh -c", option__flag, CHECK(on_stall.shell),
	 .about = "on-stall"},
	{0, "on-stall-every", "SECS", "At most once in that time (default 1)", option__positive,
	 CHECK(on_stall.every_secs), .high = LONGEST, .what = "--on-stall-every in seconds",
	 .about = "on-stall"},
	{0},
};

/* What only the whole command line shows. */
static void check_all(void *command_line, const struct argp_state *state)
{
	const struct check_options *options = command_line;
	bool program = options->common.target.program;
	char why[256];

	if (!program && options->wait_port)
		usage_error(state,
			    "--wait-port is for -- PROGRAM: a target that runs already is "
			    "judged at once, or after --warmup");
	if (!program && options->timeout)
		usage_error(state,
			    "--timeout is for -- PROGRAM: -d ends the check of a target "
			    "that runs already");
	if (!program && options->until_exit && options->common.seconds)
		usage_error(state,
			    "of --until-exit and -d only one can end the check of a target "
			    "that runs already");
	if (options->min_exchanges > 1 && options->allow_no_traffic)
		usage_error(state, "--allow-no-traffic and --min-exchanges contradict each other");
	if (options->on_stall.command &&
	    !on_stall__check(options->on_stall.command, options->on_stall.shell, why, sizeof(why)))
		usage_error(state, "--on-stall: %s", why);
}

static const struct command_options command = {
	.command = COMMAND_CHECK,
	.usage = "-- PROGRAM ARG...\n-p PID [-d SECS]",
	.help = "Fail when a program waits on the network for causes beyond their budgets, and never "
		"pass when too little was seen to say so.\v"
		"Exit status, the first that holds: 4 PROGRAM failed; 1 over budget, or worse than the "
		"baseline; 2 netstall could not do its work; 3 inconclusive; 0 within budget. And 64: "
		"wrong usage. docs/check.md tells more.",
	.rows = rows,
	.takes_target = true,
	.check = check_all,
};

void check_options__parse(struct check_options *options, int argc, char **argv)
{
	memset(options, 0, sizeof(*options));
	options__init(&options->common);
	options->common.session.threshold_ns = THRESHOLD_NS;
	options->min_exchanges = 1;
	options->keep_max = RECORDER_STALLS;
	options->on_stall.every_secs = 1;
	options->confidence = BASELINE_CONFIDENCE;
	budgets__default(&options->budgets);
	options__parse(&command, argc, argv, options);
}

bool check_options__stdout_taken(const struct check_options *options)
{
	int i;

	for (i = 0; i < CHECK_REPORTS; i++)
		if (options->reports[i] && !strcmp(options->reports[i], "-"))
			return true;
	return false;
}

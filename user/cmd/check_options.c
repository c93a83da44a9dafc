// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/check_options.h"

#include "user/cmd/commands.h"

#include <string.h>

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
	 "The limit of a cause: stalls (rto=2), time (lock=100ms), share of the time watched (total=5%), or none for no limit; and of the requests of each endpoint the median (requests.p50=5ms) and the 99th percentile (requests.p99=20ms). Causes that are not named keep theirs. Default "
	 "nagle-delack=0, cork=0, rto=0, syn-retransmit=0; other causes are listed and do not fail the check",
	 parse_budget, CHECK(budgets)},
	{0, "threshold", "MS", "The shortest stall (default 4, the shortest delayed ACK at HZ=250)",
	 option__threshold, CHECK(common.session.threshold_ns)},
	{0, "baseline", "FILE",
	 "Also fail when a cause is significantly more frequent per exchange than in this file",
	 option__name, CHECK(baseline)},
	{0, "save-baseline", "FILE",
	 "Save this run's rates to this file, to be committed; the file stays as it is if nothing differs",
	 option__name, CHECK(save_baseline)},
	{0, "baseline-confidence", "P", "Required confidence of a difference (default 0.99)",
	 parse_confidence, CHECK(confidence), .high = 0.999999, .what = "the baseline's confidence",
	 .about = "baseline"},
	{.help = "How long, and from when:"},
	{'d', "duration", "SECS",
	 "Check for this time (default: until PROGRAM or the target ends, or Ctrl-C). A PROGRAM that still runs is then terminated",
	 option__positive, CHECK(common.seconds), .high = LONGEST,
	 .what = "the duration in seconds"},
	{0, "until-exit", NULL,
	 "Wait for PROGRAM to end, even after -d; its end by a signal counts like any other end",
	 option__flag, CHECK(until_exit)},
	{0, "timeout", "SECS",
	 "Terminate PROGRAM and its children after this time: the check fails", option__positive,
	 CHECK(timeout), .high = LONGEST, .what = "the time-out in seconds"},
	{0, "wait-port", "PORT",
	 "Check from when PROGRAM listens on this TCP port; it must listen within --timeout, or 30 s",
	 option__number, CHECK(wait_port), 1, 65535, "a port"},
	{0, "warmup", "SECS", "Do not check the first SECS seconds", option__positive,
	 CHECK(warmup), .high = LONGEST, .what = "the warm-up in seconds"},
	{.help = "When a check is inconclusive:"},
	{0, "inconclusive", "pass|fail|3",
	 "Exit with 0, 1 or 3 (default 3); the reports say inconclusive in any case",
	 parse_inconclusive, CHECK(inconclusive)},
	{0, "min-exchanges", "N",
	 "With fewer exchanges (a request and its answer) the check is inconclusive (default 1)",
	 option__number, CHECK(min_exchanges), 0, 1000000000, "the least number of exchanges"},
	{0, "allow-no-traffic", NULL, "A target without TCP traffic passes", option__flag,
	 CHECK(allow_no_traffic)},
	{.help = "Reports to files ('-' is stdout; the text then goes to stderr):"},
	{0, "junit", "FILE", "JUnit XML, a test case for each gate", parse_report,
	 CHECK(reports[CHECK_REPORT_JUNIT])},
	{0, "json", "FILE", "JSON, by docs/check-schema.json", parse_report,
	 CHECK(reports[CHECK_REPORT_JSON])},
	{0, "tap", "FILE", "Test Anything Protocol", parse_report,
	 CHECK(reports[CHECK_REPORT_TAP])},
	{0, "html", "FILE", "A page to look at: the verdict, a picture of each stall", parse_report,
	 CHECK(reports[CHECK_REPORT_HTML])},
	{0, "record", "FILE", "The run itself, for `netstall report`", option__name,
	 INTO(struct options, recording)},
	{0, "github", NULL, "Annotations for GitHub Actions, and a summary in $GITHUB_STEP_SUMMARY",
	 option__flag, CHECK(github)},
	{0, "keep", "DIR",
	 "Save a recording of the last 10 s to this folder at a stall over its budget, of a cause at most each 10 s: `netstall report` shows it",
	 option__name, INTO(struct options, keep_stalls)},
	{0, "keep-max", "N", "Keep the last N recordings (default 20)", option__number,
	 INTO(struct options, keep_most), 1, 10000, .about = "keep"},
	{0, "keep-worst", NULL, "Keep those of the longest stalls, not the last ones", option__flag,
	 INTO(struct options, keep_worst), .about = "keep"},
	{0, "on-stall", "CMD",
	 "Run CMD (without a shell) at a stall of a cause with a budget, with NETSTALL_* in its environment",
	 option__name, CHECK(on_stall.command)},
	{0, "on-stall-shell", NULL, "Run CMD with sh -c", option__flag, CHECK(on_stall.shell),
	 .about = "on-stall"},
	{0, "on-stall-every", "SECS", "Run CMD at most once in this time (default 1)",
	 option__positive, CHECK(on_stall.every_secs), .high = LONGEST,
	 .what = "--on-stall-every in seconds", .about = "on-stall"},
	{0},
};

/* What only the whole command line shows. */
static void check_all(void *command_line, const struct argp_state *state)
{
	const struct check_options *options = command_line;
	bool program = options->common.target.program;
	char why[256];

	if (!program && options->wait_port)
		usage_error(
			state,
			"--wait-port needs -- PROGRAM: a running target is checked at once, or after --warmup");
	if (!program && options->timeout)
		usage_error(state,
			    "--timeout needs -- PROGRAM: -d ends the check of a running target");
	if (!program && options->until_exit && options->common.seconds)
		usage_error(
			state,
			"--until-exit and -d exclude each other for a running target: name one of them");
	if (options->min_exchanges > 1 && options->allow_no_traffic)
		usage_error(state, "--allow-no-traffic and --min-exchanges contradict each other");
	if (options->on_stall.command &&
	    !on_stall__check(options->on_stall.command, options->on_stall.shell, why, sizeof(why)))
		usage_error(state, "--on-stall: %s", why);
}

const struct command_options cmd_check_options = {
	.command = COMMAND_CHECK,
	.examples = {{"sudo netstall check -- ./test",
		      "fails when TCP's own stalls come back, or cannot tell"},
		     {"sudo netstall check --budget rto=2 --junit report.xml -- ./test",
		      "with budgets of its own, and a report for a CI server"}},
	.usage = "-- PROGRAM ARG...\n-p PID [-d SECS]",
	.help = "Fail when a program's stalls exceed their budgets. Never pass when too little was seen.\v"
		"Exit status, the first that holds: 4 PROGRAM failed; 1 over budget, or worse than the "
		"baseline; 2 netstall could not do its work; 3 inconclusive; 0 within budget. And 64: "
		"wrong usage. See docs/check.md.",
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
	options->on_stall.every_secs = 1;
	options->confidence = BASELINE_CONFIDENCE;
	budgets__default(&options->budgets);
	options__parse(&cmd_check_options, argc, argv, options);
}

bool check_options__stdout_taken(const struct check_options *options)
{
	int i;

	for (i = 0; i < CHECK_REPORTS; i++)
		if (options->reports[i] && !strcmp(options->reports[i], "-"))
			return true;
	return false;
}

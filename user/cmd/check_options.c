// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/check_options.h"

#include <argp.h>
#include <string.h>

#include "user/base/log.h"
#include "user/cmd/options.h"
#include "user/process/recorder.h"

/*
 * The shortest delayed acknowledgement that the kernel makes is one jiffy, 4 ms at HZ=250: a
 * shorter threshold finds no more of the causes that are gated by default.
 */
#define THRESHOLD_NS 4000000ull
#define LONGEST      1e6 /* seconds */

enum {
	OPT_BUDGET = 0x400,
	OPT_THRESHOLD,
	OPT_UNTIL_EXIT,
	OPT_TIMEOUT,
	OPT_WAIT_PORT,
	OPT_WARMUP,
	OPT_MIN_EXCHANGES,
	OPT_NO_TRAFFIC,
	OPT_INCONCLUSIVE,
	OPT_SAVE_BASELINE,
	OPT_BASELINE,
	OPT_CONFIDENCE,
	OPT_JUNIT,
	OPT_JSON,
	OPT_TAP,
	OPT_GITHUB,
	OPT_KEEP,
	OPT_KEEP_MAX,
	OPT_ON_STALL,
	OPT_ON_STALL_SHELL,
	OPT_ON_STALL_EVERY,
	OPT_NO_COLOR,
};

static const struct argp_option table[] = {
	{0, 0, 0, 0, "What is allowed:", 2},
	{"budget", OPT_BUDGET, "CAUSE=LIMIT,...", 0,
	 "How much of a cause: stalls (rto=2), their time (lock=100ms), their share of the time "
	 "watched (total=5%), or none to take its gate away; causes not named keep theirs. Default "
	 "nagle-delack=0, cork=0, rto=0, syn-retransmit=0; other causes are told, not gated",
	 2},
	{"threshold", OPT_THRESHOLD, "MS", 0,
	 "The shortest stall (default 4, the shortest delayed ACK at HZ=250)", 2},
	{"baseline", OPT_BASELINE, "FILE", 0,
	 "Fail also when a cause comes up significantly more often per exchange than there", 2},
	{"save-baseline", OPT_SAVE_BASELINE, "FILE", 0,
	 "Keep this run's rates there, to be committed; an older file stays when nothing differs",
	 2},
	{"baseline-confidence", OPT_CONFIDENCE, "P", 0,
	 "How sure a difference has to be (default 0.99)", 2},
	{0, 0, 0, 0, "How long, and from when:", 3},
	{"duration", 'd', "SECS", 0,
	 "Judge for that time (default: until PROGRAM, or the target, ends, or Ctrl-C). A PROGRAM "
	 "that still runs then is ended",
	 3},
	{"until-exit", OPT_UNTIL_EXIT, 0, 0,
	 "PROGRAM's own end is awaited, after -d too; and an end by a signal is no less than another",
	 3},
	{"timeout", OPT_TIMEOUT, "SECS", 0,
	 "End PROGRAM and all that it started after that time: it has failed", 3},
	{"wait-port", OPT_WAIT_PORT, "PORT", 0,
	 "Judge from when PROGRAM listens on that TCP port, for which it has --timeout, or 30 s",
	 3},
	{"warmup", OPT_WARMUP, "SECS", 0, "Judge that much later", 3},
	{0, 0, 0, 0, "When a check proves nothing:", 4},
	{"inconclusive", OPT_INCONCLUSIVE, "pass|fail|3", 0,
	 "Exit with 0, 1 or 3 then (default 3); the reports say it either way", 4},
	{"min-exchanges", OPT_MIN_EXCHANGES, "N", 0,
	 "Fewer requests and answers prove nothing (default 1)", 4},
	{"allow-no-traffic", OPT_NO_TRAFFIC, 0, 0, "A target without TCP traffic passes", 4},
	{0, 0, 0, 0, "Reports, each to its file ('-': stdout, the text goes to stderr then):", 5},
	{"junit", OPT_JUNIT, "FILE", 0, "JUnit XML, a test case for each gate", 5},
	{"json", OPT_JSON, "FILE", 0, "JSON, by docs/check-schema.json", 5},
	{"tap", OPT_TAP, "FILE", 0, "Test Anything Protocol", 5},
	{"github", OPT_GITHUB, 0, 0,
	 "Annotations for GitHub Actions, and a summary into $GITHUB_STEP_SUMMARY", 5},
	{"keep", OPT_KEEP, "DIR", 0,
	 "Keep a time line and the seconds around of each stall over its budget there", 5},
	{"keep-max", OPT_KEEP_MAX, "N", 0, "At most so many (default 20)", 5},
	{"on-stall", OPT_ON_STALL, "CMD", 0,
	 "Run CMD (no shell) at a stall of a gated cause, with NETSTALL_* in its environment", 5},
	{"on-stall-shell", OPT_ON_STALL_SHELL, 0, 0, "CMD is for sh -c", 5},
	{"on-stall-every", OPT_ON_STALL_EVERY, "SECS", 0, "At most once in that time (default 1)",
	 5},
	{"no-color", OPT_NO_COLOR, 0, 0, "No colours on a terminal (also: NO_COLOR set)", 5},
	{"verbose", 'v', 0, 0, "Say what is done and what the kernel answers", 5},
	{0},
};

static void parse_budget(struct check_options *options, const char *text, struct argp_state *state)
{
	char why[768]; /* all causes by name, too */

	if (!budgets__parse(&options->budgets, text, why, sizeof(why)))
		usage_error(state, "--budget: %s", why);
}

static void parse_confidence(struct check_options *options, const char *text,
			     struct argp_state *state)
{
	options->confidence = options__positive(text, "the baseline's confidence", 0.999999, state);
	if (options->confidence < 0.5)
		usage_error(state, "the baseline's confidence must be at least 0.5, not '%s'",
			    text);
}

static void ask_report(struct check_options *options, enum check_report kind, const char *file,
		       struct argp_state *state)
{
	int i;

	if (!*file)
		usage_error(state, "a report needs the name of a file, or - for stdout");
	for (i = 0; i < CHECK_REPORTS; i++)
		if (i != (int)kind && options->reports[i] && !strcmp(options->reports[i], file))
			usage_error(state, "two reports cannot go to %s at the same time",
				    strcmp(file, "-") ? file : "stdout");
	options->reports[kind] = file;
}

/* What is judged, and when. */
static error_t parse_window(int key, char *arg, struct check_options *options,
			    struct argp_state *state)
{
	switch (key) {
	case 'd':
		options->seconds =
			options__positive(arg, "the duration in seconds", LONGEST, state);
		return 0;
	case OPT_THRESHOLD:
		options->session.threshold_ns = options__threshold(arg, state);
		return 0;
	case OPT_UNTIL_EXIT:
		options->until_exit = true;
		return 0;
	case OPT_TIMEOUT:
		options->timeout =
			options__positive(arg, "the time-out in seconds", LONGEST, state);
		return 0;
	case OPT_WAIT_PORT:
		options->wait_port = options__number(arg, "a port", 1, 65535, state);
		return 0;
	case OPT_WARMUP:
		options->warmup = options__positive(arg, "the warm-up in seconds", LONGEST, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What is allowed, and what proves nothing. */
static error_t parse_gate(int key, char *arg, struct check_options *options,
			  struct argp_state *state)
{
	switch (key) {
	case OPT_BUDGET:
		parse_budget(options, arg, state);
		return 0;
	case OPT_MIN_EXCHANGES:
		options->min_exchanges =
			options__number(arg, "the least number of exchanges", 0, 1000000000, state);
		return 0;
	case OPT_NO_TRAFFIC:
		options->allow_no_traffic = true;
		return 0;
	case OPT_INCONCLUSIVE:
		if (!inconclusive__parse(&options->inconclusive, arg))
			usage_error(state, "--inconclusive is pass, fail or 3, not '%s'", arg);
		return 0;
	case OPT_SAVE_BASELINE:
		options->save_baseline = arg;
		return 0;
	case OPT_BASELINE:
		options->baseline = arg;
		return 0;
	case OPT_CONFIDENCE:
		parse_confidence(options, arg, state);
		return 0;
	default:
		return parse_window(key, arg, options, state);
	}
}

/* What is written and done. */
static error_t parse_output(int key, char *arg, struct check_options *options,
			    struct argp_state *state)
{
	switch (key) {
	case OPT_JUNIT:
		ask_report(options, CHECK_REPORT_JUNIT, arg, state);
		return 0;
	case OPT_JSON:
		ask_report(options, CHECK_REPORT_JSON, arg, state);
		return 0;
	case OPT_TAP:
		ask_report(options, CHECK_REPORT_TAP, arg, state);
		return 0;
	case OPT_GITHUB:
		options->github = true;
		return 0;
	case OPT_KEEP:
		options->keep = arg;
		return 0;
	case OPT_KEEP_MAX:
		options->keep_max = options__number(arg, "--keep-max", 1, 10000, state);
		return 0;
	case OPT_ON_STALL:
		options->on_stall.command = arg;
		return 0;
	case OPT_ON_STALL_SHELL:
		options->on_stall.shell = true;
		return 0;
	case OPT_ON_STALL_EVERY:
		options->on_stall.every_secs =
			options__positive(arg, "--on-stall-every in seconds", LONGEST, state);
		return 0;
	case OPT_NO_COLOR:
		options->no_color = true;
		return 0;
	case 'v':
		log__set_verbose(true);
		return 0;
	default:
		return parse_gate(key, arg, options, state);
	}
}

/* What is about another option that was not given. */
static void check_companions(const struct check_options *options, const struct argp_state *state)
{
	if (options->keep_max && !options->keep)
		usage_error(state, "--keep-max is about --keep DIR: add that, or leave it out");
	if (options->on_stall.shell && !options->on_stall.command)
		usage_error(state,
			    "--on-stall-shell is about --on-stall CMD: add that, or leave it out");
	if (options->on_stall.every_secs > 0 && !options->on_stall.command)
		usage_error(state,
			    "--on-stall-every is about --on-stall CMD: add that, or leave it out");
	if (options->confidence > 0 && !options->baseline)
		usage_error(state,
			    "--baseline-confidence is about --baseline FILE: add that, or leave "
			    "it out");
}

/* What was not given. */
static void set_defaults(struct check_options *options)
{
	if (!options->keep_max)
		options->keep_max = RECORDER_STALLS;
	if (!(options->on_stall.every_secs > 0))
		options->on_stall.every_secs = 1;
	if (!(options->confidence > 0))
		options->confidence = BASELINE_CONFIDENCE;
}

/* What only the whole command line shows. */
static void check_all(const struct check_options *options, const struct argp_state *state)
{
	char why[256];

	if (!options->target.program && options->wait_port)
		usage_error(state,
			    "--wait-port is for -- PROGRAM: a target that runs already is "
			    "judged at once, or after --warmup");
	if (!options->target.program && options->timeout)
		usage_error(state,
			    "--timeout is for -- PROGRAM: -d ends the check of a target "
			    "that runs already");
	if (!options->target.program && options->until_exit && options->seconds)
		usage_error(state,
			    "of --until-exit and -d only one can end the check of a target "
			    "that runs already");
	if (options->min_exchanges > 1 && options->allow_no_traffic)
		usage_error(state, "--allow-no-traffic and --min-exchanges contradict each other");
	options__named(options->keep, "--keep", state);
	options__named(options->baseline, "--baseline", state);
	options__named(options->save_baseline, "--save-baseline", state);
	check_companions(options, state);
	if (options->on_stall.command &&
	    !on_stall__check(options->on_stall.command, options->on_stall.shell, why, sizeof(why)))
		usage_error(state, "--on-stall: %s", why);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->target;
		state->child_inputs[1] = &options->session;
		return 0;
	case ARGP_KEY_SUCCESS:
		check_all(options, state);
		return 0;
	default:
		return parse_output(key, arg, options, state);
	}
}

static const struct argp_child children[] = {
	{&targets_argp, 0, NULL, 1}, {&knobs_argp, 0, NULL, 5}, {0}};

static const struct argp argp = {
	.options = table,
	.parser = parse,
	.args_doc = "-- PROGRAM ARG...\n-p PID [-d SECS]",
	.doc = "Fail when a program waits on the network for causes beyond their budgets, and never "
	       "pass when too little was seen to say so.\v"
	       "Exit status, the first that holds: 4 PROGRAM failed; 1 over budget, or worse than the "
	       "baseline; 2 netstall could not do its work; 3 inconclusive; 0 within budget. And 64: "
	       "wrong usage. docs/check.md tells more.",
	.children = children,
};

void check_options__parse(struct check_options *options, int argc, char **argv)
{
	memset(options, 0, sizeof(*options));
	options->session.way = WAY_AUTO;
	options->session.threshold_ns = THRESHOLD_NS;
	options->min_exchanges = 1;
	budgets__default(&options->budgets);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, options);
	set_defaults(options);
}

bool check_options__stdout_taken(const struct check_options *options)
{
	int i;

	for (i = 0; i < CHECK_REPORTS; i++)
		if (options->reports[i] && !strcmp(options->reports[i], "-"))
			return true;
	return false;
}

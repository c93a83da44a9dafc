// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall offwake: profile where threads sleep and who wakes them. Options as in bcc's
 * offwaketime, and more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/cmd/commands.h"
#include "user/cmd/live.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"
#include "user/cmd/recorded.h"

#define MOST_STACKS (1 << 20)

struct wishes {
	struct options common;
	struct offcpu_options offcpu;
};

static void parse_microseconds(const struct option_row *row, char *arg, void *to,
			       const struct argp_state *state)
{
	*(uint64_t *)to = 1000ull * options__number(arg, row->what, 0, 1000000000000, state);
}

static void parse_state(const struct option_row *row, char *arg, void *to,
			const struct argp_state *state)
{
	struct offcpu_options *offcpu = to;

	(void)row;
	offcpu->state_given = true;
	offcpu->state = options__number(arg, "--state", 0, 0xffff, state);
}

static void parse_unwind(const struct option_row *row, char *arg, void *to,
			 const struct argp_state *state)
{
	(void)row;
	if (!unwind_way__parse(arg, to))
		usage_error(state, "--unwind is fp, dwarf or auto, not '%s'", arg);
}

/* As in bcc; a program comes behind "--". */
static void take_duration(char *word, void *options, const struct argp_state *state)
{
	struct wishes *wishes = options;

	if (wishes->common.seconds)
		usage_error(state, "give one duration: '%s' is a second one; a program follows --",
			    word);
	wishes->common.seconds = options__positive(
		word, "the duration in seconds (a program follows --)", 1e8, state);
}

/* The whole machine is nobody's default: it costs all of its threads, and shows them all. */
static void check_target(const struct wishes *wishes, const struct argp_state *state)
{
	const struct target *target = &wishes->common.target;
	bool named = !target__is_empty(target);

	if (target->everything)
		usage_error(state, "-c / is every process: -a profiles the whole machine");

	if (target->lport || target->rport)
		usage_error(
			state,
			"-L and -D select connections, and a profile is of threads: select threads with -p, -t, --comm or -c");
	if (named && wishes->offcpu.everything)
		usage_error(state, "-a and a target exclude each other: leave one of them out");
	if (named && wishes->offcpu.kernel_threads)
		usage_error(state, "-k selects kernel threads, and a target has none: use -a");
	if (wishes->common.by_cause && !named)
		usage_error(state,
			    "--by-cause explains a target: name it with -p, -t, --comm or -c");
	if (!named && !wishes->offcpu.everything)
		usage_error(
			state,
			"no target: name one with -p, -t, --comm, -c or -- PROGRAM; -a profiles the whole machine");
}

static void check(void *options, const struct argp_state *state)
{
	const struct wishes *wishes = options;
	const struct offcpu_options *offcpu = &wishes->offcpu;

	if (offcpu->user_threads && offcpu->kernel_threads)
		usage_error(state, "-u and -k exclude each other: name one of them or none");
	if (offcpu->no_user_stacks && offcpu->no_kernel_stacks)
		usage_error(state, "-U and -K exclude each other: name one of them or none");
	if (offcpu->most_ns && offcpu->most_ns < offcpu->least_ns)
		usage_error(state, "-M must not be less than -m");
	if (wishes->common.folded && wishes->common.json)
		usage_error(state, "-f and --json exclude each other: name one of them");
	if (wishes->common.by_cause && offcpu->state_given && !offcpu->state)
		usage_error(state,
			    "--by-cause explains sleeps, --state 0 asks for waits for a CPU");
	check_target(wishes, state);
}

#define OFFCPU(field) INTO(struct wishes, offcpu.field)

/* bcc's letters but for -a, which it has no need of. */
static const struct option_row rows[] = {
	{.help = "Which threads and waits:"},
	{'a', "all-processes", NULL, "All threads of the machine; without a target", option__flag,
	 OFFCPU(everything)},
	{'u', "user-threads-only", NULL, "No kernel threads", option__flag, OFFCPU(user_threads)},
	{'k', "kernel-threads-only", NULL, "Only kernel threads", option__flag,
	 OFFCPU(kernel_threads)},
	{'m', "min-block-time", "US", "Only waits of at least this many microseconds",
	 parse_microseconds, OFFCPU(least_ns), .what = "-m, in microseconds,"},
	{'M', "max-block-time", "US", "Only waits of at most this many microseconds",
	 parse_microseconds, OFFCPU(most_ns), .what = "-M, in microseconds,"},
	{0, "state", "MASK",
	 "Waits in these task states (1 interruptible, 2 uninterruptible; 0: for a CPU alone)",
	 parse_state, INTO(struct wishes, offcpu)},
	{0, "by-cause", NULL, "Put the cause of each wait, as `trace` finds it, in the first frame",
	 option__flag, INTO(struct options, by_cause)},
	{0, "threshold", "MS", "Explain and unwind waits from this length on (default 10)",
	 option__threshold, INTO(struct options, session.threshold_ns)},
	{0, "duration", "SECS", "Stop after this time, as SECONDS alone; -d is bcc's --delimited",
	 option__positive, INTO(struct options, seconds), .high = 1e8,
	 .what = "the duration in seconds"},
	{0, "exact", NULL,
	 "Look at every wait, not at a sample of those below 1 ms where there are thousands a second",
	 option__flag, OFFCPU(exact)},
	{.help = "Chains and stacks:"},
	{0, "depth", "N", "Wakes in a chain: 1 the waker, 2 also its own waker, to 8 (default 2)",
	 option__number, OFFCPU(depth), 1, PROFILE_DEPTH},
	{0, "per-thread", NULL, "One entry for each thread of a process", option__flag,
	 OFFCPU(per_thread)},
	{'U', "user-stacks-only", NULL, "No kernel stacks", option__flag, OFFCPU(no_kernel_stacks)},
	{'K', "kernel-stacks-only", NULL, "No user stacks", option__flag, OFFCPU(no_user_stacks)},
	{0, "lines", NULL, "Show file and line of user frames, if there is debug information",
	 option__flag, OFFCPU(lines)},
	{0, "unwind", "WAY",
	 "User stacks by frame pointers (fp), call frame information (dwarf), or the one that "
	 "reaches further (auto, the default)",
	 parse_unwind, OFFCPU(unwind)},
	{0, "stack-storage-size", "N", "Room for different stacks (default 16384)", option__number,
	 OFFCPU(stacks), 1, MOST_STACKS},
	{.help = "Output:"},
	{'f', "folded", NULL,
	 "Folded stacks for flamegraph.pl (the default when stdout is no terminal)", option__flag,
	 INTO(struct options, folded)},
	{'d', "delimited", NULL, "Put a '-' between user and kernel stacks", option__flag,
	 INTO(struct options, delimited)},
	{0, "svg", "FILE", "Also write a flame graph, for a browser", option__name,
	 INTO(struct options, extras[EXTRA_SVG])},
	{0, "pprof", "FILE", "Also write a profile for pprof", option__name,
	 INTO(struct options, extras[EXTRA_PPROF])},
	{0, "record", "FILE",
	 "Also record the profile in this file (readable by you alone), for `netstall report --offwake`; with --by-cause the trace as well",
	 option__name, INTO(struct options, recording)},
	{0, "json", NULL, "JSON", option__flag, INTO(struct options, json)},
	{0},
};

const struct command_options cmd_offwake_options = {
	.command = COMMAND_OFFWAKE,
	.examples = {{"sudo netstall offwake -p PID --by-cause --svg wakes.svg 10",
		      "ten seconds, as a flame graph for a browser, each wait with its cause"},
		     {"sudo netstall offwake -p PID 10 | flamegraph.pl --countname=us >wakes.svg",
		      "folded stacks, for other tools"}},
	.usage = "[SECONDS] [-- PROGRAM ARG...]",
	.help = "Profile where threads sleep and who wakes them, for flame graphs: each wait's stack, "
		"the waker's, and what the waker had been waiting for.\v"
		"Exit status: 0 done, 2 could not profile, 64 wrong usage.",
	.rows = rows,
	.takes_target = true,
	.word = take_duration,
	.check = check,
};

/* ---- the run ---- */

static int profile_to(const struct wishes *wishes, struct output *output, struct recorded *recorded,
		      struct live **done)
{
	const struct options *common = &wishes->common;
	bool shown_elsewhere = output->extras[EXTRA_SVG].file || output->extras[EXTRA_PPROF].file ||
			       recorded->file;
	struct live_options live = {.session = common->session,
				    .target = &common->target,
				    .seconds = common->seconds,
				    .progress = output__has_progress(),
				    /* The run ends when all of it would be lost. */
				    .output = shown_elsewhere ? NULL : output->file,
				    .signals = SIGNALS_TAKE,
				    .by_cause = common->by_cause,
				    .recordings = {recorded->writer}};

	live.session.offcpu = &wishes->offcpu;
	live.session.untraced = !common->by_cause;
	if (live__run(&live, done))
		return EXIT_UNABLE;
	output__profile(output, common, live__profile(*done));
	return EXIT_OK;
}

/*
 * What stands behind "--". Not left to argp, which puts the duration behind it too. Returns how
 * many words are left.
 */
static int split_off_program(int argc, char **argv, struct target *target)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		if (i == argc - 1) {
			fprintf(stderr, "%s: -- needs a program to run\n", argv[0]);
			exit(EXIT_USAGE);
		}
		argv[i] = NULL;
		target->program = argv + i + 1;
		return i;
	}
	return argc;
}

int cmd_offwake(int argc, char **argv)
{
	struct wishes wishes = {.offcpu = offcpu_default};
	struct recorded recorded;
	struct output output;
	struct live *done;
	int status;

	options__init(&wishes.common);
	argc = split_off_program(argc, argv, &wishes.common.target);
	options__parse(&cmd_offwake_options, argc, argv, &wishes);
	if (output__open(&output, &wishes.common) ||
	    recorded__open(&recorded, wishes.common.recording, NULL))
		return EXIT_UNABLE;
	status = profile_to(&wishes, &output, &recorded, &done);
	if (recorded__close(&recorded))
		status = EXIT_UNABLE;
	if (output__close(&output))
		status = EXIT_UNABLE;
	live__free(done); /* behind the output: it waits for helpers */
	return status;
}

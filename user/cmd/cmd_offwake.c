// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall offwake: profile where threads sleep and who wakes them. Options as in bcc's
 * offwaketime, and more. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/text.h"
#include "user/cmd/commands.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"
#include "user/cmd/profile_files.h"
#include "user/cmd/profiling.h"
#include "user/render/profile/profile.h"
#include "user/render/words/chain_words.h"

#define DEFAULT_DEPTH 2
#define MOST_STACKS   (1 << 20)

enum {
	OPT_STATE = 0x200,
	OPT_STORAGE,
	OPT_DEPTH,
	OPT_PER_THREAD,
	OPT_SVG,
	OPT_PPROF,
	OPT_JSON,
	OPT_BY_CAUSE,
	OPT_LINES,
	OPT_UNWIND,
	OPT_THRESHOLD,
	OPT_NO_COLOR,
};

struct wishes {
	struct options common; /* target, session, seconds, output, json, no_color */
	struct offcpu_options offcpu;
	bool folded, delimited, by_cause;
	const char *svg, *pprof;
};

static uint64_t microseconds(const char *text, const char *what, const struct argp_state *state)
{
	return 1000ull * options__number(text, what, 0, 1000000000000, state);
}

/* Whose waits, and which stacks; bcc's letters but for -a, which it has no need of. */
static bool parse_side(int key, struct offcpu_options *offcpu)
{
	switch (key) {
	case 'a':
		offcpu->everything = true;
		return true;
	case 'u':
		offcpu->user_threads = true;
		return true;
	case 'k':
		offcpu->kernel_threads = true;
		return true;
	case 'U':
		offcpu->no_kernel_stacks = true;
		return true;
	case 'K':
		offcpu->no_user_stacks = true;
		return true;
	}
	return false;
}

static bool parse_output(int key, char *arg, struct wishes *wishes)
{
	switch (key) {
	case 'f':
		wishes->folded = true;
		return true;
	case 'd':
		wishes->delimited = true;
		return true;
	case 'o':
		wishes->common.output = arg;
		return true;
	case OPT_SVG:
		wishes->svg = arg;
		return true;
	case OPT_PPROF:
		wishes->pprof = arg;
		return true;
	case OPT_JSON:
		wishes->common.json = true;
		return true;
	case OPT_NO_COLOR:
		wishes->common.no_color = true;
		return true;
	case 'v':
		log__set_verbose(true);
		return true;
	}
	return false;
}

static bool parse_what(int key, char *arg, struct wishes *wishes, const struct argp_state *state)
{
	struct offcpu_options *offcpu = &wishes->offcpu;

	switch (key) {
	case 'm':
		offcpu->least_ns = microseconds(arg, "-m, in microseconds,", state);
		return true;
	case 'M':
		offcpu->most_ns = microseconds(arg, "-M, in microseconds,", state);
		return true;
	case OPT_STATE:
		offcpu->state_given = true;
		offcpu->state = options__number(arg, "--state", 0, 0xffff, state);
		return true;
	case OPT_STORAGE:
		offcpu->stacks =
			options__number(arg, "--stack-storage-size", 1, MOST_STACKS, state);
		return true;
	case OPT_DEPTH:
		offcpu->depth = options__number(arg, "--depth", 1, PROFILE_DEPTH, state);
		return true;
	case OPT_PER_THREAD:
		offcpu->per_thread = true;
		return true;
	case OPT_LINES:
		offcpu->lines = true;
		return true;
	case OPT_BY_CAUSE:
		wishes->by_cause = true;
		return true;
	case OPT_UNWIND:
		if (!unwind_way__parse(arg, &offcpu->unwind))
			usage_error(state, "--unwind is fp, dwarf or auto, not '%s'", arg);
		return true;
	case OPT_THRESHOLD:
		wishes->common.session.threshold_ns = options__threshold(arg, state);
		return true;
	}
	return false;
}

/* As in bcc; a program comes behind "--". */
static void parse_duration(char *arg, struct wishes *wishes, const struct argp_state *state)
{
	if (wishes->common.seconds)
		usage_error(state,
			    "one duration is enough: '%s' is another; a program comes behind --",
			    arg);
	wishes->common.seconds = options__positive(
		arg, "the duration in seconds (a program comes behind --)", 1e8, state);
}

/* The whole machine is nobody's default: it costs all of its threads, and shows them all. */
static void check_target(const struct wishes *wishes, const struct argp_state *state)
{
	const struct target *target = &wishes->common.target;
	bool named = !target__is_empty(target);

	if (target->lport || target->rport)
		usage_error(state,
			    "-L and -D name connections, a profile has threads: name these "
			    "with -p, -t, --comm or -c");
	if (named && wishes->offcpu.everything)
		usage_error(state, "-a is all of the machine: leave it out, or the target");
	if (named && wishes->offcpu.kernel_threads)
		usage_error(state, "-k is for kernel threads, and a target has none: -a has them");
	if (wishes->by_cause && !named)
		usage_error(state,
			    "--by-cause explains a target: name it with -p, -t, --comm or -c");
	if (!named && !wishes->offcpu.everything)
		usage_error(state,
			    "no target: name it with -p, -t, --comm or -c, or a program behind --; "
			    "-a profiles all of the machine");
}

static void check(const struct wishes *wishes, const struct argp_state *state)
{
	const char *knob = options__analysis_knob(&wishes->common.session);
	const struct offcpu_options *offcpu = &wishes->offcpu;

	if (offcpu->user_threads && offcpu->kernel_threads)
		usage_error(state, "-u and -k exclude each other: name one of them or none");
	if (offcpu->no_user_stacks && offcpu->no_kernel_stacks)
		usage_error(state, "-U and -K exclude each other: name one of them or none");
	if (offcpu->most_ns && offcpu->most_ns < offcpu->least_ns)
		usage_error(state, "-M must not be less than -m: no wait is both");
	if (wishes->folded && wishes->common.json)
		usage_error(state, "-f and --json are two formats of one output: name one of them");
	if (wishes->by_cause && offcpu->state_given && !offcpu->state)
		usage_error(state,
			    "--by-cause explains sleeps, --state 0 asks for waits for a CPU");
	if (knob && !wishes->by_cause)
		usage_error(state,
			    "-C %s is about the analysis, which runs with --by-cause alone: add "
			    "that, or leave it out",
			    knob);
	options__named(wishes->common.output, "-o", state);
	options__named(wishes->svg, "--svg", state);
	options__named(wishes->pprof, "--pprof", state);
	check_target(wishes, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct wishes *wishes = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &wishes->common.target;
		state->child_inputs[1] = &wishes->common.session;
		return 0;
	case ARGP_KEY_ARG:
		parse_duration(arg, wishes, state);
		return 0;
	case ARGP_KEY_END:
		check(wishes, state);
		return 0;
	}
	if (key == 'h') /* as bcc's offwaketime has it */
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	if (parse_side(key, &wishes->offcpu) || parse_output(key, arg, wishes) ||
	    parse_what(key, arg, wishes, state))
		return 0;
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option table[] = {
	{0, 0, 0, 0, "Which threads and waits:", 2},
	{"all", 'a', 0, 0, "All threads of the machine, in place of a target", 2},
	{"user-threads-only", 'u', 0, 0, "No kernel threads", 2},
	{"kernel-threads-only", 'k', 0, 0, "Kernel threads alone", 2},
	{"min-block-time", 'm', "US", 0, "Waits of at least so many microseconds", 2},
	{"max-block-time", 'M', "US", 0, "Waits of at most so many microseconds", 2},
	{"state", OPT_STATE, "MASK", 0,
	 "Waits in these task states (1 interruptible, 2 uninterruptible; 0: for a CPU alone)", 2},
	{"by-cause", OPT_BY_CAUSE, 0, 0,
	 "What the waits were for, as `trace` finds it, as the first frame", 2},
	{"threshold", OPT_THRESHOLD, "MS", 0,
	 "The shortest wait that is explained and unwound (default 10)", 2},
	{0, 0, 0, 0, "Chains and stacks:", 3},
	{"depth", OPT_DEPTH, "N", 0,
	 "Wakes in a chain: 1 the waker, 2 also its own waker, to 8 "
	 "(default 2)",
	 3},
	{"per-thread", OPT_PER_THREAD, 0, 0, "Tell the threads of a process apart", 3},
	{"user-stacks-only", 'U', 0, 0, "No kernel stacks", 3},
	{"kernel-stacks-only", 'K', 0, 0, "No user stacks", 3},
	{"lines", OPT_LINES, 0, 0, "File and line of user frames, where there is debug information",
	 3},
	{"unwind", OPT_UNWIND, "WAY", 0,
	 "User stacks by frame pointers (fp), call frame information (dwarf), or the one that "
	 "reaches further (auto, the default)",
	 3},
	{"stack-storage-size", OPT_STORAGE, "N", 0, "Room for different stacks (default 16384)", 3},
	{0, 0, 0, 0, "Output:", 4},
	{"folded", 'f', 0, 0,
	 "Folded stacks for flamegraph.pl (the default when stdout is no terminal)", 4},
	{"delimited", 'd', 0, 0, "A '-' between user and kernel stacks", 4},
	{"svg", OPT_SVG, "FILE", 0, "Also a flame graph, to be opened in a browser", 4},
	{"pprof", OPT_PPROF, "FILE", 0, "Also a profile for pprof", 4},
	{"json", OPT_JSON, 0, 0, "JSON", 4},
	{"output", 'o', "FILE", 0, "Write there (created for you alone), not to stdout", 4},
	{"no-color", OPT_NO_COLOR, 0, 0, "No colours on a terminal (also: NO_COLOR set)", 4},
	{0, 'h', 0, OPTION_HIDDEN, 0, 4},
	{"verbose", 'v', 0, 0, "Say what is done and what the kernel answers", 4},
	{0},
};

static const struct argp_child children[] = {
	{&any_targets_argp, 0, NULL, 1}, {&offwake_knobs_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
	.options = table,
	.parser = parse,
	.args_doc = "[SECONDS] [-- PROGRAM ARG...]",
	.doc = "Profile where threads sleep and who wakes them, for flame graphs: each wait's stack, "
	       "the waker's, and what the waker had been waiting for.\v"
	       "  sudo netstall offwake -p PID --by-cause --svg wakes.svg 10\n"
	       "  sudo netstall offwake -p PID 10 | flamegraph.pl --colors=chain --countname=us "
	       ">wakes.svg\n\n"
	       "Exit status: 0 done, 2 could not profile, 64 wrong usage.",
	.children = children,
};

/* ---- what comes of it ---- */

/* What the folded stacks have no place for. */
static void tell_losses(const struct profile *profile)
{
	char words[CHAIN_WORDS];

	for (size_t i = 0; i < PROFILE_LOST_KINDS; i++) {
		if (profile->lost[i].count)
			log__note("lost: %s", profile__lost(words, sizeof(words), profile, i));
	}
	if (profile->hidden)
		log__note("%s", profile->hidden);
}

static void render(const struct wishes *wishes, const struct output *output,
		   const struct profile *profile)
{
	bool terminal = !output->path && isatty(STDOUT_FILENO);

	if (wishes->common.json) {
		render__profile_json(output->file, profile);
	} else if (wishes->folded || !terminal) {
		render__folded(output->file, profile);
		tell_losses(profile);
		if (!profile->entry_count)
			log__note(
				"no wait was seen: the target did not sleep, had ended before "
				"the attach, or its waits are none that were asked for");
	} else {
		render__profile_top(output->file, profile, &output->style);
	}
}

static int profile_to(struct wishes *wishes, struct output *output, struct profile_files *files)
{
	struct profiling profiling = {
		.offcpu = wishes->offcpu,
		.session = wishes->common.session,
		.target = &wishes->common.target,
		.seconds = wishes->common.seconds,
		.by_cause = wishes->by_cause,
		.progress = isatty(STDERR_FILENO),
		.output = files->svg.file || files->pprof.file ? NULL : output->file};
	struct profile *profile;
	int status = EXIT_OK;

	profiling.offcpu.threshold_ns = wishes->common.session.threshold_ns;
	profiling.offcpu.stack_bytes = wishes->common.session.stack_bytes;
	profiling.offcpu.btf_path = wishes->common.session.btf_path;
	profile = profiling__run(&profiling);
	if (!profile)
		return EXIT_UNABLE;
	profile->delimited = wishes->delimited;
	render(wishes, output, profile);
	if (profile_files__write(files, profile))
		status = EXIT_UNABLE;
	profile__free(profile);
	return status;
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
			fprintf(stderr, "%s: -- is followed by the program to run\n", argv[0]);
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
	struct wishes wishes = {.offcpu = {.depth = DEFAULT_DEPTH, .unwind = UNWIND_AUTO}};
	struct profile_files files;
	struct output output;
	int status;

	options__init(&wishes.common);
	argp_parse(&argp, split_off_program(argc, argv, &wishes.common.target), argv, 0, NULL,
		   &wishes);
	if (output__open(&output, &wishes.common) ||
	    profile_files__open(&files, wishes.svg, wishes.pprof))
		return EXIT_UNABLE;
	status = profile_to(&wishes, &output, &files);
	if (output__close(&output) == 0 || status != EXIT_OK)
		return status;
	return EXIT_UNABLE;
}

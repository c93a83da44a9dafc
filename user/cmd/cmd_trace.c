// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall trace: watch a target, explain each stall, sum up. */
#include <argp.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/commands.h"
#include "user/cmd/live.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"
#include "user/process/program.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp_child children[] = {{&options_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
	.parser = parse,
	.args_doc = "[-- PROGRAM ARG...]",
	.doc = "Say why a program waits on the network: a time line of its stalls, a summary, a verdict.\v"
	       "Exit status: 0 done, 2 could not trace, 64 wrong usage.",
	.children = children,
};

struct run {
	struct program *program;
	struct teller *teller;
	const char *name;
	int err;
};

static void release_program(void *context)
{
	struct run *run = context;

	if (!run->program)
		return;
	run->err = program__release(run->program);
	if (run->err)
		log__error("cannot run %s: %s", run->name, strerror(-run->err));
}

static bool goes_on(void *context, struct live *live, uint64_t now_ns)
{
	struct run *run = context;

	teller__idle(run->teller, live__report(live), now_ns);
	return !run->program || program__poll(run->program);
}

static int trace(const struct options *options, struct output *output)
{
	struct live_options live = {.session = options->session,
				    .target = &options->target,
				    .seconds = options->seconds,
				    .progress = isatty(STDERR_FILENO) && !options->all &&
						!options->events_uring,
				    .output = output->file,
				    .started = release_program,
				    .tick = goes_on};
	struct run run = {0};
	struct teller teller;
	struct live *done;
	int err;

	if (options->target.program) {
		run.name = options->target.program[0];
		run.program = program__new(options->target.program, false);
		if (!run.program)
			return EXIT_UNABLE;
		live.program = program__pid(run.program);
		live.wake_fd = program__fd(run.program);
	}
	live.context = &run;
	run.teller = &teller;
	teller__init(&teller, output, options);
	live.sink = teller__sink(&teller);
	err = live__run(&live, &done);
	if (!err && !run.err)
		teller__finish(&teller, live__report(done));
	live__free(done);
	teller__free(&teller);
	program__free(run.program);
	return err || run.err ? EXIT_UNABLE : EXIT_OK;
}

int cmd_trace(int argc, char **argv)
{
	struct options options;
	struct output output;
	int status;

	options__init(&options);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	if (output__open(&output, &options))
		return EXIT_UNABLE;
	status = trace(&options, &output);
	if (output__close(&output) && status == EXIT_OK)
		status = EXIT_UNABLE;
	return status;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall trace: watch a target, explain each stall, sum up. */
#include <unistd.h>

#include "user/cmd/commands.h"
#include "user/cmd/live.h"
#include "user/cmd/output.h"
#include "user/cmd/recorded.h"
#include "user/cmd/trace_options.h"

const struct command_options cmd_trace_options = {
	.command = COMMAND_TRACE,
	.examples = {{"sudo netstall trace -p PID -d 5",
		      "five seconds of a running program: why it waits, and the line to change"},
		     {"sudo netstall trace -- ./client", "a program from its start to its end"},
		     {"sudo netstall trace -L 5432 -d 10 --html page.html",
		      "who is asked on a port of this host, with a page to hand on"}},
	.usage = "[-- PROGRAM ARG...]",
	.help = "Find why a program waits on the network: the verdict, the time line that proves it, tables.\v"
		"SIGUSR1: a report of what there is so far, and netstall goes on. Exit status: 0 done, 2 could not trace, 64 wrong usage.",
	.rows = trace_options,
	.takes_target = true,
	.check = trace_options__check,
};

static bool on_tick(void *printer, struct live *live, uint64_t now_ns)
{
	printer__idle(printer, live__report(live), now_ns);
	return true;
}

static void on_interim(void *printer, const struct report *report)
{
	printer__interim(printer, report);
}

static int trace(const struct options *options, struct output *output, struct recorded *recorded,
		 struct live **done)
{
	struct printer printer;
	struct live_options live = {.session = options->session,
				    .target = &options->target,
				    .seconds = options->seconds,
				    .progress = output__has_progress() && !options->all &&
						!options->events,
				    .output = output->file,
				    .recordings = {recorded->writer},
				    .marks = options->marks,
				    .tick = on_tick,
				    .interim = on_interim,
				    .context = &printer};
	int err;

	printer__init(&printer, output, options);
	live.sink = printer__sink(&printer);
	err = live__run(&live, done);
	if (!err)
		printer__finish(&printer, live__report(*done));
	printer__free(&printer);
	return err ? EXIT_UNABLE : EXIT_OK;
}

int cmd_trace(int argc, char **argv)
{
	struct options options;
	struct recorded recorded;
	struct output output;
	struct live *done;
	int status;

	options__init(&options);
	options__parse(&cmd_trace_options, argc, argv, &options);
	if (output__open(&output, &options))
		return EXIT_UNABLE;
	if (recorded__open(&recorded, options.recording, NULL)) {
		output__close(&output);
		return EXIT_UNABLE;
	}
	status = trace(&options, &output, &recorded, &done);
	if (recorded__close(&recorded) && status == EXIT_OK)
		status = EXIT_UNABLE;
	if (output__close(&output) && status == EXIT_OK)
		status = EXIT_UNABLE;
	live__free(done); /* behind the output: it waits for helpers */
	return status;
}

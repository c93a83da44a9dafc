// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall demo: the main job on a built-in workload. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/commands.h"
#include "user/cmd/live.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"
#include "user/demo/workload.h"

#define DEMO_SECONDS 4

struct demo {
	struct options options;
	const struct workload_script *script;
	bool list;
};

static void take_workload(char *word, void *options, const struct argp_state *state)
{
	struct demo *demo = options;

	demo->script = workload__find(word);
	if (!demo->script)
		usage_error(state, "no workload '%s': `netstall demo --list` names them", word);
}

static const struct option_row rows[] = {
	{0, "list", NULL, "Name the workloads", option__flag, INTO(struct demo, list)},
	{0},
};

const struct command_options cmd_demo_options = {
	.command = COMMAND_DEMO,
	.examples = {{"sudo netstall demo", "a client that writes each request in two pieces"},
		     {"netstall demo --list", "the other workloads"}},
	.usage = "[WORKLOAD]",
	.help = "Trace a built-in client and server for a few seconds and explain why they are slow.",
	.rows = rows,
	.word = take_workload,
};

static void list_workloads(void)
{
	const struct workload_script *script;
	unsigned mode;

	for (mode = 0; (script = workload__script(mode)); mode++)
		printf("%-12s  %s\n", script->name, script->description);
}

static void open_gate(void *workload)
{
	workload__open_gate(workload);
}

static void compare(FILE *out, const struct workload_script *script, struct workload *workload)
{
	struct workload_summary summary;

	workload__summarize(workload__result(workload), &summary);
	if (!summary.exchanges)
		return;
	fprintf(out,
		"\nThe workload itself measured: %llu of %llu exchanges took 10 ms or longer, median %.1f ms. Built-in cause: %s.\n",
		(unsigned long long)summary.stalls, (unsigned long long)summary.exchanges,
		summary.median_us / 1000, script->cause ? script->cause : "nothing");
}

static int run(struct demo *demo, struct workload *workload)
{
	struct target target = {.pid_count = 1, .pids = {workload__client_pid(workload)}};
	struct live_options live = {.session = demo->options.session,
				    .target = &target,
				    .seconds = DEMO_SECONDS,
				    .progress = output__has_progress(),
				    .started = open_gate,
				    .context = workload};
	struct output output;
	struct printer printer;
	struct live *done;
	int err;

	if (output__open(&output, &demo->options))
		return EXIT_UNABLE;
	if (!demo->options.json)
		fprintf(output.file, "The workload `%s`: %s\n\n", demo->script->name,
			demo->script->description);
	fflush(output.file);
	printer__init(&printer, &output, &demo->options);
	live.output = output.file;
	live.sink = printer__sink(&printer);
	if (live__run(&live, &done)) {
		printer__free(&printer);
		return EXIT_UNABLE;
	}
	workload__stop(workload);
	workload__wait(workload);
	printer__finish(&printer, live__report(done));
	if (!demo->options.json)
		compare(output.file, demo->script, workload);
	printer__free(&printer);
	err = output__close(&output);
	live__free(done); /* behind the output: it waits for helpers */
	return err ? EXIT_UNABLE : EXIT_OK;
}

int cmd_demo(int argc, char **argv)
{
	struct workload_options options;
	struct workload *workload;
	struct demo demo = {0};
	int status = EXIT_UNABLE;

	options__init(&demo.options);
	demo.script = workload__script(WORKLOAD_SPLIT);
	options__parse(&cmd_demo_options, argc, argv, &demo);
	if (demo.list) {
		list_workloads();
		return EXIT_OK;
	}
	workload_options__init(&options, demo.script->mode);
	options.client_name = "demo-client";
	options.server_name = "demo-server";
	workload = workload__new(&options);
	if (!workload || workload__start(workload))
		log__error("cannot start the workload: %s",
			   workload ? workload__error(workload) : "no memory");
	else
		status = run(&demo, workload);
	workload__free(workload);
	return status;
}

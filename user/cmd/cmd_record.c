// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall record: watch a target as trace does, and keep it for `netstall report`. */
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/text.h"
#include "user/cmd/commands.h"
#include "user/cmd/live.h"
#include "user/cmd/recorded.h"
#include "user/cmd/trace_options.h"

#define NAME_SHOWN 200

static void check(void *parsed, const struct argp_state *state)
{
	struct options *options = parsed;

	trace_options__check(options, state);
	if (!options->output)
		usage_error(state, "name the file to record in: -o FILE");
}

static const struct command_options command = {
	.command = COMMAND_RECORD,
	.usage = "[-- PROGRAM ARG...]",
	.help = "Watch a program as `trace` does, and keep it in a file: `netstall report FILE` shows it, anywhere, without privileges.\v"
		"Exit status: 0 done, 2 could not record, 64 wrong usage.",
	.rows = trace_options,
	.takes_target = true,
	.check = check,
};

static void say(const struct live *live, const struct recorded *recorded)
{
	const struct report *report = live__report(live);
	char name[TEXT_SAFE(NAME_SHOWN)];
	struct stat file = {0};

	fflush(recorded->file);
	fstat(fileno(recorded->file), &file);
	text__safe(name, sizeof(name), recorded->path, NAME_SHOWN);
	log__note("recorded %s: %s events, %s, %s; `netstall report %s` shows it",
		  duration_text(report->end_ts - report->start_ts), count_text(report->events),
		  text__counted((char[TEXT_COUNTED]){""}, TEXT_COUNTED,
				report->stall_count + report->stalls_not_kept, "stall"),
		  bytes_text((uint64_t)file.st_size), name);
}

static int record(const struct options *options, struct recorded *recorded)
{
	const struct live_options live = {.session = options->session,
					  .target = &options->target,
					  .seconds = options->seconds,
					  .progress = isatty(STDERR_FILENO),
					  .output = recorded->file,
					  .recording = recorded->writer};
	struct live *done;
	int err = live__run(&live, &done);

	if (err)
		return EXIT_UNABLE;
	recording__end(recorded->writer);
	recorded->writer = NULL;
	say(done, recorded);
	live__free(done);
	return EXIT_OK;
}

int cmd_record(int argc, char **argv)
{
	struct recorded recorded;
	struct options options;
	int status;

	options__init(&options);
	options__parse(&command, argc, argv, &options);
	if (recorded__open(&recorded, options.output, NULL))
		return EXIT_UNABLE;
	status = record(&options, &recorded);
	if (recorded__close(&recorded) && status == EXIT_OK)
		status = EXIT_UNABLE;
	return status;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall record: watch a target as trace does, and keep it for `netstall report`. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/cmd/commands.h"
#include "user/cmd/flight.h"
#include "user/cmd/live.h"
#include "user/cmd/output.h"
#include "user/cmd/recorded.h"
#include "user/cmd/trace_options.h"

#define NAME_SHOWN 200

static void check(void *parsed, const struct argp_state *state)
{
	struct options *options = parsed;

	trace_options__check(options, state);
	if (!options->output && !(options->last_seconds && options->keep_stalls))
		usage_error(state, "name the file to record in: -o FILE");
	if (options->keep_stalls && !options->last_seconds)
		usage_error(state, "--keep needs --last SECS: add it, or leave out --keep");
	if (options->keep_worst && !options->keep_stalls)
		usage_error(state,
			    "--keep-worst needs --keep DIR: add it, or leave out --keep-worst");
	if (options->keep_some && !options->keep_stalls)
		usage_error(state,
			    "--keep-cause needs --keep DIR: add it, or leave out --keep-cause");
}

const struct command_options cmd_record_options = {
	.command = COMMAND_RECORD,
	.examples = {{"sudo netstall record -p PID -d 30 -o run.nsr",
		      "into a file, which `netstall report` shows anywhere"},
		     {"sudo netstall record -p PID --last 60 --keep stalls --keep-cause rto",
		      "a flight recorder: what led to each stall"}},
	.usage = "[-- PROGRAM ARG...]",
	.help = "Watch a program as `trace` does, and keep it in a file: `netstall report FILE` shows it, anywhere, without privileges.\v"
		"Exit status: 0 done, 2 could not record, 64 wrong usage.",
	.rows = trace_options,
	.takes_target = true,
	.check = check,
};

/* ---- the flight recorder ---- */

struct wishes {
	const struct options *options;
	struct flight *flight; /* NULL: no stall is kept */
};

static bool is_wanted(const struct options *options, const struct stall *stall)
{
	return !options->keep_some ||
	       ((options->keep_cause == CAUSE_COUNT || options->keep_cause == stall->cause) &&
		stall->end_ts - stall->start_ts >= options->keep_ns);
}

static void on_stall(void *context, const struct report *so_far, const struct stall *stall)
{
	const struct wishes *wishes = context;

	(void)so_far;
	if (is_wanted(wishes->options, stall))
		flight__stall(wishes->flight, stall);
}

static bool on_tick(void *context, struct live *live, uint64_t now_ns)
{
	const struct wishes *wishes = context;
	int signal_number;

	(void)live;
	while ((signal_number = signals__take())) {
		if (signals__ends(signal_number))
			return false;
		if (signal_number == SIGUSR1)
			flight__ask(wishes->flight, now_ns);
	}
	flight__poll(wishes->flight, now_ns);
	return true;
}

/* ---- the run ---- */

static void say(const struct live *live, const struct recorded *recorded)
{
	const struct report *report = live__report(live);
	char name[TEXT_SAFE(NAME_SHOWN)];
	struct stat file = {0};

	fflush(recorded->file);
	fstat(fileno(recorded->file), &file);
	text__safe(name, sizeof(name), recorded->path, NAME_SHOWN);
	if (recorded->last)
		log__note(
			"watched %s; what there was last is in %s, %s: `netstall report` shows it",
			duration_text(report->end_ts - report->start_ts), name,
			bytes_text((uint64_t)file.st_size));
	else
		log__note("recorded %s: %s events, %s, %s; `netstall report %s` shows it",
			  duration_text(report->end_ts - report->start_ts),
			  count_text(report->events),
			  text__counted((char[TEXT_COUNTED]){""}, TEXT_COUNTED,
					report->stall_count + report->stalls_not_kept, "stall"),
			  bytes_text((uint64_t)file.st_size), name);
}

static int record(const struct options *options, struct recorded *recorded, struct live **done)
{
	struct wishes wishes = {.options = options};
	struct live_options live = {.session = options->session,
				    .target = &options->target,
				    .seconds = options->seconds,
				    .progress = output__has_progress(),
				    .output = recorded->last ? NULL : recorded->file,
				    .marks = options->marks,
				    .by_cause = options->offwake,
				    .recordings = {recorded->writer}};
	int err;

	if (options->offwake)
		live.session.offcpu = &offcpu_default;
	if (recorded->last) {
		if (options->keep_stalls &&
		    flight__open(options->keep_stalls, options->keep_most, options->keep_worst,
				 recorded->writer, &wishes.flight))
			return EXIT_UNABLE;
		live.sink.on_stall = on_stall;
		live.sink.context = live.context = &wishes;
		live.tick = on_tick;
		live.own_signals = true;
		signals__catch(SIGNALS_PASS_ON);
	}
	err = live__run(&live, done);
	if (!err) {
		err = flight__finish(wishes.flight);
		recorded__finish(recorded);
		if (recorded->file)
			say(*done, recorded);
	}
	flight__free(wishes.flight);
	return err ? EXIT_UNABLE : EXIT_OK;
}

int cmd_record(int argc, char **argv)
{
	struct recorded recorded;
	struct options options;
	struct live *done = NULL;
	int status, err;

	options__init(&options);
	options__parse(&cmd_record_options, argc, argv, &options);
	err = options.last_seconds ? recorded__open_last(&recorded, options.output,
							 (uint64_t)(options.last_seconds * 1e9),
							 options.last_bytes)
				   : recorded__open(&recorded, options.output, NULL);
	if (err)
		return EXIT_UNABLE;
	status = record(&options, &recorded, &done);
	if (recorded__close(&recorded) && status == EXIT_OK)
		status = EXIT_UNABLE;
	live__free(done); /* behind the recording: it waits for helpers */
	return status;
}

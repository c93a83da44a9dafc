// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * netstall check: a gate for a pipeline. It starts the program, waits for its port and its warm-up,
 * passes signals on, ends it when its time is over, and feeds the flight recorder and the on-stall
 * command meanwhile. What fails has been said, and is part of the judgement.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user/analyze/tally.h"
#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/check/judge/beyond.h"
#include "user/cmd/check_files.h"
#include "user/cmd/check_options.h"
#include "user/cmd/commands.h"
#include "user/cmd/flight.h"
#include "user/cmd/live.h"
#include "user/cmd/output.h"
#include "user/cmd/recorded.h"

#define WAIT_PORT_SECS 30.0
/*
 * Whoever asks for the end a second time gets it, however the program takes it: a CI runner
 * sends SIGINT, SIGTERM and SIGKILL in a row of some seconds, and the reports shall be written
 * before the last.
 */
#define SECOND_SIGNAL_NS 2000000000ull
#define TICK_MS          50
#define KEPT_NS          10000000000ull /* of a stall's recording */

struct check_run {
	const struct check_options *options;
	struct recorded *recorded;
	struct recorded last; /* of --keep */
	struct program *program;
	struct beyond beyond;
	struct flight *flight;
	struct on_stall *on_stall;
	struct live *live;
	char *unable; /* a sentence; NULL: all was done that was asked for */
	bool no_target;
	bool cut_short;
	unsigned end_signals;
	uint64_t kill_at; /* CLOCK_MONOTONIC ns like all here; 0 not */
	uint64_t started_at;
	uint64_t warm_at; /* the warm-up began, 0 not yet */
	uint64_t judged_from;
	bool judging;
	struct traffic before; /* of what is not judged */
	bool has_before;
};

static bool later_than(uint64_t now, uint64_t since, double seconds)
{
	return now >= since && now - since >= seconds * 1e9;
}

static void note_failure(struct check_run *run)
{
	if (!run->unable)
		run->unable = xstrdup(log__last_error());
}

/* ---- before ---- */

static int open_flight(struct check_run *run)
{
	const struct options *options = &run->options->common;

	beyond__init(&run->beyond, &run->options->budgets);
	recorded__open_last(&run->last, NULL, KEPT_NS, FLIGHT_BYTES);
	return flight__open(options->keep_stalls, options->keep_most, options->keep_worst,
			    run->last.writer, &run->flight);
}

/* The program, stopped, and whatever else is started before the attach. */
static struct check_run *new_run(const struct check_options *options)
{
	struct check_run *run = xcalloc(1, sizeof(*run));

	run->options = options;
	if (options->common.target.program) {
		run->program = program__new(options->common.target.program, true);
		if (!run->program)
			note_failure(run);
	}
	if (!run->unable && options->common.keep_stalls && open_flight(run))
		note_failure(run);
	if (!run->unable && options->on_stall.command &&
	    on_stall__open(&options->on_stall, &options->budgets, &run->on_stall))
		note_failure(run);
	return run;
}

/* ---- the window ---- */

static void begin_judging(struct check_run *run, struct live *live, uint64_t now)
{
	run->judging = true;
	run->judged_from = now;
	run->before = traffic__of(live__begin_judging(live, now));
	run->has_before = true;
}

static bool is_ready(struct check_run *run, struct live *live, uint64_t now)
{
	const struct check_options *options = run->options;
	double patience = options->timeout ? options->timeout : WAIT_PORT_SECS;

	if (!options->wait_port || live__listens(live, options->wait_port))
		return true;
	if (later_than(now, run->started_at, patience))
		program__end(run->program, PROGRAM_NOT_READY);
	return false;
}

static void advance(struct check_run *run, struct live *live, uint64_t now)
{
	if (run->judging)
		return;
	if (!run->warm_at && is_ready(run, live, now))
		run->warm_at = now;
	if (run->warm_at && later_than(now, run->warm_at, run->options->warmup))
		begin_judging(run, live, now);
}

/* ---- signals ---- */

static void pass_on(struct check_run *run, int signal_number, uint64_t now)
{
	program__signal(run->program, signal_number, true);
	if (!signals__ends(signal_number))
		return;
	run->cut_short |= !run->options->until_exit;
	if (++run->end_signals == 2)
		run->kill_at = now + SECOND_SIGNAL_NS;
}

/* Returns false when a signal ends the window. */
static bool take_signals(struct check_run *run, uint64_t now)
{
	int signal_number;

	while ((signal_number = signals__take())) {
		if (run->program) {
			pass_on(run, signal_number, now);
			continue;
		}
		run->cut_short = run->options->common.seconds > 0;
		return false;
	}
	if (run->kill_at && now >= run->kill_at) {
		run->kill_at = 0;
		program__kill(run->program);
	}
	return true;
}

/* Returns false once the program has ended. */
static bool look_after_program(struct check_run *run, uint64_t now)
{
	double timeout = run->options->timeout;

	if (!program__poll(run->program))
		return false;
	if (timeout && later_than(now, run->started_at, timeout))
		program__end(run->program, run->options->wait_port && !run->warm_at
						   ? PROGRAM_NOT_READY
						   : PROGRAM_TIMED_OUT);
	return true;
}

static bool goes_on(void *context, struct live *live, uint64_t now)
{
	struct check_run *run = context;
	double seconds = run->options->common.seconds;

	flight__poll(run->flight, now);
	on_stall__poll(run->on_stall);
	if (!take_signals(run, now) || (run->program && !look_after_program(run, now)))
		return false;
	advance(run, live, now);
	return !seconds || !run->judging ||
	       !later_than(now, run->judged_from ? run->judged_from : run->started_at, seconds);
}

/* ---- the trace ---- */

static void on_started(void *context)
{
	struct check_run *run = context;

	run->started_at = clock__now();
	run->judging = !run->options->wait_port && !run->options->warmup;
}

static void on_stall(void *context, const struct report *so_far, const struct stall *stall)
{
	struct check_run *run = context;

	if (!run->judging || stall->start_ts < run->judged_from || stall__is_pace(stall))
		return;
	if (run->flight && beyond__stall(&run->beyond, so_far, stall))
		flight__stall(run->flight, stall);
	on_stall__stall(run->on_stall, so_far, stall);
}

static void trace(struct check_run *run)
{
	const struct check_options *options = run->options;
	const struct live_options live = {.session = options->common.session,
					  .target = &options->common.target,
					  .program = run->program,
					  .recordings = {run->recorded->writer, run->last.writer},
					  .progress = output__has_progress() && !run->program,
					  .silent = run->program && !log__is_verbose(),
					  .sink = {.on_stall = on_stall, .context = run},
					  .started = on_started,
					  .tick = goes_on,
					  .own_signals = true,
					  .context = run};
	int err;

	signals__catch(run->program ? SIGNALS_PASS_ON : SIGNALS_TAKE);
	err = live__run(&live, &run->live);
	if (err == -ESRCH && !run->program)
		run->no_target = true;
	else if (err || xalloc__is_short())
		note_failure(run);
}

/* ---- after ---- */

/* The window is over; the program may not be. */
static void end_program(struct check_run *run)
{
	if (!run->live) {
		/* It waits for its release still, and ends with our end of the gate. */
		return;
	}
	if (!run->options->until_exit)
		program__end(run->program, PROGRAM_OUTLIVED);
	while (run->options->until_exit) {
		struct pollfd news = {.fd = program__fd(run->program), .events = POLLIN};
		uint64_t now = clock__now();

		take_signals(run, now);
		if (!look_after_program(run, now))
			break;
		poll(&news, 1, TICK_MS);
	}
	program__await(run->program);
}

/* Trace, until all is over, the program too. */
static void go(struct check_run *run)
{
	const struct report *report;

	if (run->unable)
		return;
	trace(run);
	report = run->live ? live__report(run->live) : NULL;
	if (report && !run->judging) {
		/* It ended before its port was open, or its warm-up over: nothing is judged. */
		run->judged_from = report->end_ts;
		run->before = traffic__of(report);
		run->has_before = true;
	}
	if (report && flight__finish(run->flight))
		note_failure(run);
	if (run->program)
		end_program(run);
	on_stall__finish(run->on_stall);
}

/* ---- judgement ---- */

static void describe_target(const struct check_run *run, char *out, size_t size)
{
	const struct target *target = &run->options->common.target;

	if (target->program)
		text__safe(out, size, target->program[0], strlen(target->program[0]));
	else if (run->live && *live__target(run->live))
		snprintf(out, size, "%s", live__target(run->live));
	else
		target__describe(target, out, size);
}

static void describe_program(const struct check_run *run, struct program_outcome *out)
{
	const struct check_options *options = run->options;

	program__outcome(run->program, out);
	out->timeout_secs = options->timeout;
	out->wait_port = options->wait_port;
	if (options->wait_port)
		out->wait_secs = options->timeout ? options->timeout : WAIT_PORT_SECS;
}

/* baseline: NULL none; baseline_problem: why there is none though one was named. */
static struct outcome *judge(struct check_run *run, const struct baseline *baseline,
			     const char *baseline_problem)
{
	const struct check_options *options = run->options;
	const struct gate_options gate = {.budgets = &options->budgets,
					  .min_exchanges = options->min_exchanges,
					  .allow_no_traffic = options->allow_no_traffic,
					  .inconclusive = options->inconclusive,
					  .judged_from = run->judged_from,
					  .baseline = baseline,
					  .baseline_name = options->baseline,
					  .confidence = options->confidence};
	char target[128];
	struct gate_facts facts = {.target = target,
				   .unable = run->unable,
				   .no_target = run->no_target,
				   .cut_short = run->cut_short,
				   .baseline_problem = baseline_problem,
				   .before = run->before,
				   .has_before = run->has_before};
	struct outcome *outcome;

	describe_target(run, target, sizeof(target));
	if (run->program)
		describe_program(run, &facts.program);
	outcome = outcome__new(run->live ? live__report(run->live) : NULL, &gate, &facts);
	outcome->kept = options->common.keep_stalls;
	outcome->kept_count = flight__kept(run->flight);
	return outcome;
}

static void free_run(struct check_run *run)
{
	live__free(run->live);
	on_stall__free(run->on_stall);
	flight__free(run->flight);
	recorded__close(&run->last);
	program__free(run->program);
	free(run->unable);
	free(run);
}

static int check(const struct check_options *options, struct check_files *files,
		 struct recorded *recorded)
{
	struct check_run *run = new_run(options);
	char *baseline_problem = NULL;
	struct baseline baseline;
	struct outcome *outcome;
	bool compares;
	int status;

	if (options->baseline)
		baseline_problem = baseline_file__load(options->baseline, &baseline);
	compares = options->baseline && !baseline_problem;
	run->recorded = recorded;
	go(run);
	if (recorded__close(recorded))
		note_failure(run);
	outcome = judge(run, compares ? &baseline : NULL, baseline_problem);
	check_files__write(files, options, outcome);
	status = outcome->exit_status;
	outcome__free(outcome);
	free_run(run);
	free(baseline_problem);
	return status;
}

int cmd_check(int argc, char **argv)
{
	struct check_options options;
	struct recorded recorded;
	struct check_files files;
	int status;

	check_options__parse(&options, argc, argv);
	if (recorded__open(&recorded, options.common.recording, NULL))
		return EXIT_UNABLE;
	if (check_files__open(&files, &options)) {
		recorded__close(&recorded);
		return EXIT_UNABLE;
	}
	status = check(&options, &files, &recorded);
	check_files__close(&files);
	return status;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/profiling.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/cmd/causes.h"
#include "user/kernel/privileges.h"
#include "user/process/program.h"
#include "user/process/report_file.h"
#include "user/process/signals.h"

#define POLL_MS           50
#define PROGRESS_EVERY_NS 500000000ull

struct run {
	struct profiling *profiling;
	struct program *program;
	struct resolver *resolver;
	struct by_cause *by_cause;
	struct causes *causes;
	struct offcpu *offcpu;
	uint64_t started_ns;
	uint64_t progress_ns;
};

static void announce(const struct run *run)
{
	const struct offcpu_options *options = &run->profiling->offcpu;
	size_t count = offcpu__target_count(run->offcpu);
	char who[128];

	offcpu__first_target(run->offcpu, who, sizeof(who));
	if (options->everything)
		snprintf(who, sizeof(who), "all %sthreads",
			 options->user_threads     ? "user "
			 : options->kernel_threads ? "kernel "
						   : "");
	else if (!*who)
		target__describe(run->profiling->target, who, sizeof(who));
	if (count > 1)
		snprintf(who + strlen(who), sizeof(who) - strlen(who), " and %zu more", count - 1);
	log__note("profiling where %s sleep%s and who wakes it, %u wake%s deep; Ctrl-C to stop",
		  who, options->everything || count > 1 ? "" : "s", options->depth,
		  options->depth == 1 ? "" : "s");
}

static int open_all(struct run *run)
{
	struct profiling *profiling = run->profiling;
	pid_t program = run->program ? program__pid(run->program) : 0;
	int err;

	run->resolver = resolver__new();
	profiling->offcpu.resolver = profiling->session.resolver = run->resolver;
	if (profiling->by_cause) {
		run->by_cause = by_cause__new(profiling->session.threshold_ns);
		profiling->offcpu.by_cause = run->by_cause;
		err = causes__open(&profiling->session, profiling->target, program, run->by_cause,
				   &run->causes);
		if (err)
			return err;
	}
	err = offcpu__open(&profiling->offcpu, profiling->target, program, &run->offcpu);
	return err ? err : offcpu__attach(run->offcpu);
}

static void show_progress(struct run *run, uint64_t now)
{
	if (!run->profiling->progress || now - run->progress_ns < PROGRESS_EVERY_NS)
		return;
	run->progress_ns = now;
	fprintf(stderr, "\r\033[K%.1f s", (now - run->started_ns) / 1e9);
	fflush(stderr);
}

static bool goes_on(struct run *run)
{
	if (signals__end_was_asked() || xalloc__is_short())
		return false;
	if (run->profiling->output && report_file__is_lost(run->profiling->output))
		return false;
	if (run->program)
		return program__poll(run->program);
	return run->profiling->offcpu.everything || !offcpu__targets_gone(run->offcpu);
}

static void loop(struct run *run)
{
	uint64_t now = clock__now(), end = UINT64_MAX;

	run->started_ns = run->progress_ns = now;
	if (run->profiling->seconds)
		end = now + run->profiling->seconds * 1e9;
	while (now < end && goes_on(run)) {
		offcpu__poll(run->offcpu,
			     end - now < POLL_MS * 1000000ull ? (end - now) / 1000000 : POLL_MS);
		if (run->causes)
			causes__poll(run->causes);
		now = clock__now();
		show_progress(run, now);
	}
	if (run->profiling->progress)
		fputs("\r\033[K", stderr);
}

static bool let_go(struct run *run)
{
	int err = run->program ? program__release(run->program) : 0;

	if (err)
		log__error("cannot run %s: %s", run->profiling->target->program[0], strerror(-err));
	return !err;
}

static struct profile *watch(struct run *run)
{
	struct profile *profile;

	if (open_all(run))
		return NULL;
	privileges__drop();
	announce(run);
	if (!let_go(run))
		return NULL;
	loop(run);
	if (xalloc__is_short())
		log__error(
			"memory ran out: what was seen by then is shown; allow netstall more, or "
			"watch less");
	offcpu__detach(run->offcpu);
	if (run->causes)
		causes__finish(run->causes);
	profile = offcpu__finish(run->offcpu);
	if (run->causes)
		profile->lost[PROFILE_LOST_RECORDS].count += causes__lost(run->causes);
	return profile;
}

struct profile *profiling__run(struct profiling *profiling)
{
	struct run run = {.profiling = profiling};
	struct profile *profile = NULL;

	if (profiling->target->program) {
		run.program = program__new(profiling->target->program, false);
		if (!run.program)
			return NULL;
	}
	signals__catch(SIGNALS_TAKE);
	profile = watch(&run);
	offcpu__close(run.offcpu);
	causes__close(run.causes);
	by_cause__free(run.by_cause);
	resolver__free(run.resolver);
	program__free(run.program);
	return profile;
}

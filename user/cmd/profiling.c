// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/profiling.h"

#include <string.h>

#include "user/base/log.h"
#include "user/cmd/live.h"
#include "user/process/program.h"
#include "user/process/signals.h"
#include "user/record/losses.h"

struct run {
	struct program *program;
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

	(void)live;
	(void)now_ns;
	return !run->err && !signals__end_was_asked() &&
	       (!run->program || program__poll(run->program));
}

static void on_wait(void *context, const struct wait_record *wait)
{
	by_cause__explain(context, wait);
}

static struct profile *watch(const struct profiling *profiling, struct run *run)
{
	struct live_options live = {.session = profiling->session,
				    .target = profiling->target,
				    .seconds = profiling->seconds,
				    .progress = profiling->progress,
				    .output = profiling->output,
				    .started = release_program,
				    .tick = goes_on,
				    .own_signals = true,
				    .context = run};
	struct profile *profile;
	struct live *done;

	live.session.offcpu = &profiling->offcpu;
	live.session.untraced = !profiling->by_cause;
	if (profiling->by_cause)
		live.sink = (struct pipeline_sink){.on_wait = on_wait,
						   .context = profiling->offcpu.by_cause};
	if (run->program) {
		live.program = program__pid(run->program);
		live.wake_fd = program__fd(run->program);
	}
	if (live__run(&live, &done))
		return NULL;
	profile = run->err ? NULL : live__take_profile(done);
	/* With these lost, waits may have no cause. */
	if (profile && profiling->by_cause)
		profile->lost[PROFILE_LOST_RECORDS].count +=
			losses__hiding(live__report(done)->lost);
	live__free(done);
	return profile;
}

struct profile *profiling__run(struct profiling *profiling)
{
	char **argv = profiling->target->program;
	struct profile *profile;
	struct run run = {0};

	if (argv) {
		run.name = argv[0];
		run.program = program__new(argv, false);
		if (!run.program)
			return NULL;
	}
	if (profiling->by_cause)
		profiling->offcpu.by_cause = by_cause__new();
	signals__catch(SIGNALS_TAKE);
	profile = watch(profiling, &run);
	by_cause__free(profiling->offcpu.by_cause);
	program__free(run.program);
	return profile;
}

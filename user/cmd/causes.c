// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/causes.h"

#include <stdlib.h>

#include "user/analyze/pipeline.h"
#include "user/analyze/report.h"
#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/record/losses.h"

struct causes {
	struct by_cause *by_cause;
	struct session *session;
	struct pipeline *pipeline;
};

static void feed(void *context, const void *record, size_t len)
{
	struct causes *causes = context;

	pipeline__feed(causes->pipeline, record, len);
}

static void on_wait(void *context, const struct wait_record *waited)
{
	struct causes *causes = context;

	by_cause__explain(causes->by_cause, waited);
}

int causes__open(const struct session_options *options, const struct target *target,
		 pid_t program_pid, struct by_cause *by_cause, struct causes **out)
{
	struct causes *causes = xcalloc(1, sizeof(*causes));
	const struct pipeline_sink sink = {.on_wait = on_wait, .context = causes};
	int err;

	causes->by_cause = by_cause;
	causes->pipeline = pipeline__new(&sink);
	err = session__open(options, target, program_pid, feed, causes, &causes->session);
	if (!err)
		err = session__attach(causes->session);
	if (err) {
		causes__close(causes);
		return err;
	}
	*out = causes;
	return 0;
}

void causes__poll(struct causes *causes)
{
	if (session__poll(causes->session))
		pipeline__idle(causes->pipeline, clock__now());
}

void causes__finish(struct causes *causes)
{
	session__finish(causes->session);
	pipeline__finish(causes->pipeline);
}

uint64_t causes__lost(const struct causes *causes)
{
	return losses__hiding(pipeline__report(causes->pipeline)->lost);
}

void causes__close(struct causes *causes)
{
	if (!causes)
		return;
	session__close(causes->session);
	pipeline__free(causes->pipeline);
	free(causes);
}

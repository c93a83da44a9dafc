/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A live run: session -> pipeline -> report, or profile, with what a person at a terminal expects
 * (a progress line, Ctrl-C that ends with the summary).
 */
#ifndef NETSTALL_CMD_LIVE_H
#define NETSTALL_CMD_LIVE_H

#include <stdio.h>

#include "user/analyze/pipeline.h"
#include "user/process/program.h"
#include "user/process/signals.h"
#include "user/record/recording.h"
#include "user/source/session.h"

struct live;

#define LIVE_RECORDINGS 2

struct live_options {
	struct session_options session;
	const struct target *target;
	/*
	 * Of `-- PROGRAM`, stopped: it is traced from its first instruction, and let go once all
	 * hooks are attached. The caller's; NULL: the target's is started, if it has one.
	 */
	struct program *program;
	double seconds; /* 0: until a signal or the target's end */
	bool progress;  /* a progress line on stderr, when that is a terminal */
	bool silent;    /* nothing on stderr but errors */
	bool marks;     /* lines of stdin stand on the time line */
	FILE *output;   /* the window ends when that is lost (process/report_file.h); NULL: never */
	struct pipeline_sink sink;
	/* All records and the profile, also; NULL: not. A file, and a flight recorder. */
	struct recording_writer *recordings[LIVE_RECORDINGS];
	bool by_cause; /* of session.offcpu: each wait of the profile has its cause */
	/* Called once all hooks are attached and the program runs; may be NULL. */
	void (*started)(void *context);
	/*
	 * Called after each look at what has come, some 20 times a second; false ends the window.
	 * May be NULL.
	 */
	bool (*tick)(void *context, struct live *live, uint64_t now_ns);
	/*
	 * Called at a SIGUSR1, as live__judge_so_far() does. May be NULL.
	 */
	void (*interim)(void *context, const struct report *report);
	enum signals_use signals; /* that end the window, */
	bool own_signals;         /* unless the caller catches them, for its tick to see */
	void *context;            /* of started, tick and interim */
};

/* Run to the end. Returns 0, or -errno after it has said why; then *out is NULL. What the caller's
 * own program came to is the caller's to say. */
int live__run(const struct live_options *options, struct live **out);
const struct report *live__report(const struct live *live);
void live__free(struct live *live);
/* What was profiled beside, or alone. NULL: nothing was. */
struct profile *live__profile(const struct live *live);
/* "echo_bench (4242)", of the first target; "" when there was none yet. */
const char *live__target(const struct live *live);

/* For a tick. Somebody of the target listens on that TCP port. */
bool live__listens(const struct live *live, uint16_t port);
/* The report so far, with the totals of all connections by now. */
const struct report *live__tell_totals(struct live *live);
/*
 * Calls it in a process of its own, that has all of this one and ends then: the report as if the
 * window ended now, without totals of threads. Waits for that.
 */
void live__judge_so_far(struct live *live, void (*with)(void *context, const struct report *report),
			void *context);
/* The warm-up is over at now_ns. The report so far, with the totals of all connections by then. */
const struct report *live__begin_judging(struct live *live, uint64_t now_ns);

/* Take the progress line away before something is printed to the terminal. */
void live__clear_progress(void);

#endif

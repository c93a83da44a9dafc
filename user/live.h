/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A live run: session -> pipeline -> report, with what a person at a terminal expects
 * (a progress line, Ctrl-C that ends with the summary).
 */
#ifndef NETSTALL_LIVE_H
#define NETSTALL_LIVE_H

#include "user/analyze/pipeline.h"
#include "user/collect/session.h"

struct live_options {
	struct session_options session;
	const struct target *target;
	pid_t program;  /* a stopped child to trace from its first instruction; 0 none */
	double seconds; /* 0: until a signal or the target's end */
	bool progress;  /* a progress line on stderr, when that is a terminal */
	bool silent;    /* nothing on stderr but errors */
	struct pipeline_sink sink;
	/* Called once all hooks are attached; may be NULL. */
	void (*started)(void *context);
	void *started_context;
};

struct live;

/* Run to the end. Returns 0, or -errno after it has said why; then *out is NULL. */
int live__run(const struct live_options *options, struct live **out);
const struct report *live__report(const struct live *live);
void live__free(struct live *live);

/* Take the progress line away before something is printed to the terminal. */
void live__clear_progress(void);

#endif

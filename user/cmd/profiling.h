/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A run of the off-CPU profile, until the end of the time, of the target, or Ctrl-C; and with
 * by_cause the analysis of `trace` beside it.
 */
#ifndef NETSTALL_CMD_PROFILING_H
#define NETSTALL_CMD_PROFILING_H

#include <stdio.h>

#include "user/source/session.h"

struct profiling {
	struct offcpu_options offcpu; /* by_cause is filled in here */
	struct session_options session;
	const struct target *target;
	double seconds; /* 0: until a signal or the target's end */
	bool by_cause;
	bool progress; /* a progress line on stderr, when that is a terminal */
	FILE *output;  /* where all of it goes: the run ends when that is lost; NULL: never */
};

/* Returns the profile, the caller's; NULL after it has said why there is none. */
struct profile *profiling__run(struct profiling *profiling);

#endif

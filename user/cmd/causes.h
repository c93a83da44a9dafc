/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The analysis of `trace` beside another source: a session and a pipeline of the same target and
 * window, whose word on every long wait goes to by_cause. (offwake --by-cause)
 *
 *	causes__open      load, attach; says why when it fails
 *	causes__poll      again and again
 *	causes__finish    the other source has detached: the pipeline tells the rest
 *	causes__close
 */
#ifndef NETSTALL_CMD_CAUSES_H
#define NETSTALL_CMD_CAUSES_H

#include "user/analyze/profile/by_cause.h"
#include "user/source/session.h"

struct causes;

/* program_pid: the stopped child that becomes the target's program, 0 none. by_cause stays the
 * caller's. Returns 0, or -errno after it has said why. */
int causes__open(const struct session_options *options, const struct target *target,
		 pid_t program_pid, struct by_cause *by_cause, struct causes **out);
void causes__poll(struct causes *causes);
void causes__finish(struct causes *causes);
/* Records that did not reach the analysis, so that waits may have no cause; after causes__finish().
 */
uint64_t causes__lost(const struct causes *causes);
void causes__close(struct causes *causes);

#endif

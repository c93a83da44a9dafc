/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * --on-stall CMD: a command at the moment of a stall of a gated cause, to save a core, a
 * profile or a capture. It runs as the user who called sudo, with stdin from /dev/null and its
 * output on our stderr, and its environment says:
 *
 *   NETSTALL_CAUSE        nagle-delack
 *   NETSTALL_STALL        its number, from 1
 *   NETSTALL_PID, NETSTALL_TID, NETSTALL_COMM     whom it delayed; TID empty when not seen
 *   NETSTALL_DURATION_MS  40.560
 *   NETSTALL_START        CLOCK_MONOTONIC, seconds: 12345.678901234
 *   NETSTALL_START_WALL   seconds since 1970: 1700000000.123456789
 *   NETSTALL_CONNECTION   127.0.0.1:37640 -> 127.0.0.1:7000; empty when of none
 *   NETSTALL_FD           its descriptor there; empty when not known
 *   NETSTALL_SKIPPED      stalls since the last one for which nothing was run
 *
 * One runs at a time, and one starts at most once in every_secs; what is skipped is counted and
 * said at the end. A small process of ours starts the commands, so that nothing waits for them.
 *
 *   on_stall__open     before the session drops its privileges (live__run)
 *   on_stall__stall    from the pipeline's on_stall, each stall that is judged (no warm-up)
 *   on_stall__poll     often (after each session__poll)
 *   on_stall__finish   at the end: gives the last one 5 s, then ends it
 */
#ifndef NETSTALL_PROCESS_ON_STALL_H
#define NETSTALL_PROCESS_ON_STALL_H

#include <stdbool.h>
#include <stddef.h>

#include "user/analyze/report.h"
#include "user/check/judge/budget.h"

struct on_stall_options {
	const char *command;
	bool shell;        /* sh -c command; else split into words, with quotes as in a shell */
	double every_secs; /* --on-stall-every, 1 */
};

struct on_stall;

/* While options are parsed: returns true, or false and a clause for people in why (status 64). */
bool on_stall__check(const char *command, bool shell, char *why, size_t size);
/*
 * Returns 0; or -errno after it has said why: there is no such command, or it cannot be run by
 * the user it is to run as. budgets must live as long.
 */
int on_stall__open(const struct on_stall_options *options, const struct budgets *budgets,
		   struct on_stall **out);
/* Never waits. */
void on_stall__stall(struct on_stall *on_stall, const struct report *so_far,
		     const struct stall *stall);
void on_stall__poll(struct on_stall *on_stall);
/* Says what was skipped, and what failed; a command's failure changes no exit status. */
void on_stall__finish(struct on_stall *on_stall);
/* Any of these takes NULL for a command that was not asked for. */
void on_stall__free(struct on_stall *on_stall);

#endif

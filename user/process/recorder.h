/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder, --keep DIR: of each stall beyond its budget a time line and a JSON
 * document with the seconds around it, as files that a CI job keeps.
 *
 *   DIR/001-nagle-delack.txt    the time line, for people
 *   DIR/001-nagle-delack.json   netstall.kept/1, see docs/check-schema.json
 *
 * A small process of ours writes them, as the user who called sudo: after the attach netstall
 * itself has no right left to write anywhere, and the files shall be that user's.
 *
 *   recorder__open     before the session drops its privileges (live__run)
 *   recorder__record   from the pipeline's on_record, each record
 *   recorder__stall    from the pipeline's on_stall, each stall that is judged (no warm-up)
 *   recorder__poll     often (after each session__poll)
 *   recorder__finish   after pipeline__finish, before pipeline__free
 */
#ifndef NETSTALL_PROCESS_RECORDER_H
#define NETSTALL_PROCESS_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "user/analyze/report.h"
#include "user/check/judge/budget.h"

#define RECORDER_STALLS 20 /* kept of a run; --keep-max */

struct recorder;

/*
 * Makes the directory (0700) when it is missing. Returns 0; or -errno after it has said why:
 * no directory, not writable, or files of an earlier run in it. dir and budgets stay the caller's
 * and must live as long.
 */
int recorder__open(const char *dir, unsigned most, const struct budgets *budgets,
		   struct recorder **out);
void recorder__record(struct recorder *recorder, const struct report *so_far,
		      const union record *record);
void recorder__stall(struct recorder *recorder, const struct report *so_far,
		     const struct stall *stall);
/* now_ns: CLOCK_MONOTONIC. Hands over what is due; never waits for a disk. */
void recorder__poll(struct recorder *recorder, const struct report *so_far, uint64_t now_ns);
/*
 * Keeps what was still waiting for its second after. Returns 0, or -errno after it has said what
 * could not be kept (a full disk): exit status 2.
 */
int recorder__finish(struct recorder *recorder, const struct report *report);
/* Stalls whose two files are there; right after recorder__finish. */
size_t recorder__kept(const struct recorder *recorder);
/* Any of these takes NULL for a recorder that was not asked for. */
void recorder__free(struct recorder *recorder);

#endif

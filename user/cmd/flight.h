/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder of record and check, --keep DIR: the last seconds as a recording for each
 * stall that is wanted, DIR/001-nagle-delack.nsr. A second after its end, so that what came then is
 * in it, and of one cause at most each 10 s: the stalls in between are in there too.
 *
 *   flight__open     before the session drops its privileges (live__run)
 *   flight__stall    each stall that is wanted
 *   flight__poll     often
 *   flight__finish   when all records have come
 */
#ifndef NETSTALL_CMD_FLIGHT_H
#define NETSTALL_CMD_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analyze/report.h"
#include "user/record/recording.h"

#define FLIGHT_FILES 20           /* --keep-max */
#define FLIGHT_BYTES (128u << 20) /* of its memory */

struct flight;

/*
 * Makes the directory (0700) when it is missing. Returns 0; or -errno after it has said why: no
 * directory, not writable, or recordings of an earlier run in it. last is one of
 * recording__begin_last(); it and dir stay the caller's, and must live as long. Of more than most
 * files (0: FLIGHT_FILES) the oldest goes; with worst, the one of the shortest stall.
 */
int flight__open(const char *dir, unsigned most, bool worst, struct recording_writer *last,
		 struct flight **out);
void flight__stall(struct flight *flight, const struct stall *stall);
/* Also without a stall: at SIGUSR1. */
void flight__ask(struct flight *flight, uint64_t now_ns);
/* now_ns: CLOCK_MONOTONIC. Hands over what is due; never waits for a disk. */
void flight__poll(struct flight *flight, uint64_t now_ns);
/*
 * Keeps what was still waiting for its second. Returns 0, or -errno after it has said what could
 * not be kept (a full disk).
 */
int flight__finish(struct flight *flight);
/* Recordings that are there; right after flight__finish. */
size_t flight__kept(const struct flight *flight);
/* Any of these takes NULL for one that was not asked for. */
void flight__free(struct flight *flight);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the targets did by io_uring, opcode by opcode: the kernel side's counts (NS_URING_TOTALS,
 * NS_URING_ERROR), of which the last of each process holds, added up over processes.
 *
 * Counts and the longest time are exact. The median and the 99th percentile come from buckets:
 * each is the middle of the bucket that it lies in, so from 4 us on it is off by at most a
 * sixteenth (below, by 128 ns). Where the percentile is the longest itself, as the 99th of less
 * than 100 operations is, it is exact; so is what lies in the last bucket, from 16 s on, but as an
 * upper bound.
 */
#ifndef NETSTALL_ANALYZE_REQUESTS_OPERATIONS_H
#define NETSTALL_ANALYZE_REQUESTS_OPERATIONS_H

#include "user/analyze/report.h"
#include "user/model/model.h"

#define OPERATIONS        4096  /* opcodes of processes that counts are kept of */
#define OPERATIONS_ERRORS 16384 /* their errors, by number */

struct operations;

struct operations *operations__new(void);
void operations__free(struct operations *operations);
/* Any record; those of io_uring's counts are taken. */
void operations__feed(struct operations *operations, const union record *record);
/* Counts that found no room. */
uint64_t operations__lost(const struct operations *operations);

/* Fills in report->uring, which the caller frees, and takes out of report->rings those of others
 * than targets. */
void operations__write(const struct operations *operations, const struct model *model,
		       struct report *report);

/* A time-out that ran out ends with -ETIME: listed by its name, and no error. */
bool operation__ran_out(uint32_t opcode, uint32_t error);

#endif

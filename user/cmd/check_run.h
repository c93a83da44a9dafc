/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a check does before there is anything to judge: it starts the program, waits for its port
 * and its warm-up, passes signals on, ends it when its time is over, and feeds the flight
 * recorder and the on-stall command meanwhile.
 *
 *   run = check_run__new(&options);
 *   check_run__go(run);
 *   outcome = check_run__judge(run, ...);
 *   check_run__free(run);   (after the outcome: that points into the report)
 */
#ifndef NETSTALL_CMD_CHECK_RUN_H
#define NETSTALL_CMD_CHECK_RUN_H

#include "user/cmd/check_options.h"

struct check_run;

/*
 * The program, stopped, and whatever else is started before the attach. What fails has been said
 * and is part of the judgement; options must live as long.
 */
struct check_run *check_run__new(const struct check_options *options);
/* Trace, until all is over, the program too. */
void check_run__go(struct check_run *run);
/* baseline: NULL none; baseline_problem: why there is none though one was named, NULL no reason. */
struct outcome *check_run__judge(struct check_run *run, const struct baseline *baseline,
				 const char *baseline_problem);
void check_run__free(struct check_run *run);

#endif

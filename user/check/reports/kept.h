/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The two files of a stall that the flight recorder keeps. */
#ifndef NETSTALL_CHECK_REPORTS_KEPT_H
#define NETSTALL_CHECK_REPORTS_KEPT_H

#include <stdio.h>

#include "user/check/judge/around.h"
#include "user/check/judge/budget.h"

/* Its time line as `trace` prints it, and below that what was seen in the seconds around. */
void kept__text(FILE *out, const struct report *report, const struct stall *stall,
		const struct budget *budget, const struct seconds *seconds);
/* netstall.kept/1, see docs/check-schema.json */
void kept__json(FILE *out, const struct report *report, const struct stall *stall,
		const struct budget *budget, const struct seconds *seconds);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What stands below the lines of a stall; inside render/ only. */
#ifndef NETSTALL_RENDER_TIMELINE_H
#define NETSTALL_RENDER_TIMELINE_H

#include "user/analyze/report.h"
#include "user/render/grid.h"

/* "40.6 ms", "40.6 ms so far", "at most 40.6 ms" */
char *timeline__length(const struct stall *stall, char *dst, size_t size);

/* The sum, the wake chain, other waits that show it, call sites, stacks. */
void timeline__add_notes(struct grid *grid, const struct report *report, const struct stall *stall);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tables of a finished report; one without rows prints nothing. Inside render/ only. */
#ifndef NETSTALL_RENDER_TERMINAL_TABLES_H
#define NETSTALL_RENDER_TERMINAL_TABLES_H

#include "user/render/render.h"

#define TABLE_INDENT 2

typedef void table_fn(FILE *out, const struct report *report, const struct render_style *style);

/* Of a whole machine: its processes, the worst first, and whose doing that is. */
table_fn programs__print;
/* Where the time of a request goes: the median and the p99 of all, and by connection. */
table_fn requests__print;
/* What io_uring did by opcode, what these figures do not say, and the rings. */
table_fn operations__print;
table_fn threads__print;
table_fn connections__print;

/* How many of so many rows are shown. */
static inline size_t table__rows(const struct render_style *style, size_t count)
{
	size_t most = style->verbose ? 20 : 4;

	return count < most ? count : most;
}

/* Single connections are listed where all have room; any few of many tell nothing. */
static inline bool table__lists_each(const struct render_style *style, size_t count)
{
	return style->connections == CONNECTIONS_EACH || table__rows(style, count) == count;
}

#endif

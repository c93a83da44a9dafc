/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How much of the program was in sight: what a verdict may build on. */
#ifndef NETSTALL_ANALYZE_SIGHT_H
#define NETSTALL_ANALYZE_SIGHT_H

#include "user/analyze/report.h"

/* Events that were lost, so that a stall may have been among them. */
uint64_t sight__lost(const struct report *report);
/* Waits below it were not looked at. */
uint64_t sight__threshold(const struct report *report);
/* ", 2 connections not watched for want of room, sends not visible on this kernel" */
void sight__add_gaps(char **text, const struct report *report);
/* Was any wait of at least the threshold seen? */
bool sight__has_waits(const struct report *report);
/* "What it waits for, in waits of 10 ms and more: idle 71%, peer-app 29%."; else nothing. */
void sight__add_waits(char **text, const struct report *report);

#endif

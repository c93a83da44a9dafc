/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The report in words: what held the program back, how that came about, what to do.
 *
 * Which cause leads, when there are several: the one of the highest rank that occurred
 * (struct cause_info.rank), because what the network did to the program is what netstall is
 * asked for, then what the machine did, then what the program itself wished; within a rank
 * the one that took the most time in all. A wait that was not explained leads only when
 * nothing else occurred. All others are named behind it, with their count and total.
 */
#ifndef NETSTALL_EXPLAIN_VERDICT_H
#define NETSTALL_EXPLAIN_VERDICT_H

#include "user/analyze/ledger.h"

/* Fill in the report's verdict; the ledger is closed. */
void verdict__write(struct ledger *ledger);

/* The cause that leads; the report has at least one. */
enum cause verdict__choose(const struct report *report);
/* Nothing was found: say how much was watched, and so how much that is worth. */
void verdict__write_silence(struct report *report);

#endif

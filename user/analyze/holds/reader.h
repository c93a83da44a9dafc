/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the thread that is to read did while TCP held bytes for it: whether it wanted them at all.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_READER_H
#define NETSTALL_ANALYZE_HOLDS_READER_H

#include "user/analyze/stall.h"

/* The thread that first read at the other end behind the incident; 0: none was seen to. */
uint32_t reader__tid(const struct incident *incident);
/*
 * From when on somebody there may have waited for what is held: not while all its threads were in
 * other waits, in which they had gone before the hold or with the first that came.
 */
uint64_t reader__wants_from(const struct model *model, const struct incident *incident);
/* What it did in the time of the incident; nothing known of a reader on another host. */
struct stall_reader reader__find(const struct model *model, const struct incident *incident);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What to change, cause by cause. Every line names what it saves, as this very trace shows
 * it, and what it costs in segments where it costs any. Never TCP_QUICKACK: the kernel
 * leaves quick-ACK mode by itself again, so it mends one exchange and not the next. And
 * never a remedy for another cause than the one that was seen.
 */
#ifndef NETSTALL_EXPLAIN_ADVICE_H
#define NETSTALL_EXPLAIN_ADVICE_H

#include "user/explain/context.h"
#include "user/explain/verdict.h"

/* What to do, most to be recommended first. */
void advice__write(const struct context *context, struct verdict *verdict);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How it came about, cause by cause: for a reader who has never heard of it. */
#ifndef NETSTALL_EXPLAIN_EXPLANATION_H
#define NETSTALL_EXPLAIN_EXPLANATION_H

#include "user/explain/context.h"

void explanation__write(const struct context *context, char **text);
/* " This happened 122 times in 122 exchanges, 40.5 ms each, ...": what a headline says */
void explanation__add_frequency(const struct context *context, char **text);

#endif

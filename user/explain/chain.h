/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The waker chain in sentences: whom the delayed thread waited for, and what that one did. */
#ifndef NETSTALL_EXPLAIN_CHAIN_H
#define NETSTALL_EXPLAIN_CHAIN_H

#include "user/explain/context.h"

/* " It waited for srv/4243, which slept 40.0 ms in nanosleep." from the chain's second link on;
 * nothing where only the network is behind it. */
void chain__add(char **text, const struct context *context);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the time of a verdict's stalls was made of, in words: which thread computed, slept, waited.
 */
#ifndef NETSTALL_EXPLAIN_PARTS_H
#define NETSTALL_EXPLAIN_PARTS_H

#include "user/explain/context.h"

/* " Of the 42.2 ms srv/4243 computed 40.1 ms and slept 2.05 ms in nanosleep."; nothing where only
 * the network is behind it. */
void parts__add(char **text, const struct context *context);
/* "computes 40.1 ms" */
void parts__add_deed(char **text, const struct context *context, const struct path_part *part);
/* ", while srv/4244 waits for its lock or signal"; nothing where that is the stall itself. */
void parts__add_held_up(char **text, const struct context *context, const struct path_part *part);

#endif

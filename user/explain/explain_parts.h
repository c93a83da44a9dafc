/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The explanations of the single causes, and the sentences that several share. Each says how
 * it came about, of this very case, with the numbers that decided; what was not seen and
 * how often it happened is added behind it by explanation.c.
 */
#ifndef NETSTALL_EXPLAIN_EXPLAIN_PARTS_H
#define NETSTALL_EXPLAIN_EXPLAIN_PARTS_H

#include "user/explain/explanation.h"

typedef void explain_fn(const struct context *context, char **text);

#define CAUSE(name, id, explanation, ...) explain_fn explain__##explanation;
#include "user/analyze/cause.def"
#undef CAUSE

/* " (127.0.0.1:37640 -> 127.0.0.1:7000)"; nothing without a connection */
void explain__connection(const struct context *context, char **text);
/* "The cause lies at the other end: ", where the target is not who sends. */
void explain__whose(const struct context *context, char **text);
/* " What ended the wait was the io_uring operation READ on fd 5 of ring 1, 41.0 ms after this
 * thread had submitted it."; nothing where none is known */
void explain__operation(const struct context *context, char **text);
/* A timer ended a wait on a ring. Returns false, and nothing told, when it was another wait. */
bool explain__clock_of_ring(const struct context *context, char **text);
/* " It waited for srv/4243, which slept 40.0 ms in nanosleep." from the chain's second link on */
void explain__chain(const struct context *context, char **text);

#endif

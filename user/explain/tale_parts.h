/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tales of the single causes, and the sentences that several share. Each tale says how
 * it came about, of this very case, with the numbers that decided; what was not seen and
 * how often it happened is added behind it by tale.c.
 */
#ifndef NETSTALL_EXPLAIN_TALE_PARTS_H
#define NETSTALL_EXPLAIN_TALE_PARTS_H

#include "user/explain/tale.h"

typedef void tale_fn(const struct story *story, char **text);

tale_fn tale__delack;
tale_fn tale__nagle;

tale_fn tale__cork;
tale_fn tale__cwnd;
tale_fn tale__rwnd;
tale_fn tale__zero_window;
tale_fn tale__pacing;
tale_fn tale__tsq;
tale_fn tale__tso_defer;
tale_fn tale__autocork;
tale_fn tale__sndbuf;

tale_fn tale__rto;
tale_fn tale__tlp;
tale_fn tale__fast_retransmit;
tale_fn tale__syn_retransmit;

tale_fn tale__network;
tale_fn tale__peer_app;
tale_fn tale__runqueue;
tale_fn tale__lock;
tale_fn tale__ipc;
tale_fn tale__disk;
tale_fn tale__timer;
tale_fn tale__uring;
tale_fn tale__unknown;

/* " (127.0.0.1:37640 -> 127.0.0.1:7000)"; nothing without a connection */
void tale__connection(const struct story *story, char **text);
/* "The cause lies at the other end: ", where the target is not who sends. */
void tale__whose(const struct story *story, char **text);
/* " What ended the wait was the io_uring operation READ on fd 5 of ring 1, 41.0 ms after this
 * thread had submitted it."; nothing where none is known */
void tale__operation(const struct story *story, char **text);
/* A timer ended a wait on a ring. Returns false, and nothing told, when it was another wait. */
bool tale__clock_of_ring(const struct story *story, char **text);
/* " It waited for srv/4243, which slept 40.0 ms in nanosleep." from the chain's second link on */
void tale__chain(const struct story *story, char **text);

#endif

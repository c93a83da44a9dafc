/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The facts of a stall as parts of a sentence. NULL: there is nothing to say. */
#ifndef NETSTALL_EXPLAIN_CLAUSES_H
#define NETSTALL_EXPLAIN_CLAUSES_H

#include "user/analyze/stall_facts.h"

/* A noun: "the other end, which is not on this host". */
const char *missing__text(enum stall_missing missing);
/* A clause: "the acknowledgement carried no data and ...". */
const char *inferred__text(enum stall_inferred inferred);
/* A noun: "the pacing timer". */
const char *release__text(enum stall_release release);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the reports of a check say alike: an outcome in clauses, safe to print. */
#ifndef NETSTALL_CHECK_REPORTS_CLAUSES_H
#define NETSTALL_CHECK_REPORTS_CLAUSES_H

#include "user/check/judge/outcome.h"

#define CLAUSE_SIZE 512

/* Each writes at most size bytes to dst and returns it. */

/* "nagle-delack over its budget: 118 stalls, budget 0 (1 more over theirs)" */
char *clause__verdict(char *dst, size_t size, const struct outcome *outcome);
/* "118 stalls", "120 ms in 3 stalls", "6.2% of the time in 12 stalls": by the budget's kind */
char *clause__measure(char *dst, size_t size, const struct gate *gate);
/* "118 stalls, budget 0" */
char *clause__gate(char *dst, size_t size, const struct gate *gate);
/* "40.6 ms at 1.204 s, client/991 127.0.0.1:37640 -> 127.0.0.1:7000, fd 5" */
char *clause__stall(char *dst, size_t size, const struct report *report, const struct stall *stall);
/* "./integration-test ended with status 3 after 2.10 s"; "" when there was no program */
char *clause__program(char *dst, size_t size, const struct outcome *outcome);
/* "10.0 s watched, 3 connections, 4,211 exchanges, 0 events lost" */
char *clause__watched(char *dst, size_t size, const struct outcome *outcome);

/* The gate to show first: the first over its budget; NULL none. */
const struct gate *clause__worst(const struct outcome *outcome);
/* "lost", "no-traffic": part of the JSON contract */
const char *reason__id(enum reason_kind kind);
/* "exited", "timed-out": part of the JSON contract */
const char *program_end__id(enum program_end end);
/* "within", "over", "blind" */
const char *gate_state__id(enum gate_state state);

#endif

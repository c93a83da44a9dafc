/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The stalls that a report lists. While there is room that is all of them; beyond it of each
 * cause the first ones and, of every connection in turn, the longest, so that neither a
 * frequent cause nor a busy connection drives the others out. Of the rest a brief is left,
 * from which counts, sums and percentiles stay exact.
 */
#ifndef NETSTALL_ANALYZE_STALLS_H
#define NETSTALL_ANALYZE_STALLS_H

#include "user/analyze/report.h"

struct stalls;

/* They are listed in the report, which must live as long. */
struct stalls *stalls__new(struct report *report);
void stalls__free(struct stalls *stalls);
/* A place at the end of the list, for the stall with the next number. It moves the others. */
struct stall *stalls__add(struct stalls *stalls);
/* NULL: it is not listed (any more). */
struct stall *stalls__find(struct stalls *stalls, uint32_t number);
/* Is there room for the steps of one more? */
bool stalls__has_room_for_steps(const struct stalls *stalls);
/* No further one comes. */
void stalls__close(struct stalls *stalls);
/* The durations of all stalls of this cause, or of those at one of its endpoints, as far as they
 * are known, sorted; the caller frees them. */
uint64_t *stalls__durations(const struct report *report, const struct report_cause *cause,
			    const struct cause_end *at, size_t *count);
struct span {
	uint64_t start_ts;
	uint64_t end_ts;
};

/* What a stall has of the window; false: nothing. */
bool stalls__cut(const struct report *report, const struct stall_brief *brief, struct span *span);
/* Sorts them and makes one of those that overlap. Returns how many are left. */
size_t spans__merge(struct span *spans, size_t count);
/* How much they cover together; merges them. */
uint64_t spans__covered(struct span *spans, size_t count);
/* The i-th of all stalls, report->stall_count and then report->brief_count of them. */
struct stall_brief stalls__at(const struct report *report, size_t i);
/* How much of the window stalls of this cause took, on this connection or (NULL) on all: what
 * several have in common counts once. */
uint64_t stalls__covered(const struct report *report, const struct report_cause *cause,
			 const uint32_t *conn, bool in_requests);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The list of io_uring's operations, as they come: --events=uring. One line for each completion:
 *
 *          TIME  THREAD       OPERATION    ASKED  RESULT     TOOK   WOKE  RING  USER DATA  HOW
 *      0.012 ms  client/4242  SEND fd 7    136 B     136    10 us            1  0x10       inline
 *     41.100 ms  client/4242  RECV fd 7  4,096 B     136  41.0 ms  18 us     1  0x11       poll
 * armed
 *
 * TOOK: from the submission to this completion. WOKE: from there, or from when the file had
 * become ready, until the thread that waited for it on the ring ran again.
 */
#ifndef NETSTALL_RENDER_TERMINAL_URING_LIST_H
#define NETSTALL_RENDER_TERMINAL_URING_LIST_H

#include "user/analyze/report.h"
#include "user/render/render.h"

#define URING_LIST_FLYING  65536 /* operations followed; others are not listed as in flight */
#define URING_LIST_PENDING 256   /* lines that wait for their wake */

struct uring_list;

/* Writes to out, which stays the caller's. */
struct uring_list *uring_list__new(FILE *out, const struct render_style *style);
void uring_list__free(struct uring_list *list);
/* Any record, in the order of their times; those that are not of io_uring print nothing. */
void uring_list__record(struct uring_list *list, const struct report *report,
			const union record *record);
/* Nothing came up to then: what waited for a wake waits no longer. */
void uring_list__idle(struct uring_list *list, const struct report *report, uint64_t now_ns);
/* The end: what is left, and what has not been completed. */
void uring_list__finish(struct uring_list *list, const struct report *report);

/* The records that make the list in JSON. */
bool uring_list__is_of_it(uint32_t type);

#endif

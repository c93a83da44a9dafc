/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Waits of the target that somebody owed an answer to: it opened the connection, it wrote
 * last, and it sleeps in a call that waits for the network. Those that no hold explains
 * become stalls of unknown cause.
 */
#ifndef NETSTALL_ANALYZE_OWED_H
#define NETSTALL_ANALYZE_OWED_H

#include "user/analyze/stall.h"

#define OWED_WAITS 1024 /* not yet judged; the oldest is judged early when there are more */
#define OWED_SPANS 4096 /* holds remembered for waits that end later */

struct owed;

struct owed *owed__new(const struct model *model, const struct incidents *incidents);
void owed__free(struct owed *owed);
/* The model has seen the record already. */
void owed__feed(struct owed *owed, const union record *record, uint64_t now);
/* A hold became a stall: waits for it need no other cause. */
void owed__explained(struct owed *owed, const struct stall *stall);
/*
 * Judge the wait that ended first, when it is due at now (UINT64_MAX: it is). Returns false
 * when none is; *is_stall says whether it made one.
 */
bool owed__judge(struct owed *owed, uint64_t now, struct stall *stall, bool *is_stall);
/* The longest wait with work owed that is shorter than a stall. */
uint64_t owed__longest(const struct owed *owed);

#endif

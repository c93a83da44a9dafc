/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The report while the ledger writes it: what report.h shows to all others as const. */
#ifndef NETSTALL_ANALYZE_REPORT_UPDATE_H
#define NETSTALL_ANALYZE_REPORT_UPDATE_H

#include "user/analyze/report.h"
#include "user/model/model.h"

/* Take over what the model has learnt from this record. */
void report__update(struct report *report, const struct model *model, const union record *record);
/* So many stalls, which begin then and take ns in all, or take ns more: they are of the mark
 * before. */
void report__count_at_mark(struct report *report, uint64_t start_ts, uint64_t stalls, uint64_t ns);
void report__free_entries(struct report *report);
/* NULL when it is not there. */
struct report_conn *report__find_conn(struct report *report, uint32_t number);
struct report_process *report__find_process(struct report *report, uint32_t pid);

#endif

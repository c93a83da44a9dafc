/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The report's processes, threads, connections and rings, kept sorted as they become known. */
#ifndef NETSTALL_ANALYZE_ENTRIES_H
#define NETSTALL_ANALYZE_ENTRIES_H

#include "user/analyze/report.h"
#include "user/model/model.h"

void entries__learn(struct report *report, const struct model *model, const union record *record);
void entries__free(struct report *report);
/* NULL when it is not there. */
struct report_conn *entries__conn(struct report *report, uint32_t number);
struct report_process *entries__process(struct report *report, uint32_t pid);

#endif

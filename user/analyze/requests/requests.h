/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The request view: where the time of the requests goes that the target makes, and of those that it
 * serves where nobody who asks is watched, of the median one and of the one at the 99th percentile,
 * from the sample of exchanges that the kernel recorded (bpf/thread/exchange.bpf.h, which also says
 * why the quantiles are right).
 *
 * What stands for a quantile is one exchange that took place, not a mean: its slices are in
 * order and sum to its time, and no mixture of two kinds of requests is shown as a third kind
 * that never was. It is the exchange at the nearest rank by weight; of those next to that rank
 * the nearest whose other end was seen too, when its own was not.
 */
#ifndef NETSTALL_ANALYZE_REQUESTS_REQUESTS_H
#define NETSTALL_ANALYZE_REQUESTS_REQUESTS_H

#include "user/analyze/report.h"
#include "user/analyze/requests/sample.h"
#include "user/analyze/waits/request.h"
#include "user/model/model.h"

#define REQUEST_SAMPLES 16384 /* of more every second one goes, and the others stand for two */
#define REQUEST_ENDS    32    /* endpoints listed, most exchanges first */

struct requests;

struct requests *requests__new(const struct model *model);
void requests__free(struct requests *requests);
/* A request that was walked. One that both of two targets have is the asking one's. */
void requests__take(struct requests *requests, const struct walked_request *walked);
/* Of a whole machine, of each that was walked: what took as long as a stall is kept, while there is
 * room (REPORT_BRIEFS). */
void requests__note_slow(struct requests *requests, const struct walked_request *walked);
/* As they came; the cause is that of most of its time. */
const struct stall_brief *requests__slow(const struct requests *requests, size_t *count);
/* Those that count, once the report is written. */
const struct sample *requests__sample(const struct requests *requests, enum request_role role);
/* Fills report->requests, which lives as long as this. Connections and stalls are in the report. */
void requests__write(struct requests *requests, struct report *report);

#endif

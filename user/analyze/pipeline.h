/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The one path from records to the report, whatever the source: a live session,
 * a text trace, a recording.
 *
 *   pipeline = pipeline__new(&sink);
 *   while (source gives) pipeline__feed(pipeline, data, len);
 *   report = pipeline__finish(pipeline);
 *   ... render ...
 *   pipeline__free(pipeline);   (the report goes with it)
 *
 * Records of one stall may come late and out of order (the kernel keeps a
 * history and flushes it when the stall is over); the model sorts them in.
 */
#ifndef NETSTALL_ANALYZE_PIPELINE_H
#define NETSTALL_ANALYZE_PIPELINE_H

#include "user/analyze/report.h"
#include "user/analyze/waits/request.h"
#include "user/analyze/waits/wait_record.h"

struct pipeline;

struct pipeline_sink {
	/* Every decoded record, in the order of their times as far as a short
	 * window can sort them. May be NULL. */
	void (*on_record)(void *context, const struct report *so_far, const union record *record);
	/* A stall is over and explained; it is there for the time of the call: later the report
	 * may list it no more, or elsewhere. May be NULL. */
	void (*on_stall)(void *context, const struct report *so_far, const struct stall *stall);
	void *context;
	/* What a wait of a target was for, of each of at least the threshold; in no order. It
	 * costs a second walk of the chain. May be NULL. */
	void (*on_wait)(void *context, const struct wait_record *waited);
	/* A request that was followed, by which the tables of requests are made; one that is both
	 * made and served by targets comes twice. May be NULL. */
	void (*on_request)(void *context, const struct walked_request *walked);
};

struct pipeline *pipeline__new(const struct pipeline_sink *sink);
/* Returns 0, or -EBADMSG for a damaged record, which is counted in lost[]. */
int pipeline__feed(struct pipeline *pipeline, const void *data, size_t len);
/* From then on (CLOCK_MONOTONIC ns) stalls are judged: the first of these are to be listed. */
void pipeline__judge_from(struct pipeline *pipeline, uint64_t ts);
/* Lets stalls that are over for good be told: call it when the source idles. */
void pipeline__idle(struct pipeline *pipeline, uint64_t now_ns);
const struct report *pipeline__finish(struct pipeline *pipeline);
/* The same in a copy of it (fork), while the run goes on. */
const struct report *pipeline__finish_interim(struct pipeline *pipeline);
const struct report *pipeline__report(const struct pipeline *pipeline);
void pipeline__free(struct pipeline *pipeline);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* For tests of the pipeline: a sink that checks what it is told, and stalls by number. */
#ifndef NETSTALL_TESTS_SINK_H
#define NETSTALL_TESTS_SINK_H

#include "tests/unit/feed.h"

struct seen {
	uint64_t records;
	uint64_t last_ts;
	uint64_t stalls;
	uint64_t disorder;
};

static inline void see_record(void *context, const struct report *report,
			      const union record *record)
{
	struct seen *seen = context;

	assert_non_null(report);
	seen->disorder += record->head.ts < seen->last_ts;
	seen->last_ts = record->head.ts;
	seen->records++;
}

static inline void see_stall(void *context, const struct report *report, const struct stall *stall)
{
	struct seen *seen = context;
	uint64_t sum = 0;

	seen->stalls++;
	assert_int_equal(stall->number, seen->stalls);
	for (size_t i = 0; i < stall->slice_count; i++) {
		assert_true(stall->slices[i].ns > 0);
		sum += stall->slices[i].ns;
	}
	assert_int_equal(sum, stall->end_ts - stall->start_ts);
	assert_true(stall->end_ts - stall->start_ts >= report->session.threshold_ns);
	assert_true(stall->step_count <= STALL_STEPS);
	for (size_t i = 1; i < stall->step_count; i++)
		assert_true(stall->steps[i - 1].head.ts <= stall->steps[i].head.ts);
	assert_true(report->stall_count + report->stalls_not_kept == seen->stalls);
}

/* The i-th of many stalls in a row, on connection conn. */
static inline void feed_stall(struct pipeline *pipeline, uint32_t conn, uint64_t at, uint64_t held)
{
	union record record;

	memset(&record, 0, sizeof(record));
	record.head = (struct ns_head){.type = NS_HOLD,
				       .len = sizeof(record.hold),
				       .ts = at,
				       .conn = conn,
				       .tgid = 10,
				       .tid = 10};
	record.hold.reason = NS_HOLD_NAGLE;
	record.hold.seq = (uint32_t)at;
	record.hold.end = (uint32_t)at + 9;
	record.hold.unacked = 5;
	pipeline__feed(pipeline, &record, record.head.len);
	memset(&record, 0, sizeof(record));
	record.head = (struct ns_head){
		.type = NS_RELEASE, .len = sizeof(record.release), .ts = at + held, .conn = conn};
	record.release.held_ns = held;
	record.release.reason = NS_HOLD_NAGLE;
	record.release.seq = (uint32_t)at;
	record.release.end = (uint32_t)at + 9;
	pipeline__feed(pipeline, &record, record.head.len);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The requests that were walked, as they are kept until the end, and the quantiles of some of them.
 */
#ifndef NETSTALL_ANALYZE_REQUESTS_SAMPLE_H
#define NETSTALL_ANALYZE_REQUESTS_SAMPLE_H

#include "user/analyze/report.h"

struct request {
	uint64_t begin_ts;
	uint64_t end_ts;
	uint64_t since_ts; /* walked_request.since_ts */
	uint32_t conn;
	uint32_t tid;
	uint32_t server_tid; /* walked_request.server_tid, and so on */
	uint64_t taken_up_ts;
	uint64_t answered_ts;
	uint32_t end; /* number of its endpoint, 0 none */
	uint32_t weight;
	bool is_answered;
	bool is_over;
	bool is_whole;
	bool is_given_up;
	bool is_open;
	bool is_inferred;
	uint32_t slice_count;
	struct slice *slices;
};

/* Those of one role. */
struct sample {
	struct request *list; /* as they came */
	size_t count;
	size_t size;
	uint64_t taken; /* in all, also those that were thinned out */
};

/* How many exchanges those stand for that were chosen by chance, which weigh more than one. */
struct shares {
	uint64_t weight; /* of all of them together */
	uint64_t stands_for;
};

struct shares sample__shares(const struct request *list, size_t count, uint64_t total);

/* How many exchanges there are up to the n-th of those sorted. */
struct ranked {
	uint64_t others;
	uint64_t weight; /* of those chosen */
};

/* One more of them. Returns how many exchanges that are by now. */
uint64_t sample__rank_behind(struct ranked *ranked, const struct request *next,
			     const struct shares *shares);

/* Every second one goes: which, has nothing to do with how it went. */
void sample__thin_out(struct sample *sample);
uint64_t request__duration(const struct request *request);
/* For sort_array(). */
int request__by_duration(const void *a, const void *b);
struct request_view request__view(const struct request *request);
/*
 * The exchange at the nearest rank, of count sorted by duration that stand for total; or the
 * nearest to it whose two sides were seen, within a tenth of what lies beyond the rank: the median
 * may move by 5% of the exchanges, the 99th percentile by 0.1%. NULL: count is 0.
 */
const struct request *sample__at_rank(const struct request *sorted, size_t count, uint64_t total,
				      unsigned hundredths);

#endif

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
#include "user/model/model.h"

#define REQUEST_SAMPLES 16384 /* of more every second one goes, and the others stand for two */
#define REQUEST_RECENT  256   /* made ones that may come before their served side */
#define REQUEST_ENDS    32    /* endpoints listed, most exchanges first */

/*
 * An exchange: both its sides, the served one when it was seen; of one that the target serves that
 * one alone (else head.type 0).
 */
struct exchange {
	union {
		struct ns_exchange asked;
		struct {
			struct ns_head none;
			struct request_view *view; /* by its path; NULL not followed */
		} alone;
	};
	struct ns_exchange served;
};

/* What else is known of an exchange's connection at its time. */
struct exchange_facts {
	enum cause held;     /* what its held time was */
	enum cause network;  /* what time on the way was: CAUSE_NETWORK, or a recovery from loss */
	uint32_t min_rtt_us; /* 0 not known */
};

/* When a request that is made began: with its connection, if that was made for it. */
uint64_t exchange__begin(const struct ns_exchange *asked);
/* Cut an exchange into slices: disjoint, in time order, summing exactly to it. */
void exchange__cut(const struct exchange *exchange, const struct exchange_facts *facts,
		   struct request_view *view);

struct requests;

struct requests *requests__new(const struct model *model);
void requests__free(struct requests *requests);
/* Takes NS_EXCHANGE, in any order of the two sides; ignores all other records. */
void requests__feed(struct requests *requests, const union record *record);
/* What a request that a target served was made of, once that can be said. */
void requests__take_view(struct requests *requests, const struct ns_exchange *served,
			 const struct request_view *view);
/* By then the answer to a request of a target's could have been written, had that one read it. */
void requests__take_reads(struct requests *requests, const struct ns_exchange *asked, uint64_t ts);
/* Fills report->requests, which lives as long as this. Connections and stalls are in the report. */
void requests__write(struct requests *requests, struct report *report);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How often each cause came up in a run that is taken as good, and whether it comes up more
 * often now. Rates are stalls per exchange, never times: a slow machine has the same number of
 * stalls for each request and answer. And how long each endpoint's requests took; there a machine
 * has its say, so that only what is far beyond its noise counts.
 *
 * Two rates are compared by the conditional test of two Poisson means (J. Przyborowski and H.
 * Wilenski, "Homogeneity of results in testing samples from Poisson series", Biometrika 31,
 * 1940). With n0 stalls in e0 exchanges then and n1 in e1 now, and equal rates, n1 given
 * n = n0 + n1 is binomial with n trials of chance q = e1 / (e0 + e1), so
 *
 *	p = P(X >= n1) = sum over k = n1..n of C(n, k) q^k (1 - q)^(n - k)
 *
 * is the chance of such an increase, or a greater one, when nothing has changed. It is exact
 * for few stalls and none at all. Of m causes compared, the one with the i-th least p is worse
 * when p <= (1 - confidence) / (m + 1 - i), and so are all before it (S. Holm, 1979): the
 * chance that any cause is called worse though none has changed is at most 1 - confidence.
 *
 * The test takes stalls to be independent of each other. They come in clusters, so that chance
 * is greater in truth where one event makes many stalls: docs/check.md.
 */
#ifndef NETSTALL_CHECK_JUDGE_BASELINE_H
#define NETSTALL_CHECK_JUDGE_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/check/judge/outcome.h"

#define BASELINE_SCHEMA     "netstall.baseline/1"
#define BASELINE_BYTES      65536 /* a larger file is none */
#define BASELINE_CONFIDENCE 0.99

/* Stalls are below 2^32, exchanges from 1 to 2^53. */
struct baseline {
	uint64_t threshold_ns; /* what made a wait a stall: rates for another are not comparable */
	uint64_t exchanges;
	uint64_t stalls[CAUSE_COUNT];
	/* By role, comm and port; of more of them those with most requests. */
	size_t endpoint_count;
	struct endpoint_time endpoints[ENDPOINTS_MOST];
};

/*
 * A median is worse that is more than twice what it was, and more than 1 ms above it, each of 20
 * requests at least. Better is the same the other way round.
 */
#define BASELINE_TIMES    2
#define BASELINE_ABOVE_NS 1000000
#define BASELINE_REQUESTS 20

/*
 * The file's text, bytes without a NUL. Returns true; else false and why, a clause for people
 * without a full stop, in why.
 */
bool baseline__parse(struct baseline *baseline, const char *text, size_t bytes, char *why,
		     size_t size);
/*
 * {"causes": {"cork": 2}, "exchanges": 4211, "requests": [...], ...} on lines of its
 * own, keys sorted, ending in a line feed: the same bytes for the same numbers. malloc()ed.
 */
char *baseline__text(const struct baseline *baseline);

/* A run's numbers as they are. */
void baseline__count(struct baseline *baseline, const struct outcome *outcome);
/*
 * What a run came to as a baseline. A run that failed, proves nothing, or is worse than what it
 * was compared with, is none: false, and why with what to do about it, a sentence. One over its
 * budget is: that is what it costs now.
 */
bool baseline__take(struct baseline *baseline, const struct outcome *outcome, char *why,
		    size_t size);

/* p, as above; e0 and e1 above 0. */
double baseline__p(uint64_t n0, uint64_t e0, uint64_t n1, uint64_t e1);
/*
 * The causes, bits 1 << enum cause, that can be worse or better: what TCP itself does (holds,
 * losses and closed windows), and whatever the run has a budget for. The others are waits of some
 * length, of which a busy machine has more for the same work; they are listed, and prove nothing.
 */
uint32_t baseline__judged(const struct outcome *outcome);
/*
 * Fill in a change for each cause of either side, worse ones first, then by p. Returns how many; at
 * most CAUSE_COUNT.
 */
size_t baseline__compare(const struct baseline *then, const struct baseline *now, uint32_t judged,
			 double confidence, struct change changes[CAUSE_COUNT + 1]);
/*
 * The endpoints of both sides: of one role, program and port; or where a port differs, as it does
 * from run to run where the kernel chose it, the only ones left of their role and program. Then
 * those of one side alone, which are neither worse nor better. Worse ones first, then those whose
 * median has grown most.
 */
size_t baseline__compare_requests(const struct baseline *then, const struct baseline *now,
				  struct request_change changes[REQUEST_CHANGES_MOST]);
/*
 * Saving now over an older baseline: is the old one to stay, because no judged cause differs
 * significantly, in either direction, and no endpoint's time? So a committed file changes only when
 * something did.
 */
bool baseline__stays(const struct baseline *old, const struct baseline *now, uint32_t judged,
		     double confidence);
/* "cork: 20 for each 1,000 exchanges (40 in 2,000), 2 before (2 in 1,000)" */
char *change__text(const struct change *change, char *out, size_t size);
/* Its program's name, as the file can have it: what is not printable is a question mark. */
void endpoint_time__call(struct endpoint_time *time, const char *comm);
/* "demo-client -> :8080", "nginx :443" */
char *endpoint_time__name(const struct endpoint_time *time, char *out, size_t size);
/* "requests of nginx :443: median 40.3 ms (1,200), 80 us before (1,180), most of it is timer" */
char *request_change__text(const struct request_change *change, char *out, size_t size);

#endif

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Rates of stalls, then and now: the test, and its words. */
#include "user/check/judge/baseline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/text.h"

/* ---- the test ---- */

/* Terms that no longer move the sum. */
#define NEGLIGIBLE 1e-18

static double log_factorial(double n)
{
	int sign;

	return lgamma_r(n + 1, &sign);
}

/*
 * P(X = k) of n trials with chance q, 0 < q < 1. What the logarithms lose to each other is less
 * than 1e-10 of it for n up to 10,000, and 1e-4 for the 2^33 that there can be.
 */
static double binomial_term(double n, double k, double q)
{
	return exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) + k * log(q) +
		   (n - k) * log1p(-q));
}

/*
 * P(X >= from), away from the mean: each term is less than the one before, so that no more
 * are added than matter, and none cancels another.
 */
static double upper_tail(double n, double from, double q)
{
	double term = binomial_term(n, from, q), sum = term;

	for (double k = from; k < n && term > sum * NEGLIGIBLE; k++) {
		term *= (n - k) / (k + 1) * q / (1 - q);
		sum += term;
	}
	return sum;
}

/* P(X >= k) */
static double at_least(double n, double k, double q)
{
	double p;

	if (k <= 0)
		return 1;
	if (k > n * q)
		p = upper_tail(n, k, q);
	else
		/* The other side is the small one: P(X <= k - 1), seen from the failures. */
		p = 1 - upper_tail(n, n - (k - 1), 1 - q);
	return p < 0 ? 0 : p > 1 ? 1 : p;
}

double baseline__p(uint64_t n0, uint64_t e0, uint64_t n1, uint64_t e1)
{
	double q = (double)e1 / ((double)e0 + (double)e1);

	return at_least((double)n0 + (double)n1, (double)n1, q);
}

/* ---- the comparison ---- */

uint32_t baseline__judged(const struct outcome *outcome)
{
	uint32_t judged = 0;

	for (unsigned cause = 0; cause < CAUSE_COUNT; cause++)
		judged |= (uint32_t)cause__is_of_tcp((enum cause)cause) << cause;
	for (size_t i = 0; i < outcome->gate_count; i++) {
		if (!outcome->gates[i].budget.of)
			judged |= 1u << outcome->gates[i].budget.cause;
	}
	return judged;
}

_Static_assert(CAUSE_COUNT <= 32, "a bit for each cause");

struct ranked {
	struct change *change;
	double p;
};

static int least_p_first(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;

	return one->p < other->p ? -1 : one->p > other->p;
}

/* Holm's: the least p against the strictest limit, and no further once one fails. */
static void mark_significant(struct ranked *ranked, size_t count, double confidence, bool better)
{
	sort_array(ranked, count, sizeof(ranked[0]), least_p_first);
	for (size_t i = 0; i < count; i++) {
		if (ranked[i].p > (1 - confidence) / (double)(count - i))
			return;
		if (better)
			ranked[i].change->better = true;
		else
			ranked[i].change->worse = true;
	}
}

static void judge(struct change *changes, size_t count, uint32_t judged_causes, double confidence,
		  bool better)
{
	struct ranked ranked[CAUSE_COUNT];
	size_t judged = 0;

	for (size_t i = 0; i < count; i++) {
		struct change *change = &changes[i];

		if (!(judged_causes >> change->cause & 1))
			continue;
		ranked[judged].change = change;
		ranked[judged++].p =
			better ? baseline__p(change->stalls_now, change->exchanges_now,
					     change->stalls_then, change->exchanges_then)
			       : change->p;
	}
	mark_significant(ranked, judged, confidence, better);
}

static int worse_first(const void *a, const void *b)
{
	const struct change *one = a, *other = b;

	if (one->worse != other->worse)
		return one->worse ? -1 : 1;
	if (one->p != other->p)
		return one->p < other->p ? -1 : 1;
	return (int)one->cause - (int)other->cause;
}

size_t baseline__compare(const struct baseline *then, const struct baseline *now, uint32_t judged,
			 double confidence, struct change changes[CAUSE_COUNT + 1])
{
	size_t count = 0;

	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		struct change *change = &changes[count];

		if (!then->stalls[cause] && !now->stalls[cause])
			continue;
		*change = (struct change){.cause = (enum cause)cause,
					  .stalls_then = then->stalls[cause],
					  .exchanges_then = then->exchanges,
					  .stalls_now = now->stalls[cause],
					  .exchanges_now = now->exchanges};
		change->p = baseline__p(change->stalls_then, change->exchanges_then,
					change->stalls_now, change->exchanges_now);
		count++;
	}
	judge(changes, count, judged, confidence, false);
	judge(changes, count, judged, confidence, true);
	sort_array(changes, count, sizeof(changes[0]), worse_first);
	return count;
}

/* ---- requests ---- */

static bool are_alike(const struct endpoint_time *a, const struct endpoint_time *b)
{
	return a->role == b->role && !strcmp(a->comm, b->comm);
}

/* The only one of them like it that has no other yet; count: none. */
static size_t only_one_like(const struct endpoint_time *all, size_t count, const bool *taken,
			    const struct endpoint_time *one)
{
	size_t found = count;

	for (size_t i = 0; i < count; i++) {
		if (taken[i] || !are_alike(&all[i], one))
			continue;
		if (found < count)
			return count;
		found = i;
	}
	return found;
}

static size_t same_port(const struct endpoint_time *all, size_t count,
			const struct endpoint_time *one)
{
	for (size_t i = 0; i < count; i++) {
		if (are_alike(&all[i], one) && all[i].port == one->port)
			return i;
	}
	return count;
}

static bool is_slower(const struct endpoint_time *than, const struct endpoint_time *one)
{
	return than->count >= BASELINE_REQUESTS && one->count >= BASELINE_REQUESTS &&
	       one->median_ns > BASELINE_TIMES * than->median_ns &&
	       one->median_ns > than->median_ns + BASELINE_ABOVE_NS;
}

static int slower_first(const void *a, const void *b)
{
	const struct request_change *one = a, *other = b;
	double grown = (double)one->now.median_ns * (double)other->then.median_ns,
	       other_grown = (double)other->now.median_ns * (double)one->then.median_ns;

	if (one->worse != other->worse)
		return one->worse ? -1 : 1;
	return grown > other_grown ? -1 : grown < other_grown;
}

static void add_change(struct request_change *change, const struct endpoint_time *then,
		       const struct endpoint_time *now)
{
	*change = (struct request_change){.then = *then,
					  .now = *now,
					  .worse = is_slower(then, now),
					  .better = is_slower(now, then)};
}

size_t baseline__compare_requests(const struct baseline *then, const struct baseline *now,
				  struct request_change changes[REQUEST_CHANGES_MOST])
{
	bool then_taken[ENDPOINTS_MOST] = {false}, now_taken[ENDPOINTS_MOST] = {false};
	size_t count = 0;

	for (size_t i = 0; i < now->endpoint_count; i++) {
		size_t at = same_port(then->endpoints, then->endpoint_count, &now->endpoints[i]);

		if (at == then->endpoint_count || then_taken[at])
			continue;
		then_taken[at] = now_taken[i] = true;
		add_change(&changes[count++], &then->endpoints[at], &now->endpoints[i]);
	}
	for (size_t i = 0; i < now->endpoint_count; i++) {
		size_t at;

		if (now_taken[i] || only_one_like(now->endpoints, now->endpoint_count, now_taken,
						  &now->endpoints[i]) != i)
			continue;
		at = only_one_like(then->endpoints, then->endpoint_count, then_taken,
				   &now->endpoints[i]);
		if (at == then->endpoint_count)
			continue;
		then_taken[at] = now_taken[i] = true;
		add_change(&changes[count++], &then->endpoints[at], &now->endpoints[i]);
	}
	for (size_t i = 0; i < then->endpoint_count; i++) {
		if (!then_taken[i])
			add_change(&changes[count++], &then->endpoints[i],
				   &(struct endpoint_time){0});
	}
	for (size_t i = 0; i < now->endpoint_count; i++) {
		if (!now_taken[i])
			add_change(&changes[count++], &(struct endpoint_time){0},
				   &now->endpoints[i]);
	}
	sort_array(changes, count, sizeof(changes[0]), slower_first);
	return count;
}

char *endpoint_time__name(const struct endpoint_time *time, char *out, size_t size)
{
	snprintf(out, size, "%s%s :%u", safe_text(time->comm, NS_COMM_LEN),
		 time->role == REQUEST_MADE ? " ->" : "", time->port);
	return out;
}

char *request_change__text(const struct request_change *change, char *out, size_t size)
{
	const struct endpoint_time *now = &change->now, *then = &change->then;
	const struct endpoint_time *one = now->count ? now : then;
	char name[64];

	endpoint_time__name(one, name, sizeof(name));
	if (!now->count || !then->count)
		snprintf(out, size, "requests of %s: median %s (%s), %s", name,
			 duration_text(one->median_ns), count_text(one->count),
			 now->count ? "not there before" : "before; there are none now");
	else
		snprintf(out, size, "requests of %s: median %s (%s), %s before (%s)%s%s", name,
			 duration_text(now->median_ns), count_text(now->count),
			 duration_text(then->median_ns), count_text(then->count),
			 change->worse ? ", most of it is " : "",
			 change->worse ? cause__info(now->most)->id : "");
	return out;
}

static bool same_endpoints(const struct baseline *a, const struct baseline *b)
{
	struct request_change changes[REQUEST_CHANGES_MOST];
	size_t count = baseline__compare_requests(a, b, changes);

	for (size_t i = 0; i < count; i++) {
		if (changes[i].worse || changes[i].better || !changes[i].then.count ||
		    !changes[i].now.count)
			return false;
	}
	return true;
}

bool baseline__stays(const struct baseline *old, const struct baseline *now, uint32_t judged,
		     double confidence)
{
	struct change changes[CAUSE_COUNT + 1];
	size_t count;

	if (old->threshold_ns != now->threshold_ns || !same_endpoints(old, now))
		return false;
	count = baseline__compare(old, now, judged, confidence, changes);
	for (size_t i = 0; i < count; i++) {
		if (changes[i].worse || changes[i].better)
			return false;
	}
	return true;
}

/* "1250", "3.1", "0.002", "0" */
static char *rate(char *out, size_t size, uint64_t stalls, uint64_t exchanges)
{
	double each = 1000.0 * (double)stalls / (double)exchanges;

	snprintf(out, size, each < 100 ? "%.3g" : "%.0f", each);
	return out;
}

char *change__text(const struct change *change, char *out, size_t size)
{
	char now[32], then[32];

	snprintf(out, size, "%s: %s for each 1,000 exchanges (%s in %s), %s before (%s in %s)",
		 cause__info(change->cause)->id,
		 rate(now, sizeof(now), change->stalls_now, change->exchanges_now),
		 count_text(change->stalls_now), count_text(change->exchanges_now),
		 rate(then, sizeof(then), change->stalls_then, change->exchanges_then),
		 count_text(change->stalls_then), count_text(change->exchanges_then));
	return out;
}

/* ---- from a run ---- */

static void count_gates(struct baseline *baseline, const struct gate *gates, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!gates[i].budget.of)
			baseline->stalls[gates[i].budget.cause] = gates[i].count;
	}
}

static uint64_t without_its_cpu(const struct request_view *view)
{
	uint64_t ready = request_view__part(view, CAUSE_RUNQUEUE);

	return ready < view->total_ns ? view->total_ns - ready : 0;
}

void endpoint_time__call(struct endpoint_time *time, const char *comm)
{
	memset(time->comm, 0, sizeof(time->comm));
	for (size_t i = 0; i + 1 < NS_COMM_LEN && comm[i]; i++) {
		char letter = comm[i];

		time->comm[i] = letter < ' ' || letter > '~' || letter == '\\' ? '?' : letter;
	}
}

static void note_endpoint(struct baseline *baseline, const struct report_requests *row)
{
	struct endpoint_time *time = NULL;

	if (baseline->endpoint_count < ENDPOINTS_MOST) {
		time = &baseline->endpoints[baseline->endpoint_count++];
	} else {
		for (size_t i = 0; i < ENDPOINTS_MOST; i++) {
			if (!time || baseline->endpoints[i].count < time->count)
				time = &baseline->endpoints[i];
		}
		if (time->count >= row->count)
			return;
	}
	*time = (struct endpoint_time){.role = row->role,
				       .port = row->end.port,
				       .count = row->count,
				       .median_ns = without_its_cpu(&row->median),
				       .most = request_view__most(&row->median)};
	endpoint_time__call(time, row->end.comm);
}

static int by_name(const void *a, const void *b)
{
	const struct endpoint_time *one = a, *other = b;
	int names = strcmp(one->comm, other->comm);

	if (one->role != other->role)
		return one->role < other->role ? -1 : 1;
	if (names)
		return names;
	return one->port < other->port ? -1 : one->port > other->port;
}

void baseline__count(struct baseline *baseline, const struct outcome *outcome)
{
	const struct report *report = outcome->report;

	memset(baseline, 0, sizeof(*baseline));
	baseline->exchanges = outcome->exchanges;
	if (!report)
		return;
	baseline->threshold_ns = report__threshold(report);
	count_gates(baseline, outcome->gates, outcome->gate_count);
	count_gates(baseline, outcome->others, outcome->other_count);
	for (size_t i = 0; i < report->requests_count; i++) {
		if (report->requests[i].sampled && report__is_endpoint(report, i))
			note_endpoint(baseline, &report->requests[i]);
	}
	sort_array(baseline->endpoints, baseline->endpoint_count, sizeof(baseline->endpoints[0]),
		   by_name);
}

bool baseline__take(struct baseline *baseline, const struct outcome *outcome, char *why,
		    size_t size)
{
	const struct refusal refusal = {why, size};

	baseline__count(baseline, outcome);
	if (outcome->verdict == CHECK_PROGRAM_FAILED)
		return refuse(&refusal,
			      "the program failed: a baseline is saved from a run that went well");
	if (outcome->unable || !outcome->report)
		return refuse(&refusal, "netstall could not do its work: there is nothing to save");
	if (outcome__is_worse(outcome))
		return refuse(
			&refusal,
			"the run is worse than the baseline it was compared with: save it without "
			"--baseline if that is how it shall be");
	for (size_t i = 0; i < outcome->reason_count; i++) {
		/* What it is compared with is another matter than what it is. */
		if (outcome->reasons[i].kind == REASON_BASELINE)
			continue;
		return refuse(&refusal, "the run proves nothing: %s", outcome->reasons[i].text);
	}
	if (!baseline->exchanges)
		return refuse(&refusal,
			      "no exchange was seen, and a baseline is a rate per exchange: "
			      "check a program that sends requests");
	if (outcome->traffic_of_warmup)
		return refuse(&refusal,
			      "exchanges of the warm-up could not be separated: save a baseline "
			      "without --warmup");
	return true;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/chain/spent.h"
#include "user/base/clock.h"

#include <string.h>

/* All that a thread had done by a time. */
struct count {
	uint64_t ts;
	uint64_t on_ts; /* since then it was on its CPU; ts: not known */
	struct ns_spent sums;
};

/* All that is accounted for. */
static uint64_t sum_ns(const struct ns_spent *sums)
{
	uint64_t us = (uint64_t)sums->run_us + sums->ready_us;

	for (size_t i = 0; i < NS_SHORTS; i++)
		us += sums->short_us[i];
	return 1000 * us;
}

static struct count count_of_sums(const struct ns_sums *sums)
{
	return (struct count){sums->head.ts, sums->on_ts, sums->spent};
}

/* The last before a time; nothing was counted before the thread was watched, if that was seen. */
static bool count_before(const struct model_thread *thread, const struct between *between,
			 uint64_t ts, const struct count *after, struct count *out)
{
	const struct ns_wait *wait = between->before;
	const union event *event;
	uint64_t watched_ns = sum_ns(&after->sums);

	memset(out, 0, sizeof(*out));
	if (wait && wait->spent_known)
		*out = (struct count){wait->head.ts, wait->head.ts, wait->spent};
	else if (!wait && watched_ns < after->ts)
		out->ts = after->ts - watched_ns;
	for (size_t i = 0; (event = events__next(&thread->sums, NS_SUMS, &i));) {
		if (event->head.ts <= ts && (!wait || event->head.ts >= wait->head.ts))
			*out = count_of_sums(&event->sums);
	}
	return out->ts && out->ts <= ts;
}

/* The first after a time. */
static bool count_after(const struct model_thread *thread, const struct between *between,
			uint64_t ts, struct count *out)
{
	const struct ns_wait *wait = between->after;
	const union event *event;

	for (size_t i = 0; (event = events__next(&thread->sums, NS_SUMS, &i));) {
		if (event->head.ts >= ts && event->head.ts <= between->known_until &&
		    (!wait || event->head.ts <= wait->off_ts)) {
			*out = count_of_sums(&event->sums);
			return true;
		}
	}
	if (!wait || !wait->spent_known || wait->head.ts > between->known_until)
		return false;
	*out = (struct count){wait->off_ts, wait->off_ts, wait->spent};
	return true;
}

static void subtract(struct ns_spent *sums, const struct ns_spent *before)
{
	sums->run_us -= before->run_us;
	sums->ready_us -= before->ready_us;
	for (size_t i = 0; i < NS_SHORTS; i++) {
		sums->short_us[i] -= before->short_us[i];
		sums->shorts[i] -= before->shorts[i];
	}
}

static bool find_between(const struct model_thread *thread, const struct between *between,
			 uint64_t from, uint64_t to, struct spent *out)
{
	struct count before, after;

	if (!count_after(thread, between, to, &after) ||
	    !count_before(thread, between, from, &after, &before))
		return false;
	out->sums = after.sums;
	subtract(&out->sums, &before.sums);
	out->runs_from = after.on_ts > before.ts ? after.on_ts : before.ts;
	out->sums.run_us -= (uint32_t)((after.ts - out->runs_from) / 1000);
	out->whole_ns = out->runs_from - before.ts;
	return true;
}

bool spent__of_request(const struct ns_exchange *exchange, uint32_t tid, uint64_t from, uint64_t to,
		       struct spent *out)
{
	uint64_t begin =
		exchange->side == NS_EXCHANGE_ASKED ? exchange->begin_ts : exchange->ready_ts;

	if (exchange->head.tid != tid || !exchange->spent_known || !begin || begin > from ||
	    to > exchange->head.ts)
		return false;
	*out = (struct spent){exchange->spent, sum_ns(&exchange->spent), UINT64_MAX};
	return true;
}

/* A request that the thread made or served from that time on, up to the other or longer. */
static bool find_exchange(const struct model *model, uint32_t tid, uint64_t from, uint64_t to,
			  struct spent *out)
{
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk walk = exchanges__of(exchanges, tid, 0);
	const struct ns_exchange *exchange;

	while ((exchange = exchanges__next(exchanges, &walk))) {
		if (spent__of_request(exchange, tid, from, to, out))
			return true;
	}
	return false;
}

bool spent__asks(const struct model *model, uint32_t tid, uint64_t from, uint64_t to)
{
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk walk = exchanges__of(exchanges, tid, 0);
	const struct ns_exchange *exchange;

	while ((exchange = exchanges__next(exchanges, &walk))) {
		if (exchange->side == NS_EXCHANGE_ASKED &&
		    2 * clock__common(exchange->begin_ts, exchange->head.ts, from, to) >= to - from)
			return true;
	}
	return false;
}

bool spent__find(const struct model *model, uint32_t tid, const struct between *between,
		 uint64_t from, uint64_t to, struct spent *out)
{
	const struct model_thread *thread = model__thread(model, tid);
	struct spent request;

	if (!find_exchange(model, tid, from, to, &request))
		return thread && find_between(thread, between, from, to, out);
	if (!thread || !find_between(thread, between, from, to, out) ||
	    request.whole_ns < out->whole_ns)
		*out = request;
	return true;
}

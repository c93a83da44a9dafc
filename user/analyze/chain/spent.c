// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/chain/spent.h"

#include <string.h>

#include "bpf/times.h"
#include "user/base/array.h"
#include "user/base/clock.h"

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

/* Since when its sums are. */
static uint64_t begun(const struct ns_exchange *exchange)
{
	return exchange->side == NS_EXCHANGE_ASKED ? exchange->begin_ts : exchange->ready_ts;
}

static void take_away(uint32_t *us, uint64_t known)
{
	*us -= (uint32_t)min_u64(*us, known);
}

/* What is known of a request that lies beside the time that is asked for was not in that. */
static void leave_out(struct spent *spent, const struct ns_exchange *request)
{
	struct ns_spent known = request->spent;

	take_away(&known.run_us, ns_passed(spent->runs_from, request->head.ts) / 1000);
	take_away(&spent->sums.run_us, known.run_us);
	take_away(&spent->sums.ready_us, known.ready_us);
	for (size_t i = 0; i < NS_SHORTS; i++) {
		take_away(&spent->sums.short_us[i], known.short_us[i]);
		take_away(&spent->sums.shorts[i], known.shorts[i]);
	}
	spent->whole_ns = ns_passed(sum_ns(&known), spent->whole_ns);
}

static bool find_between(const struct model_thread *thread, const struct ns_exchange *request,
			 const struct between *between, uint64_t from, uint64_t to,
			 struct spent *out)
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
	out->is_request = false;
	if (request && request->head.tid == thread->tid && request->spent_known &&
	    begun(request) >= to && request->head.ts <= after.ts)
		leave_out(out, request);
	return true;
}

/* A request of the thread's that has that time in it. */
static bool is_of_request(const struct ns_exchange *exchange, uint32_t tid, uint64_t from,
			  uint64_t to)
{
	uint64_t begin = begun(exchange);

	return exchange->head.tid == tid && exchange->spent_known && begin && begin <= from &&
	       to <= exchange->head.ts;
}

/* How much of it may have been before or behind that time. */
static uint64_t elsewhere(const struct spent *spent, uint64_t from, uint64_t to)
{
	return ns_passed(min_u64(spent->runs_from, to) - from, spent->whole_ns);
}

/* The sums that say most of that time; those of several that say the same: of the first. */
static void keep_better(struct spent *best, bool *found, const struct spent *other, uint64_t from,
			uint64_t to)
{
	if (!*found || elsewhere(other, from, to) < elsewhere(best, from, to))
		*best = *other;
	*found = true;
}

static void try_request(struct spent *best, bool *found, const struct ns_exchange *exchange,
			uint32_t tid, uint64_t from, uint64_t to)
{
	struct spent spent = {exchange->spent, sum_ns(&exchange->spent), UINT64_MAX, true};

	if (is_of_request(exchange, tid, from, to))
		keep_better(best, found, &spent, from, to);
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

bool spent__find(const struct model *model, uint32_t tid, const struct ns_exchange *request,
		 const struct between *between, uint64_t from, uint64_t to, struct spent *out)
{
	const struct model_thread *thread = model__thread(model, tid);
	const struct exchanges *exchanges = model__exchanges(model);
	struct exchange_walk walk = exchanges__of(exchanges, tid, 0);
	const struct ns_exchange *exchange;
	struct spent spent;
	bool found = false;

	if (request)
		try_request(out, &found, request, tid, from, to);
	while ((exchange = exchanges__next(exchanges, &walk)))
		try_request(out, &found, exchange, tid, from, to);
	if (thread && find_between(thread, request, between, from, to, &spent))
		keep_better(out, &found, &spent, from, to);
	return found;
}

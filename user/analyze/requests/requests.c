// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/requests.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/conns.h"
#include "user/analyze/tally.h"
#include "user/base/array.h"
#include "user/base/clock.h"
#include "user/base/xalloc.h"

/* Those of one role. */
struct sample {
	struct exchange *exchanges; /* as they came */
	size_t count;
	size_t size;
	uint64_t taken; /* in all, also those that were thinned out */
};

struct requests {
	const struct model *model;
	struct sample samples[REQUEST_ROLES];
	struct ns_exchange pending[REQUEST_PENDING];
	size_t pending_next;
	struct report_requests *views;
};

struct requests *requests__new(const struct model *model)
{
	struct requests *requests = xcalloc(1, sizeof(*requests));

	requests->model = model;
	return requests;
}

void requests__free(struct requests *requests)
{
	if (!requests)
		return;
	for (size_t i = 0; i < REQUEST_ROLES; i++)
		free(requests->samples[i].exchanges);
	free(requests->views);
	free(requests);
}

/* ---- the two sides of an exchange ---- */

static bool has_end(const struct ns_conn *conn, bool accepted)
{
	return conn->role & NS_ROLE_TARGET && (conn->opener == NS_OPENER_PEER) == accepted;
}

/* A target serves it, and no target asks it: else the asking end's record includes it. */
static bool stands_alone(const struct model *model, const struct ns_exchange *served)
{
	const struct model_conn *conn = model__conn(model, served->head.conn);
	const struct model_conn *peer = conn && conn->peer ? model__conn(model, conn->peer) : NULL;

	return conn && served->arrived_ts && has_end(&conn->id, true) &&
	       !(peer && has_end(&peer->id, false));
}

/* Every second one goes: which, has nothing to do with how it went. */
static void thin_out(struct sample *sample)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->count; i += 2) {
		sample->exchanges[kept] = sample->exchanges[i];
		sample->exchanges[kept].asked.weight *= 2;
		sample->exchanges[kept++].served.weight *= 2;
	}
	sample->count = kept;
}

static struct exchange *add_exchange(struct sample *sample)
{
	struct exchange *exchange;

	if (sample->count == REQUEST_SAMPLES)
		thin_out(sample);
	sample->exchanges =
		xgrow(sample->exchanges, sample->count, &sample->size, sizeof(*sample->exchanges));
	exchange = &sample->exchanges[sample->count++];
	memset(exchange, 0, sizeof(*exchange));
	sample->taken++;
	return exchange;
}

static void take_asked(struct requests *requests, const struct ns_exchange *asked)
{
	struct exchange *exchange = add_exchange(&requests->samples[REQUEST_MADE]);

	exchange->asked = *asked;
	for (size_t i = 0; i < REQUEST_PENDING; i++) {
		struct ns_exchange *served = &requests->pending[i];

		if (!served->head.type || !model__are_sides(requests->model, asked, served))
			continue;
		exchange->served = *served;
		served->head.type = 0;
		return;
	}
}

static void take_served(struct requests *requests, const struct ns_exchange *served)
{
	struct sample *sample = &requests->samples[REQUEST_MADE];
	size_t from = sample->count > REQUEST_PENDING ? sample->count - REQUEST_PENDING : 0;

	if (stands_alone(requests->model, served)) {
		add_exchange(&requests->samples[REQUEST_SERVED])->served = *served;
		return;
	}
	for (size_t i = sample->count; i > from; i--) {
		struct exchange *exchange = &sample->exchanges[i - 1];

		if (exchange->served.head.type ||
		    !model__are_sides(requests->model, &exchange->asked, served))
			continue;
		exchange->served = *served;
		return;
	}
	requests->pending[requests->pending_next++ % REQUEST_PENDING] = *served;
}

void requests__feed(struct requests *requests, const union record *record)
{
	if (record->head.type != NS_EXCHANGE || !record->exchange.weight)
		return;
	if (record->exchange.side == NS_EXCHANGE_SERVED)
		take_served(requests, &record->exchange);
	else
		take_asked(requests, &record->exchange);
}

/* ---- facts ---- */

/* The stalls of the same time know more of the cause than the exchange itself does. */
static void ask_stalls(const struct report *report, const struct ns_exchange *asked, uint32_t peer,
		       struct exchange_facts *facts)
{
	uint64_t held = 0;

	for (size_t i = 0; i < report->stall_count + report->brief_count; i++) {
		struct stall_brief brief = i < report->stall_count
						   ? stall__brief(&report->stalls[i])
						   : report->briefs[i - report->stall_count];
		uint64_t common = clock__common(brief.start_ts, brief.start_ts + brief.ns,
						asked->begin_ts, asked->head.ts);

		if (!common || (brief.conn != asked->head.conn && brief.conn != peer))
			continue;
		if (cause__info(brief.cause)->group == CAUSE_GROUP_LOSS)
			facts->network = brief.cause;
		else if (brief.traits & STALL_HELD && brief.conn == asked->head.conn &&
			 common > held) {
			facts->held = brief.cause;
			held = common;
		}
	}
}

static struct exchange_facts facts_of(const struct report *report, const struct ns_exchange *asked)
{
	const struct report_conn *conn = report__conn(report, asked->head.conn);
	struct exchange_facts facts = {.held = cause__of_hold(asked->hold_reason),
				       .network = CAUSE_NETWORK,
				       .min_rtt_us = asked->min_rtt_us};

	if (asked->hold_reason == NS_HOLD_NAGLE && asked->delack_ts)
		facts.held = CAUSE_NAGLE_DELACK;
	ask_stalls(report, asked, conn ? conn->peer : 0, &facts);
	return facts;
}

/* The stall that the answering thread was in for longest meanwhile; NULL: none of those listed. */
static const struct stall *longest_wait(const struct report *report,
					const struct ns_exchange *served)
{
	const struct stall *longest = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *stall = &report->stalls[i];
		uint64_t common = clock__common(stall->start_ts, stall->end_ts, served->ready_ts,
						served->head.ts);

		if (stall->tid != served->head.tid || common <= most)
			continue;
		longest = stall;
		most = common;
	}
	return longest;
}

/* ---- quantiles ---- */

/* The side that says how long it took. */
static const struct ns_exchange *side_of(const struct exchange *exchange)
{
	return exchange->asked.head.type ? &exchange->asked : &exchange->served;
}

static uint64_t begin_of(const struct exchange *exchange)
{
	return exchange->asked.head.type ? exchange->asked.begin_ts
					 : exchange__arrival(&exchange->served);
}

static uint64_t duration(const struct exchange *exchange)
{
	return side_of(exchange)->head.ts - begin_of(exchange);
}

static int by_duration(const void *a, const void *b)
{
	const struct exchange *x = a, *y = b;
	int by = compare_u64(duration(x), duration(y));

	return by ? by : compare_u64(side_of(x)->head.ts, side_of(y)->head.ts);
}

static int by_conn_and_duration(const void *a, const void *b)
{
	const struct exchange *x = a, *y = b;
	int by = compare_u64(side_of(x)->head.conn, side_of(y)->head.conn);

	return by ? by : by_duration(a, b);
}

/*
 * Did it come to its end? Not what has no answer; nor what the window or the connection cut off:
 * then the pause since is longer than all that was before.
 */
static bool is_over(const struct exchange *exchange, uint64_t end_ts)
{
	const struct ns_exchange *side = side_of(exchange);

	if (side->ended == NS_EXCHANGE_ANSWERED)
		return true;
	if (!side->answer_ts)
		return false;
	return side->ended != NS_EXCHANGE_OPEN || end_ts < side->head.ts ||
	       end_ts - side->head.ts >= duration(exchange);
}

static void drop_unfinished(struct sample *sample, uint64_t end_ts)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->count; i++)
		if (is_over(&sample->exchanges[i], end_ts))
			sample->exchanges[kept++] = sample->exchanges[i];
	sample->taken -= sample->count - kept;
	sample->count = kept;
}

static bool is_whole(const struct exchange *exchange)
{
	return exchange->served.head.type && exchange->served.ready_ts;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* How many exchanges those stand for that were chosen by chance, which weigh more than one. */
struct shares {
	uint64_t weight; /* of all of them together */
	uint64_t stands_for;
};

/*
 * The others were not chosen: they are all there, and stand for themselves alone. So those chosen
 * stand for the rest of what was counted, however much one of a few may weigh. total: 0, or fewer
 * than were seen, is not counted.
 */
static struct shares shares_of(const struct exchange *exchanges, size_t count, uint64_t total)
{
	struct shares shares = {0};
	uint64_t chosen = 0, others;

	for (size_t i = 0; i < count; i++) {
		if (side_of(&exchanges[i])->weight == 1)
			continue;
		shares.weight += side_of(&exchanges[i])->weight;
		chosen++;
	}
	others = count - chosen;
	shares.stands_for = total < count ? shares.weight : total - others;
	return shares;
}

/* How many exchanges there are up to the n-th of those sorted. */
struct ranked {
	uint64_t others;
	uint64_t weight; /* of those chosen */
};

static uint64_t rank_behind(struct ranked *ranked, const struct exchange *next,
			    const struct shares *shares)
{
	uint64_t weight = side_of(next)->weight;

	if (weight == 1)
		ranked->others++;
	else
		ranked->weight += weight;
	if (!shares->weight)
		return ranked->others;
	return ranked->others + (uint64_t)((double)ranked->weight * (double)shares->stands_for /
					   (double)shares->weight);
}

/*
 * The exchange at the nearest rank, of count sorted by duration that stand for total; or the
 * nearest to it whose two sides were seen, within a tenth of what lies beyond the rank: the median
 * may move by 5% of the exchanges, the 99th percentile by 0.1%.
 */
static const struct exchange *at_rank(const struct exchange *sorted, size_t count, uint64_t total,
				      unsigned hundredths)
{
	struct shares shares = shares_of(sorted, count, total);
	uint64_t all = 0, seen, rank, room, best_distance = UINT64_MAX;
	const struct exchange *best = NULL, *exact = NULL;
	struct ranked ranked = {0};

	for (size_t i = 0; i < count; i++)
		all = rank_behind(&ranked, &sorted[i], &shares);
	rank = (all * hundredths + 99) / 100;
	room = all * (hundredths > 50 ? 100 - hundredths : hundredths) / 1000;
	ranked = (struct ranked){0};
	for (size_t i = 0; i < count; i++) {
		seen = rank_behind(&ranked, &sorted[i], &shares);
		if (!exact && seen >= rank)
			exact = &sorted[i];
		if (is_whole(&sorted[i]) && distance(seen, rank) <= room &&
		    distance(seen, rank) < best_distance) {
			best = &sorted[i];
			best_distance = distance(seen, rank);
		}
	}
	return exact && is_whole(exact) ? exact : best ? best : exact;
}

static void view_rank(const struct report *report, const struct exchange *sorted, size_t count,
		      uint64_t total, unsigned hundredths, struct request_view *view)
{
	const struct exchange *exchange = at_rank(sorted, count, total, hundredths);
	struct exchange_facts facts;

	if (!exchange)
		return;
	if (!exchange->asked.head.type) {
		exchange__cut_served(&exchange->served, longest_wait(report, &exchange->served),
				     view);
		return;
	}
	facts = facts_of(report, &exchange->asked);
	exchange__cut(exchange, &facts, view);
}

static void view_all(const struct report *report, const struct exchange *sorted, size_t count,
		     uint64_t total, struct report_requests *out)
{
	out->sampled = count;
	view_rank(report, sorted, count, total, 50, &out->median);
	view_rank(report, sorted, count, total, 99, &out->p99);
}

/* ---- the list ---- */

static uint64_t exchanges_on(const struct report *report, uint32_t number)
{
	const struct report_conn *conn = report__conn(report, number);

	return conn ? conn->totals.exchanges : 0;
}

/* More were recorded than were counted when the connection's totals did not come. */
static uint64_t at_least(uint64_t counted, uint64_t sampled)
{
	return counted > sampled ? counted : sampled;
}

/* The exchanges of a connection, which stand side by side. */
struct group {
	uint32_t conn;
	uint64_t count; /* in the window */
	size_t first;
	size_t sampled;
};

static int most_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int by = compare_u64(y->count, x->count);

	return by ? by : compare_u64(x->conn, y->conn);
}

static struct group *group_by_conn(const struct sample *sample, const struct report *report,
				   size_t *count)
{
	struct group *groups = NULL, *group = NULL;
	size_t room = 0;

	*count = 0;
	for (size_t i = 0; i < sample->count; i++) {
		uint32_t conn = side_of(&sample->exchanges[i])->head.conn;

		if (!group || group->conn != conn) {
			groups = xgrow(groups, *count, &room, sizeof(*groups));
			group = &groups[(*count)++];
			*group = (struct group){.conn = conn, .first = i};
		}
		group->sampled++;
	}
	for (size_t i = 0; i < *count; i++)
		groups[i].count = at_least(exchanges_on(report, groups[i].conn), groups[i].sampled);
	qsort(groups, *count, sizeof(*groups), most_first);
	return groups;
}

static uint64_t counted(const struct report *report, enum request_role role)
{
	struct conn_sums sums = conn_sums__of(report);

	return role == REQUEST_MADE ? sums.asked : sums.exchanges - sums.asked;
}

/* Returns how many views it has filled. */
static size_t write_role(struct sample *sample, const struct report *report, enum request_role role,
			 struct report_requests *views)
{
	struct group *groups;
	size_t conns;

	if (!sample->count)
		return 0;
	qsort(sample->exchanges, sample->count, sizeof(*sample->exchanges), by_conn_and_duration);
	groups = group_by_conn(sample, report, &conns);
	conns = conns < REQUEST_CONNS ? conns : REQUEST_CONNS;
	for (size_t i = 0; i < conns; i++) {
		views[1 + i].conn = groups[i].conn;
		views[1 + i].count = groups[i].count;
		view_all(report, &sample->exchanges[groups[i].first], groups[i].sampled,
			 exchanges_on(report, groups[i].conn), &views[1 + i]);
	}
	free(groups);
	qsort(sample->exchanges, sample->count, sizeof(*sample->exchanges), by_duration);
	view_all(report, sample->exchanges, sample->count, counted(report, role), views);
	views->count = at_least(counted(report, role), sample->taken);
	views->sampled = sample->taken;
	for (size_t i = 0; i <= conns; i++)
		views[i].role = role;
	return 1 + conns;
}

void requests__write(struct requests *requests, struct report *report)
{
	struct report_requests *views =
		xcalloc(REQUEST_ROLES * (1 + REQUEST_CONNS), sizeof(*views));
	size_t count = 0;

	for (size_t i = 0; i < REQUEST_ROLES; i++) {
		drop_unfinished(&requests->samples[i], report->end_ts);
		count += write_role(&requests->samples[i], report, (enum request_role)i,
				    &views[count]);
	}
	requests->views = views;
	report->requests = views;
	report->requests_count = count;
}

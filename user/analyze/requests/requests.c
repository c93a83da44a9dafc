// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/requests.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/conns.h"
#include "user/analyze/tally.h"
#include "user/base/array.h"
#include "user/base/clock.h"
#include "user/base/xalloc.h"

struct requests {
	const struct model *model;
	struct exchange *exchanges; /* as they came */
	size_t count;
	size_t size;
	uint64_t taken; /* in all, also those that were thinned out */
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
	free(requests->exchanges);
	free(requests->views);
	free(requests);
}

/* ---- the two sides of an exchange ---- */

static bool belong_together(const struct model *model, const struct ns_exchange *asked,
			    const struct ns_exchange *served)
{
	const struct model_conn *conn = model__conn(model, asked->head.conn);

	return conn && conn->peer == served->head.conn && served->head.ts > asked->begin_ts &&
	       served->head.ts <= asked->head.ts;
}

/* Every second one goes: which, has nothing to do with how it went. */
static void thin_out(struct requests *requests)
{
	size_t kept = 0;

	for (size_t i = 0; i < requests->count; i += 2) {
		requests->exchanges[kept] = requests->exchanges[i];
		requests->exchanges[kept++].asked.weight *= 2;
	}
	requests->count = kept;
}

static void take_asked(struct requests *requests, const struct ns_exchange *asked)
{
	struct exchange *exchange;

	if (requests->count == REQUEST_SAMPLES)
		thin_out(requests);
	requests->exchanges = xgrow(requests->exchanges, requests->count, &requests->size,
				    sizeof(*requests->exchanges));
	exchange = &requests->exchanges[requests->count++];
	memset(exchange, 0, sizeof(*exchange));
	exchange->asked = *asked;
	requests->taken++;
	for (size_t i = 0; i < REQUEST_PENDING; i++) {
		struct ns_exchange *served = &requests->pending[i];

		if (!served->head.type || !belong_together(requests->model, asked, served))
			continue;
		exchange->served = *served;
		served->head.type = 0;
		return;
	}
}

static void take_served(struct requests *requests, const struct ns_exchange *served)
{
	size_t from = requests->count > REQUEST_PENDING ? requests->count - REQUEST_PENDING : 0;

	for (size_t i = requests->count; i > from; i--) {
		struct exchange *exchange = &requests->exchanges[i - 1];

		if (exchange->served.head.type ||
		    !belong_together(requests->model, &exchange->asked, served))
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

/* ---- quantiles ---- */

static uint64_t duration(const struct exchange *exchange)
{
	return exchange->asked.head.ts - exchange->asked.begin_ts;
}

static int by_duration(const void *a, const void *b)
{
	const struct exchange *x = a, *y = b;
	int by = compare_u64(duration(x), duration(y));

	return by ? by : compare_u64(x->asked.head.ts, y->asked.head.ts);
}

static int by_conn_and_duration(const void *a, const void *b)
{
	const struct exchange *x = a, *y = b;
	int by = compare_u64(x->asked.head.conn, y->asked.head.conn);

	return by ? by : by_duration(a, b);
}

static bool is_whole(const struct exchange *exchange)
{
	return exchange->served.head.type && exchange->served.ready_ts;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * The exchange at the nearest rank by weight, of count sorted by duration; or the nearest to
 * it whose two sides were seen, within a tenth of what lies beyond the rank: the median may
 * move by 5% of the exchanges, the 99th percentile by 0.1%.
 */
static const struct exchange *at_rank(const struct exchange *sorted, size_t count,
				      unsigned hundredths)
{
	uint64_t all = 0, seen = 0, rank, room, best_distance = UINT64_MAX;
	const struct exchange *best = NULL, *exact = NULL;

	for (size_t i = 0; i < count; i++)
		all += sorted[i].asked.weight;
	rank = (all * hundredths + 99) / 100;
	room = all * (hundredths > 50 ? 100 - hundredths : hundredths) / 1000;
	for (size_t i = 0; i < count; i++) {
		seen += sorted[i].asked.weight;
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
		      unsigned hundredths, struct request_view *view)
{
	const struct exchange *exchange = at_rank(sorted, count, hundredths);
	struct exchange_facts facts;

	if (!exchange)
		return;
	facts = facts_of(report, &exchange->asked);
	exchange__cut(exchange, &facts, view);
}

static void view_all(const struct report *report, const struct exchange *sorted, size_t count,
		     struct report_requests *out)
{
	out->sampled = count;
	view_rank(report, sorted, count, 50, &out->median);
	view_rank(report, sorted, count, 99, &out->p99);
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

static struct group *group_by_conn(const struct requests *requests, const struct report *report,
				   size_t *count)
{
	struct group *groups = NULL, *group = NULL;
	size_t room = 0;

	*count = 0;
	for (size_t i = 0; i < requests->count; i++) {
		uint32_t conn = requests->exchanges[i].asked.head.conn;

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

void requests__write(struct requests *requests, struct report *report)
{
	struct report_requests *views;
	struct group *groups;
	size_t conns;

	if (!requests->count)
		return;
	qsort(requests->exchanges, requests->count, sizeof(*requests->exchanges),
	      by_conn_and_duration);
	groups = group_by_conn(requests, report, &conns);
	conns = conns < REQUEST_CONNS ? conns : REQUEST_CONNS;
	views = xcalloc(1 + conns, sizeof(*views));
	for (size_t i = 0; i < conns; i++) {
		views[1 + i].conn = groups[i].conn;
		views[1 + i].count = groups[i].count;
		view_all(report, &requests->exchanges[groups[i].first], groups[i].sampled,
			 &views[1 + i]);
	}
	free(groups);
	qsort(requests->exchanges, requests->count, sizeof(*requests->exchanges), by_duration);
	view_all(report, requests->exchanges, requests->count, views);
	views->count = at_least(conn_sums__of(report).asked, requests->taken);
	views->sampled = requests->taken;
	requests->views = views;
	report->requests = views;
	report->requests_count = 1 + conns;
}

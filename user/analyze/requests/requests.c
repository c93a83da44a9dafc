// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/requests.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/conns.h"
#include "user/analyze/stall.h"
#include "user/analyze/tally.h"
#include "user/analyze/waits/request.h"
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
	struct request_end ends[REQUEST_ENDS]; /* by number; the first one is of none */
	uint32_t end_count;
	struct report_requests *views;
	size_t view_count;
};

/* Which of the two a side is, its place says: there the number of its endpoint stands. */
static uint32_t *endpoint(struct ns_exchange *side)
{
	return &side->side;
}

/* The side that says how long it took. */
static struct ns_exchange *own_side(struct exchange *exchange)
{
	return exchange->asked.head.type ? &exchange->asked : &exchange->served;
}

static const struct ns_exchange *side_of(const struct exchange *exchange)
{
	return own_side((struct exchange *)exchange);
}

static void drop(struct exchange *exchange)
{
	if (!exchange->asked.head.type)
		free(exchange->alone.view);
}

struct requests *requests__new(const struct model *model)
{
	struct requests *requests = xcalloc(1, sizeof(*requests));

	requests->model = model;
	requests->end_count = 1;
	return requests;
}

void requests__free(struct requests *requests)
{
	if (!requests)
		return;
	for (size_t i = 0; i < REQUEST_ROLES; i++) {
		struct sample *sample = &requests->samples[i];

		for (size_t k = 0; k < sample->count; k++)
			drop(&sample->exchanges[k]);
		free(sample->exchanges);
	}
	for (size_t i = 0; i < requests->view_count; i++)
		free(requests->views[i].bins);
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

	for (size_t i = 1; i < sample->count; i += 2)
		drop(&sample->exchanges[i]);
	for (size_t i = 0; i < sample->count; i += 2) {
		sample->exchanges[kept] = sample->exchanges[i];
		sample->exchanges[kept].asked.weight *= 2;
		sample->exchanges[kept++].served.weight *= 2;
	}
	sample->count = kept;
}

/* ---- endpoints ---- */

static struct request_end end_of(const struct model *model, const struct ns_conn *conn,
				 enum request_role role)
{
	const struct model_process *process = model__process(model, conn->head.tgid);

	return request_end__of(conn, process ? process->comm : NULL, role);
}

/* Its number, 0: it has none. */
static uint32_t find_end(const struct requests *requests, const struct request_end *end)
{
	for (uint32_t i = 1; i < requests->end_count; i++) {
		if (request_end__is(&requests->ends[i], end))
			return i;
	}
	return 0;
}

/* 0: nothing is known of it, not even a name, or there is no room. */
static uint32_t number_of(struct requests *requests, const struct ns_conn *conn,
			  enum request_role role)
{
	struct request_end end;
	uint32_t found;

	if (!conn->head.type)
		return 0;
	end = end_of(requests->model, conn, role);
	if (!end.comm[0])
		return 0;
	found = find_end(requests, &end);
	if (found || requests->end_count == REQUEST_ENDS)
		return found;
	requests->ends[requests->end_count] = end;
	return requests->end_count++;
}

static uint32_t number_end(struct requests *requests, uint32_t number, enum request_role role)
{
	const struct model_conn *conn = model__conn(requests->model, number);

	return conn ? number_of(requests, &conn->id, role) : 0;
}

static struct exchange *add_exchange(struct requests *requests, enum request_role role)
{
	struct sample *sample = &requests->samples[role];
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
	struct exchange *exchange = add_exchange(requests, REQUEST_MADE);
	const struct model_conn *conn = model__conn(requests->model, asked->head.conn);
	const struct ns_exchange *served = exchanges__served_for(model__exchanges(requests->model),
								 asked, conn ? conn->peer : 0);

	exchange->asked = *asked;
	*endpoint(&exchange->asked) = number_end(requests, asked->head.conn, REQUEST_MADE);
	if (served)
		exchange->served = *served;
}

static void take_served(struct requests *requests, const struct ns_exchange *served)
{
	struct sample *sample = &requests->samples[REQUEST_MADE];
	size_t from = sample->count > REQUEST_RECENT ? sample->count - REQUEST_RECENT : 0;

	if (stands_alone(requests->model, served)) {
		struct ns_exchange *own = &add_exchange(requests, REQUEST_SERVED)->served;

		*own = *served;
		*endpoint(own) = number_end(requests, served->head.conn, REQUEST_SERVED);
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

/* It came lately: what is judged waits for less than that. */
#define RECENT 2048

/* NULL: it is gone, or came too long ago. */
static struct exchange *find_exchange(struct requests *requests, enum request_role role,
				      const struct ns_exchange *side)
{
	struct sample *sample = &requests->samples[role];
	size_t from = sample->count > RECENT ? sample->count - RECENT : 0;

	for (size_t i = sample->count; i > from; i--) {
		const struct ns_exchange *known = side_of(&sample->exchanges[i - 1]);

		if (known->head.conn == side->head.conn && known->head.ts == side->head.ts)
			return &sample->exchanges[i - 1];
	}
	return NULL;
}

void requests__take_view(struct requests *requests, const struct ns_exchange *served,
			 const struct request_view *view)
{
	struct exchange *exchange = find_exchange(requests, REQUEST_SERVED, served);

	if (!exchange || exchange->alone.view)
		return;
	exchange->alone.view = xcalloc(1, sizeof(*view));
	*exchange->alone.view = *view;
}

void requests__take_reads(struct requests *requests, const struct ns_exchange *asked, uint64_t ts)
{
	struct exchange *exchange = find_exchange(requests, REQUEST_MADE, asked);

	if (exchange && exchange->served.head.type)
		exchange->served.head.ts = ts;
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

static uint64_t begin_of(const struct exchange *exchange)
{
	return exchange->asked.head.type ? exchange__begin(&exchange->asked)
					 : request__arrived(&exchange->served);
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

typedef uint32_t key_fn(const struct exchange *exchange);

static uint32_t conn_of(const struct exchange *exchange)
{
	return side_of(exchange)->head.conn;
}

static uint32_t endpoint_of(const struct exchange *exchange)
{
	return side_of(exchange)->side;
}

static int by_conn_and_duration(const void *a, const void *b)
{
	int by = compare_u64(conn_of(a), conn_of(b));

	return by ? by : by_duration(a, b);
}

static int by_endpoint_and_duration(const void *a, const void *b)
{
	int by = compare_u64(endpoint_of(a), endpoint_of(b));

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

	for (size_t i = 0; i < sample->count; i++) {
		if (is_over(&sample->exchanges[i], end_ts))
			sample->exchanges[kept++] = sample->exchanges[i];
		else
			drop(&sample->exchanges[i]);
	}
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

static void view_one(const struct report *report, const struct exchange *exchange,
		     struct request_view *view)
{
	struct exchange_facts facts;

	if (!exchange->asked.head.type && exchange->alone.view) {
		*view = *exchange->alone.view;
		return;
	}
	if (!exchange->asked.head.type) {
		*view = (struct request_view){.total_ns = duration(exchange)};
		slices__add(view->slices, &view->slice_count, STALL_SLICES, CAUSE_UNKNOWN,
			    view->total_ns);
		return;
	}
	facts = facts_of(report, &exchange->asked);
	exchange__cut(exchange, &facts, view);
}

static void view_rank(const struct report *report, const struct exchange *sorted, size_t count,
		      uint64_t total, unsigned hundredths, struct request_view *view)
{
	const struct exchange *exchange = at_rank(sorted, count, total, hundredths);

	if (exchange)
		view_one(report, exchange, view);
}

/* ---- the histogram ---- */

#define BIN_VIEWS 8 /* requests that say what those of a bin are made of */

static int most_time_first(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int by = compare_u64(y->ns, x->ns);

	return by ? by : compare_u64(x->cause, y->cause);
}

/* Those of one bin, sorted. Whole ones say more, if there are any. */
static void cut_bin(const struct report *report, const struct exchange *exchanges, size_t count,
		    struct request_bin *bin)
{
	struct slice causes[CAUSE_COUNT] = {0};
	size_t whole = 0, viewed = 0, passed = 0;

	for (size_t i = 0; i < count; i++)
		whole += is_whole(&exchanges[i]);
	for (size_t i = 0; i < count; i++) {
		size_t of = whole ? whole : count, step = (of + BIN_VIEWS - 1) / BIN_VIEWS;
		struct request_view view = {0};

		if ((whole && !is_whole(&exchanges[i])) || passed++ % step)
			continue;
		view_one(report, &exchanges[i], &view);
		for (size_t k = 0; k < view.slice_count; k++)
			causes[view.slices[k].cause].ns += view.slices[k].ns;
		viewed++;
	}
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		causes[i].cause = (enum cause)i;
		causes[i].ns /= viewed ? viewed : 1;
	}
	sort_array(causes, CAUSE_COUNT, sizeof(*causes), most_time_first);
	while (bin->slice_count < REQUEST_BIN_SLICES && causes[bin->slice_count].ns) {
		bin->slices[bin->slice_count] = causes[bin->slice_count];
		bin->slice_count++;
	}
}

/* 1, 2, 5, 10, 20, 50 ... ns */
static uint64_t bin_edge(unsigned edge)
{
	static const uint64_t steps[] = {1, 2, 5};
	uint64_t ns = steps[edge % 3];

	for (; edge >= 3; edge -= 3)
		ns *= 10;
	return ns;
}

#define BIN_EDGES 57 /* up to 5 * 10^18 */

static void fill_bins(const struct report *report, const struct exchange *sorted, size_t count,
		      uint64_t total, struct report_requests *out)
{
	struct shares shares = shares_of(sorted, count, total);
	struct ranked ranked = {0};
	uint64_t below = 0, upto = 0;
	unsigned first = 0, last = 0;
	size_t i = 0, begin;

	while (first + 1 < BIN_EDGES && bin_edge(first + 1) <= duration(&sorted[0]))
		first++;
	for (last = first + 1;
	     last < BIN_EDGES - 1 && bin_edge(last) <= duration(&sorted[count - 1]);)
		last++;
	out->bins = xcalloc(last - first, sizeof(*out->bins));
	for (unsigned edge = first; edge < last; edge++) {
		struct request_bin *bin = &out->bins[out->bin_count++];

		bin->from_ns = bin_edge(edge);
		bin->to_ns = bin_edge(edge + 1);
		for (begin = i; i < count && duration(&sorted[i]) < bin->to_ns; i++)
			upto = rank_behind(&ranked, &sorted[i], &shares);
		bin->count = upto - below;
		below = upto;
		if (i > begin)
			cut_bin(report, &sorted[begin], i - begin, bin);
	}
}

static void view_all(const struct report *report, const struct exchange *sorted, size_t count,
		     uint64_t total, struct report_requests *out)
{
	out->sampled = count;
	view_rank(report, sorted, count, total, 50, &out->median);
	view_rank(report, sorted, count, total, 99, &out->p99);
	if (count && !out->conn)
		fill_bins(report, sorted, count, total, out);
}

/* ---- several requests at a time ---- */

/* So few turns more at one end may be where it was first seen in the middle of one. */
#define TURNS_OFF 3

/* Both ends were counted from the same time on: what one has written the other one has read. */
static bool is_counted_alike(const struct ns_conn_totals *asks, const struct ns_conn_totals *serves)
{
	uint64_t read = serves->bytes_in > TRAFFIC_FIN ? serves->bytes_in - TRAFFIC_FIN : 0;

	return asks->exchanges && serves->exchanges && read / 8 <= asks->bytes_out / 7 &&
	       asks->bytes_out / 8 <= read / 7;
}

/*
 * An end that asks for one thing at a time writes after it has read all of the answer, and each
 * turn of it is one of the other end. If it has clearly more of them, then it wrote while the other
 * end was still at an answer.
 */
static bool asks_several(const struct report *report, const struct report_conn *conn)
{
	const struct report_conn *peer = report__peer(report, conn), *asks = conn, *serves = peer;

	if (!peer)
		return false;
	if (conn->id.opener == NS_OPENER_PEER) {
		asks = peer;
		serves = conn;
	}
	return is_counted_alike(&asks->totals, &serves->totals) &&
	       asks->totals.exchanges >
		       serves->totals.exchanges + TURNS_OFF + serves->totals.exchanges / 8;
}

/* ---- the list ---- */

/* The exchanges with the same key, which stand side by side. */
struct group {
	uint32_t key;
	uint64_t count;   /* in the window */
	uint64_t counted; /* by connections' totals, 0 not known */
	size_t first;
	size_t sampled;
	uint64_t connections;
	uint64_t several; /* of these */
};

static int most_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	int by = compare_u64(y->count, x->count);

	return by ? by : compare_u64(x->key, y->key);
}

static struct group *group_by(const struct sample *sample, key_fn *key, size_t *count)
{
	struct group *groups = NULL, *group = NULL;
	size_t room = 0;

	*count = 0;
	for (size_t i = 0; i < sample->count; i++) {
		const struct exchange *exchange = &sample->exchanges[i];

		if (!group || group->key != key(exchange)) {
			groups = xgrow(groups, *count, &room, sizeof(*groups));
			group = &groups[(*count)++];
			*group = (struct group){.key = key(exchange), .first = i};
		}
		group->sampled++;
		group->count += side_of(exchange)->weight;
	}
	return groups;
}

/* More were recorded than were counted when the connection's totals, or its record, did not come.
 */
static uint64_t at_least(uint64_t counted, uint64_t sampled)
{
	return counted > sampled ? counted : sampled;
}

static bool has_role(const struct report_conn *conn, enum request_role role)
{
	return conn->id.role & NS_ROLE_TARGET && request_role__of(&conn->id) == role;
}

/* What the totals of connections say is better than what the sample stands for. */
static void count_conns(const struct report *report, struct group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct report_conn *conn = report__conn(report, groups[i].key);

		groups[i].counted = conn ? conn->totals.exchanges : 0;
		groups[i].count = at_least(groups[i].counted, groups[i].sampled);
		groups[i].connections = 1;
		groups[i].several = conn && asks_several(report, conn);
	}
}

/* Of one end: connections, their exchanges, and those with several at a time. */
struct end_count {
	uint64_t connections;
	uint64_t exchanges;
	uint64_t several;
};

static void count_ends(const struct requests *requests, const struct report *report,
		       enum request_role role, struct group *groups, size_t count)
{
	struct end_count counts[REQUEST_ENDS] = {0};

	for (size_t i = 0; i < report->conn_count; i++) {
		const struct report_conn *conn = &report->conns[i];
		struct request_end end = end_of(requests->model, &conn->id, role);
		uint32_t number = has_role(conn, role) ? find_end(requests, &end) : 0;

		counts[number].connections++;
		counts[number].exchanges += conn->totals.exchanges;
		counts[number].several += number && asks_several(report, conn);
	}
	for (size_t i = 0; i < report->past_end_count; i++) {
		const struct past_end *past = &report->past_ends[i];
		uint32_t number = past->role == role ? find_end(requests, &past->end) : 0;

		counts[number].connections += past->connections;
		counts[number].exchanges += past->exchanges;
	}
	for (size_t i = 0; i < count; i++) {
		const struct end_count *end = &counts[groups[i].key];

		/* Else some may be of connections of which only the sum of all is known. */
		if (!report->past_without_end) {
			groups[i].counted = end->exchanges;
			groups[i].count = at_least(groups[i].counted, groups[i].sampled);
		}
		groups[i].connections = at_least(end->connections, 1);
		groups[i].several = end->several;
	}
}

static uint64_t counted(const struct conn_sums *sums, enum request_role role)
{
	return role == REQUEST_MADE ? sums->asked : sums->exchanges - sums->asked;
}

static uint64_t connections(const struct conn_sums *sums, enum request_role role)
{
	return role == REQUEST_MADE ? sums->targets - sums->accepted : sums->accepted;
}

static void write_group(const struct requests *requests, const struct report *report,
			const struct sample *sample, const struct group *group,
			struct report_requests *view)
{
	const struct exchange *exchanges = &sample->exchanges[group->first];

	view->end = requests->ends[endpoint_of(exchanges)];
	view->count = group->count;
	view->connections = group->connections;
	view->several = group->several;
	view_all(report, exchanges, group->sampled, group->counted, view);
}

/* Returns how many of them it has written. */
static size_t write_conns(const struct requests *requests, const struct report *report,
			  enum request_role role, struct report_requests *views)
{
	const struct sample *sample = &requests->samples[role];
	struct group *groups;
	size_t count;

	sort_array(sample->exchanges, sample->count, sizeof(*sample->exchanges),
		   by_conn_and_duration);
	groups = group_by(sample, conn_of, &count);
	count_conns(report, groups, count);
	sort_array(groups, count, sizeof(*groups), most_first);
	count = count < REQUEST_CONNS ? count : REQUEST_CONNS;
	for (size_t i = 0; i < count; i++) {
		views[i].conn = groups[i].key;
		write_group(requests, report, sample, &groups[i], &views[i]);
	}
	free(groups);
	return count;
}

/* Of some exchanges their connection was not described in time: they are of the only endpoint,
 * unless connections of others were without one too. */
static struct group *only_end(const struct report *report, struct group *groups, size_t count)
{
	struct group *only = NULL;
	size_t ends = 0;

	for (size_t i = 0; i < count; i++) {
		if (!groups[i].key)
			continue;
		only = &groups[i];
		ends++;
	}
	return ends == 1 && (count == 1 || !report->past_without_end) ? only : NULL;
}

/* Likewise. The only endpoint is that of all. */
static size_t write_ends(const struct requests *requests, const struct report *report,
			 enum request_role role, struct report_requests *all)
{
	const struct sample *sample = &requests->samples[role];
	size_t count, written = 0;
	struct group *groups, *only;

	sort_array(sample->exchanges, sample->count, sizeof(*sample->exchanges),
		   by_endpoint_and_duration);
	groups = group_by(sample, endpoint_of, &count);
	count_ends(requests, report, role, groups, count);
	sort_array(groups, count, sizeof(*groups), most_first);
	only = only_end(report, groups, count);
	if (only) {
		all->end = requests->ends[only->key];
		all->connections = only->connections;
	}
	for (size_t i = 0; count > 1 && i < count; i++) {
		if (groups[i].key && !only)
			write_group(requests, report, sample, &groups[i], &all[++written]);
	}
	free(groups);
	return written;
}

/*
 * A connection has one endpoint, though its process may take another name meanwhile: the last one.
 * One of many is told behind its request, and may have closed by now.
 */
static void number_again(struct requests *requests, const struct report *report,
			 struct sample *sample, enum request_role role)
{
	for (size_t i = 0; i < sample->count; i++) {
		struct ns_exchange *side = own_side(&sample->exchanges[i]);
		uint32_t number = number_end(requests, side->head.conn, role);
		const struct report_conn *conn = report__conn(report, side->head.conn);

		if (!number && !*endpoint(side) && conn)
			number = number_of(requests, &conn->id, role);
		if (number)
			*endpoint(side) = number;
	}
}

/* Returns how many views it has filled. */
static size_t write_role(struct requests *requests, const struct report *report,
			 enum request_role role, struct report_requests *views)
{
	struct conn_sums sums = conn_sums__of(report);
	struct sample *sample = &requests->samples[role];
	size_t count;

	if (!sample->count)
		return 0;
	views->connections = at_least(connections(&sums, role), 1);
	number_again(requests, report, sample, role);
	count = 1 + write_ends(requests, report, role, views);
	count += write_conns(requests, report, role, &views[count]);
	sort_array(sample->exchanges, sample->count, sizeof(*sample->exchanges), by_duration);
	view_all(report, sample->exchanges, sample->count, counted(&sums, role), views);
	views->count = at_least(counted(&sums, role), sample->taken);
	views->sampled = sample->taken;
	for (size_t i = 0; i < report->conn_count; i++)
		views->several += has_role(&report->conns[i], role) &&
				  asks_several(report, &report->conns[i]);
	for (size_t i = 0; i < count; i++)
		views[i].role = role;
	return count;
}

void requests__write(struct requests *requests, struct report *report)
{
	struct report_requests *views =
		xcalloc(REQUEST_ROLES * (1 + REQUEST_ENDS + REQUEST_CONNS), sizeof(*views));
	size_t count = 0;

	for (size_t i = 0; i < REQUEST_ROLES; i++) {
		drop_unfinished(&requests->samples[i], report->end_ts);
		count += write_role(requests, report, (enum request_role)i, &views[count]);
	}
	requests->views = views;
	requests->view_count = count;
	report->requests = views;
	report->requests_count = count;
}

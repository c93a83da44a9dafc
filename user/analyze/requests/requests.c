// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/requests.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "user/analyze/conns.h"
#include "user/analyze/tally.h"
#include "user/analyze/waits/request.h"
#include "user/base/array.h"
#include "user/base/xalloc.h"

struct requests {
	const struct model *model;
	struct sample samples[REQUEST_ROLES];
	struct request_end ends[REQUEST_ENDS]; /* by number; the first one is of none */
	uint32_t end_count;
	struct report_requests *views;
	size_t view_count;
	struct stall_brief *slow;
	size_t slow_count;
	size_t slow_size;
};

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
			free(sample->list[k].slices);
		free(sample->list);
	}
	for (size_t i = 0; i < requests->view_count; i++)
		free(requests->views[i].bins);
	free(requests->views);
	free(requests->slow);
	free(requests);
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

static bool has_end(const struct ns_conn *conn, bool accepted)
{
	return conn->role & NS_ROLE_TARGET && (conn->opener == NS_OPENER_PEER) == accepted;
}

/* A target serves it, and no target asks it: else the asking end's includes it. */
static bool stands_alone(const struct model *model, const struct walked_request *walked)
{
	const struct model_conn *conn = model__conn(model, walked->conn);
	const struct model_conn *peer = conn && conn->peer ? model__conn(model, conn->peer) : NULL;

	return conn && has_end(&conn->id, true) && !(peer && has_end(&peer->id, false));
}

void requests__take(struct requests *requests, const struct walked_request *walked)
{
	struct sample *sample = &requests->samples[walked->role];
	const struct request_view *view = &walked->view;
	uint64_t sum = 0;

	if (walked->role == REQUEST_SERVED && !stands_alone(requests->model, walked))
		return;
	for (size_t i = 0; i < view->slice_count; i++)
		sum += view->slices[i].ns;
	assert(sum == walked->end_ts - walked->begin_ts);
	(void)sum; /* with NDEBUG */
	if (sample->count == REQUEST_SAMPLES)
		sample__thin_out(sample);
	sample->list = xgrow(sample->list, sample->count, &sample->size, sizeof(*sample->list));
	sample->list[sample->count++] = (struct request){
		.begin_ts = walked->begin_ts,
		.end_ts = walked->end_ts,
		.since_ts = walked->since_ts,
		.conn = walked->conn,
		.tid = walked->tid,
		.server_tid = walked->server_tid,
		.taken_up_ts = walked->taken_up_ts,
		.answered_ts = walked->answered_ts,
		.end = number_end(requests, walked->conn, walked->role),
		.weight = walked->weight,
		.is_answered = walked->is_answered,
		.is_over = walked->is_over,
		.is_whole = walked->is_whole,
		.is_given_up = walked->is_given_up,
		.is_open = walked->is_open,
		.is_inferred = view->confidence == CONFIDENCE_INFERRED,
		.slice_count = (uint32_t)view->slice_count,
		.slices = xmemdup(view->slices, view->slice_count * sizeof(*view->slices)),
	};
	sample->taken++;
}

/* What most of its time was. */
static enum cause main_cause(const struct request_view *view)
{
	enum cause most = CAUSE_UNKNOWN;

	for (size_t i = 0; i < CAUSE_COUNT; i++)
		if (request_view__part(view, (enum cause)i) > request_view__part(view, most))
			most = (enum cause)i;
	return most;
}

void requests__note_slow(struct requests *requests, const struct walked_request *walked)
{
	uint64_t ns = walked->end_ts - walked->begin_ts;
	enum cause cause = main_cause(&walked->view);

	if (ns < model__threshold(requests->model) || cause == CAUSE_IDLE ||
	    requests->slow_count == REPORT_BRIEFS)
		return;
	requests->slow = xgrow(requests->slow, requests->slow_count, &requests->slow_size,
			       sizeof(*requests->slow));
	requests->slow[requests->slow_count++] =
		(struct stall_brief){walked->begin_ts, ns, walked->conn, (uint16_t)cause, 0};
}

const struct stall_brief *requests__slow(const struct requests *requests, size_t *count)
{
	*count = requests->slow_count;
	return requests->slow;
}

/* ---- keys ---- */

typedef uint32_t key_fn(const struct request *request);

static uint32_t conn_of(const struct request *request)
{
	return request->conn;
}

static uint32_t endpoint_of(const struct request *request)
{
	return request->end;
}

static int by_conn_and_duration(const void *a, const void *b)
{
	int by = compare_u64(conn_of(a), conn_of(b));

	return by ? by : request__by_duration(a, b);
}

static int by_endpoint_and_duration(const void *a, const void *b)
{
	int by = compare_u64(endpoint_of(a), endpoint_of(b));

	return by ? by : request__by_duration(a, b);
}

/*
 * Did it come to its end? Not what has no answer; nor what the window or the connection cut off:
 * then the pause since is longer than all that was before.
 */
static bool is_over(const struct request *request, uint64_t end_ts)
{
	if (!request->is_answered)
		return false;
	return request->is_over || end_ts < request->end_ts ||
	       end_ts - request->end_ts >= request__duration(request);
}

/* What is written there acknowledges, and asks for nothing; or it may. */
static struct acks acks_of(const struct report *report, const struct request *request)
{
	const struct report_conn *conn = report__conn(report, request->conn);

	return conn ? conn->acks : (struct acks){0};
}

static void drop_others(struct sample *sample, const struct report *report)
{
	size_t kept = 0;

	for (size_t i = 0; i < sample->count; i++) {
		if (is_over(&sample->list[i], report->end_ts) &&
		    !acks_of(report, &sample->list[i]).is_sure)
			sample->list[kept++] = sample->list[i];
		else
			free(sample->list[i].slices);
	}
	sample->taken -= sample->count - kept;
	sample->count = kept;
}

static void view_rank(const struct request *sorted, size_t count, uint64_t total,
		      unsigned hundredths, struct request_view *view)
{
	const struct request *request = sample__at_rank(sorted, count, total, hundredths);

	if (request)
		*view = request__view(request);
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
static void cut_bin(const struct request *list, size_t count, struct request_bin *bin)
{
	struct slice causes[CAUSE_COUNT] = {0};
	size_t whole = 0, viewed = 0, passed = 0;

	for (size_t i = 0; i < count; i++)
		whole += list[i].is_whole;
	for (size_t i = 0; i < count; i++) {
		size_t of = whole ? whole : count, step = (of + BIN_VIEWS - 1) / BIN_VIEWS;

		if ((whole && !list[i].is_whole) || passed++ % step)
			continue;
		for (size_t k = 0; k < list[i].slice_count; k++)
			causes[list[i].slices[k].cause].ns += list[i].slices[k].ns;
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

static void fill_bins(const struct request *sorted, size_t count, uint64_t total,
		      struct report_requests *out)
{
	struct shares shares = sample__shares(sorted, count, total);
	struct ranked ranked = {0};
	uint64_t below = 0, upto = 0;
	unsigned first = 0, last = 0;
	size_t i = 0, begin;

	while (first + 1 < BIN_EDGES && bin_edge(first + 1) <= request__duration(&sorted[0]))
		first++;
	for (last = first + 1;
	     last < BIN_EDGES - 1 && bin_edge(last) <= request__duration(&sorted[count - 1]);)
		last++;
	out->bins = xcalloc(last - first, sizeof(*out->bins));
	for (unsigned edge = first; edge < last; edge++) {
		struct request_bin *bin = &out->bins[out->bin_count++];

		bin->from_ns = bin_edge(edge);
		bin->to_ns = bin_edge(edge + 1);
		for (begin = i; i < count && request__duration(&sorted[i]) < bin->to_ns; i++)
			upto = sample__rank_behind(&ranked, &sorted[i], &shares);
		bin->count = upto - below;
		below = upto;
		if (i > begin)
			cut_bin(&sorted[begin], i - begin, bin);
	}
}

static void view_all(const struct request *sorted, size_t count, uint64_t total,
		     struct report_requests *out)
{
	out->sampled = count;
	view_rank(sorted, count, total, 50, &out->median);
	view_rank(sorted, count, total, 99, &out->p99);
	if (count && !out->conn)
		fill_bins(sorted, count, total, out);
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
		const struct request *request = &sample->list[i];

		if (!group || group->key != key(request)) {
			groups = xgrow(groups, *count, &room, sizeof(*groups));
			group = &groups[(*count)++];
			*group = (struct group){.key = key(request), .first = i};
		}
		group->sampled++;
		group->count += request->weight;
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

static void write_group(const struct requests *requests, const struct sample *sample,
			const struct group *group, struct report_requests *view)
{
	const struct request *list = &sample->list[group->first];

	view->end = requests->ends[list->end];
	view->count = group->count;
	view->connections = group->connections;
	view->several = group->several;
	view_all(list, group->sampled, group->counted, view);
}

/* More threads than that are as many. */
#define THREADS_MOST 64

static uint32_t count_threads(const struct request *list, size_t count)
{
	uint32_t tids[THREADS_MOST], found = 0, k;

	for (size_t i = 0; i < count && found < THREADS_MOST; i++) {
		for (k = 0; k < found && tids[k] != list[i].tid; k++)
			;
		if (k == found)
			tids[found++] = list[i].tid;
	}
	return found;
}

static int by_server(const void *a, const void *b)
{
	const struct request *x = a, *y = b;
	int by = compare_u64(x->server_tid, y->server_tid);

	return by ? by : compare_u64(x->taken_up_ts, y->taken_up_ts);
}

static int by_conn_and_begin(const void *a, const void *b)
{
	const struct request *x = a, *y = b;
	int by = compare_u64(conn_of(x), conn_of(y));

	return by ? by : compare_u64(x->begin_ts, y->begin_ts);
}

#define BESIDE_MOST 0.05 /* of their time: begin and end are known to some 0.2 ms */
#define UNSEEN_MOST 0.05 /* of them: the last ones are at both ends of a window */

/* Unless one thread serves some beside each other, or it is not seen who does. Sorts the list. */
static void find_servers(struct request *list, size_t count, struct request_service *service)
{
	double ns = 0, all = 0, beside = 0;
	uint64_t weight = 0, until = 0;
	uint32_t threads = 0;
	size_t unseen = 0;

	sort_array(list, count, sizeof(*list), by_server);
	while (unseen < count && !list[unseen].server_tid)
		unseen++;
	for (size_t i = unseen; i < count; i++) {
		uint64_t took = list[i].answered_ts - list[i].taken_up_ts;

		if (i == unseen || list[i - 1].server_tid != list[i].server_tid) {
			threads++;
			until = 0;
		}
		if (list[i].taken_up_ts < until)
			beside += (double)min_u64(until - list[i].taken_up_ts, took);
		if (until < list[i].answered_ts)
			until = list[i].answered_ts;
		all += (double)took;
		ns += (double)took * list[i].weight;
		weight += list[i].weight;
	}
	if (beside > BESIDE_MOST * all || (double)unseen > UNSEEN_MOST * (double)count)
		return;
	service->threads = threads;
	service->each_ns = (uint64_t)(ns / (double)weight);
}

/* Sorts the list. */
static void find_callers(struct request *list, size_t count, struct request_service *service)
{
	uint64_t *pauses = xcalloc(count, sizeof(*pauses));
	size_t found = 0;

	sort_array(list, count, sizeof(*list), by_conn_and_begin);
	for (size_t i = 0; i < count; i++) {
		if (!i || list[i - 1].conn != list[i].conn)
			service->callers++;
		else if (list[i].begin_ts > list[i - 1].end_ts)
			pauses[found++] = list[i].begin_ts - list[i - 1].end_ts;
		else
			pauses[found++] = 0;
	}
	sort_values(pauses, found);
	service->pause_ns = found ? pauses[found / 2] : UINT64_MAX;
	free(pauses);
}

static void measure_service(const struct request *list, size_t count, struct report_requests *view)
{
	struct request *sorted = xmemdup(list, count * sizeof(*list));

	find_servers(sorted, count, &view->service);
	find_callers(sorted, count, &view->service);
	free(sorted);
}

/* How the connection is used, where there is one request at a time. */
static void measure_use(const struct sample *sample, const struct group *group,
			const struct report *report, struct report_requests *view)
{
	const struct request *list = &sample->list[group->first];
	uint64_t window = report->end_ts - report->start_ts, weight = 0;
	double ns = 0;

	for (size_t i = 0; i < group->sampled; i++) {
		ns += (double)request__duration(&list[i]) * list[i].weight;
		weight += list[i].weight;
	}
	if (group->several || !window || !weight)
		return;
	view->busy = ns / (double)weight * (double)group->count / (double)window;
	if (view->busy > 1)
		view->busy = 1;
	view->threads = count_threads(list, group->sampled);
}

/* Returns how many of them it has written. */
static size_t write_conns(const struct requests *requests, const struct report *report,
			  enum request_role role, struct report_requests *views)
{
	const struct sample *sample = &requests->samples[role];
	struct group *groups;
	size_t count;

	sort_array(sample->list, sample->count, sizeof(*sample->list), by_conn_and_duration);
	groups = group_by(sample, conn_of, &count);
	count_conns(report, groups, count);
	sort_array(groups, count, sizeof(*groups), most_first);
	count = count < REQUEST_CONNS ? count : REQUEST_CONNS;
	for (size_t i = 0; i < count; i++) {
		views[i].conn = groups[i].key;
		write_group(requests, sample, &groups[i], &views[i]);
		measure_use(sample, &groups[i], report, &views[i]);
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

	sort_array(sample->list, sample->count, sizeof(*sample->list), by_endpoint_and_duration);
	groups = group_by(sample, endpoint_of, &count);
	count_ends(requests, report, role, groups, count);
	sort_array(groups, count, sizeof(*groups), most_first);
	only = only_end(report, groups, count);
	if (only) {
		all->end = requests->ends[only->key];
		all->connections = only->connections;
		measure_service(sample->list, sample->count, all);
	}
	for (size_t i = 0; count > 1 && i < count; i++) {
		if (!groups[i].key || only)
			continue;
		write_group(requests, sample, &groups[i], &all[++written]);
		measure_service(&sample->list[groups[i].first], groups[i].sampled, &all[written]);
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
		struct request *request = &sample->list[i];
		uint32_t number = number_end(requests, request->conn, role);
		const struct report_conn *conn = report__conn(report, request->conn);

		if (!number && !request->end && conn)
			number = number_of(requests, &conn->id, role);
		if (number)
			request->end = number;
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
	sort_array(sample->list, sample->count, sizeof(*sample->list), request__by_duration);
	view_all(sample->list, sample->count, counted(&sums, role), views);
	views->count = at_least(counted(&sums, role), sample->taken);
	views->sampled = sample->taken;
	for (size_t i = 0; i < report->conn_count; i++)
		views->several += has_role(&report->conns[i], role) &&
				  asks_several(report, &report->conns[i]);
	for (size_t i = 0; i < count; i++)
		views[i].role = role;
	return count;
}

/* The list is sorted, for the median. */
static void count_unanswered(struct sample *sample, struct report *report)
{
	uint64_t passed = 0;

	sort_array(sample->list, sample->count, sizeof(*sample->list), request__by_duration);
	for (size_t i = 0; i < sample->count; i++)
		report->unanswered_count +=
			sample->list[i].is_given_up ? sample->list[i].weight : 0;
	for (size_t i = 0; i < sample->count && 2 * passed < report->unanswered_count; i++) {
		if (!sample->list[i].is_given_up)
			continue;
		passed += sample->list[i].weight;
		report->unanswered_ns = request__duration(&sample->list[i]);
	}
}

static uint64_t age_of(const struct request *request)
{
	return request->end_ts - (request->since_ts ? request->since_ts : request->begin_ts);
}

static int oldest_first(const void *a, const void *b)
{
	const struct request *x = a, *y = b;
	int by = compare_u64(age_of(y), age_of(x));

	return by ? by : compare_u64(x->conn, y->conn);
}

static void list_open(const struct requests *requests, enum request_role role,
		      struct report *report)
{
	const struct sample *sample = &requests->samples[role];

	sort_array(sample->list, sample->count, sizeof(*sample->list), oldest_first);
	for (size_t i = 0; i < sample->count; i++) {
		const struct request *request = &sample->list[i];

		if (!request->is_open || age_of(request) < report__threshold(report) ||
		    acks_of(report, request).bytes)
			continue;
		if (report->open_count < REPORT_OPEN)
			report->open[report->open_count] =
				(struct report_open){.role = role,
						     .end = requests->ends[request->end],
						     .conn = request->conn,
						     .age_ns = age_of(request),
						     .is_older = request->since_ts,
						     .view = request__view(request)};
		report->open_count++;
	}
}

/* What slow requests took by cause. What a proxy makes is within what it serves: the greater. */
static void sum_slow(const struct requests *requests, struct report *report)
{
	uint64_t sums[REQUEST_ROLES][CAUSE_COUNT] = {0}, all[REQUEST_ROLES] = {0};
	enum request_role most;

	for (size_t role = 0; role < REQUEST_ROLES; role++) {
		const struct sample *sample = &requests->samples[role];

		for (size_t i = 0; i < sample->count; i++) {
			const struct request *request = &sample->list[i];

			if (request__duration(request) < report__threshold(report))
				continue;
			all[role] += request__duration(request) * request->weight;
			for (size_t k = 0; k < request->slice_count; k++)
				sums[role][request->slices[k].cause] +=
					request->slices[k].ns * request->weight;
		}
	}
	most = all[REQUEST_SERVED] > all[REQUEST_MADE] ? REQUEST_SERVED : REQUEST_MADE;
	for (size_t i = 0; i < report->cause_count; i++) {
		struct report_cause *cause = &report->causes[i];

		cause->slow_ns = cause->is_pace ? 0 : sums[most][cause->cause];
	}
}

const struct sample *requests__sample(const struct requests *requests, enum request_role role)
{
	return &requests->samples[role];
}

void requests__write(struct requests *requests, struct report *report)
{
	struct report_requests *views =
		xcalloc(REQUEST_ROLES * (1 + REQUEST_ENDS + REQUEST_CONNS), sizeof(*views));
	size_t count = 0;

	count_unanswered(&requests->samples[REQUEST_MADE], report);
	for (size_t i = 0; i < REQUEST_ROLES; i++) {
		list_open(requests, (enum request_role)i, report);
		drop_others(&requests->samples[i], report);
		count += write_role(requests, report, (enum request_role)i, &views[count]);
	}
	sum_slow(requests, report);
	requests->views = views;
	requests->view_count = count;
	report->requests = views;
	report->requests_count = count;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/analyze/holds/flow.h"
#include "user/analyze/holds/hold.h"
#include "user/analyze/holds/incident_queue.h"
#include "user/analyze/holds/intervals.h"
#include "user/analyze/holds/recoveries.h"
#include "user/analyze/holds/recovery.h"
#include "user/analyze/holds/remote_nagle.h"
#include "user/analyze/ledger.h"
#include "user/analyze/order.h"
#include "user/analyze/requests/habits.h"
#include "user/analyze/requests/operations.h"
#include "user/analyze/requests/programs.h"
#include "user/analyze/requests/requests.h"
#include "user/analyze/waits/open_request.h"
#include "user/analyze/waits/request.h"
#include "user/analyze/waits/wait_queue.h"
#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/record/losses.h"

#define FOUND_OPEN 16384

struct pipeline {
	struct pipeline_sink sink;
	struct model *model;
	struct incident_queue *incidents;
	struct recoveries *recoveries;
	struct intervals *intervals;
	struct wait_queue *wait_queue;
	struct requests *requests;
	struct operations *operations;
	struct ledger *ledger;
	struct order *order;
	struct report *report; /* the ledger's */
	uint64_t first_ts;
	uint64_t now; /* the latest time that a record or the source told */
	uint64_t end_ts;
	uint64_t damaged;
	/* What was lost that could hide a stall: in how much time, the last of it, and what of it
	 * was lost in user space until the last look. */
	uint64_t blind_ns;
	uint64_t blind_until;
	uint64_t hidden_here;
	uint64_t looked_ns;
	struct ns_exchange *found_open; /* requests from before the window, until it is over */
	size_t found_count;
	size_t found_size;
	uint64_t found_not_kept;
	bool finished;
};

struct pipeline *pipeline__new(const struct pipeline_sink *sink)
{
	struct pipeline *pipeline = xcalloc(1, sizeof(*pipeline));

	if (sink)
		pipeline->sink = *sink;
	pipeline->model = model__new();
	pipeline->incidents = incident_queue__new(pipeline->model);
	pipeline->recoveries = recoveries__new(pipeline->model, pipeline->incidents);
	pipeline->intervals = intervals__new();
	pipeline->wait_queue = wait_queue__new(pipeline->model, pipeline->incidents,
					       pipeline->intervals, pipeline->sink.on_wait);
	pipeline->requests = requests__new(pipeline->model);
	pipeline->operations = operations__new();
	pipeline->ledger = ledger__new(pipeline->model);
	pipeline->order = order__new();
	pipeline->report = ledger__report(pipeline->ledger);
	return pipeline;
}

void pipeline__free(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	free(pipeline->found_open);
	order__free(pipeline->order);
	operations__free(pipeline->operations);
	requests__free(pipeline->requests);
	programs__free(pipeline->report);
	ledger__free(pipeline->ledger);
	wait_queue__free(pipeline->wait_queue);
	intervals__free(pipeline->intervals);
	recoveries__free(pipeline->recoveries);
	incident_queue__free(pipeline->incidents);
	model__free(pipeline->model);
	free(pipeline);
}

static void add_blind(struct pipeline *pipeline, uint64_t from, uint64_t to)
{
	uint64_t start = model__session(pipeline->model)->head.ts;

	from = from > pipeline->blind_until ? from : pipeline->blind_until;
	from = from > start ? from : start;
	if (to <= from)
		return;
	pipeline->blind_ns += to - from;
	pipeline->blind_until = to;
}

static void learn_loss(struct pipeline *pipeline, const struct ns_lost *lost)
{
	if (loss_kind(lost->kind)->remedy)
		add_blind(pipeline, lost->from_ts, lost->head.ts);
}

/* What user space had no room for, or could not read. */
static void look_for_losses(struct pipeline *pipeline)
{
	uint64_t hidden = model__hidden_here(pipeline->model) + pipeline->damaged +
			  incident_queue__lost(pipeline->incidents) +
			  wait_queue__lost(pipeline->wait_queue) +
			  operations__lost(pipeline->operations);

	if (hidden > pipeline->hidden_here)
		add_blind(pipeline, pipeline->looked_ns, pipeline->now);
	pipeline->hidden_here = hidden;
	pipeline->looked_ns = pipeline->now;
}

static void update_report(struct pipeline *pipeline)
{
	struct report *report = pipeline->report;

	report->start_ts = report->session.head.type ? report->session.head.ts : pipeline->first_ts;
	report->end_ts = pipeline->end_ts ? pipeline->end_ts : pipeline->now;
	if (report->end_ts < report->start_ts)
		report->end_ts = report->start_ts;
	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++)
		report->lost[kind] = model__lost(pipeline->model, kind);
	report->lost[NS_LOST_DAMAGED] += pipeline->damaged;
	report->lost[NS_LOST_KEPT] += incident_queue__lost(pipeline->incidents);
	report->lost[NS_LOST_KEPT] += wait_queue__lost(pipeline->wait_queue);
	report->lost[NS_LOST_KEPT] += pipeline->found_not_kept;
	report->lost[NS_LOST_KEPT] += operations__lost(pipeline->operations);
	report->longest_wait_ns =
		wait_queue__longest(pipeline->wait_queue, &report->longest_wait_cause);
	report->not_asked = *wait_queue__not_asked(pipeline->wait_queue);
	report->unfollowed_ns =
		wait_queue__unfollowed(pipeline->wait_queue, &report->unfollowed_kind);
	memcpy(report->waited_ns, wait_queue__by_cause(pipeline->wait_queue),
	       sizeof(report->waited_ns));
	report->complete = report__is_complete(report);
	report->blind_ns = pipeline->blind_ns;
}

static const struct stall *tell(struct pipeline *pipeline, const struct incident *incident,
				const struct finding *finding)
{
	const struct stall *stall = ledger__enter(pipeline->ledger, incident, finding);

	if (pipeline->sink.on_stall) {
		update_report(pipeline);
		pipeline->sink.on_stall(pipeline->sink.context, pipeline->report, stall);
	}
	return stall;
}

static bool is_targets(const struct model *model, uint32_t number)
{
	const struct model_conn *conn = model__conn(model, number);

	return conn && (!conn->id.head.type || conn->id.role & NS_ROLE_TARGET);
}

/* What was held took so short to be held again that nobody can have acted in between. */
#define AT_ONCE_NS 10000

/* The rest of stall from ts on, as slices and what its reader did. */
static struct stall rest_of(const struct stall *stall, uint64_t ts)
{
	struct stall rest = {.cause = stall->cause,
			     .start_ts = ts,
			     .end_ts = stall->end_ts,
			     .reader = stall->reader};
	uint64_t end = stall->start_ts;

	for (size_t i = 0; i < stall->slice_count; i++) {
		end += stall->slices[i].ns;
		if (end <= ts)
			continue;
		stall__slice(&rest, stall->slices[i].cause,
			     end - ts < stall->slices[i].ns ? end - ts : stall->slices[i].ns);
	}
	return rest;
}

/* A flow whose last hold is told already goes on. */
static bool goes_on(struct pipeline *pipeline, const struct finding *finding)
{
	const struct stall *stall = &finding->stall;
	struct interval *interval = intervals__first(pipeline->intervals, stall->conn,
						     stall->start_ts - AT_ONCE_NS, stall->start_ts);
	struct stall rest;

	if (!interval || !interval->stall || interval->cause != stall->cause ||
	    !flow__reason(stall->reason) || interval->span.conn != stall->conn ||
	    interval->span.end_ts >= stall->end_ts)
		return false;
	rest = rest_of(stall, interval->span.end_ts > stall->start_ts ? interval->span.end_ts
								      : stall->start_ts);
	rest.start_ts = interval->span.end_ts;
	if (interval->span.end_ts < stall->start_ts)
		rest.slices[0].ns += stall->start_ts - interval->span.end_ts;
	ledger__extend(pipeline->ledger, interval->stall, &rest);
	interval->span.end_ts = stall->end_ts;
	return true;
}

/* On a target's own connection it is told now; another's may explain a target's wait later. */
static void settle_hold(struct pipeline *pipeline, struct incident *incident,
			const struct finding *finding)
{
	if (goes_on(pipeline, finding)) {
		incident__free(incident);
	} else if (is_targets(pipeline->model, finding->stall.conn) ||
		   is_targets(pipeline->model, finding->stall.peer)) {
		intervals__add(pipeline->intervals, tell(pipeline, incident, finding));
		incident__free(incident);
	} else {
		intervals__add_unreported(pipeline->intervals, finding, incident);
	}
}

/* A hold during a recovery is told with it. */
static bool explain(const struct pipeline *pipeline, const struct incident *incident,
		    struct finding *finding)
{
	if (incident->kind == INCIDENT_RECOVERY)
		return recovery__explain(pipeline->model, incident, finding);
	if (incident->kind == INCIDENT_REMOTE_NAGLE)
		return remote_nagle__explain(pipeline->model, incident, finding);
	return !recoveries__overlap(pipeline->recoveries, incident) &&
	       hold__explain(pipeline->model, incident, finding);
}

static void explain_incidents(struct pipeline *pipeline, uint64_t now)
{
	struct incident *incident;
	struct finding finding;

	while ((incident = incident_queue__take(pipeline->incidents, now))) {
		if (explain(pipeline, incident, &finding))
			settle_hold(pipeline, incident, &finding);
		else
			incident__free(incident);
	}
}

static void take_request(struct pipeline *pipeline, const struct walked_request *walked)
{
	requests__take(pipeline->requests, walked);
	if (pipeline->report->session.machine)
		requests__note_slow(pipeline->requests, walked);
	if (pipeline->sink.on_request)
		pipeline->sink.on_request(pipeline->sink.context, walked);
}

static void tell_wait(const struct pipeline *pipeline, const struct judged *judged)
{
	if (judged->is_explained && pipeline->sink.on_wait)
		pipeline->sink.on_wait(pipeline->sink.context, &judged->record);
}

/* Holds first: a wait that a hold explains is no stall of its own. */
static void settle(struct pipeline *pipeline, uint64_t now)
{
	struct judged judged;

	explain_incidents(pipeline, now);
	while (wait_queue__judge(pipeline->wait_queue, now, &judged)) {
		if (judged.walked.conn)
			take_request(pipeline, &judged.walked);
		tell_wait(pipeline, &judged);
		if (judged.judgement == JUDGED_EXTENDS)
			ledger__extend(pipeline->ledger, judged.stall, &judged.finding.stall);
		if (judged.judgement == JUDGED_JOINED || judged.judgement == JUDGED_EXTENDS)
			ledger__join(pipeline->ledger, judged.stall, &judged.wait);
		if (judged.delayed_by)
			ledger__delay(pipeline->ledger, judged.delayed_by, judged.delayed);
		if (judged.judgement != JUDGED_STALL)
			continue;
		wait_queue__reported(pipeline->wait_queue, &judged,
				     tell(pipeline, judged.incident, &judged.finding)->number);
		incident__free(judged.incident);
	}
}

static void emit(struct pipeline *pipeline, uint64_t until)
{
	const union record *record;

	while ((record = order__pop(pipeline->order, until))) {
		update_report(pipeline);
		if (pipeline->sink.on_record) /* not of an interim report: the run tells it */
			pipeline->sink.on_record(pipeline->sink.context, pipeline->report, record);
	}
}

/* Everything that is SETTLE_NS past can be told. */
static void advance(struct pipeline *pipeline)
{
	uint64_t settled = pipeline->now > SETTLE_NS ? pipeline->now - SETTLE_NS : 0;

	emit(pipeline, settled);
	settle(pipeline, pipeline->now);
}

/* Events, and what says of an interval that it is over. The rest tells who is who, and totals. */
static bool is_of_a_time(uint32_t type)
{
	return record__is_event(type) || type == NS_CLOSE || type == NS_EXCHANGE ||
	       type == NS_REAP || type == NS_SUMS || type == NS_THROTTLE || type == NS_RAN ||
	       type == NS_FAILED;
}

static uint64_t began(const union record *record)
{
	uint64_t ts = record->head.ts;

	switch (record->head.type) {
	case NS_WAIT:
		return record->wait.off_ts;
	case NS_RELEASE:
		return record->release.held_ns < ts ? ts - record->release.held_ns : 0;
	case NS_THROTTLE:
		return record->throttle.since_ts;
	case NS_RAN:
		return record->ran.from_ts;
	case NS_FAILED:
		return record->failed.began_ts;
	case NS_EXCHANGE:
		return record->exchange.begin_ts ? record->exchange.begin_ts : ts;
	default:
		return ts;
	}
}

/*
 * What began before the window or ended behind it was seen in parts at best: programs were missing
 * still, or already. A source tells the end before what is later than it.
 */
static bool is_outside(const struct pipeline *pipeline, const union record *record)
{
	if (!is_of_a_time(record->head.type))
		return false;
	return began(record) < model__session(pipeline->model)->head.ts ||
	       (pipeline->end_ts && record->head.ts > pipeline->end_ts);
}

/* Whose thread it is, and whether it is open at all, waits say that come as late. */
static void keep_open(struct pipeline *pipeline, const struct ns_exchange *exchange)
{
	if (pipeline->found_count == FOUND_OPEN) {
		pipeline->found_not_kept++;
		return;
	}
	pipeline->found_open = xgrow(pipeline->found_open, pipeline->found_count,
				     &pipeline->found_size, sizeof(*pipeline->found_open));
	pipeline->found_open[pipeline->found_count++] = *exchange;
}

static void settle_open(struct pipeline *pipeline)
{
	for (size_t i = 0; i < pipeline->found_count; i++) {
		union record found = {.exchange = pipeline->found_open[i]};

		if (!open_request__find(pipeline->model, &found.exchange))
			continue;
		model__feed(pipeline->model, &found);
		wait_queue__feed_request(pipeline->wait_queue, &found.exchange, pipeline->now);
	}
}

static void learn(struct pipeline *pipeline, const union record *record)
{
	uint64_t ts = record->head.ts;
	union record first;

	if (!pipeline->report->events || ts < pipeline->first_ts)
		pipeline->first_ts = ts;
	if (ts > pipeline->now && !record__is_told_ahead(record->head.type))
		pipeline->now = ts;
	pipeline->report->events++;
	if (record->head.type == NS_EXCHANGE && record->exchange.since_ts &&
	    record->exchange.ended == NS_EXCHANGE_OPEN) {
		keep_open(pipeline, &record->exchange);
		return;
	}
	if (record->head.type == NS_EXCHANGE &&
	    request__is_subscription(pipeline->model, &record->exchange)) {
		first.exchange = request__until_first_piece(&record->exchange);
		record = &first;
	}
	model__feed(pipeline->model, record);
	operations__feed(pipeline->operations, record);
	ledger__learn(pipeline->ledger, record);
	incident_queue__gather(pipeline->incidents, record);
	recoveries__feed(pipeline->recoveries, record, pipeline->now);
	remote_nagle__feed(pipeline->model, pipeline->incidents, record, pipeline->now);
	if (record->head.type == NS_WAIT)
		wait_queue__feed(pipeline->wait_queue, &record->wait, pipeline->now);
	if (record->head.type == NS_EXCHANGE)
		wait_queue__feed_request(pipeline->wait_queue, &record->exchange, pipeline->now);
	if (record->head.type == NS_RELEASE)
		incident_queue__begin(pipeline->incidents, &record->release, pipeline->now);
	else if (record->head.type == NS_CLOSE)
		incident_queue__begin_open(pipeline->incidents, record->head.conn, true, ts,
					   pipeline->now);
	if (record->head.type == NS_LOST)
		learn_loss(pipeline, &record->lost);
	if (record->head.type == NS_END) {
		pipeline->end_ts = ts;
		pipeline->report->children = record->end.children;
	}
}

int pipeline__feed(struct pipeline *pipeline, const void *data, size_t len)
{
	union record record;
	int err = record__decode(data, len, &record);

	if (err == -ENOMSG)
		return 0; /* from a later version */
	if (err) {
		pipeline->damaged++;
		return err;
	}
	if (is_outside(pipeline, &record))
		return 0;
	pipeline->damaged += record__correct(&record, model__session(pipeline->model)->head.ts);
	learn(pipeline, &record);
	if (pipeline->sink.on_record)
		order__push(pipeline->order, &record);
	advance(pipeline);
	return 0;
}

void pipeline__judge_from(struct pipeline *pipeline, uint64_t ts)
{
	pipeline->report->judged_from = ts;
}

void pipeline__idle(struct pipeline *pipeline, uint64_t now_ns)
{
	if (now_ns > pipeline->now)
		pipeline->now = now_ns;
	advance(pipeline);
	look_for_losses(pipeline);
}

static int by_number(const void *a, const void *b)
{
	return compare_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Of connections that are not closed, by number. */
static uint32_t *open_conns(const struct pipeline *pipeline, size_t *count)
{
	const struct model_conn *conn;
	uint32_t *numbers = NULL;
	size_t cursor = 0, room = 0;

	*count = 0;
	while ((conn = model__next_conn(pipeline->model, &cursor))) {
		if (conn->closed)
			continue;
		numbers = xgrow(numbers, *count, &room, sizeof(*numbers));
		numbers[(*count)++] = conn->number;
	}
	sort_array(numbers, *count, sizeof(*numbers), by_number);
	return numbers;
}

/* Holds that nothing ended before the window did: never more of them at a time than others. */
static void end_open_holds(struct pipeline *pipeline)
{
	uint64_t end = pipeline->end_ts ? pipeline->end_ts : pipeline->now;
	size_t count;
	uint32_t *conns = open_conns(pipeline, &count);

	for (size_t i = 0; i < count; i++) {
		incident_queue__begin_open(pipeline->incidents, conns[i], false, end,
					   pipeline->now);
		explain_incidents(pipeline, 0);
	}
	free(conns);
}

static void count_lasting(struct pipeline *pipeline)
{
	struct judged judged;

	while (wait_queue__count_lasting(pipeline->wait_queue, &judged))
		tell_wait(pipeline, &judged);
}

const struct report *pipeline__finish(struct pipeline *pipeline)
{
	if (pipeline->finished)
		return pipeline->report;
	/* Up to the end as ever. */
	if (pipeline->end_ts > pipeline->now)
		pipeline->now = pipeline->end_ts;
	advance(pipeline);
	emit(pipeline, UINT64_MAX);
	settle_open(pipeline);
	/* What was released first, so that the bound on incidents is for the rest. */
	explain_incidents(pipeline, UINT64_MAX);
	recoveries__close(pipeline->recoveries, pipeline->end_ts ? pipeline->end_ts : pipeline->now,
			  pipeline->now);
	end_open_holds(pipeline);
	settle(pipeline, UINT64_MAX);
	count_lasting(pipeline);
	look_for_losses(pipeline);
	update_report(pipeline);
	ledger__close(pipeline->ledger);
	requests__write(pipeline->requests, pipeline->report);
	programs__write(pipeline->report, pipeline->ledger, pipeline->requests);
	operations__write(pipeline->operations, pipeline->model, pipeline->report);
	habits__write(pipeline->report);
	pipeline->finished = true;
	return pipeline->report;
}

const struct report *pipeline__finish_interim(struct pipeline *pipeline)
{
	pipeline->report->interim = true;
	pipeline->sink = (struct pipeline_sink){0}; /* the run that goes on tells its stalls */
	return pipeline__finish(pipeline);
}

const struct report *pipeline__report(const struct pipeline *pipeline)
{
	return pipeline->report;
}

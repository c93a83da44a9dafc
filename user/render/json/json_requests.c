// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Exchanges taken apart, what the target waited for, and habits, as JSON. */
#include <stdlib.h>

#include "user/analyze/requests/habits.h"
#include "user/analyze/tally.h"
#include "user/explain/habits.h"
#include "user/explain/verdict.h"
#include "user/render/json/json_values.h"

static json_t *view_of(const struct request_view *view)
{
	json_t *object = json_object();

	put(object, "total_ms", json_value__ms(view->total_ns));
	put(object, "confidence", json_string(confidence__name(view->confidence)));
	put(object, "slices", json_value__slices(view->slices, view->slice_count));
	return object;
}

static json_t *bin_of(const struct request_bin *bin)
{
	json_t *object = json_object();

	put(object, "from_ms", json_value__ms(bin->from_ns));
	put(object, "to_ms", json_value__ms(bin->to_ns));
	put(object, "count", json_value__count(bin->count));
	put(object, "slices", json_value__slices(bin->slices, bin->slice_count));
	return object;
}

static json_t *end_of(const struct request_end *end)
{
	json_t *object;

	if (!end->port)
		return json_null();
	object = json_object();
	put(object, "comm", json_value__name(end->comm, NS_COMM_LEN));
	put(object, "remote",
	    end->family ? json_value__address(end->family, end->addr, end->port) : json_null());
	put(object, "port", json_value__count(end->port));
	return object;
}

static json_t *new_requests(enum request_role role, const struct request_end *end, uint32_t conn)
{
	json_t *object = json_object();

	put(object, "role", json_string(request_role__id(role)));
	put(object, "endpoint", end_of(end));
	put(object, "connection", json_value__number_or_null(conn, 0));
	return object;
}

json_t *json_value__program(const struct report *report, const struct report_program *program)
{
	const char *comm = report__comm(report, program->pid, 0);
	bool is_measured = program->p99_ns;
	json_t *object = json_object();
	char *why;

	put(object, "pid", json_value__count(program->pid));
	put(object, "comm", json_value__name(comm ? comm : "", NS_COMM_LEN));
	put(object, "serves", json_value__count(program->served));
	put(object, "makes", json_value__count(program->made));
	put(object, "median_ms", is_measured ? json_value__ms(program->median_ns) : json_null());
	put(object, "p99_ms", is_measured ? json_value__ms(program->p99_ns) : json_null());
	put(object, "stalls", json_value__count(program->stalls));
	put(object, "stalled_ms", json_value__ms(program->stalled_ns));
	put(object, "cause",
	    program->stalls ? json_string(cause__info(program->cause)->id) : json_null());
	put(object, "of_cause", json_value__count(program->of_cause));
	put(object, "connection",
	    json_value__number_or_null(program->main ? program->main->conn : 0, 0));
	why = program->stalls ? verdict__of_program(report, program) : NULL;
	put(object, "why", json_value__text(why));
	free(why);
	return object;
}

json_t *json_value__requests(const struct report_requests *requests)
{
	json_t *object = new_requests(requests->role, &requests->end, requests->conn);

	put(object, "connections", json_value__count(requests->connections));
	put(object, "several_at_a_time", json_value__count(requests->several));
	put(object, "busy", requests->threads ? json_value__share(requests->busy) : json_null());
	put(object, "threads", json_value__number_or_null(requests->threads, 0));
	put(object, "count", json_value__count(requests->count));
	put(object, "sampled", json_value__count(requests->sampled));
	put(object, "median", view_of(&requests->median));
	put(object, "p99", view_of(&requests->p99));
	put_each(object, "histogram", i, requests->bin_count, bin_of(&requests->bins[i]));
	return object;
}

json_t *json_value__open(const struct report_open *open)
{
	json_t *object = new_requests(open->role, &open->end, open->conn);

	put(object, "age_ms", json_value__ms(open->age_ns));
	put(object, "before_window", json_boolean(open->is_older));
	put(object, "in_window", view_of(&open->view));
	return object;
}

json_t *json_value__habit(const struct report *report, const struct report_habit *habit)
{
	json_t *object = json_object();
	char *text = habit__sentence(report, habit);

	put(object, "id", json_string(habit__id(habit->habit)));
	put(object, "pid", json_value__number_or_null(habit->pid, 0));
	put(object, "tid", json_value__number_or_null(habit->tid, 0));
	put(object, "connection", json_value__number_or_null(habit->conn, 0));
	put(object, "text", json_value__text(text));
	free(text);
	return object;
}

static json_t *not_asked(const struct ns_wait *wait)
{
	json_t *object;

	if (!wait->head.type)
		return json_null();
	object = json_object();
	put(object, "tid", json_value__count(wait->head.tid));
	put(object, "connection", json_value__count(wait->head.conn));
	put(object, "ms", json_value__ms(wait->head.ts - wait->off_ts));
	return object;
}

json_t *json_value__waited(const struct report *report)
{
	json_t *object = json_object(), *by_cause = put_object(object, "by_cause_ms");

	for (size_t i = 0; i < CAUSE_COUNT; i++)
		if (report->waited_ns[i])
			put(by_cause, cause__info((enum cause)i)->id,
			    json_value__ms(report->waited_ns[i]));
	put(object, "longest_owed_ms", json_value__ms_or_null(report->longest_wait_ns));
	put(object, "longest_owed_cause",
	    report->longest_wait_ns ? json_string(cause__info(report->longest_wait_cause)->id)
				    : json_null());
	put(object, "not_asked", not_asked(&report->not_asked));
	return object;
}

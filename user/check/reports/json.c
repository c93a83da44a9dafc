// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall.check/1; docs/check-schema.json describes it. */
#include "user/base/text.h"
#include "user/check/reports/clauses.h"
#include "user/check/reports/reports.h"
#include "user/record/losses.h"
#include "user/render/json/json_values.h"
#include "user/render/words/names.h"

#define CHECK_SCHEMA "netstall.check/1"
#define NAME_MOST    4096

static json_t *seconds_of(double seconds)
{
	return json_value__ms((uint64_t)(seconds * 1e9 + 0.5));
}

static json_t *budget_of(const struct budget *budget)
{
	static const char *const kinds[] = {
		[BUDGET_COUNT] = "count", [BUDGET_TIME] = "time", [BUDGET_SHARE] = "share"};
	json_t *object = json_object();
	char limit[48];

	put(object, "kind", json_string(kinds[budget->kind]));
	put(object, "text", json_string(budget__limit(budget, limit, sizeof(limit))));
	if (budget->kind == BUDGET_COUNT)
		put(object, "stalls", json_value__count(budget->count));
	else if (budget->kind == BUDGET_TIME)
		put(object, "ms", json_value__ms(budget->ns));
	else
		put(object, "share", json_value__share(budget->share));
	return object;
}

static void set_measure(json_t *object, const struct gate *gate)
{
	put(object, "count", json_value__count(gate->count));
	put(object, "total_ms", json_value__ms(gate->total_ns));
	put(object, "share", json_value__share(gate->share));
	put(object, "first_stall",
	    gate->first ? json_value__count(gate->first->number) : json_null());
}

static json_t *gate_of(const struct gate *gate)
{
	json_t *object = json_object();
	char end[NAME_SIZE + TEXT_ADDRESS];

	put(object, "name", json_string(budget__name(&gate->budget)));
	put(object, "budget", budget_of(&gate->budget));
	put(object, "state", json_string(gate_state__id(gate->state)));
	set_measure(object, gate);
	put(object, "endpoint",
	    gate->slowest ? json_value__text(name__endpoint(end, sizeof(end), &gate->slowest->end))
			  : json_null());
	put(object, "why", json_value__text(gate->why));
	return object;
}

static json_t *other_of(const struct gate *gate)
{
	json_t *object = json_object();

	put(object, "cause", json_string(cause__info(gate->budget.cause)->id));
	set_measure(object, gate);
	return object;
}

static json_t *reason_of(const struct reason *reason)
{
	json_t *object = json_object();

	put(object, "kind", json_string(reason__id(reason->kind)));
	put(object, "text", json_value__text(reason->text));
	return object;
}

static json_t *program_of(const struct outcome *outcome)
{
	const struct program_outcome *program = &outcome->program;
	json_t *object;
	char text[CLAUSE_SIZE];

	if (program->end == PROGRAM_NONE)
		return json_null();
	object = json_object();
	put(object, "name", json_value__name(program->name ? program->name : "", NAME_MOST));
	put(object, "end", json_string(program_end__id(program->end)));
	put(object, "status", json_integer(program->status));
	put(object, "signal", json_value__number_or_null((uint64_t)program->signal, 0));
	put(object, "core", json_boolean(program->core));
	put(object, "signal_passed_on", json_boolean(program->passed_on));
	put(object, "ran_ms", json_value__ms(program->ran_ns));
	put(object, "orphans", json_value__count(program->orphans));
	put(object, "failed", json_boolean(outcome->verdict == CHECK_PROGRAM_FAILED));
	put(object, "text", json_value__text(clause__program(text, sizeof(text), outcome)));
	return object;
}

static json_t *change_of(const struct change *change)
{
	json_t *object = json_object();

	put(object, "name", json_string(cause__info(change->cause)->id));
	put(object, "stalls_then", json_value__count(change->stalls_then));
	put(object, "exchanges_then", json_value__count(change->exchanges_then));
	put(object, "stalls_now", json_value__count(change->stalls_now));
	put(object, "exchanges_now", json_value__count(change->exchanges_now));
	put(object, "p", json_real(change->p));
	put(object, "worse", json_boolean(change->worse));
	put(object, "better", json_boolean(change->better));
	return object;
}

static json_t *request_change_of(const struct request_change *change)
{
	const struct endpoint_time *one = change->now.count ? &change->now : &change->then;
	json_t *object = json_object();

	put(object, "role", json_string(request_role__id(one->role)));
	put(object, "program", json_value__name(one->comm, sizeof(one->comm)));
	put(object, "port", json_value__count(one->port));
	put(object, "requests_then", json_value__count(change->then.count));
	put(object, "median_ms_then", json_value__ms(change->then.median_ns));
	put(object, "requests_now", json_value__count(change->now.count));
	put(object, "median_ms_now", json_value__ms(change->now.median_ns));
	put(object, "worse", json_boolean(change->worse));
	put(object, "better", json_boolean(change->better));
	return object;
}

static json_t *baseline_of(const struct outcome *outcome)
{
	json_t *object;

	if (!outcome->baseline)
		return json_null();
	object = json_object();
	put(object, "file", json_value__name(outcome->baseline, NAME_MOST));
	put(object, "confidence", json_value__share(outcome->baseline_confidence));
	put_each(object, "changes", i, outcome->change_count, change_of(&outcome->changes[i]));
	put_each(object, "requests", i, outcome->request_change_count,
		 request_change_of(&outcome->request_changes[i]));
	return object;
}

static json_t *kept_of(const struct outcome *outcome)
{
	json_t *object;

	if (!outcome->kept)
		return json_null();
	object = json_object();
	put(object, "folder", json_value__name(outcome->kept, NAME_MOST));
	put(object, "stalls", json_value__count(outcome->kept_count));
	return object;
}

static json_t *watched_of(const struct outcome *outcome)
{
	json_t *object = json_object();

	put(object, "judged_ms", seconds_of(outcome->seconds));
	put(object, "warmup_ms", seconds_of(outcome->warmup_seconds));
	put(object, "connections", json_value__count(outcome->connections));
	put(object, "exchanges", json_value__count(outcome->exchanges));
	put(object, "min_exchanges", json_value__count(outcome->min_exchanges));
	put(object, "traffic_of_warmup", json_boolean(outcome->traffic_of_warmup));
	put(object, "lost",
	    json_value__count(outcome->report ? losses__events(outcome->report->lost) : 0));
	return object;
}

void check_json__write(FILE *out, const struct outcome *outcome)
{
	static const char *const verdicts[] = {[CHECK_WITHIN] = "within",
					       [CHECK_OVER] = "over",
					       [CHECK_UNABLE] = "unable",
					       [CHECK_INCONCLUSIVE] = "inconclusive",
					       [CHECK_PROGRAM_FAILED] = "program-failed"};
	struct json_stream stream;
	struct verdict verdict;
	char text[CLAUSE_SIZE];

	json_stream__begin(&stream, out, 1);
	json_stream__put(&stream, "schema", json_string(CHECK_SCHEMA));
	json_stream__put(&stream, "verdict", json_string(verdicts[outcome->verdict]));
	json_stream__put(&stream, "exit_status", json_integer(outcome->exit_status));
	json_stream__put(&stream, "text",
			 json_value__text(clause__verdict(text, sizeof(text), outcome)));
	json_stream__put(&stream, "target", json_value__text(outcome->target));
	json_stream__put(&stream, "unable", json_value__text(outcome->unable));
	json_stream__put(&stream, "watched", watched_of(outcome));
	json_stream__each(&stream, "gates", i, outcome->gate_count, gate_of(&outcome->gates[i]));
	json_stream__each(&stream, "others", i, outcome->other_count,
			  other_of(&outcome->others[i]));
	json_stream__each(&stream, "doubts", i, outcome->reason_count,
			  reason_of(&outcome->reasons[i]));
	json_stream__put(&stream, "program", program_of(outcome));
	json_stream__put(&stream, "baseline", baseline_of(outcome));
	json_stream__put(&stream, "kept", kept_of(outcome));
	if (outcome->report) {
		json_stream__object(&stream, "report");
		verdict__write(&verdict, outcome->report);
		json_value__report(&stream, outcome->report, &verdict, CONNECTIONS_FOUND);
		verdict__clear(&verdict);
		json_stream__close(&stream);
	} else {
		json_stream__put(&stream, "report", json_null());
	}
	json_stream__end(&stream);
}

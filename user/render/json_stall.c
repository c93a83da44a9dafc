// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A stall as JSON: its slices, its evidence, its stacks. */
#include "user/render/json_values.h"

static json_t *slices_of(const struct stall *stall)
{
	json_t *slices = json_array();

	for (size_t i = 0; i < stall->slice_count; i++) {
		json_t *slice = json_object();

		put(slice, "cause", json_string(cause__info(stall->slices[i].cause)->id));
		put(slice, "ms", json_value__ms(stall->slices[i].ns));
		json_array_append_new(slices, slice);
	}
	return slices;
}

static json_t *evidence_of(const struct report *report, const struct stall *stall)
{
	json_t *evidence = json_array();

	for (size_t i = 0; i < stall->step_count; i++) {
		json_t *step = json_object();

		json_value__record(step, report, &stall->steps[i]);
		json_array_append_new(evidence, step);
	}
	return evidence;
}

json_t *json_value__stall(const struct report *report, const struct stall *stall)
{
	json_t *object = json_object(), *stacks = json_object();

	put(stacks, "wait", json_value__stack(stall->wait_stack));
	put(stacks, "waker", json_value__stack(stall->waker_stack));
	put(object, "id", json_value__count(stall->number));
	put(object, "cause", json_string(cause__info(stall->cause)->id));
	put(object, "confidence", json_string(confidence__name(stall->confidence)));
	put(object, "start_ms", json_value__time(report, stall->start_ts));
	put(object, "duration_ms", json_value__ms(stall->end_ts - stall->start_ts));
	put(object, "connection", json_value__number_or_null(stall->conn, 0));
	put(object, "peer", json_value__number_or_null(stall->peer, 0));
	put(object, "pid", json_value__number_or_null(stall->pid, 0));
	put(object, "tid", json_value__number_or_null(stall->tid, 0));
	put(object, "exact", json_boolean(stall->exact));
	put(object, "open", json_boolean(stall->open));
	put(object, "held_bytes", json_value__count(stall->held_bytes));
	put(object, "held_by",
	    stall->held_bytes ? json_string(hold_reason__name(stall->reason)) : json_null());
	put(object, "released_by", json_value__text(stall->ended));
	put(object, "inferred", json_value__text(stall->inferred));
	put(object, "missing", json_value__text(stall->missing));
	put(object, "slices", slices_of(stall));
	put(object, "evidence", evidence_of(report, stall));
	put(object, "stacks", stacks);
	return object;
}

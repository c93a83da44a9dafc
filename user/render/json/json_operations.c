// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* io_uring's rings and operations as JSON. */
#include "user/base/text.h"
#include "user/render/json/json_values.h"
#include "user/render/words/names_uring.h"

static const char *origin_name(uint32_t origin)
{
	return origin == NS_ORIGIN_EXISTED ? "existed"
	       : origin == NS_ORIGIN_USE   ? "use"
	       : origin                    ? "created"
					   : NULL;
}

static json_t *ring_of(const struct report *report, const struct ns_ring *ring)
{
	const struct report_process *process = report__process(report, ring->head.tgid);
	json_t *object = json_object();

	put(object, "id", json_value__count(ring->ring));
	put(object, "pid", json_value__number_or_null(ring->head.tgid, 0));
	put(object, "comm", json_value__name(process ? process->comm : NULL, NS_COMM_LEN));
	put(object, "fd", json_value__number_or_null(ring->fd, NS_FD_UNKNOWN));
	put(object, "origin", json_value__text(origin_name(ring->origin)));
	put(object, "sq_entries", json_value__count(ring->sq_entries));
	put(object, "cq_entries", json_value__count(ring->cq_entries));
	put(object, "flags", json_value__count(ring->flags));
	put(object, "files", json_value__count(ring->files));
	put(object, "sq_tid", json_value__number_or_null(ring->sq_tid, 0));
	put(object, "overflowed", json_value__count(ring->overflowed));
	put(object, "dropped", json_value__count(ring->dropped));
	return object;
}

static json_t *errors_of(const struct report_uring *uring)
{
	json_t *object = json_object();

	for (size_t i = 0; i < uring->error_count; i++) {
		const struct report_uring_error *error = &uring->error[i];

		put(object, error->error ? error_text(error->error) : "other",
		    json_value__count(error->count));
	}
	return object;
}

/* Not timed: nothing of it was submitted while we watched. */
static json_t *time_of(const struct report_uring *uring, uint64_t ns)
{
	return uring->max_ns ? json_value__ms(ns) : json_null();
}

static json_t *operation_of(const struct report_uring *uring)
{
	json_t *object = json_object();
	bool is_open = uring->submitted > uring->finished;

	put(object, "opcode", json_string(opcode_text(uring->opcode)));
	put(object, "count", json_value__count(uring->completed));
	put(object, "submitted", json_value__count(uring->submitted));
	put(object, "in_flight",
	    json_value__count(is_open ? uring->submitted - uring->finished : 0));
	put(object, "errors", json_value__count(uring->errors));
	put(object, "error_counts", errors_of(uring));
	put(object, "p50_ms", time_of(uring, uring->p50_ns));
	put(object, "p99_ms", time_of(uring, uring->p99_ns));
	put(object, "max_ms", time_of(uring, uring->max_ns));
	put(object, "inline", json_value__count(uring->how[NS_URING_INLINE]));
	put(object, "poll", json_value__count(uring->how[NS_URING_POLLED]));
	put(object, "worker", json_value__count(uring->how[NS_URING_WORKER]));
	put(object, "later", json_value__count(uring->how[NS_URING_LATER]));
	put(object, "unseen", json_value__count(uring->how[NS_URING_HOW_UNKNOWN]));
	put(object, "notifications", json_value__count(uring->notified));
	put(object, "overflowed", json_value__count(uring->overflowed));
	return object;
}

json_t *json_value__operations(const struct report *report)
{
	json_t *object = json_object();

	put_each(object, "rings", i, report->ring_count, ring_of(report, &report->rings[i].id));
	put_each(object, "operations", i, report->uring_count, operation_of(&report->uring[i]));
	return object;
}

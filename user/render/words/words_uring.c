// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* io_uring in words: rings, their operations and their counts. */
#include "user/base/array.h"
#include "user/record/uring_ops.h"
#include "user/render/words/names_uring.h"
#include "user/render/words/words_parts.h"

void words__ring(const struct scene *scene, struct words *words)
{
	static const char *const origins[] = {
		[NS_ORIGIN_EXISTED] = "was there before",
		[NS_ORIGIN_CONNECT] = "created meanwhile",
		[NS_ORIGIN_USE] = "found when it was used",
	};
	const struct ns_ring *ring = &scene->record->ring;
	const char *origin = ring->origin < COUNT_OF(origins) ? origins[ring->origin] : NULL;

	print_to(words->what, "ring %u", ring->ring);
	if (ring->fd != NS_FD_UNKNOWN)
		add_to(words->what, ", ", "fd %u", ring->fd);
	if (origin)
		print_to(words->note, "%s", origin);
	add_to(words->note, ": ", "%s + %s entries", count_text(ring->sq_entries),
	       count_text(ring->cq_entries));
	if (ring->flags)
		add_to(words->note, ", ", "%s", ring_flags_text(ring->flags));
	if (ring->files)
		add_to(words->note, ", ", "%u registered files", ring->files);
	if (ring->sq_tid)
		add_to(words->note, ", ", "submission thread %u", ring->sq_tid);
	if (ring->overflowed)
		add_to(words->note, ", ", "%s completions found the queue full",
		       count_text(ring->overflowed));
	if (ring->dropped)
		add_to(words->note, ", ", "%s were lost", count_text(ring->dropped));
}

static void describe_done(const struct ns_uring *op, struct words *words)
{
	const char *took = op->submit_ts ? duration_text(op->head.ts - op->submit_ts) : "";
	char course[256];

	print_to(words->amount, "-> %s", uring_result_text(op->opcode, op->result));
	name__uring_course(course, sizeof(course), op);
	if (took[0] || course[0])
		print_to(words->note, "(%s%s%s)", took, took[0] && course[0] ? ", " : "", course);
	if (uring__failed(op) || op->overflow)
		words->colour = COLOUR_FIRED;
}

static void describe_step(const struct ns_uring *op, struct words *words)
{
	char asked[200];

	if (op->step == NS_URING_QUEUED) {
		print_to(words->note, "queued for a worker");
	} else if (op->step == NS_URING_ARMED) {
		print_to(words->note, "poll armed");
	} else {
		if (op->len && uring_op__asks_bytes(op->opcode))
			text__bytes(words->amount, sizeof(words->amount), op->len);
		name__uring_asked(asked, sizeof(asked), op);
		print_to(words->note, "submitted%s%s", asked[0] ? ", " : "", asked);
	}
}

void words__uring(const struct scene *scene, struct words *words)
{
	const struct ns_uring *op = &scene->record->uring;

	print_to(words->what, "uring %s", uring_op_text(op->opcode, op->fd, op->flags));
	if (op->step == NS_URING_DONE)
		describe_done(op, words);
	else
		describe_step(op, words);
	print_to(words->aside, "ring %u, user_data 0x%llx", op->ring,
		 (unsigned long long)op->user_data);
}

void words__uring_submitted(const struct scene *scene, const struct ns_uring *done,
			    struct words *words)
{
	union record submitted = {.uring = *done};

	submitted.uring.step = NS_URING_SUBMITTED;
	submitted.head.ts = done->submit_ts;
	words__record(scene, &submitted, words);
	words->aside[0] = '\0'; /* it stands with the completion */
}

void words__reap(const struct scene *scene, struct words *words)
{
	const struct ns_reap *reap = &scene->record->reap;

	print_to(words->what, "ring %u", reap->ring);
	print_to(words->note, "the program has taken %s, %s left",
		 counted_text(reap->taken, "completion"), count_text(reap->left));
}

void words__uring_totals(const struct scene *scene, struct words *words)
{
	static const char *const ways[NS_URING_HOWS] = {
		[NS_URING_HOW_UNKNOWN] = "not seen how",
		[NS_URING_INLINE] = "inline",
		[NS_URING_POLLED] = "poll",
		[NS_URING_WORKER] = "worker",
		[NS_URING_LATER] = "later",
	};
	const struct ns_uring_totals *totals = &scene->record->uring_totals;

	print_to(words->what, "uring %s totals", opcode_text(totals->opcode));
	print_to(words->note, "%s submitted, %s completed", count_text(totals->submitted),
		 count_text(totals->completed));
	for (size_t i = 0; i < NS_URING_HOWS; i++)
		if (totals->how[i])
			add_to(words->note, ", ", "%s %s", ways[i], count_text(totals->how[i]));
	add_to(words->note, ", ", "%s, at most %s", counted_text(totals->errors, "error"),
	       duration_text(totals->max_ns));
}

void words__uring_error(const struct scene *scene, struct words *words)
{
	const struct ns_uring_error *error = &scene->record->uring_error;

	print_to(words->what, "uring %s totals", opcode_text(error->opcode));
	print_to(words->amount, "-> %s", uring_result_text(error->opcode, 0 - error->error));
	print_to(words->note, "%s", counted_text(error->count, "time"));
}

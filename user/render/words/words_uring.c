// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* io_uring in words: rings, their operations and their counts. */
#include <stdio.h>
#include <string.h>

#include "user/render/words/names_uring.h"
#include "user/render/words/words_parts.h"

#define RING_FLAGS 256

/* The process whose ring it is. */
static void name_owner(const struct scene *scene, const struct ns_head *head, struct words *words)
{
	if (head->tgid)
		name__process(words->actor, sizeof(words->actor), scene->report, head->tgid);
}

void words__ring(const struct scene *scene, const union record *record, struct words *words)
{
	static const char *const origins[] = {
		[NS_ORIGIN_EXISTED] = "was there before: ",
		[NS_ORIGIN_CONNECT] = "created meanwhile: ",
		[NS_ORIGIN_USE] = "found when it was used: ",
	};
	const struct ns_ring *ring = &record->ring;
	const char *origin =
		ring->origin < sizeof(origins) / sizeof(origins[0]) ? origins[ring->origin] : NULL;
	char flags[RING_FLAGS], sq[TEXT_COUNT], cq[TEXT_COUNT],
		files[48] = "", thread[48] = "", full[80] = "", lost[48] = "", many[TEXT_COUNT];

	name_owner(scene, &ring->head, words);
	if (ring->fd == NS_FD_UNKNOWN)
		snprintf(words->what, sizeof(words->what), "ring %u", ring->ring);
	else
		snprintf(words->what, sizeof(words->what), "ring %u, fd %u", ring->ring, ring->fd);
	name__ring_flags(flags, sizeof(flags), ring->flags);
	if (ring->files)
		snprintf(files, sizeof(files), ", %u registered files", ring->files);
	if (ring->sq_tid)
		snprintf(thread, sizeof(thread), ", submission thread %u", ring->sq_tid);
	if (ring->overflowed)
		snprintf(full, sizeof(full), ", %s completions found the queue full",
			 text__count(many, sizeof(many), ring->overflowed));
	if (ring->dropped)
		snprintf(lost, sizeof(lost), ", %s were lost",
			 text__count(many, sizeof(many), ring->dropped));
	snprintf(words->note, sizeof(words->note), "%s%s + %s entries%s%s%s%s%s%s",
		 origin ? origin : "", text__count(sq, sizeof(sq), ring->sq_entries),
		 text__count(cq, sizeof(cq), ring->cq_entries), flags[0] ? ", " : "", flags, files,
		 thread, full, lost);
}

static void describe_done(const struct ns_uring *op, const char *name, struct words *words)
{
	char result[NAME_URING_RESULT], course[256], took[TEXT_DURATION] = "";

	name__uring_result(result, sizeof(result), op->opcode, op->result);
	snprintf(words->what, sizeof(words->what), "uring %s", name);
	snprintf(words->amount, sizeof(words->amount), "-> %s", result);
	name__uring_course(course, sizeof(course), op);
	if (op->submit_ts)
		text__duration(took, sizeof(took), op->head.ts - op->submit_ts);
	if (took[0] || course[0])
		snprintf(words->note, sizeof(words->note), "(%s%s%s)", took,
			 took[0] && course[0] ? ", " : "", course);
	if (uring__failed(op) || op->overflow)
		words->colour = COLOUR_FIRED;
}

static void describe_step(const struct ns_uring *op, const char *name, struct words *words)
{
	char asked[200];

	snprintf(words->what, sizeof(words->what), "uring %s", name);
	switch (op->step) {
	case NS_URING_QUEUED:
		snprintf(words->note, sizeof(words->note), "queued for a worker");
		break;
	case NS_URING_ARMED:
		snprintf(words->note, sizeof(words->note), "poll armed");
		break;
	default:
		if (op->len && uring_op__asks_bytes(op->opcode))
			text__bytes(words->amount, sizeof(words->amount), op->len);
		name__uring_asked(asked, sizeof(asked), op);
		snprintf(words->note, sizeof(words->note), "submitted%s%s", asked[0] ? ", " : "",
			 asked);
	}
}

void words__uring(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_uring *op = &record->uring;
	char name[NAME_URING];

	if (!op->head.tid) /* who submitted it is not known */
		name_owner(scene, &op->head, words);
	name__uring_op(name, sizeof(name), op->opcode, op->fd, op->flags);
	if (op->step == NS_URING_DONE)
		describe_done(op, name, words);
	else
		describe_step(op, name, words);
	snprintf(words->aside, sizeof(words->aside), "ring %u, user_data 0x%llx", op->ring,
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

void words__reap(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_reap *reap = &record->reap;
	char taken[TEXT_COUNT], left[TEXT_COUNT];

	name_owner(scene, &reap->head, words);
	snprintf(words->what, sizeof(words->what), "ring %u", reap->ring);
	text__count(taken, sizeof(taken), reap->taken);
	text__count(left, sizeof(left), reap->left);
	snprintf(words->note, sizeof(words->note), "the program has taken %s completion%s, %s left",
		 taken, reap->taken == 1 ? "" : "s", left);
}

/* "inline 12, poll 3": of the ways of completion that occurred. */
static char *describe_ways(const struct ns_uring_totals *totals, char *dst, size_t size)
{
	static const char *const names[NS_URING_HOWS] = {
		[NS_URING_HOW_UNKNOWN] = "not seen how",
		[NS_URING_INLINE] = "inline",
		[NS_URING_POLLED] = "poll",
		[NS_URING_WORKER] = "worker",
		[NS_URING_LATER] = "later",
	};
	size_t used = 0;

	dst[0] = '\0';
	for (size_t i = 0; i < NS_URING_HOWS && used < size; i++) {
		char count[TEXT_COUNT];

		if (totals->how[i])
			used += (size_t)snprintf(dst + used, size - used, ", %s %s", names[i],
						 text__count(count, sizeof(count), totals->how[i]));
	}
	return dst;
}

void words__uring_totals(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_uring_totals *totals = &record->uring_totals;
	char name[NAME_OPERATION], submitted[TEXT_COUNT], completed[TEXT_COUNT], errors[TEXT_COUNT];
	char longest[TEXT_DURATION], ways[160];

	name_owner(scene, &totals->head, words);
	snprintf(words->what, sizeof(words->what), "uring %s totals",
		 name__operation(name, sizeof(name), totals->opcode));
	snprintf(words->note, sizeof(words->note),
		 "%s submitted, %s completed%s, %s error%s, at most %s",
		 text__count(submitted, sizeof(submitted), totals->submitted),
		 text__count(completed, sizeof(completed), totals->completed),
		 describe_ways(totals, ways, sizeof(ways)),
		 text__count(errors, sizeof(errors), totals->errors),
		 totals->errors == 1 ? "" : "s",
		 text__duration(longest, sizeof(longest), totals->max_ns));
}

void words__uring_error(const struct scene *scene, const union record *record, struct words *words)
{
	const struct ns_uring_error *error = &record->uring_error;
	char name[NAME_OPERATION], result[NAME_URING_RESULT], count[TEXT_COUNT];

	name_owner(scene, &error->head, words);
	snprintf(words->what, sizeof(words->what), "uring %s totals",
		 name__operation(name, sizeof(name), error->opcode));
	snprintf(words->amount, sizeof(words->amount), "-> %s",
		 name__uring_result(result, sizeof(result), error->opcode, 0 - error->error));
	snprintf(words->note, sizeof(words->note), "%s time%s",
		 text__count(count, sizeof(count), error->count), error->count == 1 ? "" : "s");
}

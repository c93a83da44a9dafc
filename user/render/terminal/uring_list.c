// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/terminal/uring_list.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/record/uring_ops.h"
#include "user/render/terminal/colour.h"
#include "user/render/terminal/uring_flying.h"
#include "user/render/terminal/uring_steps.h"
#include "user/render/terminal/wrap.h"
#include "user/render/words/names.h"
#include "user/render/words/names_uring.h"

#define WAKE_WAITS_NS  50000000ull  /* a line is held back for its wake while records come */
#define QUIET_WAITS_NS 100000000ull /* and while none come */
#define EARLY_WAKES    64

enum { TIME, THREAD, OPERATION, ASKED, RESULT, TOOK, WOKE, RING, DATA, COLUMNS };

struct line {
	struct ns_uring op;
	bool woke;
	uint64_t woke_ns;
};

struct uring_list {
	FILE *out;
	struct render_style style;
	bool began;
	unsigned width[COLUMNS]; /* they grow: what was printed narrower stays */
	struct flying *flying;
	struct line pending[URING_LIST_PENDING]; /* a ring */
	size_t first;
	size_t count;
	struct ns_wait early[EARLY_WAKES]; /* of threads that ran before the completion */
	size_t early_next;
};

static const struct {
	const char *title;
	bool right;
	unsigned least;
} columns[COLUMNS] = {
	[TIME] = {"TIME", true, 15},
	[THREAD] = {"THREAD", false, 16},
	[OPERATION] = {"OPERATION", false, 14},
	[ASKED] = {"ASKED", true, 8},
	[RESULT] = {"RESULT", true, 12},
	[TOOK] = {"TOOK", true, 7},
	[WOKE] = {"WOKE", true, 7},
	[RING] = {"RING", true, 4},
	[DATA] = {"USER DATA", false, 9},
};

struct uring_list *uring_list__new(FILE *out, const struct render_style *style)
{
	struct uring_list *list = xcalloc(1, sizeof(*list));

	list->out = out;
	list->style = *style;
	list->flying = flying__new(URING_LIST_FLYING);
	for (size_t i = 0; i < COLUMNS; i++)
		list->width[i] = columns[i].least;
	return list;
}

void uring_list__free(struct uring_list *list)
{
	if (!list)
		return;
	flying__free(list->flying);
	free(list);
}

bool uring_list__is_of_it(uint32_t type)
{
	return type == NS_RING || type == NS_URING || type == NS_REAP;
}

/* One line: cells that are too long for their column move the others this once, and widen it. */
static void print_row(struct uring_list *list, enum colour colour, const char *const cells[COLUMNS],
		      const char *rest)
{
	unsigned blanks = 0; /* not printed yet */

	fputs(colour__on(&list->style, colour), list->out);
	for (size_t i = 0; i < COLUMNS; i++) {
		unsigned taken = wrap__columns(cells[i]);
		unsigned pad;

		if (taken > list->width[i])
			list->width[i] = taken;
		pad = list->width[i] - taken;
		/* Blanks that nothing follows are not printed. */
		if (columns[i].right || !cells[i][0]) {
			blanks += pad;
			pad = 0;
		}
		if (cells[i][0])
			fprintf(list->out, "%*s%s", (int)blanks, "", cells[i]);
		blanks = (cells[i][0] ? 0 : blanks) + pad + 2;
	}
	if (rest[0])
		fprintf(list->out, "%*s%s", (int)blanks, "", rest);
	fprintf(list->out, "%s\n", colour__off(&list->style, colour));
}

static void begin(struct uring_list *list)
{
	const char *cells[COLUMNS];

	if (list->began)
		return;
	list->began = true;
	for (size_t i = 0; i < COLUMNS; i++)
		cells[i] = columns[i].title;
	print_row(list, COLOUR_STRONG, cells, "HOW");
}

/* The line of an operation as of ts; result, took and woke are what its last step says. */
static void print_operation(struct uring_list *list, const struct report *report,
			    const struct ns_uring *op, uint64_t ts, enum colour colour,
			    const char *result, const char *took, const char *woke,
			    const char *course)
{
	char time[TEXT_DURATION + 3], ring[12], data[24];
	const char *cells[COLUMNS] = {
		[TIME] = time,
		[THREAD] = op->head.tid ? thread_text(report, op->head.tgid, op->head.tid)
					: process_text(report, op->head.tgid),
		[OPERATION] = uring_op_text(op->opcode, op->fd, op->flags),
		[ASKED] = op->len && uring_op__asks_bytes(op->opcode) ? bytes_text(op->len) : "",
		[RESULT] = result,
		[TOOK] = took,
		[WOKE] = woke,
		[RING] = ring,
		[DATA] = data,
	};

	print_to(time, "%s ms", ms_text((int64_t)(ts - report->start_ts)));
	print_to(ring, "%u", op->ring);
	print_to(data, "0x%llx", (unsigned long long)op->user_data);
	begin(list);
	print_row(list, colour, cells, course);
}

static void print_done(struct uring_list *list, const struct report *report,
		       const struct line *line)
{
	const struct ns_uring *op = &line->op;
	char course[256];

	print_operation(list, report, op, op->head.ts,
			uring__failed(op) || op->overflow ? COLOUR_FIRED : COLOUR_PLAIN,
			uring_result_text(op->opcode, op->result),
			op->submit_ts ? duration_text(op->head.ts - op->submit_ts) : "",
			line->woke ? duration_text(line->woke_ns) : "",
			name__uring_course(course, sizeof(course), op));
}

static struct line *pending(struct uring_list *list, size_t i)
{
	return &list->pending[(list->first + i) % URING_LIST_PENDING];
}

/* Lines that nothing more will come to, or not soon; they keep their order. */
static void flush(struct uring_list *list, const struct report *report, uint64_t until)
{
	while (list->count) {
		const struct line *line = pending(list, 0);

		if (!line->woke && line->op.how != NS_URING_INLINE && line->op.head.ts > until &&
		    list->count < URING_LIST_PENDING)
			break;
		print_done(list, report, line);
		list->first = (list->first + 1) % URING_LIST_PENDING;
		list->count--;
	}
}

/* Ready first: the thread was woken, ran, and completed the operation itself. */
static void take_early_wake(struct uring_list *list, struct line *line)
{
	for (size_t i = 0; i < EARLY_WAKES; i++) {
		struct ns_wait *wait = &list->early[i];

		if (!uring_steps__ended(&line->op, wait))
			continue;
		line->woke = true;
		line->woke_ns = ns_passed(wait->wake_ts, wait->head.ts);
		wait->head.type = 0;
		return;
	}
}

static void learn_wake(struct uring_list *list, const struct ns_wait *wait)
{
	if (wait->op_known != NS_OP_ENDED)
		return;
	if (!wait->op_done_ts) {
		if (wait->wake_ts)
			list->early[list->early_next++ % EARLY_WAKES] = *wait;
		return;
	}
	for (size_t i = list->count; i > 0; i--) {
		struct line *line = pending(list, i - 1);

		if (line->woke || !uring_steps__ended(&line->op, wait) ||
		    line->op.head.ts > wait->head.ts)
			continue;
		line->woke = true;
		line->woke_ns = wait->head.ts - line->op.head.ts;
		return;
	}
}

static void learn_operation(struct uring_list *list, const struct ns_uring *op)
{
	struct line *line;

	flying__learn(list->flying, op);
	if (op->step != NS_URING_DONE)
		return;
	line = pending(list, list->count++); /* flush() has left room */
	*line = (struct line){.op = *op};
	take_early_wake(list, line);
}

void uring_list__record(struct uring_list *list, const struct report *report,
			const union record *record)
{
	uint64_t ts = record->head.ts;

	if (record->head.type == NS_URING)
		learn_operation(list, &record->uring);
	else if (record->head.type == NS_WAIT)
		learn_wake(list, &record->wait);
	flush(list, report, ts > WAKE_WAITS_NS ? ts - WAKE_WAITS_NS : 0);
}

void uring_list__idle(struct uring_list *list, const struct report *report, uint64_t now_ns)
{
	flush(list, report, now_ns > QUIET_WAITS_NS ? now_ns - QUIET_WAITS_NS : 0);
}

static void print_flying(struct uring_list *list, const struct report *report,
			 const struct flying_op *flying)
{
	const struct ns_uring *op = &flying->op;
	char course[320];

	if (op->armed_ts || op->step == NS_URING_ARMED)
		print_to(course, "poll armed");
	else if (op->queued_ts || op->step == NS_URING_QUEUED)
		print_to(course, "queued for a worker");
	else
		name__uring_asked(course, sizeof(course), op);
	if (flying->completions)
		add_to(course, ", ", "%s so far", counted_text(flying->completions, "completion"));
	print_operation(list, report, op, op->submit_ts, COLOUR_HELD, "in flight",
			duration_text(ns_passed(op->submit_ts, report->end_ts)), "", course);
}

void uring_list__finish(struct uring_list *list, const struct report *report)
{
	struct flying_op *left;
	size_t count;

	flush(list, report, UINT64_MAX);
	left = flying__left(list->flying, &count);
	for (size_t i = 0; i < count; i++)
		print_flying(list, report, &left[i]);
	free(left);
	if (count && report->lost[NS_LOST_RINGBUF])
		fputs("Records were lost: some operations listed as in flight may have completed.\n",
		      list->out);
	if (flying__refused(list->flying))
		fprintf(list->out, "and %s more, not followed\n",
			count_text(flying__refused(list->flying)));
	if (!list->began)
		fputs("No operation of io_uring was seen.\n", list->out);
}

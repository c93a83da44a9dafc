// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 *   OPERATION  COUNT  ERRORS      P50      P99      MAX  INLINE   POLL  WORKER  LATER
 *   SEND       2,400       0  8.19 us  24.1 us  61.0 us   2,400      -       -      -
 *   RECV       1,200       3  40.5 ms  41.2 ms  44.0 ms      12  1,188       -      -
 *   TIMEOUT       12       0   100 ms   100 ms   100 ms       -      -       -     12
 *   RECV: 3 ECANCELED; 1 still in flight
 *   TIMEOUT: 12 ETIME (expired)
 *   ring 1: fd 5 in client/4242, 64 + 128 entries, SQPOLL by iou-sqp-4242/4243, 2 registered files
 */
#include <stdlib.h>

#include "user/analyze/requests/operations.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/builder.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/tables.h"
#include "user/render/terminal/wrap.h"
#include "user/render/words/names.h"
#include "user/render/words/names_uring.h"

#define RINGS_MOST 4 /* more are counted, not listed */

/* IORING_SETUP_* of include/uapi/linux/io_uring.h. */
#define SETUP_IOPOLL        (1u << 0)
#define SETUP_SQPOLL        (1u << 1)
#define SETUP_DEFER_TASKRUN (1u << 13)

/* No time is known of an opcode whose submissions all came before the attach. */
#define TIME(uring, ns) ((uring)->max_ns ? duration_text(ns) : "-")
#define COUNT(count)    ((count) ? count_text(count) : "-")

static void add_row(struct grid *grid, const struct report_uring *uring)
{
	grid__row(grid, COLOUR_PLAIN, opcode_text(uring->opcode), count_text(uring->completed),
		  count_text(uring->errors), TIME(uring, uring->p50_ns), TIME(uring, uring->p99_ns),
		  TIME(uring, uring->max_ns), COUNT(uring->how[NS_URING_INLINE]),
		  COUNT(uring->how[NS_URING_POLLED]), COUNT(uring->how[NS_URING_WORKER]),
		  COUNT(uring->how[NS_URING_LATER]));
}

static void print_table(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"OPERATION", false}, {"COUNT", true}, {"ERRORS", true}, {"P50", true},
		{"P99", true},        {"MAX", true},   {"INLINE", true}, {"POLL", true},
		{"WORKER", true},     {"LATER", true}, {"", false},
	};
	struct grid *grid = grid__new(columns, COUNT_OF(columns));
	size_t rows = table__rows(style, report->uring_count);

	for (size_t i = 0; i < rows; i++)
		add_row(grid, &report->uring[i]);
	grid__rest(grid, report->uring_count - rows, "operation");
	grid__finish(grid, out, style, TABLE_INDENT);
}

/* A line below the table; takes the text. NULL: none. */
static void print_line(FILE *out, char *text, enum colour colour, const struct render_style *style)
{
	if (!text)
		return;
	wrap__paragraph(out, text, TABLE_INDENT, colour, style);
	free(text);
}

/* ---- what the figures of an opcode do not say ---- */

/* "RECV: " before the first of its remarks, "; " between. */
static void begin(char **text, const struct report_uring *uring)
{
	if (*text)
		builder__add(text, "; ");
	else
		builder__add(text, "%s: ", opcode_text(uring->opcode));
}

/* "3 ECANCELED, 1 ECONNRESET, 4 of other errors"; a time-out that ran out is in the list. */
static void add_errors(char **text, const struct report_uring *uring)
{
	for (size_t i = 0; i < uring->error_count; i++) {
		const struct report_uring_error *error = &uring->error[i];

		if (i)
			builder__add(text, ", ");
		else
			begin(text, uring);
		builder__add(text, "%s %s%s", count_text(error->count),
			     error->error ? error_text(error->error) : "of other errors",
			     error->error && operation__ran_out(uring->opcode, error->error)
				     ? " (expired)"
				     : "");
	}
}

static void add_remark(char **text, const struct report_uring *uring, uint64_t count,
		       const char *one, const char *many)
{
	if (!count)
		return;
	begin(text, uring);
	builder__add(text, "%s %s", count_text(count), count == 1 ? one : many);
}

static void print_remarks(FILE *out, const struct report *report, const struct report_uring *uring,
			  const struct render_style *style)
{
	uint64_t unseen = uring->how[NS_URING_HOW_UNKNOWN];
	char *text = NULL;

	add_errors(&text, uring);
	if (uring->submitted > uring->finished)
		add_remark(&text, uring, uring->submitted - uring->finished, "still in flight",
			   "still in flight");
	add_remark(&text, uring, uring->notified, "notification that its buffer is free again",
		   "notifications that their buffers are free again");
	if (report->lost[NS_LOST_OPS])
		add_remark(&text, uring, unseen, "with an unseen submission",
			   "with unseen submissions");
	else
		add_remark(&text, uring, unseen, "submitted before the attach, no time",
			   "submitted before the attach, no time");
	print_line(out, text, COLOUR_DIM, style);
}

/* ---- rings ---- */

static char *describe_ring(const struct report *report, const struct ns_ring *ring)
{
	char *text = NULL;

	builder__add(&text, "ring %u: ", ring->ring);
	if (ring->fd != NS_FD_UNKNOWN)
		builder__add(&text, "fd %u in ", ring->fd);
	builder__add(&text, "%s", process_text(report, ring->head.tgid));
	if (ring->sq_entries)
		builder__add(&text, ", %u + %u entries", ring->sq_entries, ring->cq_entries);
	if (ring->sq_tid)
		builder__add(&text, ", SQPOLL by %s",
			     thread_text(report, ring->head.tgid, ring->sq_tid));
	else if (ring->flags & SETUP_SQPOLL)
		builder__add(&text, ", SQPOLL");
	if (ring->flags & SETUP_IOPOLL)
		builder__add(&text, ", IOPOLL");
	if (ring->flags & SETUP_DEFER_TASKRUN)
		builder__add(&text, ", DEFER_TASKRUN");
	if (ring->files)
		builder__add(&text, ", %s", counted_text(ring->files, "registered file"));
	return text;
}

/* They come by number, which is no order of owners. */
static size_t count_owners(const struct report *report)
{
	size_t owners = 0;

	for (size_t i = 0; i < report->process_count; i++) {
		for (size_t j = 0; j < report->ring_count; j++) {
			if (report->rings[j].id.head.tgid != report->processes[i].pid)
				continue;
			owners++;
			break;
		}
	}
	return owners;
}

static void print_rings(FILE *out, const struct report *report, const struct render_style *style)
{
	size_t owners;

	if (report->ring_count <= RINGS_MOST) {
		for (size_t i = 0; i < report->ring_count; i++)
			print_line(out, describe_ring(report, &report->rings[i].id), COLOUR_DIM,
				   style);
		return;
	}
	owners = count_owners(report);
	print_line(out,
		   xasprintf("%zu rings in %zu process%s", report->ring_count, owners,
			     owners == 1 ? "" : "es"),
		   COLOUR_DIM, style);
}

/* What a completion queue that is too small did, and what to do. */
static void print_overflow(FILE *out, const struct report *report, const struct render_style *style)
{
	uint64_t waited = 0, dropped = 0;
	char *text = NULL;

	for (size_t i = 0; i < report->uring_count; i++)
		waited += report->uring[i].overflowed;
	for (size_t i = 0; i < report->ring_count; i++)
		dropped += report->rings[i].id.dropped;
	if (!waited && !dropped)
		return;
	if (waited)
		builder__add(&text, "%s waited because the completion queue was full",
			     counted_text(waited, "completion"));
	if (dropped)
		builder__add(&text, "%s%s %s lost: no memory", text ? "; " : "",
			     count_text(dropped),
			     waited ? (dropped == 1 ? "was" : "were")
				    : (dropped == 1 ? "completion was" : "completions were"));
	builder__add(&text,
		     ". Ask for a larger completion queue (IORING_SETUP_CQSIZE with "
		     "cq_entries), or reap completions sooner.");
	print_line(out, text, dropped ? COLOUR_CAUSE : COLOUR_PLAIN, style);
}

void operations__print(FILE *out, const struct report *report, const struct render_style *style)
{
	if (report->uring_count)
		print_table(out, report, style);
	for (size_t i = 0; i < report->uring_count; i++)
		print_remarks(out, report, &report->uring[i], style);
	print_overflow(out, report, style);
	if (style->verbose)
		print_rings(out, report, style);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/operations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"
#include "user/record/uring_ops.h"

#define OPCODES 256 /* an SQE has a byte for it; the decoder refuses others */

struct operations {
	struct ns_uring_totals *totals; /* the last ones of each process and opcode */
	size_t count, room;
	struct ns_uring_error *errors; /* likewise of each error there */
	size_t error_count, error_room;
	uint64_t lost;
};

struct operations *operations__new(void)
{
	return xcalloc(1, sizeof(struct operations));
}

void operations__free(struct operations *operations)
{
	if (!operations)
		return;
	free(operations->totals);
	free(operations->errors);
	free(operations);
}

uint64_t operations__lost(const struct operations *operations)
{
	return operations->lost;
}

static void learn_totals(struct operations *operations, const struct ns_uring_totals *totals)
{
	size_t i = 0;

	while (i < operations->count && (operations->totals[i].head.tgid != totals->head.tgid ||
					 operations->totals[i].opcode != totals->opcode))
		i++;
	if (i == OPERATIONS) {
		operations->lost++;
		return;
	}
	if (i == operations->count) {
		operations->totals = xgrow(operations->totals, operations->count++,
					   &operations->room, sizeof(*totals));
		operations->totals[i] = *totals;
	}
	if (totals->head.ts >= operations->totals[i].head.ts)
		operations->totals[i] = *totals;
}

static void learn_error(struct operations *operations, const struct ns_uring_error *error)
{
	const struct ns_uring_error *known = operations->errors;
	size_t i = 0;

	while (i < operations->error_count &&
	       (known[i].head.tgid != error->head.tgid || known[i].opcode != error->opcode ||
		known[i].error != error->error))
		i++;
	if (i == OPERATIONS_ERRORS) {
		operations->lost++;
		return;
	}
	if (i == operations->error_count) {
		operations->errors = xgrow(operations->errors, operations->error_count++,
					   &operations->error_room, sizeof(*error));
		operations->errors[i] = *error;
	}
	/* Counts only grow: the greatest is the last, in whatever order they come. */
	if (error->count > operations->errors[i].count)
		operations->errors[i].count = error->count;
}

void operations__feed(struct operations *operations, const union record *record)
{
	if (record->head.type == NS_URING_TOTALS)
		learn_totals(operations, &record->uring_totals);
	else if (record->head.type == NS_URING_ERROR)
		learn_error(operations, &record->uring_error);
}

/* ---- the sum over the targets' processes ---- */

/* One opcode of all targets. */
struct sum {
	struct report_uring out;
	bool occurred;
	uint64_t buckets[NS_URING_BUCKETS];
	size_t error_count;
	struct report_uring_error *errors;
};

static void add_totals(struct sum *sum, const struct ns_uring_totals *totals)
{
	struct report_uring *out = &sum->out;

	sum->occurred = true;
	out->submitted += totals->submitted;
	out->completed += totals->completed;
	out->finished += totals->finished;
	out->errors += totals->errors;
	out->notified += totals->notified;
	out->overflowed += totals->overflowed;
	for (size_t how = 0; how < NS_URING_HOWS; how++)
		out->how[how] += totals->how[how];
	for (size_t i = 0; i < NS_URING_BUCKETS; i++)
		sum->buckets[i] += totals->buckets[i];
	if (totals->max_ns > out->max_ns)
		out->max_ns = totals->max_ns;
}

static void add_error(struct sum *sum, const struct ns_uring_error *error)
{
	size_t i = 0;

	sum->occurred = true;
	while (i < sum->error_count && sum->errors[i].error != error->error)
		i++;
	if (i == sum->error_count) {
		sum->errors = xreallocarray(sum->errors, ++sum->error_count, sizeof(*sum->errors));
		sum->errors[i] = (struct report_uring_error){.error = error->error};
	}
	sum->errors[i].count += error->count;
}

/* The middle of the bucket that the operation of this rank, from 1, is in. */
static uint64_t time_of(const struct sum *sum, uint64_t rank, uint64_t count)
{
	uint64_t below = 0, middle;
	uint32_t bucket = 0;

	if (rank >= count)
		return sum->out.max_ns;
	while (bucket + 1 < NS_URING_BUCKETS && below + sum->buckets[bucket] < rank)
		below += sum->buckets[bucket++];
	if (bucket + 1 == NS_URING_BUCKETS)
		return sum->out.max_ns;
	middle = (ns_uring_bucket_ns(bucket) + ns_uring_bucket_ns(bucket + 1)) / 2;
	return middle < sum->out.max_ns ? middle : sum->out.max_ns;
}

static void set_percentiles(struct sum *sum)
{
	uint64_t count = 0;

	for (size_t i = 0; i < NS_URING_BUCKETS; i++)
		count += sum->buckets[i];
	if (!count)
		return;
	sum->out.p50_ns = time_of(sum, (count + 1) / 2, count);
	sum->out.p99_ns = time_of(sum, count - count / 100, count);
}

static int by_frequency(const void *a, const void *b)
{
	const struct report_uring_error *left = a, *right = b;
	int by = compare_u64(right->count, left->count);

	return by ? by : compare_u64(left->error, right->error);
}

bool operation__ran_out(uint32_t opcode, uint32_t error)
{
	return error == ETIME && uring_op__act(opcode) == ACT_TIMES;
}

/* Errors whose number was not kept in the kernel: its table was full. */
static uint64_t unnamed(const struct sum *sum)
{
	uint64_t named = 0;

	for (size_t i = 0; i < sum->error_count; i++)
		if (!operation__ran_out(sum->out.opcode, sum->errors[i].error))
			named += sum->errors[i].count;
	return sum->out.errors > named ? sum->out.errors - named : 0;
}

static void set_errors(struct sum *sum)
{
	struct report_uring *out = &sum->out;
	uint64_t rest = unnamed(sum);
	size_t kept = sum->error_count;

	sort_array(sum->errors, sum->error_count, sizeof(*sum->errors), by_frequency);
	if (kept > REPORT_URING_ERRORS - !!rest)
		kept = REPORT_URING_ERRORS - 1;
	for (size_t i = kept; i < sum->error_count; i++)
		rest += sum->errors[i].count;
	if (kept)
		memcpy(out->error, sum->errors, kept * sizeof(*sum->errors));
	out->error_count = kept;
	if (rest)
		out->error[out->error_count++] = (struct report_uring_error){.count = rest};
}

static int by_completions(const void *a, const void *b)
{
	const struct report_uring *left = a, *right = b;
	int by = compare_u64(right->completed, left->completed);

	by = by ? by : compare_u64(right->submitted, left->submitted);
	return by ? by : compare_u64(left->opcode, right->opcode);
}

/* Rings of processes that turned out to be none of the targets'. */
static void drop_rings_of_others(const struct model *model, struct report *report)
{
	size_t kept = 0;

	for (size_t i = 0; i < report->ring_count; i++)
		if (model__is_target(model, report->rings[i].id.head.tgid))
			report->rings[kept++] = report->rings[i];
	report->ring_count = kept;
}

static void write_opcodes(struct sum *sums, struct report *report)
{
	report->uring = xcalloc(OPCODES, sizeof(*report->uring));
	for (uint32_t opcode = 0; opcode < OPCODES; opcode++) {
		struct sum *sum = &sums[opcode];

		if (!sum->occurred)
			continue;
		sum->out.opcode = opcode;
		set_percentiles(sum);
		set_errors(sum);
		free(sum->errors);
		report->uring[report->uring_count++] = sum->out;
	}
	sort_array(report->uring, report->uring_count, sizeof(*report->uring), by_completions);
}

void operations__write(const struct operations *operations, const struct model *model,
		       struct report *report)
{
	struct sum *sums = xcalloc(OPCODES, sizeof(*sums));

	drop_rings_of_others(model, report);
	for (size_t i = 0; i < operations->count; i++) {
		const struct ns_uring_totals *totals = &operations->totals[i];

		if (model__is_target(model, totals->head.tgid))
			add_totals(&sums[totals->opcode], totals);
	}
	for (size_t i = 0; i < operations->error_count; i++) {
		const struct ns_uring_error *error = &operations->errors[i];

		if (model__is_target(model, error->head.tgid))
			add_error(&sums[error->opcode], error);
	}
	write_opcodes(sums, report);
	free(sums);
}

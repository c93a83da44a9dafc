// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/requests/operations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/table.h"
#include "user/base/xalloc.h"
#include "user/record/uring_ops.h"

#define OPCODES 256 /* an SQE has a byte for it; the decoder refuses others */

/* One opcode of one process, as told last. */
struct told {
	struct ns_uring_totals totals; /* head.type 0: only errors came */
	size_t error_count;
	struct report_uring_error *errors;
};

struct process {
	uint32_t pid;
	struct told *told[OPCODES];
};

struct operations {
	struct table *processes;
	size_t told;
	size_t errors;
	uint64_t lost;
};

struct operations *operations__new(void)
{
	struct operations *operations = xcalloc(1, sizeof(*operations));

	operations->processes = table__new(OPERATIONS);
	return operations;
}

static void drop_process(void *value)
{
	struct process *process = value;

	for (size_t i = 0; i < OPCODES; i++) {
		if (process->told[i])
			free(process->told[i]->errors);
		free(process->told[i]);
	}
	free(process);
}

void operations__free(struct operations *operations)
{
	if (!operations)
		return;
	table__free(operations->processes, drop_process);
	free(operations);
}

uint64_t operations__lost(const struct operations *operations)
{
	return operations->lost;
}

/* NULL, and counted, when there is no room. A process is there by an opcode of it: as many fit. */
static struct told *told_of(struct operations *operations, uint32_t pid, uint32_t opcode)
{
	struct process *process = table__get(operations->processes, pid);

	if (process && process->told[opcode])
		return process->told[opcode];
	if (operations->told == OPERATIONS) {
		operations->lost++;
		return NULL;
	}
	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = pid;
		table__put(operations->processes, pid, process);
	}
	operations->told++;
	process->told[opcode] = xcalloc(1, sizeof(*process->told[opcode]));
	return process->told[opcode];
}

static void learn_totals(struct operations *operations, const struct ns_uring_totals *totals)
{
	struct told *told = told_of(operations, totals->head.tgid, totals->opcode);

	if (told && totals->head.ts >= told->totals.head.ts)
		told->totals = *totals;
}

static void learn_error(struct operations *operations, const struct ns_uring_error *error)
{
	struct told *told = told_of(operations, error->head.tgid, error->opcode);
	size_t i = 0;

	if (!told)
		return;
	while (i < told->error_count && told->errors[i].error != error->error)
		i++;
	if (i == told->error_count) {
		if (operations->errors == OPERATIONS_ERRORS) {
			operations->lost++;
			return;
		}
		operations->errors++;
		told->error_count++;
		told->errors =
			xreallocarray(told->errors, told->error_count, sizeof(*told->errors));
		told->errors[i] = (struct report_uring_error){.error = error->error};
	}
	/* Counts only grow: the greatest is the last, in whatever order they come. */
	if (error->count > told->errors[i].count)
		told->errors[i].count = error->count;
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

static void add_error(struct sum *sum, const struct report_uring_error *error)
{
	size_t i = 0;

	while (i < sum->error_count && sum->errors[i].error != error->error)
		i++;
	if (i == sum->error_count) {
		sum->errors = xreallocarray(sum->errors, ++sum->error_count, sizeof(*sum->errors));
		sum->errors[i] = (struct report_uring_error){.error = error->error};
	}
	sum->errors[i].count += error->count;
}

static void add_told(struct sum *sum, const struct told *told)
{
	sum->occurred = true;
	add_totals(sum, &told->totals);
	for (size_t i = 0; i < told->error_count; i++)
		add_error(sum, &told->errors[i]);
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

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return left->error < right->error ? -1 : left->error > right->error;
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

	if (sum->error_count)
		qsort(sum->errors, sum->error_count, sizeof(*sum->errors), by_frequency);
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

	if (left->completed != right->completed)
		return left->completed > right->completed ? -1 : 1;
	if (left->submitted != right->submitted)
		return left->submitted > right->submitted ? -1 : 1;
	return left->opcode < right->opcode ? -1 : 1;
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
	qsort(report->uring, report->uring_count, sizeof(*report->uring), by_completions);
}

void operations__write(const struct operations *operations, const struct model *model,
		       struct report *report)
{
	const struct process *process;
	struct sum *sums;
	size_t cursor = 0;

	drop_rings_of_others(model, report);
	sums = xcalloc(OPCODES, sizeof(*sums));
	while ((process = table__next(operations->processes, &cursor))) {
		if (!model__is_target(model, process->pid))
			continue;
		for (size_t opcode = 0; opcode < OPCODES; opcode++)
			if (process->told[opcode])
				add_told(&sums[opcode], process->told[opcode]);
	}
	write_opcodes(sums, report);
	free(sums);
}

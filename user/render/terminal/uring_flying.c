// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/terminal/uring_flying.h"

#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/xalloc.h"

#define BUCKETS 4096u /* a power of two */

/* In the order in which they came. */
struct alike {
	struct flying_op *oldest, *newest;
};

struct flying {
	struct flying_op *buckets[BUCKETS];
	struct alike alike[BUCKETS]; /* the same ones, whatever their submissions */
	size_t count;
	size_t bound;
	uint64_t refused;
};

struct flying *flying__new(size_t bound)
{
	struct flying *flying = xcalloc(1, sizeof(*flying));

	flying->bound = bound;
	return flying;
}

void flying__free(struct flying *flying)
{
	if (!flying)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		struct flying_op *next;

		for (struct flying_op *op = flying->buckets[i]; op; op = next) {
			next = op->next;
			free(op);
		}
	}
	free(flying);
}

static bool is_like(const struct ns_uring *a, const struct ns_uring *b)
{
	return a->ring == b->ring && a->user_data == b->user_data;
}

/* A program may give all of them the same user_data: they differ in their submissions. */
static struct flying_op **bucket_of(struct flying *flying, const struct ns_uring *op)
{
	uint64_t hash = (op->user_data ^ (uint64_t)op->ring << 48) * 0x9e3779b97f4a7c15ull;

	hash = (hash ^ op->submit_ts) * 0x9e3779b97f4a7c15ull;
	return &flying->buckets[hash >> 52 & (BUCKETS - 1)];
}

static struct alike *alike_of(struct flying *flying, const struct ns_uring *op)
{
	uint64_t hash = (op->user_data ^ (uint64_t)op->ring << 48) * 0x9e3779b97f4a7c15ull;

	return &flying->alike[hash >> 52 & (BUCKETS - 1)];
}

/*
 * Before Linux 6.1 those of equal user_data are one to the kernel side, so the time of an end may
 * be another's: then it is that of the oldest. With a full table most ends are of operations that
 * are not in it, so not all of it is searched for each.
 */
static struct flying_op *find_oldest(struct flying *flying, const struct ns_uring *op)
{
	struct flying_op *found = alike_of(flying, op)->oldest;

	while (found && !is_like(&found->op, op))
		found = found->newer;
	return found;
}

/* NULL when it is not there. */
static struct flying_op *find(struct flying *flying, const struct ns_uring *op)
{
	for (struct flying_op *at = *bucket_of(flying, op); at; at = at->next)
		if (is_like(&at->op, op) && at->op.submit_ts == op->submit_ts)
			return at;
	return op->step == NS_URING_DONE ? find_oldest(flying, op) : NULL;
}

static void link_newest(struct alike *alike, struct flying_op *op)
{
	op->older = alike->newest;
	*(op->older ? &op->older->newer : &alike->oldest) = op;
	alike->newest = op;
}

static void take_out(struct flying *flying, struct flying_op *op)
{
	struct flying_op **at = bucket_of(flying, &op->op);
	struct alike *alike = alike_of(flying, &op->op);

	while (*at != op)
		at = &(*at)->next;
	*at = op->next;
	*(op->older ? &op->older->newer : &alike->oldest) = op->newer;
	*(op->newer ? &op->newer->older : &alike->newest) = op->older;
	flying->count--;
	free(op);
}

static void add(struct flying *flying, const struct ns_uring *step)
{
	struct flying_op **bucket = bucket_of(flying, step), *op;

	if (step->flags & NS_SQE_CQE_SKIP_SUCCESS)
		return; /* it may end without a word */
	if (flying->count == flying->bound) {
		flying->refused++;
		return;
	}
	op = xcalloc(1, sizeof(*op));
	op->op = *step;
	op->next = *bucket;
	*bucket = op;
	link_newest(alike_of(flying, step), op);
	flying->count++;
}

void flying__learn(struct flying *flying, const struct ns_uring *step)
{
	struct ns_uring op = *step;
	struct flying_op *known;

	if (op.step == NS_URING_SUBMITTED && !op.submit_ts)
		op.submit_ts = op.head.ts;
	known = find(flying, &op);
	if (op.step != NS_URING_DONE) {
		if (known)
			known->op = op;
		else
			add(flying, &op);
		return;
	}
	if (!known)
		return;
	if (op.cqe_flags & NS_CQE_MORE)
		known->completions++;
	else
		take_out(flying, known);
}

static int by_submission(const void *a, const void *b)
{
	const struct flying_op *x = a, *y = b;

	if (x->op.submit_ts != y->op.submit_ts)
		return x->op.submit_ts < y->op.submit_ts ? -1 : 1;
	return x->op.user_data < y->op.user_data ? -1 : x->op.user_data > y->op.user_data;
}

struct flying_op *flying__left(const struct flying *flying, size_t *count)
{
	struct flying_op *left = xcalloc(flying->count + 1, sizeof(*left));

	*count = 0;
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct flying_op *op = flying->buckets[i]; op; op = op->next)
			left[(*count)++] = *op;
	sort_array(left, *count, sizeof(*left), by_submission);
	return left;
}

uint64_t flying__refused(const struct flying *flying)
{
	return flying->refused;
}

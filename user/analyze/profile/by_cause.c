// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/profile/by_cause.h"

#include <stdlib.h>
#include <string.h>

#include "user/analyze/waits/kernel_stack.h"
#include "user/base/array.h"
#include "user/base/table.h"
#include "user/base/xalloc.h"

#define BUCKETS 1024 /* a power of two */

/* A wait that one side has reported, in a list of its bucket, the latest first. */
struct pending {
	struct pending *next;
	uint32_t key; /* 0: it is an explanation */
	uint64_t ns;  /* with a key: what the sum counts */
	struct wait_record waited;
};

/* The long waits of a key. */
struct sum {
	uint64_t ns[CAUSE_COUNT];
	uint64_t count[CAUSE_COUNT];
};

struct by_cause {
	struct pending *buckets[BUCKETS];
	size_t pending;
	size_t sweep; /* the bucket that gives room next */
	struct table *sums;
	uint64_t lost;
};

struct by_cause *by_cause__new(void)
{
	struct by_cause *by_cause = xcalloc(1, sizeof(*by_cause));

	by_cause->sums = table__new(BY_CAUSE_SUMS);
	return by_cause;
}

void by_cause__free(struct by_cause *by_cause)
{
	if (!by_cause)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		while (by_cause->buckets[i]) {
			struct pending *gone = by_cause->buckets[i];

			by_cause->buckets[i] = gone->next;
			free(gone);
		}
	}
	table__free(by_cause->sums, free);
	free(by_cause);
}

static struct sum *sum_of(struct by_cause *by_cause, uint32_t key)
{
	struct sum *sum = table__get(by_cause->sums, key);

	if (sum)
		return sum;
	sum = xcalloc(1, sizeof(*sum));
	if (table__put(by_cause->sums, key, sum))
		return sum;
	free(sum);
	by_cause->lost++;
	return NULL;
}

/* Where most of what the sum counts went: blocked time, but for a wait that was for a CPU alone. */
static enum cause main_cause(const struct wait_record *explained)
{
	struct wait_record blocked = *explained;

	blocked.ns[CAUSE_RUNQUEUE] = blocked.ns[CAUSE_THROTTLED] = 0;
	return blocked.ns[wait_record__main_cause(&blocked)] ? wait_record__main_cause(&blocked)
							     : CAUSE_RUNQUEUE;
}

/*
 * The sum counts what the two sides both saw; where it does not match to the nanosecond, what one
 * has more goes where most of the time went.
 */
static void account(struct by_cause *by_cause, const struct pending *wait,
		    const struct wait_record *explained)
{
	enum cause most = explained ? main_cause(explained) : CAUSE_UNKNOWN;
	struct sum *sum = sum_of(by_cause, wait->key);
	uint64_t left = wait->ns;

	if (!sum)
		return;
	sum->count[most]++;
	for (size_t i = 0; explained && i < CAUSE_COUNT; i++) {
		uint64_t ns = explained->ns[i] < left ? explained->ns[i] : left;

		if (i == most || i == CAUSE_RUNQUEUE || i == CAUSE_THROTTLED)
			continue;
		sum->ns[i] += ns;
		left -= ns;
	}
	sum->ns[most] += left;
}

static void give_up(struct by_cause *by_cause, const struct pending *pending)
{
	if (pending->key)
		account(by_cause, pending, NULL);
}

static struct pending **bucket_of(struct by_cause *by_cause, const struct wait_record *waited)
{
	uint64_t hash = (waited->off_ts ^ waited->tid) * 0x9e3779b97f4a7c15ull;

	return &by_cause->buckets[hash >> 48 & (BUCKETS - 1)];
}

/* Takes the other side's word on this wait out of the table; NULL: it has not come. */
static struct pending *take(struct by_cause *by_cause, const struct wait_record *waited,
			    bool explained)
{
	struct pending **at = bucket_of(by_cause, waited);

	for (; *at; at = &(*at)->next) {
		struct pending *found = *at;

		if (!found->key != explained || found->waited.tid != waited->tid ||
		    found->waited.off_ts != waited->off_ts)
			continue;
		*at = found->next;
		by_cause->pending--;
		return found;
	}
	return NULL;
}

/* One bucket after the other gives its oldest. */
static void make_room(struct by_cause *by_cause)
{
	struct pending **at;

	while (by_cause->pending == 2 * BY_CAUSE_PENDING) {
		at = &by_cause->buckets[by_cause->sweep++ & (BUCKETS - 1)];
		if (!*at)
			continue;
		while ((*at)->next)
			at = &(*at)->next;
		give_up(by_cause, *at);
		by_cause->lost += (*at)->key != 0;
		free(*at);
		*at = NULL;
		by_cause->pending--;
	}
}

static void keep(struct by_cause *by_cause, const struct pending *pending)
{
	struct pending **bucket = bucket_of(by_cause, &pending->waited), *entry;

	make_room(by_cause);
	entry = xmemdup(pending, sizeof(*pending));
	entry->next = *bucket;
	*bucket = entry;
	by_cause->pending++;
}

void by_cause__wait(struct by_cause *by_cause, const struct by_cause_wait *wait)
{
	const struct pending pending = {.key = wait->key,
					.ns = wait->ns,
					.waited = {.tid = wait->tid, .off_ts = wait->off_ts}};
	struct pending *explained;

	if (!wait->key)
		return;
	explained = take(by_cause, &pending.waited, true);
	if (explained)
		account(by_cause, &pending, &explained->waited);
	else
		keep(by_cause, &pending);
	free(explained);
}

void by_cause__explain(struct by_cause *by_cause, const struct wait_record *waited)
{
	const struct pending explained = {.waited = *waited};
	struct pending *wait = take(by_cause, waited, false);

	if (wait)
		account(by_cause, wait, waited);
	else
		keep(by_cause, &explained);
	free(wait);
}

void by_cause__finish(struct by_cause *by_cause)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		while (by_cause->buckets[i]) {
			struct pending *left = by_cause->buckets[i];

			by_cause->buckets[i] = left->next;
			give_up(by_cause, left);
			free(left);
		}
	}
	by_cause->pending = 0;
}

static int most_first(const void *a, const void *b)
{
	const struct cause_share *x = a, *y = b;
	int by = compare_u64(y->ns, x->ns);

	return by ? by : compare_u64(x->cause, y->cause);
}

size_t by_cause__shares(const struct by_cause *by_cause, uint32_t key, uint64_t count, uint64_t ns,
			struct cause_share out[BY_CAUSE_SHARES])
{
	const struct sum *sum = key ? table__get(by_cause->sums, key) : NULL;
	size_t shares = 0;

	/* The kernel's sum is what counts: a single wait may have been reported, and its sum lost.
	 */
	for (size_t i = 0; sum && i < CAUSE_COUNT; i++) {
		struct cause_share share = {.cause = (enum cause)i,
					    .count = sum->count[i] < count ? sum->count[i] : count,
					    .ns = sum->ns[i] < ns ? sum->ns[i] : ns};

		if (!share.count && !share.ns)
			continue;
		count -= share.count;
		ns -= share.ns;
		out[shares++] = share;
	}
	if (count || ns)
		out[shares++] = (struct cause_share){CAUSE_COUNT, count, ns};
	sort_array(out, shares, sizeof(out[0]), most_first);
	return shares;
}

uint64_t by_cause__lost(const struct by_cause *by_cause)
{
	return by_cause->lost;
}

enum cause by_cause__refine(enum cause cause, const char *kernel)
{
	return cause == CAUSE_UNKNOWN && wait_kind__by_stack(kernel) == WAIT_WORK ? CAUSE_IDLE
										  : cause;
}

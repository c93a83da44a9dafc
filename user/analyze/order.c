// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/order.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

struct entry {
	uint64_t ts;
	uint64_t arrival; /* equal times leave as they came */
	void *bytes;      /* of its type's size: a union record would be a thousand */
};

/* A binary heap. */
struct order {
	struct entry *heap;
	size_t count;
	size_t size;
	uint64_t arrivals;
	union record popped;
};

struct order *order__new(void)
{
	return xcalloc(1, sizeof(struct order));
}

void order__free(struct order *order)
{
	if (!order)
		return;
	for (size_t i = 0; i < order->count; i++)
		free(order->heap[i].bytes);
	free(order->heap);
	free(order);
}

static bool before(const struct entry *a, const struct entry *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->arrival < b->arrival;
}

static void swap(struct entry *a, struct entry *b)
{
	struct entry kept = *a;

	*a = *b;
	*b = kept;
}

void order__push(struct order *order, const union record *record)
{
	size_t i = order->count;

	order->heap = xgrow(order->heap, order->count, &order->size, sizeof(*order->heap));
	order->heap[i].ts = record->head.ts;
	order->heap[i].arrival = order->arrivals++;
	order->heap[i].bytes = xmemdup(record, record__size(record->head.type));
	order->count++;
	while (i && before(&order->heap[i], &order->heap[(i - 1) / 2])) {
		swap(&order->heap[i], &order->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
}

static void sink_root(struct order *order)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < order->count) {
		if (child + 1 < order->count &&
		    before(&order->heap[child + 1], &order->heap[child]))
			child++;
		if (!before(&order->heap[child], &order->heap[i]))
			return;
		swap(&order->heap[child], &order->heap[i]);
		i = child;
	}
}

static struct entry take_root(struct order *order)
{
	struct entry root = order->heap[0];

	order->heap[0] = order->heap[--order->count];
	sink_root(order);
	return root;
}

/* The same record, told once more: two of a CPU have not all of their bytes in common. */
static bool told_before(const struct order *order, const struct ns_head *head)
{
	return order->popped.head.len == head->len && !memcmp(&order->popped, head, head->len);
}

const union record *order__pop(struct order *order, uint64_t until)
{
	while (order->count && (order->heap[0].ts <= until || order->count > ORDER_RECORDS)) {
		struct entry root = take_root(order);
		bool again = told_before(order, root.bytes);

		if (!again) {
			memset(&order->popped, 0, sizeof(order->popped));
			memcpy(&order->popped, root.bytes,
			       ((const struct ns_head *)root.bytes)->len);
		}
		free(root.bytes);
		if (!again)
			return &order->popped;
	}
	return NULL;
}

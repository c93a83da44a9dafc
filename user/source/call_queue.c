// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/source/call_queue.h"

#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"

#define NO_NAMES "[its programs and libraries could not be read]"

struct entry {
	struct entry *next;
	uint64_t number; /* of a call; 0: any other record */
	bool answered;
	char *text;
	size_t len;
	unsigned char record[];
};

struct call_queue {
	call_queue_out *out;
	void *context;
	struct entry *first, **end;
	size_t bytes;
	uint64_t numbers;
};

struct call_queue *call_queue__new(call_queue_out *out, void *context)
{
	struct call_queue *queue = xcalloc(1, sizeof(*queue));

	queue->out = out;
	queue->context = context;
	queue->end = &queue->first;
	return queue;
}

static size_t size_of(const struct entry *entry)
{
	return sizeof(*entry) + entry->len + (entry->text ? strlen(entry->text) : 0);
}

static struct entry *take_first(struct call_queue *queue)
{
	struct entry *entry = queue->first;

	queue->first = entry->next;
	if (!queue->first)
		queue->end = &queue->first;
	queue->bytes -= size_of(entry);
	return entry;
}

static void drop(struct entry *entry)
{
	free(entry->text);
	free(entry);
}

void call_queue__free(struct call_queue *queue)
{
	if (!queue)
		return;
	while (queue->first)
		drop(take_first(queue));
	free(queue);
}

static void let_go(struct call_queue *queue)
{
	struct entry *entry = take_first(queue);
	const char *text = entry->text ? entry->text : NO_NAMES;

	queue->out(queue->context, entry->record, entry->len, entry->number ? text : NULL);
	drop(entry);
}

/* All up to the first that waits; that one too, when there is no room for more. */
static void go_on(struct call_queue *queue)
{
	while (queue->first &&
	       (!queue->first->number || queue->first->answered || queue->bytes > CALL_QUEUE_BYTES))
		let_go(queue);
}

static struct entry *add(struct call_queue *queue, const void *record, size_t len)
{
	struct entry *entry = xcalloc(1, sizeof(*entry) + len);

	entry->len = len;
	memcpy(entry->record, record, len);
	*queue->end = entry;
	queue->end = &entry->next;
	queue->bytes += size_of(entry);
	return entry;
}

void call_queue__record(struct call_queue *queue, const void *record, size_t len)
{
	if (!queue->first) {
		queue->out(queue->context, record, len, NULL);
		return;
	}
	add(queue, record, len);
	go_on(queue);
}

uint64_t call_queue__call(struct call_queue *queue, const struct ns_call *call)
{
	add(queue, call, sizeof(*call))->number = ++queue->numbers;
	return queue->numbers;
}

void call_queue__answer(struct call_queue *queue, uint64_t number, const char *text, bool truncated)
{
	struct entry *entry = queue->first;

	while (entry && entry->number != number)
		entry = entry->next;
	if (!entry)
		return;
	((struct ns_call *)entry->record)->truncated = truncated;
	entry->answered = true;
	if (text) {
		entry->text = xstrdup(text);
		queue->bytes += strlen(text);
	}
	go_on(queue);
}

void call_queue__flush(struct call_queue *queue)
{
	while (queue->first)
		let_go(queue);
}

bool call_queue__empty(const struct call_queue *queue)
{
	return !queue->first;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records on their way, in their order, while the call sites among them wait for their names
 * (resolver.h): what came behind such a one waits too. Bounded: then it goes without its names.
 */
#ifndef NETSTALL_SOURCE_CALL_QUEUE_H
#define NETSTALL_SOURCE_CALL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

#define CALL_QUEUE_BYTES (4u << 20) /* of records that wait */

struct call_queue;

/* text: of a call, its stack; NULL: any other record. */
typedef void call_queue_out(void *context, const void *record, size_t len, const char *text);

struct call_queue *call_queue__new(call_queue_out *out, void *context);
void call_queue__free(struct call_queue *queue);

/* Goes on at once when nothing waits. */
void call_queue__record(struct call_queue *queue, const void *record, size_t len);
/* Returns the number that its answer has. */
uint64_t call_queue__call(struct call_queue *queue, const struct ns_call *call);
/* text: NULL when there is none. Of a call that went on already it is forgotten. */
void call_queue__answer(struct call_queue *queue, uint64_t number, const char *text,
			bool truncated);
/* Everything goes on, with or without names. */
void call_queue__flush(struct call_queue *queue);
bool call_queue__empty(const struct call_queue *queue);

#endif

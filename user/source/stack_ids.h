/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of stacks, by the hash of what is in them. A full table is emptied: what comes again gets
 * a new number and its text is sent anew, so that numbers never run out and none has two texts.
 */
#ifndef NETSTALL_SOURCE_STACK_IDS_H
#define NETSTALL_SOURCE_STACK_IDS_H

#include <stdbool.h>
#include <stdint.h>

/* Half of what the model holds is left to waits that are judged later. */
#define STACK_IDS 4096

struct stack_id {
	uint64_t hash; /* 0: free */
	uint32_t id;
	bool is_new; /* its text is still to be sent */
	bool in_interrupt;
	bool by_sender; /* by what its thread did or sent: see wakers.h */
};

struct stack_ids;

struct stack_ids *stack_ids__new(void);
void stack_ids__free(struct stack_ids *ids);
/* Lives until the next call. hash must not be 0. */
struct stack_id *stack_ids__find(struct stack_ids *ids, uint64_t hash);

#endif

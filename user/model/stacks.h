/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The texts of stacks by the number that records name them by. The last MODEL_STACKS numbers are
 * held; a text that a report is to show is kept beyond that. What is asked for and gone is counted.
 */
#ifndef NETSTALL_MODEL_STACKS_H
#define NETSTALL_MODEL_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct stacks;

/* What the analysis found on a stack, so that it looks once and not at each wait; 0: not yet. */
struct stack_notes {
	uint8_t kind;
	uint8_t waker;
	uint8_t has;
};

struct stacks *stacks__new(void);
void stacks__free(struct stacks *stacks);
/* The first text of a number holds until another number takes its place. */
void stacks__learn(struct stacks *stacks, uint32_t id, const char *text);
/* NULL for 0, for one that never came, and for one that is gone (counted in *lost, once each). */
const char *stacks__text(struct stacks *stacks, uint32_t id, uint64_t *lost);
/* Of a text that is there; NULL: it is not. */
struct stack_notes *stacks__notes(struct stacks *stacks, uint32_t id);
/* A copy that lives as long as the set; NULL too when there is no more room for such (counted). */
const char *stacks__keep(struct stacks *stacks, uint32_t id, uint64_t *lost);

#endif

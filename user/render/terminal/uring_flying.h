/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Operations that were submitted and are not done; a table with a bound. Inside render/ only. */
#ifndef NETSTALL_RENDER_TERMINAL_URING_FLYING_H
#define NETSTALL_RENDER_TERMINAL_URING_FLYING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

struct flying_op {
	struct flying_op *next;
	struct flying_op *older, *newer; /* of those like it, and of some others */
	struct ns_uring op;              /* as of its last step before the end */
	uint32_t completions;
};

struct flying;

struct flying *flying__new(size_t bound);
void flying__free(struct flying *flying);
/* A step of an operation, of any kind. */
void flying__learn(struct flying *flying, const struct ns_uring *step);
/* Those that are left, in the order of their submissions; the array is the caller's. */
struct flying_op *flying__left(const struct flying *flying, size_t *count);
/* For which there was no room. */
uint64_t flying__refused(const struct flying *flying);

#endif

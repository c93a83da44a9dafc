/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What one wait was for, all of its time: idleness, a time-out of its own and a stall alike.
 * A stall is an incident, which several waits may show; this is the other way round.
 */
#ifndef NETSTALL_ANALYZE_WAITS_WAITED_H
#define NETSTALL_ANALYZE_WAITS_WAITED_H

#include <stdint.h>

#include "user/analyze/cause.h"

/* Of a target's thread, of at least the threshold. Numbers as the report has them. */
struct waited {
	uint32_t pid;
	uint32_t tid;
	uint64_t off_ts;
	uint64_t end_ts;
	uint64_t ns[CAUSE_COUNT]; /* they sum to end_ts - off_ts */
};

/* The one that took longest; of equals the first in the order of their numbers. */
enum cause waited__main(const struct waited *waited);

struct cover;
struct model;
struct ns_wait;
struct roots;

/* cover: which parts of it are incidents that are told by themselves. */
void waited__explain(const struct model *model, const struct roots *roots,
		     const struct cover *cover, const struct ns_wait *wait, struct waited *out);

#endif

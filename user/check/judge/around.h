/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The records of the last seconds, in a ring: what happened around a stall. */
#ifndef NETSTALL_CHECK_JUDGE_AROUND_H
#define NETSTALL_CHECK_JUDGE_AROUND_H

#include "user/analyze/report.h"
#include "user/model/events.h"

#define AROUND_EVENTS 16384 /* kept of the latest; the oldest make room */
#define AROUND_SHOWN  2000  /* of one stall's seconds */

#define AROUND_BEFORE_NS 2000000000ull
#define AROUND_AFTER_NS  1000000000ull

struct around;

struct around *around__new(void);
/* Takes NULL. */
void around__free(struct around *around);
/* What happens to connections and threads; others are not kept. In the order of their times. */
void around__add(struct around *around, const union record *record);

/* What a stall's seconds came to. */
struct seconds {
	size_t count;
	const union event **v; /* of the ring: valid until the next around__add() */
	size_t left_out;       /* of AROUND_SHOWN: others than the stall's ends and threads first */
	bool begins_late;      /* the ring did not reach back far enough */
};

/* AROUND_BEFORE_NS before its start to AROUND_AFTER_NS after its end. */
void around__find(const struct around *around, const struct stall *stall, struct seconds *out);
void seconds__clear(struct seconds *seconds);

#endif

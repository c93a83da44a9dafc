/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The model itself; for model.c, which fills it, and look.c, which reads it. */
#ifndef NETSTALL_MODEL_MODEL_PARTS_H
#define NETSTALL_MODEL_MODEL_PARTS_H

#include "user/base/table.h"
#include "user/model/model.h"
#include "user/model/stacks.h"

struct model {
	struct table *conns;
	struct table *threads;
	struct table *processes;
	struct stacks *stacks;
	struct table *rings;
	struct ns_session session;
	uint64_t lost[NS_LOST_KINDS]; /* as records told */
	uint64_t *lost_here; /* likewise by kind: what found no room, or is gone when it is asked
				for */
	uint32_t closed[MODEL_CLOSED];
	size_t closed_next;
};

#endif

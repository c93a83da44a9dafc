/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which parts of a wait are accounted for already, by incidents that are told by themselves. */
#ifndef NETSTALL_ANALYZE_WAITS_COVER_H
#define NETSTALL_ANALYZE_WAITS_COVER_H

#include "user/analyze/holds/roots.h"

#define COVERS 64 /* parts; what finds no room is not accounted for */

struct cover {
	const struct model *model;
	const struct ns_wait *wait;
	size_t count;
	struct {
		uint64_t start, end;
	} part[COVERS];   /* disjoint, by time */
	uint32_t stall;   /* the stall that covers most of it, 0 none that is told */
	enum cause cause; /* of that one */
	uint64_t stall_ns;
	uint64_t stall_end; /* when that one ended */
};

void cover__find(struct cover *cover, const struct model *model, const struct roots *roots,
		 const struct incidents *incidents, const struct ns_wait *wait);
uint64_t cover__total(const struct cover *cover);
/* The stall that covers most of the wait, if it ends there where a gap begins; 0: it does not. */
uint32_t cover__until(const struct cover *cover, uint64_t ts);
/* The longest part of the wait that is not covered; returns its length. */
uint64_t cover__gap(const struct cover *cover, uint64_t *start);

#endif

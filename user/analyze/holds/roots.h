/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Incidents on connections that have been explained: what a wait hangs on. One on a target's
 * own connection is told as a stall at once. One on another connection, in the middle of a
 * chain, waits here untold until a target's wait turns out to hang on it; most never do.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_ROOTS_H
#define NETSTALL_ANALYZE_HOLDS_ROOTS_H

#include "user/analyze/stall.h"

#define ROOTS        4096 /* remembered; the oldest is forgotten */
#define ROOTS_UNTOLD 256  /* of these with their evidence, not told; the oldest loses it */

struct root {
	struct span span;
	enum cause cause;
	uint32_t stall; /* number of the stall that told it, 0 not told */
	size_t slice_count;
	struct slice slices[STALL_SLICES];
	/* Not told: for the stall that may come of it. */
	struct incident *incident;
	struct finding *finding;
};

struct roots;

struct roots *roots__new(void);
void roots__free(struct roots *roots);
/* The stall of this number told it. */
void roots__add(struct roots *roots, const struct stall *stall);
/* Nobody's stall yet; takes the incident over. */
void roots__add_untold(struct roots *roots, const struct finding *finding,
		       struct incident *incident);
/*
 * The root on this connection, from either of its ends, that begins first among those which
 * end after from and begin before to; NULL: none.
 */
struct root *roots__first(const struct roots *roots, uint32_t conn, uint64_t from, uint64_t to);
/* The incident of this stall and cause lasted longer than was known. Returns false when it is
 * forgotten. */
bool roots__extend(struct roots *roots, uint32_t stall, enum cause cause, uint64_t end_ts);
/* Walk all: start with *cursor 0; NULL ends it. */
const struct root *roots__next(const struct roots *roots, size_t *cursor);
/* It has become the stall of this number: the evidence goes. */
void root__told(struct root *root, uint32_t stall);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A wait, explained by walking its chain backwards: what was it for, who ended it, what had
 * that one waited for itself, ... across connections, threads and processes of this host.
 *
 * The time of the wait is cut into stretches, each with its cause as it is for the thread that
 * waits: a lock whose holder slept is lock, but one whose holder waited for bytes under
 * Nagle's algorithm is nagle-delack, because there the program can be changed.
 */
#ifndef NETSTALL_ANALYZE_CHAIN_BLAME_H
#define NETSTALL_ANALYZE_CHAIN_BLAME_H

#include "user/analyze/holds/roots.h"

#define BLAME_STRETCHES 128 /* of one wait; beyond, the shortest joins the one before it */

struct stretch {
	uint64_t start_ts;
	uint64_t end_ts;
	enum cause cause;
};

struct blame {
	size_t stretch_count;
	struct stretch stretches[BLAME_STRETCHES]; /* by time, disjoint, without gaps */
	uint64_t ns[CAUSE_COUNT]; /* of each cause, stretches that were joined too */
	size_t link_count;
	struct stall_link links[STALL_LINKS]; /* the wait itself first, then what it hung on */
	struct root *root;                    /* the incident that it hung on longest; NULL none */
	uint64_t root_ns;                     /* for how long */
	const struct root *told;              /* likewise, of those that a stall tells; NULL none */
	uint64_t told_longest_ns;             /* that one */
	uint64_t told_ns;                     /* all of those together */
	enum confidence confidence;
	const char *inferred; /* static, as in struct stall */
	const char *missing;
};

/* Explain the wait of a thread between two times that lie in it. */
void blame__wait(const struct model *model, const struct roots *roots, const struct ns_wait *wait,
		 uint64_t from, uint64_t to, struct blame *blame);
uint64_t blame__of(const struct blame *blame, enum cause cause);
/* Which cause took longest, idleness included; of equals the one that came first. */
enum cause blame__cause(const struct blame *blame);

#endif

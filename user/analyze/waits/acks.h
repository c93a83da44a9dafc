/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Does the end that opened a connection ask for something there, or does it acknowledge what the
 * other end sends when it likes (a subscriber)? By the bytes alone who asks for the same again as
 * soon as it has its answer looks like who acknowledges: both write a little at once after what
 * they read, and wait. Where it is that little nobody can say that anything is due, unless it was
 * seen what the other end sends next for.
 */
#ifndef NETSTALL_ANALYZE_WAITS_ACKS_H
#define NETSTALL_ANALYZE_WAITS_ACKS_H

#include <stdbool.h>
#include <stdint.h>

struct model;

struct acks {
	uint32_t bytes; /* each of what is written there may be one, and has so many; 0: none is */
	bool is_sure;   /* they are: what comes next others had sent, by themselves */
	bool may_be;    /* of one at least that was seen: further ones will say */
};

/* By the recent exchanges on the connection, of either end. */
struct acks acks__of(const struct model *model, uint32_t conn);

#endif

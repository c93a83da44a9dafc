/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Two recordings of one time, made on two hosts that talk to each other, as one: what happened at
 * the far ends of the first one's connections stands beside it, on the first one's clock, as if
 * both hosts were one.
 *
 * Connections are the same if each has the other's addresses, or behind address translation if one
 * has received what the other has sent, by its sequence numbers. How far the clocks are apart is
 * known by the segments that both have seen: none arrives before it was sent, in either direction,
 * so the least times there and back bound it from both sides (as NTP has it: RFC 5905, 8), in
 * either half of the time, for a clock that drifts. Numbers of connections, rings and stacks of the
 * second become others; so do its pids, where the first has the same: 10,000,000 more.
 */
#ifndef NETSTALL_RECORD_JOINED_H
#define NETSTALL_RECORD_JOINED_H

#include "user/record/recording.h"

#define JOINED_PIDS     10000000u /* on top of a pid of the second that the first has too */
#define JOINED_SEGMENTS 2000000   /* of each that are looked at for the clocks */

struct joined;

struct joined_about {
	char hosts[2][64];
	uint64_t connections; /* that both have */
	uint64_t translated;  /* of these, with other addresses than the other host has seen */
	uint64_t there, back; /* segments that both have seen, first to second, second to first */
	int64_t offset_ns;    /* the second's clock is ahead by so much, at the begin */
	int64_t drift_ns_s;   /* and by so much more each second */
	uint64_t bound_ns;    /* at most so much is it wrong */
};

/* NULL: they cannot be joined, and why says so, in a clause. Files, which stay the caller's. */
struct joined *joined__open(FILE *first, FILE *second, const char **why);
/* As recording__next(). */
enum recording_gives joined__next(struct joined *joined, const void **record, size_t *len);
const struct joined_about *joined__about(const struct joined *joined);
/* Of the first (0) or the second (1): what the file was. */
const struct recording_about *joined__recording(const struct joined *joined, unsigned which);
void joined__free(struct joined *joined);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What can be lost: one row a kind of enum ns_lost_kind. All that speaks of losses asks here. */
#ifndef NETSTALL_RECORD_LOSSES_H
#define NETSTALL_RECORD_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"

struct loss_kind {
	const char *id; /* of text traces and JSON, a contract */
	const char *one;
	const char *many;
	const char *why;    /* "ring buffer full" */
	const char *remedy; /* what the user does against it; NULL: it cannot hide a stall */
	/*
	 * Not of an event of a target's: a sample that was not taken, or a run of ours that was
	 * left out and may have concerned anybody.
	 */
	bool no_event;
};

/* NULL when there is no such kind. */
const struct loss_kind *loss_kind(uint32_t kind);
/* Of counts by kind: how many events were lost, the one sum that every output has. */
uint64_t losses__events(const uint64_t *lost);
/* Of these, what can hide a stall or its cause: with any, a report is not complete. */
uint64_t losses__hiding(const uint64_t *lost);

/* By number, NULL-terminated. */
extern const char *const loss_ids[NS_LOST_KINDS + 1];

#endif

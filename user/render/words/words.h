/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A record in words: who did what, how much of it, and what that means.
 *
 *   client/4242   write fd 7    136 B   HELD by Nagle: 40 B unacknowledged, 136 B < mss 32,768
 *   actor         what         amount   note
 *
 * Acts of the application carry the thread; segments and timers belong to the end
 * whose TCP they concern ("server's TCP"), never to the thread that happened to
 * be current in softirq.
 */
#ifndef NETSTALL_RENDER_WORDS_WORDS_H
#define NETSTALL_RENDER_WORDS_WORDS_H

#include "user/analyze/report.h"
#include "user/base/text.h"
#include "user/render/terminal/colour.h"
#include "user/render/words/names.h"

struct words {
	uint64_t ts;
	uint32_t type;           /* of the record: causal order at the same time */
	const union event *step; /* that a line of a stall shows; else NULL */
	enum colour colour;
	char actor[NAME_SIZE + 8];
	char what[NAME_SIZE + 32];
	char amount[72]; /* bytes, or what an operation gave: "-> fd 9" */
	char note[4 * NAME_SIZE];
	char aside[256]; /* what somebody who checks the verdict asks next */
};

/* What the words may draw on beside the record; stall NULL: the record stands alone. */
struct scene {
	const struct report *report;
	const struct stall *stall;
	const union record *record; /* the one at hand; words__record() sets it */
};

/* One record as one line. */
void words__record(const struct scene *scene, const union record *record, struct words *words);

/* A wait as two lines: where it began, and where it ended. */
void words__sleep(const struct scene *scene, const struct ns_wait *wait, struct words *words);
void words__wake(const struct scene *scene, const struct ns_wait *wait, struct words *words);

/* A completion as the line of its submission; what happened since is not in it. */
void words__uring_submitted(const struct scene *scene, const struct ns_uring *done,
			    struct words *words);

/* The send that the hold came from: the write and its fate in one line. */
void words__held_send(const struct scene *scene, const union record *send, const union record *hold,
		      struct words *words);

#endif

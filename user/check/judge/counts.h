/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The stalls of the judged window, by cause, and which of them prove nothing. Of check/ alone. */
#ifndef NETSTALL_CHECK_JUDGE_COUNTS_H
#define NETSTALL_CHECK_JUDGE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analyze/report.h"

/* Why a stall may be another cause's, or none at all. */
enum unsure {
	UNSURE_END,     /* its end was not seen: perhaps it was over at once */
	UNSURE_NAGLE,   /* a hold by Nagle's algorithm of which the other end's part was not seen */
	UNSURE_UNKNOWN, /* not explained, on a connection */
	UNSURE_ELSEWISE, /* not explained, and no connection was in it */
	UNSURE_WARMUP,   /* beyond the stalls that a report knows: may have begun in the warm-up */
	UNSURE_KINDS
};

struct unsure_stalls {
	uint64_t count;
	uint64_t ns;
	const struct stall *first; /* NULL: none of them was kept */
};

struct cause_counts {
	uint64_t count;
	uint64_t total_ns;
	/* Of these, what is proven: neither UNSURE_END nor UNSURE_WARMUP. */
	uint64_t proven;
	uint64_t proven_ns;
	const struct stall *first; /* that was seen whole, else the first; NULL: none kept */
	struct unsure_stalls unsure[UNSURE_KINDS];
};

struct counts {
	struct cause_counts by[CAUSE_COUNT];
	struct cause_counts total;
};

/* Stalls that began before judged_from are left out. */
void counts__make(struct counts *counts, const struct report *report, uint64_t judged_from);
/* Could a stall that is unsure in this way really be one of this cause? */
bool unsure__could_be(enum unsure unsure, enum cause found, enum cause wanted);

#endif

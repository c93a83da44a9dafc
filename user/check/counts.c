// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/counts.h"

#include <string.h>

#include "user/analyze/tally.h"

bool counts__end_is_a_guess(const struct stall *stall)
{
	return stall->held_bytes && !stall->exact && !stall->open && !stall->retrans.head.type &&
	       stall->cause != CAUSE_NAGLE_DELACK;
}

/*
 * The acknowledgement of a far peer came within what round trips explain (analyze/nagle.c calls
 * it a delayed one else): all that can be seen of it was seen.
 */
static bool is_far_and_prompt(const struct stall *stall)
{
	uint32_t rtt_us = stall->hold.head.type ? stall->hold.min_rtt_us : 0;

	return stall->exact && !stall->peer && stall->ack.head.type && rtt_us &&
	       rtt_us != UINT32_MAX;
}

static bool has_connection(const struct stall *stall)
{
	if (stall->conn || stall->held_bytes || stall->retransmits)
		return true;
	for (size_t i = 0; i < stall->link_count; i++) {
		if (stall->links[i].conn)
			return true;
	}
	return false;
}

/* UNSURE_KINDS: it is what it says. */
static enum unsure unsure_of(const struct stall *stall)
{
	if (stall->cause == CAUSE_UNKNOWN)
		return has_connection(stall) ? UNSURE_UNKNOWN : UNSURE_ELSEWISE;
	if (stall->cause == CAUSE_NAGLE && (!stall->exact || stall->missing) &&
	    !is_far_and_prompt(stall))
		return UNSURE_NAGLE;
	return counts__end_is_a_guess(stall) ? UNSURE_END : UNSURE_KINDS;
}

bool unsure__could_be(enum unsure unsure, enum cause found, enum cause wanted)
{
	switch (unsure) {
	case UNSURE_NAGLE:
		return wanted == CAUSE_NAGLE_DELACK || wanted == CAUSE_NAGLE;
	case UNSURE_UNKNOWN:
		return wanted != CAUSE_UNKNOWN;
	case UNSURE_ELSEWISE:
		/* Without a connection it was not the network: waits on those are told by the call.
		 */
		return wanted != CAUSE_UNKNOWN && cause__info(wanted)->rank != CAUSE_RANK_NETWORK;
	case UNSURE_END:
	case UNSURE_WARMUP:
		return wanted == found;
	case UNSURE_KINDS:
		break;
	}
	return false;
}

static void add_unsure(struct cause_counts *counts, enum unsure unsure, const struct stall *stall)
{
	struct unsure_stalls *stalls = &counts->unsure[unsure];

	stalls->count++;
	stalls->ns += stall->end_ts - stall->start_ts;
	if (!stalls->first)
		stalls->first = stall;
}

static void add_stall(struct cause_counts *counts, const struct stall *stall)
{
	uint64_t ns = stall->end_ts - stall->start_ts;
	enum unsure unsure = unsure_of(stall);

	counts->count++;
	counts->total_ns += ns;
	if (!counts__end_is_a_guess(stall)) {
		counts->proven++;
		counts->proven_ns += ns;
	}
	if (unsure != UNSURE_KINDS)
		add_unsure(counts, unsure, stall);
	if (!counts->first || (!stall__is_whole(counts->first) && stall__is_whole(stall)))
		counts->first = stall;
}

/* Stalls of which the report has no more than their number and their time. */
static void add_unkept(struct cause_counts *counts, uint64_t count, uint64_t ns, bool all_judged)
{
	counts->count += count;
	counts->total_ns += ns;
	if (all_judged) {
		counts->proven += count;
		counts->proven_ns += ns;
	} else {
		counts->unsure[UNSURE_WARMUP].count += count;
		counts->unsure[UNSURE_WARMUP].ns += ns;
	}
}

void counts__make(struct counts *counts, const struct report *report, uint64_t judged_from)
{
	uint64_t kept[CAUSE_COUNT] = {0}, kept_ns[CAUSE_COUNT] = {0};

	memset(counts, 0, sizeof(*counts));
	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *stall = &report->stalls[i];

		kept[stall->cause]++;
		kept_ns[stall->cause] += stall->end_ts - stall->start_ts;
		if (stall->start_ts < judged_from)
			continue;
		add_stall(&counts->by[stall->cause], stall);
		add_stall(&counts->total, stall);
	}
	if (!report->stalls_not_kept)
		return;
	for (size_t i = 0; i < report->cause_count; i++) {
		const struct report_cause *all = &report->causes[i];
		uint64_t count = all->count - kept[all->cause];
		uint64_t ns = all->total_ns - kept_ns[all->cause];

		if (all->count <= kept[all->cause])
			continue;
		add_unkept(&counts->by[all->cause], count, ns, !judged_from);
		add_unkept(&counts->total, count, ns, !judged_from);
	}
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/counts.h"

#include <string.h>

#include "user/analyze/tally.h"

/* UNSURE_KINDS: it is what it says. */
static enum unsure unsure_of(enum cause cause, unsigned traits)
{
	if (cause == CAUSE_UNKNOWN)
		return traits & STALL_ON_CONN ? UNSURE_UNKNOWN : UNSURE_ELSEWISE;
	if (cause == CAUSE_NAGLE && traits & STALL_PEER_UNSEEN)
		return UNSURE_NAGLE;
	return traits & STALL_END_GUESSED ? UNSURE_END : UNSURE_KINDS;
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
		return wanted != CAUSE_UNKNOWN && cause__rank(wanted) != CAUSE_RANK_NETWORK;
	case UNSURE_END:
	case UNSURE_WARMUP:
		return wanted == found;
	case UNSURE_KINDS:
		break;
	}
	return false;
}

/* listed is NULL for a stall that the report does not list. */
static void add_unsure(struct cause_counts *counts, enum unsure unsure,
		       const struct stall_brief *brief, const struct stall *listed)
{
	struct unsure_stalls *stalls = &counts->unsure[unsure];

	stalls->count++;
	stalls->ns += brief->ns;
	if (!stalls->first)
		stalls->first = listed;
}

static void add_stall(struct cause_counts *counts, const struct stall_brief *brief,
		      const struct stall *listed)
{
	enum unsure unsure = unsure_of(brief->cause, brief->traits);

	counts->count++;
	counts->total_ns += brief->ns;
	if (!(brief->traits & STALL_END_GUESSED)) {
		counts->proven++;
		counts->proven_ns += brief->ns;
	}
	if (unsure != UNSURE_KINDS)
		add_unsure(counts, unsure, brief, listed);
	if (listed &&
	    (!counts->first || (!stall__is_whole(counts->first) && brief->traits & STALL_WHOLE)))
		counts->first = listed;
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

/* The known ones of all causes. */
struct known {
	uint64_t count[CAUSE_COUNT];
	uint64_t ns[CAUSE_COUNT];
};

static void add_known(struct counts *counts, struct known *known, const struct stall_brief *brief,
		      const struct stall *listed, uint64_t judged_from)
{
	if (brief->traits & STALL_PACE) /* no request waited for it */
		return;
	known->count[brief->cause]++;
	known->ns[brief->cause] += brief->ns;
	if (brief->start_ts < judged_from)
		return;
	add_stall(&counts->by[brief->cause], brief, listed);
	add_stall(&counts->total, brief, listed);
}

void counts__make(struct counts *counts, const struct report *report, uint64_t judged_from)
{
	struct known known = {0};

	memset(counts, 0, sizeof(*counts));
	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *stall = &report->stalls[i];
		struct stall_brief brief = stall__brief(stall);

		add_known(counts, &known, &brief, stall, judged_from);
	}
	for (size_t i = 0; i < report->brief_count; i++)
		add_known(counts, &known, &report->briefs[i], NULL, judged_from);
	for (size_t i = 0; i < report->cause_count && report->stalls_not_kept; i++) {
		const struct report_cause *all = &report->causes[i];
		uint64_t count = all->count - known.count[all->cause];
		uint64_t ns = all->total_ns - known.ns[all->cause];

		if (all->is_pace || all->count <= known.count[all->cause])
			continue;
		add_unkept(&counts->by[all->cause], count, ns, !judged_from);
		add_unkept(&counts->total, count, ns, !judged_from);
	}
}

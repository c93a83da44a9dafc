// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/tally.h"

bool stall__is_whole(const struct stall *stall)
{
	return stall->exact && !stall->missing && stall->confidence == CONFIDENCE_OBSERVED;
}

static void widen(struct range *range, uint64_t value, bool begins)
{
	if (begins || value < range->least)
		range->least = value;
	if (begins || value > range->most)
		range->most = value;
}

static void tally_writes(struct tally *tally, const struct stall *stall)
{
	const struct ns_send *first = &stall->first, *second = &stall->second;
	uint64_t held_at = second->head.type ? second->head.ts : stall->hold.head.ts;

	if (second->head.type) {
		bool begins = !tally->second_bytes.most;

		widen(&tally->second_bytes, second->bytes, begins);
		widen(&tally->joined, stall->joined, begins);
	}
	if (!first->head.type || held_at < first->head.ts)
		return;
	widen(&tally->gap_ns, held_at - first->head.ts, !tally->first_bytes.most);
	widen(&tally->first_bytes, first->bytes, !tally->first_bytes.most);
}

static uint64_t held_part(const struct stall *stall)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < stall->slice_count; i++)
		ns += stall->slices[i].cause == stall->cause ? stall->slices[i].ns : 0;
	return ns;
}

void tally__take_sites(struct tally *tally, const struct stall *stall)
{
	tally->first_site = tally->first_site ? tally->first_site : stall->first_site;
	tally->second_site = tally->second_site ? tally->second_site : stall->second_site;
}

/* Chains of one link have no root behind the delayed thread itself. */
static void tally_root(struct tally *tally, const struct stall *stall)
{
	const struct stall_link *last;

	if (stall->link_count < 2)
		return;
	last = &stall->links[stall->link_count - 1];
	for (size_t i = 0; i < TALLY_ROOTS; i++) {
		struct tally_root *root = &tally->roots[i];

		if (!root->count)
			*root = (struct tally_root){.cause = last->cause,
						    .tid = last->tid,
						    .syscall = last->wait.syscall};
		if (root->cause == last->cause && root->tid == last->tid &&
		    root->syscall == last->wait.syscall) {
			root->count++;
			return;
		}
	}
}

/* A whole one, and of these one whose chain goes further back: it tells more. */
static bool is_better_example(const struct tally *tally, const struct stall *stall)
{
	if (!tally->count || (stall__is_whole(stall) && !tally->whole))
		return true;
	return stall__is_whole(stall) >= stall__is_whole(&tally->example) &&
	       stall->link_count > tally->example.link_count;
}

void tally__add(struct tally *tally, const struct stall *stall)
{
	if (is_better_example(tally, stall)) {
		tally->example = *stall;
		tally->example.steps = NULL;
		tally->example.step_count = 0;
	}
	tally->cause = stall->cause;
	tally->conn = stall->conn;
	tally->count++;
	tally->whole += stall__is_whole(stall);
	tally->inferred += stall->confidence == CONFIDENCE_INFERRED;
	tally->by_data += stall->ack.head.type && stall->ack.seq != stall->ack.end;
	tally->total_ns += stall->end_ts - stall->start_ts;
	tally->held_ns += held_part(stall);
	tally__take_sites(tally, stall);
	tally_root(tally, stall);
	tally_writes(tally, stall);
}

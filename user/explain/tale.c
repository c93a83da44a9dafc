// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/tale.h"

#include "user/base/text.h"
#include "user/explain/clauses.h"
#include "user/explain/tale_parts.h"

static tale_fn *const tales[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = tale__unknown,
	[CAUSE_NAGLE_DELACK] = tale__delack,
	[CAUSE_NAGLE] = tale__nagle,
	[CAUSE_CORK] = tale__cork,
	[CAUSE_NETWORK] = tale__network,
	[CAUSE_RUNQUEUE] = tale__runqueue,
	[CAUSE_CWND] = tale__cwnd,
	[CAUSE_RWND] = tale__rwnd,
	[CAUSE_ZERO_WINDOW] = tale__zero_window,
	[CAUSE_PACING] = tale__pacing,
	[CAUSE_TSQ] = tale__tsq,
	[CAUSE_TSO_DEFER] = tale__tso_defer,
	[CAUSE_AUTOCORK] = tale__autocork,
	[CAUSE_SNDBUF] = tale__sndbuf,
	[CAUSE_RTO] = tale__rto,
	[CAUSE_TLP] = tale__tlp,
	[CAUSE_FAST_RETRANSMIT] = tale__fast_retransmit,
	[CAUSE_SYN_RETRANSMIT] = tale__syn_retransmit,
	[CAUSE_PEER_APP] = tale__peer_app,
	[CAUSE_IDLE] = tale__unknown, /* never of a stall */
	[CAUSE_LOCK] = tale__lock,
	[CAUSE_IPC] = tale__ipc,
	[CAUSE_DISK] = tale__disk,
	[CAUSE_TIMER] = tale__timer,
	[CAUSE_URING] = tale__uring,
	[CAUSE_SELF] = tale__unknown, /* likewise */
};

void tale__connection(const struct story *story, char **text)
{
	char local[TEXT_ADDRESS], remote[TEXT_ADDRESS];
	const struct ns_conn *id;

	if (!story->conn)
		return;
	id = &story->conn->id;
	prose__add(text, " (%s -> %s)",
		   text__address(local, sizeof(local), id->family, id->laddr, id->lport),
		   text__address(remote, sizeof(remote), id->family, id->raddr, id->rport));
}

void tale__whose(const struct story *story, char **text)
{
	if (!story->sender_is_target)
		prose__add(text, "The cause lies at the other end: ");
}

/* " in 122 exchanges", " in 246 writes"; nothing when neither was counted. */
static void add_occasions(const struct story *story, char **text)
{
	const struct ns_conn_totals *totals = story->conn ? &story->conn->totals : NULL;
	bool by_exchange = totals && totals->exchanges >= story->tally->count;
	uint32_t number = !totals ? 0 : by_exchange ? totals->exchanges : totals->writes;
	char count[TEXT_COUNT];

	if (number)
		prose__add(text, " in %s %s%s", text__count(count, sizeof(count), number),
			   by_exchange ? "exchange" : "write", number == 1 ? "" : "s");
}

/* What else is to be changed, in a stall that one cause began and another one went on with. */
static bool is_other_cause(const struct story *story, const struct slice *slice)
{
	const struct stall *stall = story->stall;

	return slice->cause != stall->cause && slice->cause != CAUSE_NETWORK &&
	       cause__rank(slice->cause) == CAUSE_RANK_NETWORK &&
	       10 * slice->ns >= stall->end_ts - stall->start_ts;
}

/* " Of one stall's 40.2 ms, 12.0 ms were cork." */
static void add_other_causes(const struct story *story, char **text)
{
	const struct stall *stall = story->stall;
	char whole[TEXT_DURATION], part[TEXT_DURATION];
	bool begun = false;

	text__duration(whole, sizeof(whole), stall->end_ts - stall->start_ts);
	for (size_t i = 0; i < stall->slice_count; i++) {
		const struct slice *slice = &stall->slices[i];

		if (!is_other_cause(story, slice))
			continue;
		if (begun)
			prose__add(text, ", ");
		else
			prose__add(text, " Of one stall's %s, ", whole);
		prose__add(text, "%s were %s", text__duration(part, sizeof(part), slice->ns),
			   cause__info(slice->cause)->id);
		begun = true;
	}
	if (begun)
		prose__add(text, ".");
}

/* "This happened 122 times in 122 exchanges, 40.5 ms each, 4.94 s in all: 98.8% of the time." */
static void add_frequency(const struct story *story, char **text)
{
	const struct tally *tally = story->tally;
	uint64_t window = story->report->end_ts - story->report->start_ts;
	char count[TEXT_COUNT], each[TEXT_DURATION], all[TEXT_DURATION], share[TEXT_PERCENT];

	if (tally->count == 1)
		prose__add(text, " This happened once");
	else
		prose__add(text, " This happened %s times",
			   text__count(count, sizeof(count), tally->count));
	add_occasions(story, text);
	text__duration(all, sizeof(all), tally->total_ns);
	if (tally->count == 1)
		prose__add(text, " and took %s", all);
	else
		prose__add(text, ", %s each, %s in all",
			   text__duration(each, sizeof(each), tally->total_ns / tally->count), all);
	if (window)
		prose__add(text, ": %s of the time watched",
			   text__percent(share, sizeof(share),
					 (double)tally->total_ns / (double)window));
	prose__add(text, ".");
}

/* Nagle's tale says by itself what ended it. */
static void add_ended(const struct story *story, char **text)
{
	const struct stall *stall = story->stall;

	if (!stall->held_bytes || !stall->released_by || stall->reason == NS_HOLD_NAGLE)
		return;
	prose__add(text, " What let them go here: %s.", release__text(stall->released_by));
}

static void add_missing(const struct story *story, char **text)
{
	if (story->stall->missing)
		prose__add(text, " What was not seen is %s.", missing__text(story->stall->missing));
	if (story->stall->confidence == CONFIDENCE_INFERRED && story->stall->inferred)
		prose__add(text, " This is deduced: %s.", inferred__text(story->stall->inferred));
}

void tale__write(const struct story *story, char **text)
{
	tales[story->tally->cause](story, text);
	add_ended(story, text);
	add_other_causes(story, text);
	add_missing(story, text);
	add_frequency(story, text);
}

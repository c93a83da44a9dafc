// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/explanation.h"

#include "user/base/text.h"
#include "user/explain/clauses.h"
#include "user/explain/explain_parts.h"

static explain_fn *const explanations[CAUSE_COUNT] = {
#define CAUSE(name, id, explanation, ...) [CAUSE_##name] = explain__##explanation,
#include "user/analyze/cause.def"
#undef CAUSE
};

void explain__connection(const struct context *context, char **text)
{
	char local[TEXT_ADDRESS], remote[TEXT_ADDRESS];
	const struct ns_conn *id;

	if (!context->conn)
		return;
	id = &context->conn->id;
	builder__add(text, " (%s -> %s)",
		     text__address(local, sizeof(local), id->family, id->laddr, id->lport),
		     text__address(remote, sizeof(remote), id->family, id->raddr, id->rport));
}

void explain__whose(const struct context *context, char **text)
{
	if (!context->sender_is_target)
		builder__add(text, "The cause lies at the other end: ");
}

/* " in 122 exchanges", " in 246 writes"; nothing when neither was counted. */
static void add_occasions(const struct context *context, char **text)
{
	const struct ns_conn_totals *totals = context->conn ? &context->conn->totals : NULL;
	bool by_exchange = totals && totals->exchanges >= context->tally->count;
	uint32_t number = !totals ? 0 : by_exchange ? totals->exchanges : totals->writes;
	char count[TEXT_COUNT];

	if (number)
		builder__add(text, " in %s %s%s", text__count(count, sizeof(count), number),
			     by_exchange ? "exchange" : "write", number == 1 ? "" : "s");
}

/* What else is to be changed, in a stall that one cause began and another one went on with. */
static bool is_other_cause(const struct context *context, const struct slice *slice)
{
	const struct stall *stall = context->stall;

	return slice->cause != stall->cause && slice->cause != CAUSE_NETWORK &&
	       cause__rank(slice->cause) == CAUSE_RANK_NETWORK &&
	       10 * slice->ns >= stall->end_ts - stall->start_ts;
}

/* " Of one stall's 40.2 ms, 12.0 ms were cork." */
static void add_other_causes(const struct context *context, char **text)
{
	const struct stall *stall = context->stall;
	char whole[TEXT_DURATION], part[TEXT_DURATION];
	bool begun = false;

	text__duration(whole, sizeof(whole), stall->end_ts - stall->start_ts);
	for (size_t i = 0; i < stall->slice_count; i++) {
		const struct slice *slice = &stall->slices[i];

		if (!is_other_cause(context, slice))
			continue;
		if (begun)
			builder__add(text, ", ");
		else
			builder__add(text, " Of one stall's %s, ", whole);
		builder__add(text, "%s were %s", text__duration(part, sizeof(part), slice->ns),
			     cause__info(slice->cause)->id);
		begun = true;
	}
	if (begun)
		builder__add(text, ".");
}

/* "This happened 122 times in 122 exchanges, 40.5 ms each, 4.94 s in all: 98.8% of the time." */
void explanation__add_frequency(const struct context *context, char **text)
{
	const struct tally *tally = context->tally;
	const struct report_cause *cause = report__cause(context->report, tally->cause);
	uint64_t window = context->report->end_ts - context->report->start_ts;
	char count[TEXT_COUNT], each[TEXT_DURATION], all[TEXT_DURATION], share[TEXT_PERCENT];

	if (tally->count == 1)
		builder__add(text, " This happened once");
	else
		builder__add(text, " This happened %s times",
			     text__count(count, sizeof(count), tally->count));
	add_occasions(context, text);
	text__duration(all, sizeof(all), tally->total_ns);
	if (tally->count == 1)
		builder__add(text, " and took %s", all);
	else
		builder__add(text, ", %s%s, %s in all",
			     text__duration(each, sizeof(each), context__each(context)),
			     cause ? cause__each_word(cause) : " each", all);
	if (window)
		builder__add(text, ": %s of the time watched",
			     text__percent(share, sizeof(share),
					   (double)tally->total_ns / (double)window));
	builder__add(text, ".");
}

/* Nagle's tale says by itself what ended it. */
static void add_ended(const struct context *context, char **text)
{
	const struct stall *stall = context->stall;

	if (!stall->held_bytes || !stall->released_by || stall->reason == NS_HOLD_NAGLE)
		return;
	builder__add(text, " The bytes were released by %s.", release__text(stall->released_by));
}

static void add_missing(const struct context *context, char **text)
{
	if (context->stall->missing)
		builder__add(text, " Not seen: %s.", missing__text(context->stall->missing));
	if (context->stall->confidence == CONFIDENCE_INFERRED && context->stall->inferred)
		builder__add(text, " This is deduced: %s.",
			     inferred__text(context->stall->inferred));
}

void explanation__write(const struct context *context, char **text)
{
	explanations[context->tally->cause](context, text);
	add_ended(context, text);
	add_other_causes(context, text);
	add_missing(context, text);
}

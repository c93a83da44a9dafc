// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/inconclusive.h"

#include <stdio.h>
#include <stdlib.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/clauses.h"
#include "user/record/facts.h"
#include "user/record/losses.h"
#include "user/render/words/names.h"

void reason__add(struct outcome *outcome, enum reason_kind kind, char *text, reason_gates *gates,
		 const void *context)
{
	struct reason *reason;

	if (outcome->reason_count == OUTCOME_REASONS) {
		/* The run is inconclusive already; the last sentence stands for this one too. */
		free(text);
		text = outcome->reasons[OUTCOME_REASONS - 1].text;
	} else {
		reason = &outcome->reasons[outcome->reason_count++];
		reason->kind = kind;
		reason->text = text;
	}
	/* What a run is compared with is another matter than its budgets. */
	for (size_t i = 0; i < outcome->gate_count && kind != REASON_BASELINE; i++) {
		struct gate *gate = &outcome->gates[i];

		if (gate->state != GATE_WITHIN || (gates && !gates(gate, context)))
			continue;
		gate->state = GATE_BLIND;
		gate->why = text;
	}
}

/* ---- what was lost ---- */

/* Every gate but those that are over their budget anyway. */
static void find_losses(struct outcome *outcome)
{
	const uint64_t *lost = outcome->report->lost;

	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++) {
		const struct loss_kind *loss = loss_kind(kind);

		if (!loss || !loss->remedy || !lost[kind])
			continue;
		reason__add(
			outcome, REASON_LOST,
			xasprintf(
				"%s %s lost (%s) within %s of %s, and perhaps a stall with "
				"them: %s",
				count_text(lost[kind]), lost[kind] == 1 ? loss->one : loss->many,
				loss->why, duration_text(outcome->report->blind_ns),
				duration_text(outcome->report->end_ts - outcome->report->start_ts),
				loss->remedy),
			NULL, NULL);
	}
}

/* ---- what this way to attach does not show ---- */

static bool needs_fact(const struct gate *gate, const void *context)
{
	uint32_t fact = *(const uint32_t *)context;

	/* A stall that has another name counts in the total too. */
	if (gate->budget.of == BUDGET_OF_TOTAL)
		return fact__row(fact)->finds_stalls;
	if (gate->budget.of)
		return false;
	return cause__info(gate->budget.cause)->needs >> fact & 1;
}

/* "rto, syn-retransmit" and "rto=none,syn-retransmit=none"; false: no gate needs it. */
static bool name_blind_gates(const struct outcome *outcome, uint32_t fact, char *names, size_t size,
			     char *without, size_t without_size)
{
	size_t used = 0, dropped = 0;

	for (size_t i = 0; i < outcome->gate_count; i++) {
		const struct gate *gate = &outcome->gates[i];

		if (gate->state == GATE_OVER || !needs_fact(gate, &fact))
			continue;
		used += snprintf(names + used, size - used, "%s%s", used ? ", " : "",
				 budget__name(&gate->budget));
		dropped += snprintf(without + dropped, without_size - dropped, "%s%s=none",
				    dropped ? "," : "", budget__name(&gate->budget));
	}
	return used > 0;
}

static void find_blindness(struct outcome *outcome)
{
	const struct ns_session *session = &outcome->report->session;
	char names[512], without[640]; /* all causes have room */

	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		char *why;

		if (!(session->missing >> fact & 1) ||
		    !name_blind_gates(outcome, fact, names, sizeof(names), without,
				      sizeof(without)))
			continue;
		why = outcome->report->refused[fact].head.type
			      ? fact__refusal_text(&outcome->report->refused[fact])
			      : xasprintf("%.16s on kernel %.64s", session->way, session->kernel);
		reason__add(
			outcome, REASON_BLIND,
			xasprintf("%s cannot be judged here: netstall does not see %s (%s); %s, or "
				  "do not judge it, with --budget %s",
				  names, fact__row(fact)->words, why,
				  fact == NS_FACT_NAMES ? "run it with CAP_SYSLOG"
							: "try another kernel or -C attach=",
				  without),
			needs_fact, &fact);
		free(why);
	}
}

/* ---- what a stall may really have been ---- */

/* Stalls of one cause that are unsure in one way. */
struct question {
	const struct counts *counts;
	double seconds;
	enum cause found;
	enum unsure unsure;
};

static const struct unsure_stalls *asked(const struct question *question)
{
	return &question->counts->by[question->found].unsure[question->unsure];
}

static bool concerns(const struct question *question, const struct budget *budget)
{
	if (!asked(question)->count || budget__is_of_requests(budget))
		return false;
	if (!budget->of)
		return unsure__could_be(question->unsure, question->found, budget->cause);
	/* All causes count there: what matters is whether it was a stall at all. */
	return question->unsure == UNSURE_END || question->unsure == UNSURE_WARMUP;
}

/* Would the gate be over its budget if all that may be of its cause was? */
static bool could_exceed(const struct gate *gate, const struct question *question)
{
	uint64_t count = gate->count, ns = gate->total_ns;
	struct question each = *question;

	for (int found = 0; found < CAUSE_COUNT && !gate->budget.of; found++) {
		each.found = (enum cause)found;
		for (int unsure = 0; unsure < UNSURE_KINDS; unsure++) {
			each.unsure = (enum unsure)unsure;
			/* Its own are counted already. */
			if (each.found == gate->budget.cause || !concerns(&each, &gate->budget))
				continue;
			count += asked(&each)->count;
			ns += asked(&each)->ns;
		}
	}
	return budget__is_exceeded(&gate->budget, count, ns, question->seconds);
}

static bool is_open_question(const struct gate *gate, const void *context)
{
	const struct question *question = context;

	return gate->state != GATE_OVER && concerns(question, &gate->budget) &&
	       could_exceed(gate, question);
}

/* " (the first 1.20 s after the start; not seen: the segment that released the bytes)" */
static char *about_first(const struct report *report, const struct stall *first)
{
	uint64_t since;

	if (!first)
		return xstrdup("");
	since = first->start_ts > report->start_ts ? first->start_ts - report->start_ts : 0;
	return xasprintf(" (the first %s after the start%s%s)", duration_text(since),
			 first->missing ? "; not seen: " : "",
			 first->missing ? missing__text(first->missing) : "");
}

static const char *remedy_of(const struct question *question)
{
	const struct stall *first = asked(question)->first;

	if (question->unsure == UNSURE_WARMUP)
		return "make the warm-up shorter, with --warmup";
	if (first && first->open)
		return "let it run on after its last request, or check for longer (-d)";
	if (question->found == CAUSE_UNKNOWN)
		return "`netstall trace --show=all` shows each of them";
	return "run it again (`netstall doctor` shows what this kernel hides)";
}

static char *ask(const struct outcome *outcome, const struct question *question)
{
	static const char *const words[UNSURE_KINDS] = {
		[UNSURE_END] = "may have been shorter than a stall: its end was not seen",
		[UNSURE_NAGLE] = "may have been nagle-delack",
		[UNSURE_UNKNOWN] = "may have been of any cause",
		[UNSURE_ELSEWISE] = "may have been of any cause but the network's",
		[UNSURE_WARMUP] = ("may have begun in the warm-up: only the first ones are listed"),
	};
	const struct unsure_stalls *stalls = asked(question);
	char *first = about_first(outcome->report, stalls->first), *text;

	text = xasprintf("%s %s stall%s %s%s: %s", count_text(stalls->count),
			 cause__info(question->found)->id, stalls->count == 1 ? "" : "s",
			 words[question->unsure], first, remedy_of(question));
	free(first);
	return text;
}

static void find_unsure(struct outcome *outcome, const struct counts *counts)
{
	struct question question = {.counts = counts, .seconds = outcome->seconds};

	for (int found = 0; found < CAUSE_COUNT; found++) {
		question.found = (enum cause)found;
		for (int unsure = 0; unsure < UNSURE_KINDS; unsure++) {
			bool open = false;

			question.unsure = (enum unsure)unsure;
			for (size_t i = 0; i < outcome->gate_count; i++)
				open |= is_open_question(&outcome->gates[i], &question);
			if (open)
				reason__add(outcome, REASON_UNSEEN_END, ask(outcome, &question),
					    is_open_question, &question);
		}
	}
}

static bool has_no_requests(const struct gate *gate, const void *context)
{
	(void)context;
	return budget__is_of_requests(&gate->budget) && !gate->slowest;
}

static void find_no_requests(struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->gate_count; i++) {
		if (!has_no_requests(&outcome->gates[i], NULL))
			continue;
		reason__add(
			outcome, REASON_EXCHANGES,
			xasprintf(
				"no request with an answer was looked at, so %s cannot be judged: check for longer, or do not judge it, with --budget %s=none",
				budget__name(&outcome->gates[i].budget),
				budget__name(&outcome->gates[i].budget)),
			has_no_requests, NULL);
		return;
	}
}

void reasons__find(struct outcome *outcome, const struct counts *counts)
{
	find_no_requests(outcome);
	find_blindness(outcome);
	find_losses(outcome);
	find_unsure(outcome, counts);
}

/* ---- the run as a whole: was there anything to judge, and did it last long enough? ---- */

static char *no_traffic(const struct outcome *outcome, const struct traffic *traffic)
{
	const char *lasted = duration_text((uint64_t)(outcome->seconds * 1e9));
	size_t connections = traffic->connections + traffic->attempts;

	if (!connections && outcome->report && outcome->report->children)
		return xasprintf(
			"the target had no TCP connection in %s, but %s of its children had or accept some: check them too with --children",
			lasted, count_text(outcome->report->children));
	if (!connections)
		return xasprintf(
			"the target had no TCP connection in %s: check a program that uses "
			"the network while it is checked, or allow this with "
			"--allow-no-traffic",
			lasted);
	return xasprintf(
		"no data was sent on the target's %s in %s (not answered, or idle): check it while it works, or allow this with --allow-no-traffic",
		counted_text(connections, "TCP connection"), lasted);
}

static char *few_exchanges(const struct outcome *outcome, const struct traffic *traffic)
{
	if (!traffic->exchanges)
		return xasprintf(
			"%s were sent and %s received, but no request had an answer, so no exchange could stall: check the program while it works, or allow this with --min-exchanges=0",
			bytes_text(traffic->bytes_out), bytes_text(traffic->bytes_in));
	return xasprintf(
		"%s (a request and its answer) %s seen, --min-exchanges wants "
		"%s: check for longer, or give a lower number",
		counted_text(traffic->exchanges, "exchange"),
		traffic->exchanges == 1 ? "was" : "were", count_text(outcome->min_exchanges));
}

/* What came in may be nothing but the ends of connections. */
static bool is_nothing(const struct traffic *traffic)
{
	return !traffic->bytes_out && !traffic->exchanges &&
	       traffic->bytes_in <= TRAFFIC_FIN * (traffic->connections + traffic->attempts);
}

static void judge_traffic(struct outcome *outcome, const struct gate_options *options,
			  const struct traffic *traffic)
{
	bool nothing = is_nothing(traffic);

	if (nothing && options->allow_no_traffic)
		return;
	if (nothing)
		reason__add(outcome, REASON_NO_TRAFFIC, no_traffic(outcome, traffic), NULL, NULL);
	else if (traffic->exchanges < options->min_exchanges)
		reason__add(outcome, REASON_EXCHANGES, few_exchanges(outcome, traffic), NULL, NULL);
}

void reasons__of_run(struct outcome *outcome, const struct gate_options *options,
		     const struct gate_facts *facts, const struct traffic *traffic)
{
	if (facts->no_target)
		reason__add(
			outcome, REASON_NO_TARGET,
			xstrdup("the target ended before netstall could attach: let netstall start it with `netstall check -- PROGRAM`, or start earlier"),
			NULL, NULL);
	if (facts->cut_short)
		reason__add(
			outcome, REASON_CUT_SHORT,
			xasprintf("a signal ended the check after %s, before its time: let it run "
				  "to its end, or ask for less with -d",
				  duration_text((uint64_t)(outcome->seconds * 1e9))),
			NULL, NULL);
	/* Whatever else is allowed: nothing of it was looked at. */
	if (outcome->warmup_seconds > 0 && !(outcome->seconds > 0))
		reason__add(outcome, REASON_CUT_SHORT,
			    xasprintf("it ended after %s, before the check began: %s",
				      duration_text((uint64_t)(outcome->warmup_seconds * 1e9)),
				      facts->program.wait_port
					      ? "see that it listens at its --wait-port, and for "
						"how long"
					      : "check for longer, or make the --warmup shorter"),
			    NULL, NULL);
	else if (traffic)
		judge_traffic(outcome, options, traffic);
}

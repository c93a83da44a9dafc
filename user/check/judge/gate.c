// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/judge/gate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/analyze/conns.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/check/judge/counts.h"
#include "user/check/judge/inconclusive.h"

/* What went over the target's connections. */
struct traffic traffic__of(const struct report *report)
{
	return conn_sums__of(report).traffic;
}

const char *verdict_kind__name(enum verdict_kind kind)
{
	static const char *const names[] = {
		[CHECK_WITHIN] = "within budget",          [CHECK_OVER] = "over budget",
		[CHECK_UNABLE] = "netstall failed",        [CHECK_INCONCLUSIVE] = "inconclusive",
		[CHECK_PROGRAM_FAILED] = "program failed",
	};

	return names[kind];
}

bool inconclusive__parse(enum inconclusive *mode, const char *text)
{
	static const char *const names[] = {
		[INCONCLUSIVE_OWN] = "3",
		[INCONCLUSIVE_PASS] = "pass",
		[INCONCLUSIVE_FAIL] = "fail",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*mode = (enum inconclusive)i;
			return true;
		}
	}
	return false;
}

bool outcome__is_worse(const struct outcome *outcome)
{
	return (outcome->change_count && outcome->changes[0].worse) ||
	       (outcome->request_change_count && outcome->request_changes[0].worse);
}

/* ---- gates ---- */

static void fill_gate(struct gate *gate, const struct cause_counts *counts, double seconds)
{
	gate->count = counts->count;
	gate->total_ns = counts->total_ns;
	gate->share = budget__share(counts->total_ns, seconds);
	gate->first = counts->first;
}

static const struct request_view *view_of(const struct gate *gate,
					  const struct report_requests *row)
{
	return gate->budget.of == BUDGET_OF_MEDIAN ? &row->median : &row->p99;
}

static void measure_requests(struct gate *gate, const struct report *report,
			     const struct counts *counts)
{
	for (size_t i = 0; i < report->requests_count; i++) {
		const struct report_requests *row = &report->requests[i];

		if (row->sampled && report__is_endpoint(report, i) &&
		    (!gate->slowest ||
		     view_of(gate, row)->total_ns > view_of(gate, gate->slowest)->total_ns))
			gate->slowest = row;
	}
	if (!gate->slowest)
		return;
	gate->count = gate->slowest->count;
	gate->total_ns = view_of(gate, gate->slowest)->total_ns;
	gate->first = counts->by[request_view__most(view_of(gate, gate->slowest))].first;
}

static void judge_gates(struct outcome *outcome, const struct budgets *budgets,
			const struct counts *counts)
{
	for (size_t i = 0; i < budgets->count; i++) {
		const struct budget *budget = &budgets->v[i];
		const struct cause_counts *own =
			budget->of ? &counts->total : &counts->by[budget->cause];
		struct gate *gate = &outcome->gates[outcome->gate_count++];
		uint64_t proven_ns = own->proven_ns;

		gate->budget = *budget;
		if (budget__is_of_requests(budget)) {
			measure_requests(gate, outcome->report, counts);
			proven_ns = gate->total_ns;
		} else {
			fill_gate(gate, own, outcome->seconds);
		}
		if (budget__is_exceeded(budget, own->proven, proven_ns, outcome->seconds))
			gate->state = GATE_OVER;
	}
}

static int most_time_first(const void *a, const void *b)
{
	const struct gate *one = a, *other = b;

	if (one->total_ns != other->total_ns)
		return one->total_ns > other->total_ns ? -1 : 1;
	return (int)one->budget.cause - (int)other->budget.cause;
}

static void list_others(struct outcome *outcome, const struct budgets *budgets,
			const struct counts *counts)
{
	for (int cause = 0; cause < CAUSE_COUNT; cause++) {
		struct gate *other = &outcome->others[outcome->other_count];

		if (!counts->by[cause].count || budgets__gate(budgets, (enum cause)cause))
			continue;
		other->budget.cause = (enum cause)cause;
		fill_gate(other, &counts->by[cause], outcome->seconds);
		outcome->other_count++;
	}
	sort_array(outcome->others, outcome->other_count, sizeof(outcome->others[0]),
		   most_time_first);
}

/* ---- the baseline ---- */

/* NULL: the two can be compared. */
static char *why_not_compared(const struct outcome *outcome, const struct baseline *then,
			      const struct baseline *now)
{
	if (!now->exchanges)
		return xstrdup(
			"without an exchange there is no rate to compare with the baseline's: check for longer, or check a program that sends requests");
	if (outcome->traffic_of_warmup)
		return xstrdup(
			"exchanges of the warm-up could not be separated, so there is no rate to compare with the baseline's: check "
			"without --warmup");
	if (then->threshold_ns != now->threshold_ns)
		return xasprintf(
			"the baseline counts stalls of %s and more, this check those of %s: give "
			"the same --threshold, or save a new baseline",
			nominal_text(then->threshold_ns), nominal_text(now->threshold_ns));
	return NULL;
}

static void compare(struct outcome *outcome, const struct gate_options *options)
{
	struct baseline now;
	char *text;

	outcome->baseline = options->baseline_name;
	outcome->baseline_confidence =
		options->confidence > 0 ? options->confidence : BASELINE_CONFIDENCE;
	baseline__count(&now, outcome);
	text = why_not_compared(outcome, options->baseline, &now);
	if (text) {
		reason__add(outcome, REASON_BASELINE, text, NULL, NULL);
		return;
	}
	outcome->change_count =
		baseline__compare(options->baseline, &now, baseline__judged(outcome),
				  outcome->baseline_confidence, outcome->changes);
	/* One that was saved before there were any has nothing to compare with. */
	if (options->baseline->endpoint_count)
		outcome->request_change_count = baseline__compare_requests(
			options->baseline, &now, outcome->request_changes);
}

/* ---- the verdict ---- */

static bool has_failed(const struct program_outcome *program)
{
	switch (program->end) {
	case PROGRAM_NONE:
	case PROGRAM_OUTLIVED:
		return false;
	case PROGRAM_EXITED:
		return program->status != 0;
	case PROGRAM_SIGNALLED: /* by us too: it did not come to its end */
	case PROGRAM_NOT_FOUND:
	case PROGRAM_NOT_RUN:
	case PROGRAM_TIMED_OUT:
	case PROGRAM_NOT_READY:
		break;
	}
	return true;
}

/* What was traced of one that did not, nothing, is not worth a word. */
static bool ran(const struct program_outcome *program)
{
	return program->end != PROGRAM_NOT_FOUND && program->end != PROGRAM_NOT_RUN;
}

static bool is_over(const struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->gate_count; i++) {
		if (outcome->gates[i].state == GATE_OVER)
			return true;
	}
	return outcome__is_worse(outcome);
}

static enum verdict_kind verdict_of(const struct outcome *outcome)
{
	if (has_failed(&outcome->program))
		return CHECK_PROGRAM_FAILED;
	if (is_over(outcome))
		return CHECK_OVER;
	if (outcome->unable)
		return CHECK_UNABLE;
	return outcome->reason_count ? CHECK_INCONCLUSIVE : CHECK_WITHIN;
}

static int exit_status_of(enum verdict_kind verdict, enum inconclusive inconclusive)
{
	if (verdict != CHECK_INCONCLUSIVE || inconclusive == INCONCLUSIVE_OWN)
		return (int)verdict;
	return inconclusive == INCONCLUSIVE_FAIL;
}

static void conclude(struct outcome *outcome, enum inconclusive inconclusive)
{
	outcome->verdict = verdict_of(outcome);
	outcome->exit_status = exit_status_of(outcome->verdict, inconclusive);
}

void outcome__set_unable(struct outcome *outcome, const char *why)
{
	if (!outcome->unable)
		outcome->unable = xstrdup(why);
	/* --inconclusive has no say any more: what was inconclusive is worse now. */
	conclude(outcome, INCONCLUSIVE_OWN);
}

/* ---- all of it ---- */

static uint64_t later(uint64_t after, uint64_t before)
{
	return after > before ? after - before : 0;
}

static void measure(struct outcome *outcome, const struct gate_options *options,
		    const struct gate_facts *facts, struct traffic *traffic)
{
	const struct report *report = outcome->report;
	uint64_t from = options->judged_from;

	if (from < report->start_ts)
		from = report->start_ts;
	if (from > report->end_ts)
		from = report->end_ts;
	outcome->seconds = (double)(report->end_ts - from) / 1e9;
	outcome->warmup_seconds = (double)(from - report->start_ts) / 1e9;
	*traffic = traffic__of(report);
	outcome->connections = traffic->connections;
	if (facts->has_before) {
		traffic->exchanges = later(traffic->exchanges, facts->before.exchanges);
		traffic->bytes_out = later(traffic->bytes_out, facts->before.bytes_out);
		traffic->bytes_in = later(traffic->bytes_in, facts->before.bytes_in);
	}
	outcome->exchanges = traffic->exchanges;
	outcome->traffic_of_warmup = outcome->warmup_seconds > 0 && !facts->has_before;
}

/* Nothing was traced: every gate is blind, for a reason that the verdict gives. */
static void leave_gates_blind(struct outcome *outcome, const struct budgets *budgets)
{
	for (size_t i = 0; i < budgets->count; i++) {
		outcome->gates[i].budget = budgets->v[i];
		outcome->gates[i].state = GATE_BLIND;
		outcome->gates[i].why = "nothing was traced";
	}
	outcome->gate_count = budgets->count;
}

static void judge(struct outcome *outcome, const struct gate_options *options,
		  const struct gate_facts *facts)
{
	struct counts *counts = xcalloc(1, sizeof(*counts));
	struct traffic traffic;

	counts__make(counts, outcome->report, options->judged_from);
	measure(outcome, options, facts, &traffic);
	judge_gates(outcome, options->budgets, counts);
	list_others(outcome, options->budgets, counts);
	reasons__of_run(outcome, options, facts, &traffic);
	reasons__find(outcome, counts);
	if (options->baseline)
		compare(outcome, options);
	free(counts);
}

struct outcome *outcome__new(const struct report *report, const struct gate_options *options,
			     const struct gate_facts *facts)
{
	struct outcome *outcome = xcalloc(1, sizeof(*outcome));

	outcome->report = report = ran(&facts->program) ? report : NULL;
	outcome->program = facts->program;
	outcome->min_exchanges = options->min_exchanges;
	snprintf(outcome->target, sizeof(outcome->target), "%s",
		 facts->target ? facts->target : "");
	if (facts->unable)
		outcome->unable = xstrdup(facts->unable);
	if (report) {
		judge(outcome, options, facts);
	} else {
		leave_gates_blind(outcome, options->budgets);
		reasons__of_run(outcome, options, facts, NULL);
	}
	if (facts->baseline_problem)
		reason__add(outcome, REASON_BASELINE, xstrdup(facts->baseline_problem), NULL, NULL);
	/* Never clean when it saw nothing, whatever the reason. */
	if (!report && !outcome->unable && !outcome->reason_count && !has_failed(&outcome->program))
		outcome->unable = xstrdup("nothing was traced");
	conclude(outcome, options->inconclusive);
	return outcome;
}

void outcome__free(struct outcome *outcome)
{
	if (!outcome)
		return;
	for (size_t i = 0; i < outcome->reason_count; i++)
		free(outcome->reasons[i].text);
	free(outcome->unable);
	free(outcome);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A check for people, who see it below a failed job: what failed, then each budget, then the
 * first stall that is over one, what it means, and what to do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/check/judge/baseline.h"
#include "user/check/reports/clauses.h"
#include "user/check/reports/page.h"
#include "user/check/reports/reports.h"
#include "user/explain/builder.h"
#include "user/explain/call_site.h"
#include "user/explain/verdict.h"
#include "user/render/terminal/grid.h"

#define MOST_LINES    25
#define PROOF_LINES   7
#define INDENT        2
#define OTHERS        4
#define REASONS_SHOWN 4
#define ADVICE        2

/* What goes when there are too many lines: the greatest first. */
enum rank {
	RANK_VERDICT,
	RANK_FAILED,
	RANK_STALL,
	RANK_ADVICE,
	RANK_WATCHED,
	RANK_SITES,
	RANK_WHAT,
	RANK_FINE,
	RANK_OTHERS,
};

static const struct {
	const char *word;
	enum colour colour;
} verdicts[] = {
	[CHECK_WITHIN] = {"PASS", COLOUR_GOOD},
	[CHECK_OVER] = {"FAIL", COLOUR_CAUSE},
	[CHECK_UNABLE] = {"ERROR", COLOUR_CAUSE},
	[CHECK_INCONCLUSIVE] = {"INCONCLUSIVE", COLOUR_CAUSE},
	[CHECK_PROGRAM_FAILED] = {"FAIL", COLOUR_CAUSE},
};

static void add_verdict(struct page *page, const struct outcome *outcome)
{
	char verdict[CLAUSE_SIZE];

	page__add(page, RANK_VERDICT, 2 * INDENT, verdicts[outcome->verdict].colour,
		  "%s (exit status %d)  %s", verdicts[outcome->verdict].word, outcome->exit_status,
		  clause__verdict(verdict, sizeof(verdict), outcome));
}

/* ---- each budget ---- */

static void add_row(struct grid *grid, const struct gate *gate, const char *state,
		    enum colour colour)
{
	char measure[128], limit[48], budget[64];

	print_to(budget, "budget %s", budget__limit(&gate->budget, limit, sizeof(limit)));
	grid__row(grid, colour, state, budget__name(&gate->budget),
		  clause__measure(measure, sizeof(measure), gate), budget);
}

static void add_other(struct grid *grid, const struct gate *gate)
{
	char stalls[40], total[64];

	print_to(stalls, "%lu stall%s", (unsigned long)gate->count, gate->count == 1 ? "" : "s");
	print_to(total, "no budget, %s in all", duration_text(gate->total_ns));
	grid__row(grid, COLOUR_DIM, "-", cause__info(gate->budget.cause)->id, stalls, total);
}

static void print_gates(struct grid *grid, const struct outcome *outcome, enum gate_state state)
{
	static const char *const words[] = {
		[GATE_OVER] = "FAIL", [GATE_BLIND] = "?", [GATE_WITHIN] = "ok"};
	static const enum colour colours[] = {[GATE_OVER] = COLOUR_CAUSE,
					      [GATE_BLIND] = COLOUR_HELD,
					      [GATE_WITHIN] = COLOUR_PLAIN};

	for (size_t i = 0; i < outcome->gate_count; i++)
		if (outcome->gates[i].state == state)
			add_row(grid, &outcome->gates[i], words[state], colours[state]);
}

/* The first so many rows are of gates; the others are of causes without a budget. */
static void add_rows(struct page *page, char *text, size_t gates, bool failed)
{
	char *line = text, *next;

	for (size_t at = 0; (next = strchr(line, '\n')); line = next + 1, at++) {
		*next = '\0';
		page__block(page,
			    at >= gates ? RANK_OTHERS
			    : failed    ? RANK_FAILED
					: RANK_FINE,
			    line);
	}
}

/* Below what failed, what did not is one line. */
static void add_fine_ones(struct page *page, const struct outcome *outcome)
{
	char names[512] = "";
	size_t fine = 0;

	for (size_t i = 0; i < outcome->gate_count; i++) {
		if (outcome->gates[i].state != GATE_WITHIN)
			continue;
		add_to(names, ", ", "%s", budget__name(&outcome->gates[i].budget));
		fine++;
	}
	if (fine)
		page__add(page, RANK_WATCHED, 4 * INDENT, COLOUR_PLAIN, "  ok    within %s: %s",
			  fine == 1 ? "its budget" : "their budgets", names);
}

/* One grid, so that the columns of all rows agree; its lines then count one by one. */
static void add_gates(struct page *page, const struct outcome *outcome,
		      const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{NULL, false}, {NULL, false}, {NULL, true}, {NULL, false}};
	struct grid *grid = grid__new(columns, sizeof(columns) / sizeof(columns[0]));
	size_t size, failed = 0;
	char *text;
	FILE *out = xmemstream(&text, &size);

	for (size_t i = 0; i < outcome->gate_count; i++)
		failed += outcome->gates[i].state != GATE_WITHIN;
	print_gates(grid, outcome, GATE_OVER);
	print_gates(grid, outcome, GATE_BLIND);
	if (!failed)
		print_gates(grid, outcome, GATE_WITHIN);
	for (size_t i = 0; i < outcome->other_count && i < OTHERS; i++)
		add_other(grid, &outcome->others[i]);
	grid__finish(grid, out, style, INDENT);
	fclose(out);
	add_rows(page, text, failed ? failed : outcome->gate_count, failed > 0);
	if (failed)
		add_fine_ones(page, outcome);
	free(text);
}

static void add_changes(struct page *page, const struct outcome *outcome)
{
	char text[256];

	for (size_t i = 0; i < outcome->change_count; i++) {
		const struct change *change = &outcome->changes[i];

		if (!change->worse && !change->better)
			continue;
		page__add(page, change->worse ? RANK_FAILED : RANK_OTHERS, 3 * INDENT,
			  change->worse ? COLOUR_CAUSE : COLOUR_GOOD, "  %s than in %s: %s",
			  change->worse ? "FAIL  more often" : "ok  less often",
			  safe_text(outcome->baseline, 64),
			  change__text(change, text, sizeof(text)));
	}
	for (size_t i = 0; i < outcome->request_change_count; i++) {
		const struct request_change *change = &outcome->request_changes[i];

		/* Worse ones come first; of the others a few for both their numbers. */
		if (!change->worse && i >= OTHERS)
			break;
		page__add(page, change->worse ? RANK_FAILED : RANK_OTHERS, 3 * INDENT,
			  change->worse    ? COLOUR_CAUSE
			  : change->better ? COLOUR_GOOD
					   : COLOUR_DIM,
			  "  %s in %s: %s",
			  change->worse                               ? "FAIL  slower than"
			  : change->better                            ? "ok  faster than"
			  : !change->then.count || !change->now.count ? "-  not as"
								      : "ok  no slower than",
			  safe_text(outcome->baseline, 64),
			  request_change__text(change, text, sizeof(text)));
	}
}

static void add_reasons(struct page *page, const struct outcome *outcome)
{
	/* The verdict's line has the first one, when it is the verdict. */
	size_t first = outcome->verdict == CHECK_INCONCLUSIVE ? 1 : 0;

	for (size_t i = first; i < outcome->reason_count && i < REASONS_SHOWN; i++)
		page__add(page, RANK_FAILED, 2 * INDENT, COLOUR_HELD, "  Not proven: %s",
			  outcome->reasons[i].text);
	if (outcome->reason_count > REASONS_SHOWN)
		page__add(page, RANK_OTHERS, 2 * INDENT, COLOUR_HELD,
			  "  Not proven: %zu more reasons, all of them in the JSON.",
			  outcome->reason_count - REASONS_SHOWN);
}

/* ---- the stall ---- */

static void add_proof(struct page *page, const struct outcome *outcome, const struct stall *stall,
		      const struct render_style *style)
{
	char *text, lines[SITE_LINES][SITE_LINE];
	unsigned count = site__lines(stall, lines);
	size_t size, left_out;
	FILE *out = xmemstream(&text, &size);

	left_out = render__stall_proof(out, outcome->report, stall, style, PROOF_LINES, 2 * INDENT);
	fclose(out);
	page__block(page, RANK_STALL, text);
	free(text);
	for (unsigned i = 0; i < count; i++)
		page__add(page, RANK_SITES, 3 * INDENT, COLOUR_STRONG, "    %s", lines[i]);
	if (left_out && !outcome->kept && !outcome->file_count)
		page__add(page, RANK_OTHERS, 2 * INDENT, COLOUR_DIM,
			  "    (%zu more lines: --keep DIR or --junit FILE)", left_out);
}

static void add_advice(struct page *page, const struct report *report, enum cause cause)
{
	const struct cause_info *info = cause__info(cause);
	const struct report_cause *leading = report__leading(report);
	struct verdict verdict;

	page__add(page, RANK_WHAT, 2 * INDENT, COLOUR_PLAIN, "  What it means: %s", info->meaning);
	verdict__write(&verdict, report);
	if (!leading || leading->cause != cause || !verdict.advice_count)
		page__add(page, RANK_ADVICE, 2 * INDENT, COLOUR_PLAIN, "  To do: %s", info->remedy);
	else
		for (size_t i = 0; i < verdict.advice_count && i < ADVICE; i++)
			page__add(page, i ? RANK_WHAT : RANK_ADVICE, 3 * INDENT, COLOUR_PLAIN,
				  "  %s %s", i ? "Or:   " : "To do:", verdict.advice[i]);
	verdict__clear(&verdict);
}

static const struct gate *gate_of_cause(const struct outcome *outcome, enum cause cause)
{
	for (size_t k = 0; k < outcome->other_count; k++)
		if (outcome->others[k].budget.cause == cause)
			return &outcome->others[k];
	for (size_t k = 0; k < outcome->gate_count; k++)
		if (!outcome->gates[k].budget.of && outcome->gates[k].budget.cause == cause)
			return &outcome->gates[k];
	return NULL;
}

/* What came up more often than in the baseline, without being over a budget; or what most of the
 * time is of requests that take longer. Worse ones come first. */
static const struct gate *worse_than_before(const struct outcome *outcome)
{
	if (outcome->change_count && outcome->changes[0].worse)
		return gate_of_cause(outcome, outcome->changes[0].cause);
	if (outcome->request_change_count && outcome->request_changes[0].worse)
		return gate_of_cause(outcome, outcome->request_changes[0].now.most);
	return NULL;
}

static void add_stall(struct page *page, const struct outcome *outcome,
		      const struct render_style *style)
{
	const struct gate *worst = clause__worst(outcome);
	const struct gate *gate = worst ? worst : worse_than_before(outcome);
	char head[CLAUSE_SIZE];

	if (!gate || !gate->first || !outcome->report)
		return;
	page__add(page, RANK_STALL, 2 * INDENT, COLOUR_STRONG, "  The first, %s: %s",
		  cause__info(gate->first->cause)->id,
		  clause__stall(head, sizeof(head), outcome->report, gate->first));
	add_proof(page, outcome, gate->first, style);
	add_advice(page, outcome->report, gate->first->cause);
}

/* ---- the rest ---- */

static void add_places(struct page *page, const struct outcome *outcome)
{
	char *list = NULL;

	if (outcome->kept && outcome->kept_count)
		page__add(page, RANK_WATCHED, 2 * INDENT, COLOUR_PLAIN,
			  "  Kept for `netstall report`: %s in %s",
			  counted_text(outcome->kept_count, "recording"),
			  safe_text(outcome->kept, 200));
	if (!outcome->file_count)
		return;
	for (size_t i = 0; i < outcome->file_count; i++)
		builder__add(&list, "%s%s %s", i ? ", " : "", outcome->files[i].what,
			     safe_text(outcome->files[i].path, 200));
	page__add(page, RANK_WATCHED, 2 * INDENT, COLOUR_PLAIN, "  Reports: %s", list);
	free(list);
}

void check_text__write(FILE *out, const struct outcome *outcome, const struct render_style *style)
{
	struct page *page = page__new(style);
	char text[CLAUSE_SIZE];

	add_verdict(page, outcome);
	if (outcome->report)
		add_gates(page, outcome, style);
	add_changes(page, outcome);
	add_reasons(page, outcome);
	add_stall(page, outcome, style);
	if (outcome->program.end != PROGRAM_NONE && outcome->verdict != CHECK_PROGRAM_FAILED)
		page__add(page, RANK_WATCHED, 2 * INDENT, COLOUR_PLAIN, "  %s",
			  clause__program(text, sizeof(text), outcome));
	if (outcome->verdict != CHECK_UNABLE && outcome->unable)
		page__add(page, RANK_FAILED, 2 * INDENT, COLOUR_CAUSE, "  Also: %s",
			  outcome->unable);
	page__add(page, RANK_WATCHED, 2 * INDENT, COLOUR_PLAIN, "  %s%s%s", outcome->target,
		  outcome->target[0] ? ": " : "", clause__watched(text, sizeof(text), outcome));
	add_places(page, outcome);
	page__end(page, out, MOST_LINES);
}

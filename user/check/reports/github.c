// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * GitHub Actions: an annotation for each thing that is wrong, on the line of code where that is
 * known, and a summary of the job. A step shows ten annotations of a kind: what is over its budget
 * comes first.
 */
#include <stdlib.h>

#include "user/base/escape.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/check/judge/baseline.h"
#include "user/check/judge/place.h"
#include "user/check/reports/clauses.h"
#include "user/check/reports/reports.h"
#include "user/check/reports/results.h"

#define PROOF_LINES 12

static void command(FILE *out, const char *level, const struct site_place *place, const char *title,
		    const char *text)
{
	char path[sizeof(place->file)];
	const char *file = NULL;

	if (place)
		file = place__relative(path, sizeof(path), place->file, getenv("GITHUB_WORKSPACE"));
	fprintf(out, "::%s ", level);
	if (file) {
		fputs("file=", out);
		escape__github(out, safe_text(file, sizeof(path)), true);
		fprintf(out, ",line=%u,", place->line);
	}
	fputs("title=", out);
	escape__github(out, title, true);
	fputs("::", out);
	escape__github(out, text, false);
	fputc('\n', out);
}

/* What a person needs who sees nothing but this. */
static char *describe(const struct outcome *outcome, const struct gate *gate)
{
	const struct render_style style = {.width = 120};
	const struct cause_info *info = cause__info(gate->first->cause);
	char *text, line[CLAUSE_SIZE], lines[SITE_LINES][SITE_LINE];
	unsigned count = site__lines(gate->first, lines);
	size_t size;
	FILE *out = xmemstream(&text, &size);

	fprintf(out, "%s\n", clause__gate(line, sizeof(line), gate));
	fprintf(out, "The first: %s\n",
		clause__stall(line, sizeof(line), outcome->report, gate->first));
	render__stall_proof(out, outcome->report, gate->first, &style, PROOF_LINES, 0);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "%s\n", lines[i]);
	fprintf(out, "%s\n%s", info->meaning, info->remedy);
	fclose(out);
	return text;
}

static void annotate_gate(FILE *out, const struct outcome *outcome, const struct gate *gate)
{
	const char *name = budget__name(&gate->budget);
	struct site_place place;
	char title[96], text[CLAUSE_SIZE], *whole;

	snprintf(title, sizeof(title), "netstall: %s over its budget", name);
	if (!gate->first || !outcome->report) {
		command(out, "error", NULL, title, clause__gate(text, sizeof(text), gate));
		return;
	}
	whole = describe(outcome, gate);
	command(out, "error", place__of(outcome->report, gate->first, &place) ? &place : NULL,
		title, whole);
	free(whole);
}

void check_github__annotate(FILE *out, const struct outcome *outcome)
{
	char text[CLAUSE_SIZE];

	for (size_t i = 0; i < outcome->gate_count; i++)
		if (outcome->gates[i].state == GATE_OVER)
			annotate_gate(out, outcome, &outcome->gates[i]);
	for (size_t i = 0; i < outcome->change_count; i++)
		if (outcome->changes[i].worse)
			command(out, "error", NULL, "netstall: more often than in the baseline",
				change__text(&outcome->changes[i], text, sizeof(text)));
	for (size_t i = 0; i < outcome->request_change_count; i++)
		if (outcome->request_changes[i].worse)
			command(out, "error", NULL, "netstall: slower than in the baseline",
				request_change__text(&outcome->request_changes[i], text,
						     sizeof(text)));
	if (outcome->verdict == CHECK_PROGRAM_FAILED)
		command(out, "error", NULL, "netstall: the checked program failed",
			clause__program(text, sizeof(text), outcome));
	if (outcome->unable)
		command(out, "error", NULL, "netstall could not do its work", outcome->unable);
	for (size_t i = 0; i < outcome->reason_count; i++)
		command(out, outcome->exit_status ? "error" : "warning", NULL,
			"netstall: not proven", outcome->reasons[i].text);
}

/* ---- the summary ---- */

static void write_table(FILE *out, const struct results *results)
{
	static const char *const words[] = {[RESULT_PASSED] = "ok",
					    [RESULT_FAILED] = "**FAIL**",
					    [RESULT_ERROR] = "**error**",
					    [RESULT_SKIPPED] = "not proven"};

	fputs("| | | |\n| --- | --- | --- |\n", out);
	for (size_t i = 0; i < results->count; i++) {
		const struct result *result = &results->v[i];

		fprintf(out, "| %s | ", words[result->kind]);
		escape__markdown(out, result->name);
		fputs(" | ", out);
		escape__markdown(out, result->message);
		fputs(" |\n", out);
	}
}

static void write_evidence(FILE *out, const struct results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		const struct result *result = &results->v[i];

		if (result->kind != RESULT_FAILED || !result->body)
			continue;
		fputs("\n<details><summary>", out);
		escape__markdown(out, result->name);
		fputs(": the evidence</summary>\n\n", out);
		escape__fenced(out, result->body);
		fputs("\n</details>\n", out);
	}
}

void check_github__summary(FILE *out, const struct outcome *outcome)
{
	static const char *const marks[] = {[CHECK_WITHIN] = "passed",
					    [CHECK_OVER] = "failed",
					    [CHECK_UNABLE] = "did not work",
					    [CHECK_INCONCLUSIVE] = "inconclusive",
					    [CHECK_PROGRAM_FAILED] = "failed"};
	struct results *results = results__new(outcome);
	char text[CLAUSE_SIZE];

	fprintf(out, "### netstall check %s\n\n", marks[outcome->verdict]);
	escape__markdown(out, clause__verdict(text, sizeof(text), outcome));
	fprintf(out, " (exit status %d)\n\n", outcome->exit_status);
	write_table(out, results);
	write_evidence(out, results);
	fputs("\n", out);
	escape__markdown(out, outcome->target);
	fputs(outcome->target[0] ? ": " : "", out);
	escape__markdown(out, clause__watched(text, sizeof(text), outcome));
	fputs("\n\n", out);
	results__free(results);
}

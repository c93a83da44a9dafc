// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/check/reports/results.h"

#include <stdio.h>
#include <stdlib.h>

#include "user/base/xalloc.h"
#include "user/check/judge/baseline.h"
#include "user/check/reports/clauses.h"
#include "user/explain/builder.h"
#include "user/render/render.h"

#define BODY_WIDTH 120

/* Takes the message and the body. */
static void add(struct results *results, const char *name, enum result_kind kind, const char *type,
		char *message, char *body)
{
	results->v[results->count++] = (struct result){
		.name = name, .kind = kind, .type = type, .message = message, .body = body};
}

/* The whole chain of the stall, as `trace` would print it, and what it means. */
static char *evidence_of(const struct outcome *outcome, const struct gate *gate)
{
	const struct render_style style = {.width = BODY_WIDTH};
	const struct cause_info *info;
	char *text;
	size_t size;
	FILE *out;

	if (!gate->first || !outcome->report)
		return NULL;
	info = cause__info(gate->first->cause);
	out = xmemstream(&text, &size);
	render__stall(out, outcome->report, gate->first, &style);
	fprintf(out, "\n%s\n%s\n", info->meaning, info->remedy);
	fclose(out);
	return text;
}

static void add_gate(struct results *results, const struct outcome *outcome,
		     const struct gate *gate)
{
	const char *name = budget__name(&gate->budget);
	char text[CLAUSE_SIZE];

	clause__gate(text, sizeof(text), gate);
	if (gate->state == GATE_OVER)
		add(results, name, RESULT_FAILED, "over-budget", xstrdup(text),
		    evidence_of(outcome, gate));
	else if (outcome->verdict == CHECK_UNABLE)
		add(results, name, RESULT_ERROR, "unable", xstrdup(outcome->unable), NULL);
	else if (gate->state == GATE_BLIND)
		add(results, name, RESULT_SKIPPED, "blind",
		    xasprintf("%s, as far as seen: %s", text, gate->why), NULL);
	else
		add(results, name, RESULT_PASSED, NULL, xstrdup(text), NULL);
	results->v[results->count - 1].gate = gate;
}

static void add_program(struct results *results, const struct outcome *outcome)
{
	char text[CLAUSE_SIZE];

	if (outcome->program.end == PROGRAM_NONE)
		return;
	clause__program(text, sizeof(text), outcome);
	if (outcome->verdict == CHECK_PROGRAM_FAILED)
		add(results, "program", RESULT_FAILED, "program-failed", xstrdup(text), NULL);
	else
		add(results, "program", RESULT_PASSED, NULL, xstrdup(text), NULL);
}

/* The lines of the causes and endpoints that changed; NULL: none did. */
static char *changes_of(const struct outcome *outcome)
{
	char *text = NULL, line[256];

	for (size_t i = 0; i < outcome->change_count; i++)
		if (outcome->changes[i].worse || outcome->changes[i].better)
			builder__add(&text, "%s: %s\n",
				     outcome->changes[i].worse ? "worse" : "better",
				     change__text(&outcome->changes[i], line, sizeof(line)));
	for (size_t i = 0; i < outcome->request_change_count; i++)
		if (outcome->request_changes[i].worse || outcome->request_changes[i].better)
			builder__add(&text, "%s: %s\n",
				     outcome->request_changes[i].worse ? "slower" : "faster",
				     request_change__text(&outcome->request_changes[i], line,
							  sizeof(line)));
	return text;
}

static void add_baseline(struct results *results, const struct outcome *outcome)
{
	size_t worse = 0, slower = 0;

	if (!outcome->baseline)
		return;
	for (size_t i = 0; i < outcome->reason_count; i++) {
		if (outcome->reasons[i].kind != REASON_BASELINE)
			continue;
		add(results, "baseline", RESULT_SKIPPED, "baseline",
		    xstrdup(outcome->reasons[i].text), NULL);
		return;
	}
	for (size_t i = 0; i < outcome->change_count; i++)
		worse += outcome->changes[i].worse;
	for (size_t i = 0; i < outcome->request_change_count; i++)
		slower += outcome->request_changes[i].worse;
	if (outcome->verdict == CHECK_UNABLE)
		add(results, "baseline", RESULT_ERROR, "unable", xstrdup("nothing was compared"),
		    NULL);
	else if (worse)
		add(results, "baseline", RESULT_FAILED, "worse-than-baseline",
		    xasprintf("%zu cause%s more often than in the baseline", worse,
			      worse == 1 ? " comes up" : "s come up"),
		    changes_of(outcome));
	else if (slower)
		add(results, "baseline", RESULT_FAILED, "worse-than-baseline",
		    xasprintf("requests of %zu endpoint%s take longer than in the baseline", slower,
			      slower == 1 ? "" : "s"),
		    changes_of(outcome));
	else
		add(results, "baseline", RESULT_PASSED, NULL,
		    xstrdup("no cause comes up more often than in the baseline, and no requests take longer"),
		    changes_of(outcome));
}

/* --inconclusive=pass and fail show in the exit status alone. */
static void add_conclusive(struct results *results, const struct outcome *outcome)
{
	enum result_kind kind = RESULT_SKIPPED;
	char *text = NULL, watched[CLAUSE_SIZE];

	if (outcome->unable) {
		add(results, "conclusive", RESULT_ERROR, "unable", xstrdup(outcome->unable), NULL);
		return;
	}
	clause__watched(watched, sizeof(watched), outcome);
	if (!outcome->reason_count) {
		add(results, "conclusive", outcome->report ? RESULT_PASSED : RESULT_SKIPPED,
		    outcome->report ? NULL : "inconclusive", xstrdup(watched), NULL);
		return;
	}
	if (outcome->verdict == CHECK_INCONCLUSIVE && outcome->exit_status == 1)
		kind = RESULT_FAILED;
	for (size_t i = 0; i < outcome->reason_count; i++)
		builder__add(&text, "%s: %s\n", reason__id(outcome->reasons[i].kind),
			     outcome->reasons[i].text);
	builder__add(&text, "%s\n", watched);
	add(results, "conclusive", kind, "inconclusive", xstrdup(outcome->reasons[0].text), text);
}

struct results *results__new(const struct outcome *outcome)
{
	struct results *results = xcalloc(1, sizeof(*results));

	for (size_t i = 0; i < outcome->gate_count; i++)
		add_gate(results, outcome, &outcome->gates[i]);
	add_program(results, outcome);
	add_baseline(results, outcome);
	add_conclusive(results, outcome);
	return results;
}

void results__free(struct results *results)
{
	for (size_t i = 0; i < results->count; i++) {
		free(results->v[i].message);
		free(results->v[i].body);
	}
	free(results);
}

size_t results__count(const struct results *results, enum result_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < results->count; i++)
		count += results->v[i].kind == kind;
	return count;
}

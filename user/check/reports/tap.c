// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * TAP version 13 with YAML diagnostics. It has no word for "cannot say" but SKIP, which counts as
 * passed: so the test `conclusive` is `not ok` whenever the check does not exit with 0 for it.
 */
#include <string.h>

#include "user/base/escape.h"
#include "user/base/text.h"
#include "user/check/reports/reports.h"
#include "user/check/reports/results.h"

static void scalar(FILE *out, const char *key, const char *value)
{
	fprintf(out, "  %s: ", key);
	escape__yaml(out, value);
	fputc('\n', out);
}

static void write_gate(FILE *out, const struct gate *gate)
{
	char limit[48];

	scalar(out, "budget", budget__limit(&gate->budget, limit, sizeof(limit)));
	fprintf(out, "  %s: %llu\n", budget__is_of_requests(&gate->budget) ? "requests" : "stalls",
		(unsigned long long)gate->count);
	fprintf(out, "  %s: %s\n", budget__is_of_requests(&gate->budget) ? "ms" : "total_ms",
		ms_text((int64_t)gate->total_ns));
}

static void write_lines(FILE *out, const char *body)
{
	fputs("  evidence:\n", out);
	while (*body) {
		char line[1024];
		size_t len = strcspn(body, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)len, body);
		body += len + (body[len] == '\n');
		if (!len)
			continue;
		fputs("    - ", out);
		escape__yaml(out, line);
		fputc('\n', out);
	}
}

static void write_diagnostics(FILE *out, const struct result *result)
{
	static const char *const severities[] = {[RESULT_PASSED] = "comment",
						 [RESULT_FAILED] = "fail",
						 [RESULT_ERROR] = "error",
						 [RESULT_SKIPPED] = "skip"};

	if (result->kind == RESULT_PASSED)
		return;
	fputs("  ---\n", out);
	scalar(out, "message", result->message);
	scalar(out, "severity", severities[result->kind]);
	scalar(out, "type", result->type);
	if (result->gate)
		write_gate(out, result->gate);
	if (result->body)
		write_lines(out, result->body);
	fputs("  ...\n", out);
}

static bool counts_as_passed(const struct outcome *outcome, const struct result *result)
{
	if (result->kind == RESULT_SKIPPED)
		return strcmp(result->name, "conclusive") || outcome->exit_status == 0;
	return result->kind == RESULT_PASSED;
}

void check_tap__write(FILE *out, const struct outcome *outcome)
{
	struct results *results = results__new(outcome);

	fprintf(out, "TAP version 13\n1..%zu\n", results->count);
	for (size_t i = 0; i < results->count; i++) {
		const struct result *result = &results->v[i];
		bool passed = counts_as_passed(outcome, result);

		fprintf(out, "%s %zu - %s%s%s\n", passed ? "ok" : "not ok", i + 1, result->name,
			passed && result->kind == RESULT_SKIPPED ? " # SKIP " : "",
			passed && result->kind == RESULT_SKIPPED ? result->type : "");
		write_diagnostics(out, result);
	}
	results__free(results);
}

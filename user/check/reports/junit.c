// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * JUnit XML as Ant, Jenkins and GitLab read it. Their schemas differ; this fits all of them, which
 * is why properties, system-out and system-err stand there when they are empty, and the elements
 * have the attributes that the strictest demands.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/base/escape.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/check/reports/clauses.h"
#include "user/check/reports/reports.h"
#include "user/check/reports/results.h"

static void attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	escape__xml(out, value, true);
	fputc('"', out);
}

/* UTC; a zone may not be named. */
static char *timestamp(char *dst, size_t size, const struct report *report)
{
	time_t secs = 0;
	struct tm utc;

	if (report)
		secs = (time_t)((report->start_ts + report->session.wall_offset_ns) / 1000000000u);
	if (!gmtime_r(&secs, &utc) || !strftime(dst, size, "%Y-%m-%dT%H:%M:%S", &utc))
		snprintf(dst, size, "1970-01-01T00:00:00");
	return dst;
}

/* Seconds with three decimals, whatever the locale says of points. */
static char *seconds(char *dst, size_t size, double secs)
{
	return text__ms(dst, size, (int64_t)(secs * 1e6 + 0.5) / 1000 * 1000, 3);
}

static void property(FILE *out, const char *name, const char *value)
{
	fputs("      <property", out);
	attribute(out, "name", name);
	attribute(out, "value", value);
	fputs("/>\n", out);
}

static void write_properties(FILE *out, const struct outcome *outcome)
{
	char number[32], text[CLAUSE_SIZE];

	snprintf(number, sizeof(number), "%d", outcome->exit_status);
	fputs("    <properties>\n", out);
	property(out, "verdict", verdict_kind__name(outcome->verdict));
	property(out, "exit-status", number);
	property(out, "target", outcome->target);
	property(out, "watched", clause__watched(text, sizeof(text), outcome));
	if (outcome->report) {
		property(out, "kernel", outcome->report->session.kernel);
		property(out, "backend", outcome->report->session.way);
	}
	fputs("    </properties>\n", out);
}

static void write_result(FILE *out, const struct result *result)
{
	static const char *const elements[] = {[RESULT_FAILED] = "failure",
					       [RESULT_ERROR] = "error",
					       [RESULT_SKIPPED] = "skipped"};
	char secs[40];

	fputs("    <testcase", out);
	attribute(out, "classname", "netstall.check");
	attribute(out, "name", result->name);
	/* A cause's time is what its stalls took. */
	attribute(out, "time",
		  seconds(secs, sizeof(secs), result->gate ? result->gate->total_ns / 1e9 : 0));
	if (result->kind == RESULT_PASSED) {
		fputs("/>\n", out);
		return;
	}
	fprintf(out, ">\n      <%s", elements[result->kind]);
	attribute(out, "message", result->message);
	attribute(out, "type", result->type);
	fputc('>', out);
	escape__xml(out, result->body ? result->body : "", false);
	fprintf(out, "</%s>\n    </testcase>\n", elements[result->kind]);
}

static void write_text(FILE *out, const struct outcome *outcome)
{
	const struct render_style style = {.width = 120};
	char *text;
	size_t size;
	FILE *memory = xmemstream(&text, &size);

	check_text__write(memory, outcome, &style);
	fclose(memory);
	fputs("    <system-out>", out);
	escape__xml(out, text, false);
	fputs("</system-out>\n    <system-err></system-err>\n", out);
	free(text);
}

void check_junit__write(FILE *out, const struct outcome *outcome)
{
	struct results *results = results__new(outcome);
	char when[32], secs[40];

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
	fprintf(out,
		"  <testsuite name=\"netstall check\" package=\"netstall\" id=\"0\" "
		"hostname=\"localhost\" timestamp=\"%s\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"%zu\" skipped=\"%zu\" time=\"%s\">\n",
		timestamp(when, sizeof(when), outcome->report), results->count,
		results__count(results, RESULT_FAILED), results__count(results, RESULT_ERROR),
		results__count(results, RESULT_SKIPPED),
		seconds(secs, sizeof(secs), outcome->seconds));
	write_properties(out, outcome);
	for (size_t i = 0; i < results->count; i++)
		write_result(out, &results->v[i]);
	write_text(out, outcome);
	fputs("  </testsuite>\n</testsuites>\n", out);
	results__free(results);
}

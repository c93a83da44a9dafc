// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A text trace through the pipeline, judged as a description says, and every report of it:
 *
 *   render_check FILE.check        all of them, each behind a line `== NAME`
 *   render_check FILE.check NAME   one alone: text junit tap github summary json
 *
 * A description has a word and its argument on each line; see the table below. The trace is
 * named from the description's folder. Exit status: 0 fine, 1 damaged, 64 usage.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/trace.h"
#include "user/base/xalloc.h"
#include "user/check/judge/gate.h"
#include "user/check/reports/reports.h"

#define LINE_MOST 4096

struct description {
	char folder[1024];
	char trace[2048]; /* "": nothing was traced */
	struct budgets budgets;
	struct gate_options options;
	struct gate_facts facts;
	struct baseline baseline;
	char *kept;
	size_t kept_count;
	char *file;
	struct render_style style;
};

static bool is_bad; /* a line was not understood */

static void bad(const char *word, const char *why)
{
	fprintf(stderr, "%s: %s\n", word, why);
	is_bad = true;
}

/* ---- a line's words ---- */

static void set_trace(struct description *d, char *value)
{
	snprintf(d->trace, sizeof(d->trace), "%s/%s", d->folder, value);
}

static void set_budget(struct description *d, char *value)
{
	char why[200];

	if (!budgets__parse(&d->budgets, value, why, sizeof(why)))
		bad("budget", why);
}

static void set_target(struct description *d, char *value)
{
	d->facts.target = xstrdup(value);
}

static void set_unable(struct description *d, char *value)
{
	d->facts.unable = xstrdup(value);
}

static void set_min_exchanges(struct description *d, char *value)
{
	d->options.min_exchanges = strtoul(value, NULL, 10);
}

static void set_inconclusive(struct description *d, char *value)
{
	if (!inconclusive__parse(&d->options.inconclusive, value))
		bad("inconclusive", value);
}

static void set_cut_short(struct description *d, char *value)
{
	(void)value;
	d->facts.cut_short = true;
}

static void set_no_target(struct description *d, char *value)
{
	(void)value;
	d->facts.no_target = true;
}

/* END STATUS SIGNAL ORPHANS NAME */
static void set_program(struct description *d, char *value)
{
	static const char *const ends[] = {
		[PROGRAM_EXITED] = "exited",       [PROGRAM_SIGNALLED] = "signalled",
		[PROGRAM_NOT_FOUND] = "not-found", [PROGRAM_NOT_RUN] = "not-run",
		[PROGRAM_TIMED_OUT] = "timed-out", [PROGRAM_NOT_READY] = "not-ready",
		[PROGRAM_OUTLIVED] = "outlived",
	};
	struct program_outcome *program = &d->facts.program;
	char end[32];
	int name = 0;

	if (sscanf(value, "%31s %d %d %u %n", end, &program->status, &program->signal,
		   &program->orphans, &name) < 4 ||
	    !name) {
		bad("program", value);
		return;
	}
	for (size_t i = 1; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(end, ends[i]))
			program->end = (enum program_end)i;
	program->name = xstrdup(value + name);
	program->ran_ns = 2100000000;
	program->timeout_secs = 30;
	program->wait_port = 5432;
	program->wait_secs = 10;
	program->orphan_pid = 4711;
	program->err = EACCES;
}

/* makes|serves COMM PORT COUNT MEDIAN_MS; behind the baseline */
static void set_baseline_requests(struct description *d, char *value)
{
	struct endpoint_time *time = &d->baseline.endpoints[d->baseline.endpoint_count];
	char role[8];
	unsigned long count;
	double ms;

	if (sscanf(value, "%7s %15s %u %lu %lf", role, time->comm, &time->port, &count, &ms) != 5) {
		bad("baseline-requests", value);
		return;
	}
	time->role = strcmp(role, "makes") ? REQUEST_SERVED : REQUEST_MADE;
	time->count = count;
	time->median_ns = (uint64_t)(ms * 1e6);
	d->baseline.endpoint_count++;
}

/* FILE EXCHANGES CAUSE=STALLS */
static void set_baseline(struct description *d, char *value)
{
	char cause[64], name[256];
	unsigned long exchanges, stalls;

	if (sscanf(value, "%255s %lu %63[^=]=%lu", name, &exchanges, cause, &stalls) != 4) {
		bad("baseline", value);
		return;
	}
	d->options.baseline_name = xstrdup(name);
	d->options.baseline = &d->baseline;
	d->baseline.threshold_ns = 10000000;
	d->baseline.exchanges = exchanges;
	d->baseline.endpoint_count = 0;
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (!strcmp(cause__info((enum cause)i)->id, cause))
			d->baseline.stalls[i] = stalls;
}

static void set_no_baseline(struct description *d, char *value)
{
	d->options.baseline_name = "base.json";
	d->facts.baseline_problem = xstrdup(value);
}

/* STALLS FOLDER */
static void set_kept(struct description *d, char *value)
{
	char *folder;

	d->kept_count = strtoul(value, &folder, 10);
	d->kept = xstrdup(folder + strspn(folder, " "));
}

static void set_file(struct description *d, char *value)
{
	d->file = xstrdup(value);
}

static void set_width(struct description *d, char *value)
{
	d->style.width = (unsigned)strtoul(value, NULL, 10);
}

static const struct {
	const char *word;
	void (*set)(struct description *, char *);
} words[] = {
	{"trace", set_trace},
	{"budget", set_budget},
	{"target", set_target},
	{"unable", set_unable},
	{"min-exchanges", set_min_exchanges},
	{"inconclusive", set_inconclusive},
	{"cut-short", set_cut_short},
	{"no-target", set_no_target},
	{"program", set_program},
	{"baseline", set_baseline},
	{"baseline-requests", set_baseline_requests},
	{"no-baseline", set_no_baseline},
	{"kept", set_kept},
	{"junit-file", set_file},
	{"width", set_width},
};

static void read_line(struct description *d, char *line)
{
	char *value = line + strcspn(line, " \n");
	const char *word = line;

	line[strcspn(line, "\n")] = '\0';
	if (*value)
		*value++ = '\0';
	if (!*word || *word == '#')
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].word, word)) {
			words[i].set(d, value);
			return;
		}
	}
	bad(word, "no such word");
}

static bool read_description(struct description *d, const char *path)
{
	const char *slash = strrchr(path, '/');
	FILE *file = fopen(path, "r");
	char line[LINE_MOST];

	if (!file) {
		perror(path);
		return false;
	}
	snprintf(d->folder, sizeof(d->folder), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	budgets__default(&d->budgets);
	while (fgets(line, sizeof(line), file))
		read_line(d, line);
	fclose(file);
	d->options.budgets = &d->budgets;
	return !is_bad;
}

/* ---- the trace ---- */

static const struct report *analyze(const struct description *d, struct pipeline **pipeline)
{
	static const struct pipeline_sink sink = {0};

	*pipeline = NULL;
	if (!d->trace[0])
		return NULL;
	*pipeline = pipeline__new(&sink);
	if (!trace__feed(*pipeline, d->trace)) {
		is_bad = true;
		return NULL;
	}
	return pipeline__finish(*pipeline);
}

/* ---- the reports ---- */

static const struct description *description;

static void text(FILE *out, const struct outcome *outcome)
{
	check_text__write(out, outcome, &description->style);
}

static const struct {
	const char *name;
	void (*write)(FILE *, const struct outcome *);
} reports[] = {
	{"text", text},
	{"junit", check_junit__write},
	{"tap", check_tap__write},
	{"github", check_github__annotate},
	{"summary", check_github__summary},
	{"json", check_json__write},
};

static void write_reports(const struct outcome *outcome, const char *only)
{
	for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
		if (only && strcmp(only, reports[i].name))
			continue;
		if (!only)
			printf("%s== %s\n", i ? "\n" : "", reports[i].name);
		reports[i].write(stdout, outcome);
	}
}

int main(int argc, char **argv)
{
	static struct description d; /* what it says lives as long as the program */
	const struct report *report;
	struct pipeline *pipeline;
	struct outcome *outcome;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: render_check FILE.check [REPORT]\n");
		return 64;
	}
	if (!read_description(&d, argv[1]))
		return 1;
	report = analyze(&d, &pipeline);
	if (is_bad)
		return 1;
	description = &d;
	outcome = outcome__new(report, &d.options, &d.facts);
	outcome->kept = d.kept;
	outcome->kept_count = d.kept_count;
	if (d.file)
		outcome->files[outcome->file_count++] = (struct outcome_file){"JUnit", d.file};
	write_reports(outcome, argc > 2 ? argv[2] : NULL);
	outcome__free(outcome);
	pipeline__free(pipeline);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A text trace through the whole pipeline, and every renderer's output of it:
 *
 *   render_trace [--width COLUMNS] [--colour] FILE.trace
 *   render_trace --html FILE.trace      the page alone
 *   render_trace --svg FILE.trace       the picture of the stall that it opens with
 *
 * Exit status: 0 fine, 1 the trace is damaged, 64 usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/trace.h"
#include "user/render/html/html.h"
#include "user/render/html/picture.h"
#include "user/render/render.h"
#include "user/render/terminal/uring_list.h"

static struct render_style style;
static size_t operations;

static void on_record(void *context, const struct report *report, const union record *record)
{
	(void)context;
	operations += record->head.type == NS_URING;
	render__record(stdout, report, record, &style);
}

static void on_list(void *context, const struct report *report, const union record *record)
{
	uring_list__record(context, report, record);
}

static void on_stall(void *context, const struct report *report, const struct stall *stall)
{
	(void)context;
	render__stall(stdout, report, stall, &style);
}

/* What is printed of the report in the end. */
enum ending { NOTHING, LIST, ALL, PAGE, PICTURE };

/* One pass over the trace with this sink. */
static int pass(const char *name, const struct pipeline_sink *sink, enum ending ending)
{
	struct pipeline *pipeline = pipeline__new(sink);
	const struct report *report;
	const struct verdict none = {.headline = (char *)""};
	struct verdict verdict;
	bool read = trace__feed(pipeline, name);

	report = pipeline__finish(pipeline);
	if (ending == LIST)
		uring_list__finish(sink->context, report);
	if (ending == PAGE && read) {
		verdict__write(&verdict, report);
		render__html(stdout, report, &verdict, NULL);
		verdict__clear(&verdict);
	}
	if (ending == PICTURE && read) {
		verdict__write(&verdict, report);
		picture__svg(stdout, report, picture__first(report, verdict.cause));
		verdict__clear(&verdict);
	}
	if (ending == ALL && read) {
		verdict__write(&verdict, report);
		printf("\n== summary\n");
		render__report(stdout, report, &verdict, &style, true);
		style.verbose = true;
		printf("\n== tables\n");
		render__report(stdout, report, &none, &style, false);
		style.verbose = false;
		printf("\n== json\n");
		render__json(stdout, report, &verdict, 1, CONNECTIONS_FOUND);
		verdict__clear(&verdict);
	}
	pipeline__free(pipeline);
	return !read;
}

/* Only of a trace that has operations. */
static int print_list(const char *name)
{
	struct uring_list *list = uring_list__new(stdout, &style);
	const struct pipeline_sink sink = {.on_record = on_list, .context = list};
	int status;

	printf("\n== list\n");
	status = pass(name, &sink, LIST);
	uring_list__free(list);
	return status;
}

int main(int argc, char **argv)
{
	static const struct pipeline_sink records = {.on_record = on_record};
	static const struct pipeline_sink stalls = {.on_stall = on_stall};
	enum ending alone = NOTHING;
	int at = 1;

	for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
		if (strcmp(argv[at], "--colour") == 0)
			style.colour = true;
		else if (strcmp(argv[at], "--width") == 0 && at + 1 < argc)
			style.width = (unsigned)atoi(argv[++at]);
		else if (strcmp(argv[at], "--html") == 0)
			alone = PAGE;
		else if (strcmp(argv[at], "--svg") == 0)
			alone = PICTURE;
		else
			break;
	}
	if (at + 1 != argc) {
		fprintf(stderr, "usage: render_trace [--width COLUMNS] [--colour] FILE.trace\n");
		return 64;
	}
	if (alone)
		return pass(argv[at], &(struct pipeline_sink){0}, alone);
	printf("== events\n");
	if (pass(argv[at], &records, NOTHING))
		return 1;
	if (operations && print_list(argv[at]))
		return 1;
	printf("\n== timeline\n");
	return pass(argv[at], &stalls, ALL);
}

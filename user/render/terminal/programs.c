// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 *   PROCESS             REQUESTS   MEDIAN      P99  STALLED  BY            WHY
 *   orders/4242      95 made      43.9 ms  48.4 ms    99.5%  nagle-delack  orders/4242 writes ...
 *   web/4300         1,021 served   41 us   180 us        -
 */
#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/explain/verdict.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/tables.h"
#include "user/render/words/names.h"

#define ROWS 12 /* without -v */

static void say_requests(char *dst, size_t size, const struct report_program *program)
{
	dst[0] = '\0';
	if (program->served)
		text__add(dst, size, ", ", "%s served", count_text(program->served));
	if (program->made)
		text__add(dst, size, ", ", "%s made", count_text(program->made));
}

static void add_program(struct grid *grid, const struct report *report,
			const struct report_program *program)
{
	bool is_measured = program->p99_ns, is_stalled = program->stalls;
	char *why = is_stalled ? verdict__of_program(report, program) : NULL;
	char requests[64];

	say_requests(requests, sizeof(requests), program);
	grid__row(grid, COLOUR_PLAIN, process_text(report, program->pid), requests,
		  is_measured ? duration_text(program->median_ns) : "",
		  is_measured ? duration_text(program->p99_ns) : "",
		  is_stalled ? part_text(program->stalled_ns, report->end_ts - report->start_ts)
			     : "-",
		  is_stalled ? cause__info(program->cause)->id : "", why ? why : "");
	free(why);
}

/* The verdict that follows is of the cause that the first one has, wherever it is found. */
static bool have_several_causes(const struct report *report)
{
	for (size_t i = 1; i < report->program_count; i++)
		if (report->programs[i].stalls &&
		    report->programs[i].cause != report->programs[0].cause)
			return true;
	return false;
}

void programs__print(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"PROCESS", false}, {"REQUESTS", false}, {"MEDIAN", true}, {"P99", true},
		{"STALLED", true},  {"BY", false},       {"WHY", false},
	};
	size_t shown = report->program_count;
	uint64_t rest;
	struct grid *grid;

	if (!report->program_count)
		return;
	if (!style->verbose && shown > ROWS)
		shown = ROWS;
	grid = grid__new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < shown; i++)
		add_program(grid, report, &report->programs[i]);
	rest = report->program_count - shown + report->programs_not_listed;
	if (rest)
		grid__note(grid, COLOUR_DIM, 0, "and %s more process%s", count_text(rest),
			   rest == 1 ? "" : "es");
	if (have_several_causes(report))
		grid__note(grid, COLOUR_DIM, 0,
			   "What follows is the first one's cause (%s), of all processes.",
			   cause__info(report->programs[0].cause)->id);
	grid__finish(grid, out, style, TABLE_INDENT);
	fputc('\n', out);
}

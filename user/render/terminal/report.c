// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A finished trace: verdict, causes, time lines, tables; in this order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/times.h"
#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/builder.h"
#include "user/explain/coverage.h"
#include "user/explain/habits.h"
#include "user/record/facts.h"
#include "user/record/losses.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/tables.h"
#include "user/render/terminal/wrap.h"
#include "user/render/words/names.h"

#define HABITS_ALIKE  3 /* printed of one kind */
#define EXAMPLE_LINES 9

/* ---- causes ---- */

static const char *name_cause(const struct report_cause *cause)
{
	return cause->is_pace ? "timer (pace)" : cause__info(cause->cause)->id;
}

static void print_causes(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"CAUSE", false}, {"STALLS", true}, {"TOTAL", true}, {"MEDIAN", true},
		{"P99", true},    {"MAX", true},    {"SHARE", true}, {"", false},
	};
	struct grid *grid;

	/* Of a single one the verdict has the figures. */
	if (report->cause_count < (style->verbose ? 1 : 2))
		return;
	fputc('\n', out);
	grid = grid__new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < report->cause_count; i++) {
		const struct report_cause *cause = &report->causes[i];

		grid__row(grid, COLOUR_PLAIN, name_cause(cause), count_text(cause->count),
			  duration_text(cause->total_ns), duration_text(cause->p50_ns),
			  duration_text(cause->p99_ns), duration_text(cause->max_ns),
			  percent_text(cause->share));
	}
	grid__finish(grid, out, style, TABLE_INDENT);
}

/* ---- time lines ---- */

static void print_example(FILE *out, const struct report *report, enum cause cause,
			  const struct render_style *style)
{
	const struct stall *stall = report__example(report, cause, 0);
	const struct report_cause *figures = report__cause(report, cause);
	char title[96] = "Event by event";

	if (!stall)
		return;
	if (figures && figures->count > 1)
		print_to(title, "One of the %s%s, event by event", count_text(figures->count),
			 figures->requests ? " stalls" : "");
	fprintf(out, "\n%s%s%s (stall %u):\n", colour__on(style, COLOUR_STRONG), title,
		colour__off(style, COLOUR_STRONG), stall->number);
	render__example(out, report, stall, style, EXAMPLE_LINES);
}

static bool is_first_of_its_kind(const struct report *report, size_t at)
{
	const struct stall *stall = &report->stalls[at];

	for (size_t i = 0; i < at; i++)
		if (report->stalls[i].cause == stall->cause &&
		    stall__is_pace(&report->stalls[i]) == stall__is_pace(stall) &&
		    report->stalls[i].conn == stall->conn)
			return false;
	return true;
}

/* One of each cause on each connection. */
static void print_time_lines(FILE *out, const struct report *report,
			     const struct render_style *style)
{
	for (size_t i = 0; i < report->stall_count; i++) {
		const struct stall *stall = NULL;
		bool is_beside = stall__is_pace(&report->stalls[i]) &&
				 !report__cause(report, CAUSE_TIMER)->is_pace;

		if (!is_beside && is_first_of_its_kind(report, i))
			stall = report__example(report, report->stalls[i].cause,
						report->stalls[i].conn);
		if (stall)
			render__stall(out, report, stall, style);
	}
}

/* ---- tables ---- */

/* When nothing was found, the verdict has this sentence. */
static void print_waits(FILE *out, const struct report *report, const struct render_style *style)
{
	char *text = NULL;

	if (report->cause_count)
		coverage__add_waits(&text, report);
	if (text)
		wrap__paragraph(out, text, TABLE_INDENT, COLOUR_PLAIN, style);
	free(text);
}

static void print_habit(FILE *out, const struct report *report, const struct report_habit *habit,
			size_t alike, const struct render_style *style)
{
	char *line = habit__sentence(report, habit);

	if (alike)
		builder__add(&line, " %zu more do the same.", alike);
	wrap__paragraph(out, line, TABLE_INDENT, COLOUR_PLAIN, style);
	free(line);
}

/* Of many connections or threads with the same habit, the first HABITS_ALIKE. */
static void print_habits(FILE *out, const struct report *report, const struct render_style *style)
{
	if (report->habit_count == 0)
		return;
	fprintf(out, "%*s%sHABITS%s\n", TABLE_INDENT, "", colour__on(style, COLOUR_STRONG),
		colour__off(style, COLOUR_STRONG));
	for (size_t i = 0; i < report->habit_count; i++) {
		size_t before = 0, behind = 0;

		for (size_t j = 0; j < report->habit_count; j++) {
			bool alike = report->habits[j].habit == report->habits[i].habit;

			before += alike && j < i;
			behind += alike && j > i;
		}
		if (before < HABITS_ALIKE)
			print_habit(out, report, &report->habits[i],
				    before + 1 == HABITS_ALIKE ? behind : 0, style);
	}
}

/* Loss never passes silently: a line for each kind. */
static void print_losses(FILE *out, const struct report *report, const struct render_style *style)
{
	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++) {
		const struct loss_kind *loss = loss_kind(kind);

		if (report->lost[kind] > 0)
			fprintf(out, "%*s%s%s%s  %s\n", TABLE_INDENT, "",
				colour__on(style, COLOUR_CAUSE),
				loss && loss->no_event ? "SKIPPED" : "LOST",
				colour__off(style, COLOUR_CAUSE),
				lost_text(kind, report->lost[kind]));
	}
}

static void print_missing(FILE *out, const struct report *report, const struct render_style *style)
{
	char *text = NULL;

	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++)
		if (report->session.missing & 1u << fact)
			builder__add(&text, "%s%s", text ? "; " : "Not visible on this kernel: ",
				     fact__row(fact)->words);
	if (text)
		wrap__paragraph(out, text, TABLE_INDENT, COLOUR_DIM, style);
	free(text);
}

/* What one would expect to be seen here: the kernel refused it. */
static void print_refused(FILE *out, const struct report *report, const struct render_style *style)
{
	for (uint32_t fact = 0; fact < NS_FACT_COUNT; fact++) {
		char *why, *line;

		if (!report->refused[fact].head.type)
			continue;
		why = fact__refusal_text(&report->refused[fact]);
		line = xasprintf("Not watched: %s (%s).", fact__row(fact)->words, why);
		wrap__paragraph(out, line, TABLE_INDENT, COLOUR_CAUSE, style);
		free(line);
		free(why);
	}
}

/* What the user marked, and what came behind each. */
static void print_marks(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"MARK", false}, {"AT", true}, {"STALLS UNTIL THE NEXT", true}, {"TOTAL", true}};
	struct grid *grid;

	if (!report->mark_count)
		return;
	grid = grid__new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < report->mark_count; i++) {
		const struct report_mark *mark = &report->marks[i];

		grid__row(grid, COLOUR_PLAIN, safe_text(mark->text, NS_MARK_LEN),
			  duration_text(ns_passed(report->start_ts, mark->ts)),
			  count_text(mark->stalls),
			  mark->stalls ? duration_text(mark->stalled_ns) : "-");
	}
	grid__rest(grid, report->marks_not_kept, "mark");
	grid__finish(grid, out, style, TABLE_INDENT);
}

/* ---- the whole ---- */

/* Those that do not fit are left out of a short report, the first ones fit first; but not what was
 * asked for, nor what a user has of all this. */
static const struct {
	const char *name;
	table_fn *print;
	bool is_always;
} sections[] = {
	{"marks", print_marks, true},
	{"requests", requests__print, true},
	{"io_uring operations", operations__print, false},
	{"threads", threads__print, false},
	{"connections", connections__print, false},
	{"habits", print_habits, false},
};

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/* Prints the tables for which there is room; returns the names of the others, NULL: none. */
static char *print_sections(FILE *out, const struct report *report,
			    const struct render_style *style, size_t room)
{
	char *left_out = NULL;

	for (size_t i = 0; i < COUNT_OF(sections); i++) {
		char *text = NULL;
		size_t size, lines;
		FILE *section = xmemstream(&text, &size);

		sections[i].print(section, report, style);
		fclose(section);
		lines = count_lines(text);
		if (lines <= room || sections[i].is_always) {
			fputs(text, out);
			room -= lines < room ? lines : room;
		} else {
			builder__add(&left_out, "%s%s", left_out ? ", " : "", sections[i].name);
		}
		free(text);
	}
	return left_out;
}

/* "4.05 s watched. All 91 stalls were seen from start to end ..." */
static void print_window(FILE *out, const struct report *report, const struct verdict *verdict,
			 const struct render_style *style)
{
	const char *way = safe_text(report->session.way, sizeof(report->session.way));
	char *line = NULL;

	builder__add(&line, "%s watched", duration_text(report->end_ts - report->start_ts));
	if (style->verbose)
		builder__add(&line, ", %s events%s%s", count_text(report->events),
			     way[0] ? " by " : "", way);
	builder__add(&line, ".");
	if (verdict->evidence)
		builder__add(&line, " %s", verdict->evidence);
	wrap__paragraph(out, line, TABLE_INDENT, COLOUR_PLAIN, style);
	free(line);
}

static void print_top(FILE *out, const struct report *report, const struct verdict *verdict,
		      const struct render_style *style, bool time_lines)
{
	programs__print(out, report, style);
	render__verdict(out, verdict, style);
	print_causes(out, report, style);
	if (time_lines && style->verbose)
		print_time_lines(out, report, style);
	else if (time_lines && verdict->found)
		print_example(out, report, verdict->cause, style);
	fputc('\n', out);
}

static void print_foot(FILE *out, const struct report *report, const struct verdict *verdict,
		       const struct render_style *style)
{
	if (style->verbose) {
		print_waits(out, report, style);
		print_missing(out, report, style);
	}
	print_refused(out, report, style);
	print_losses(out, report, style);
	print_window(out, report, verdict, style);
}

void render__report(FILE *out, const struct report *report, const struct verdict *verdict,
		    const struct render_style *style, bool time_lines)
{
	char *top, *foot, *left_out;
	size_t size, used, room = SIZE_MAX;
	FILE *part = xmemstream(&top, &size);

	print_top(part, report, verdict, style, time_lines);
	fclose(part);
	part = xmemstream(&foot, &size);
	print_foot(part, report, verdict, style);
	fclose(part);
	used = count_lines(top) + count_lines(foot) + 1;
	if (!style->verbose && style->connections != CONNECTIONS_EACH)
		room = used < REPORT_LINES ? REPORT_LINES - used : 0;
	fputs(top, out);
	left_out = print_sections(out, report, style, room);
	fputs(foot, out);
	if (left_out)
		fprintf(out, "%*s%s-v prints more: %s%s\n", TABLE_INDENT, "",
			colour__on(style, COLOUR_DIM), left_out, colour__off(style, COLOUR_DIM));
	free(left_out);
	free(foot);
	free(top);
}

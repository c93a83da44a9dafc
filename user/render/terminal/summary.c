// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Tables at the end of a run: threads, connections, causes; and what was lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/explain/coverage.h"
#include "user/record/facts.h"
#include "user/record/losses.h"
#include "user/render/terminal/connections.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/operations.h"
#include "user/render/terminal/requests.h"
#include "user/render/terminal/wrap.h"
#include "user/render/words/names.h"

#define ROWS_MOST    20
#define INDENT       2
#define HABITS_ALIKE 3 /* told of one kind */
/* Columns of a thread's figures, and how many of them always stand there. */
#define FIGURES        8
#define FIGURES_ALWAYS 5
#define COUNT_OF(a)    (sizeof(a) / sizeof((a)[0]))

static char *share_of(char *dst, size_t size, uint64_t part, uint64_t whole)
{
	return text__percent(dst, size, whole > 0 ? (double)part / (double)whole : 0);
}

/* "and 44 more connections" below a table that was cut. */
static void print_rest(FILE *out, const struct render_style *style, size_t rest, const char *what)
{
	char count[TEXT_COUNT];

	if (rest > 0)
		fprintf(out, "%*s%sand %s more %s%s%s\n", INDENT, "", colour__on(style, COLOUR_DIM),
			text__count(count, sizeof(count), rest), what, rest > 1 ? "s" : "",
			colour__off(style, COLOUR_DIM));
}

static bool is_target(const struct report_thread *thread)
{
	return thread->role & NS_ROLE_TARGET;
}

static const char *role_mark(const struct report_thread *thread)
{
	if (is_target(thread))
		return "";
	if (thread->role & NS_ROLE_PEER)
		return " (peer)";
	return thread->role & NS_ROLE_CHAIN ? " (woke one of these)" : "";
}

/* Targets first, then the busiest. */
static int compare_threads(const void *a, const void *b)
{
	const struct report_thread *left = *(const struct report_thread *const *)a;
	const struct report_thread *right = *(const struct report_thread *const *)b;
	uint64_t busy_left = left->on_cpu_ns + left->runqueue_ns;
	uint64_t busy_right = right->on_cpu_ns + right->runqueue_ns;

	if (is_target(left) != is_target(right))
		return is_target(left) ? -1 : 1;
	if (busy_left != busy_right)
		return busy_left > busy_right ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* Its totals never came: no figures rather than zeros. */
static bool is_measured(const struct report_thread *thread)
{
	return thread->on_cpu_ns + thread->blocked_ns + thread->runqueue_ns > 0;
}

static void add_figures(struct grid *grid, const struct report_thread *thread, uint64_t window)
{
	char on[TEXT_PERCENT], blocked[TEXT_PERCENT], queue[TEXT_PERCENT];
	char voluntary[TEXT_COUNT], involuntary[TEXT_COUNT], rate[TEXT_COUNT], moved[TEXT_COUNT];
	char empty[TEXT_COUNT];
	uint64_t wakes =
		window ? (uint64_t)((double)thread->wakes * 1e9 / (double)window + 0.5) : 0;

	grid__cell(grid, "%s", share_of(on, sizeof(on), thread->on_cpu_ns, window));
	grid__cell(grid, "%s", share_of(blocked, sizeof(blocked), thread->blocked_ns, window));
	grid__cell(grid, "%s", share_of(queue, sizeof(queue), thread->runqueue_ns, window));
	grid__cell(grid, "%s", text__count(voluntary, sizeof(voluntary), thread->voluntary));
	grid__cell(grid, "%s", text__count(involuntary, sizeof(involuntary), thread->involuntary));
	/* Columns that nothing stands in take no room. */
	text__count(moved, sizeof(moved), thread->migrations);
	text__count(rate, sizeof(rate), wakes);
	text__count(empty, sizeof(empty), thread->empty_wakes);
	grid__cell(grid, "%s", thread->migrations ? moved : "");
	grid__cell(grid, "%s", thread->wakes ? rate : "");
	grid__cell(grid, "%s", thread->empty_wakes ? empty : "");
}

static void add_thread(struct grid *grid, const struct report *report,
		       const struct report_thread *thread)
{
	const struct report_process *process = report__process(report, thread->pid);
	char name[NAME_SIZE], remark[64] = "";

	if (process && process->ns_pid)
		snprintf(remark, sizeof(remark), "pid %u in its namespace", process->ns_pid);
	grid__row(grid, COLOUR_PLAIN);
	grid__cell(grid, "%s%s", name__thread(name, sizeof(name), report, thread->pid, thread->tid),
		   role_mark(thread));
	if (is_measured(thread))
		add_figures(grid, thread, report->end_ts - report->start_ts);
	else
		for (int i = 0; i < FIGURES; i++)
			grid__cell(grid, "%s", i < FIGURES_ALWAYS ? "-" : "");
	grid__cell(grid, "%s", remark);
}

static void print_threads(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"THREAD", false},     {"ON CPU", true},    {"BLOCKED", true},  {"RUN QUEUE", true},
		{"SLEEPS", true},      {"PREEMPTED", true}, {"MIGRATED", true}, {"WAKES/S", true},
		{"EMPTY WAKES", true}, {"", false},
	};
	size_t rows = report->thread_count < ROWS_MOST ? report->thread_count : ROWS_MOST;
	const struct report_thread **order;
	struct grid *grid;

	if (report->thread_count == 0)
		return;
	order = xcalloc(report->thread_count, sizeof(const struct report_thread *));
	for (size_t i = 0; i < report->thread_count; i++)
		order[i] = &report->threads[i];
	qsort(order, report->thread_count, sizeof(*order), compare_threads);
	grid = grid__new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < rows; i++)
		add_thread(grid, report, order[i]);
	grid__print(grid, out, style, INDENT);
	print_rest(out, style, report->thread_count - rows, "thread");
	grid__free(grid);
	free(order);
}

static void print_causes(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"CAUSE", false}, {"STALLS", true}, {"TOTAL", true}, {"P50", true},
		{"P99", true},    {"MAX", true},    {"SHARE", true}, {"", false},
	};
	struct grid *grid;

	if (report->cause_count == 0)
		return;
	grid = grid__new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < report->cause_count; i++) {
		const struct report_cause *cause = &report->causes[i];
		char count[TEXT_COUNT], total[TEXT_DURATION], p50[TEXT_DURATION];
		char p99[TEXT_DURATION], max[TEXT_DURATION], share[TEXT_PERCENT];

		grid__row(grid, COLOUR_PLAIN);
		grid__cell(grid, "%s", cause__info(cause->cause)->id);
		grid__cell(grid, "%s", text__count(count, sizeof(count), cause->count));
		grid__cell(grid, "%s", text__duration(total, sizeof(total), cause->total_ns));
		grid__cell(grid, "%s", text__duration(p50, sizeof(p50), cause->p50_ns));
		grid__cell(grid, "%s", text__duration(p99, sizeof(p99), cause->p99_ns));
		grid__cell(grid, "%s", text__duration(max, sizeof(max), cause->max_ns));
		grid__cell(grid, "%s", text__percent(share, sizeof(share), cause->share));
	}
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
}

/* When nothing was found, the verdict has this sentence. */
static void print_waits(FILE *out, const struct report *report, const struct render_style *style)
{
	char *text = NULL;

	if (report->cause_count)
		coverage__add_waits(&text, report);
	if (!text)
		return;
	fprintf(out, "%*s", INDENT, "");
	wrap__print(out, text, INDENT, 2 * INDENT, colour__width(style));
	fputc('\n', out);
	free(text);
}

static void print_habit(FILE *out, const struct report_habit *habit, size_t alike,
			const struct render_style *style)
{
	char more[48] = "", *line;

	if (alike)
		snprintf(more, sizeof(more), " So it is with %zu more.", alike);
	line = xasprintf("%s%s", habit->text ? habit->text : habit->id, more);
	fprintf(out, "%*s", INDENT, "");
	wrap__print(out, line, INDENT, 2 * INDENT, colour__width(style));
	fputc('\n', out);
	free(line);
}

/* Of many connections or threads with the same habit, the first are told: HABITS_ALIKE. */
static void print_habits(FILE *out, const struct report *report, const struct render_style *style)
{
	if (report->habit_count == 0)
		return;
	fprintf(out, "%*s%sHABITS%s\n", INDENT, "", colour__on(style, COLOUR_STRONG),
		colour__off(style, COLOUR_STRONG));
	for (size_t i = 0; i < report->habit_count; i++) {
		size_t before = 0, behind = 0;

		for (size_t j = 0; j < report->habit_count; j++) {
			bool alike = strcmp(report->habits[j].id, report->habits[i].id) == 0;

			before += alike && j < i;
			behind += alike && j > i;
		}
		if (before < HABITS_ALIKE)
			print_habit(out, &report->habits[i],
				    before + 1 == HABITS_ALIKE ? behind : 0, style);
	}
}

/* Loss never passes silently: a line for each kind, and one for blind spots. */
static void print_losses(FILE *out, const struct report *report, const struct render_style *style)
{
	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++) {
		const struct loss_kind *loss = loss_kind(kind);
		char what[160];

		if (report->lost[kind] > 0)
			fprintf(out, "%*s%s%s%s  %s\n", INDENT, "", colour__on(style, COLOUR_CAUSE),
				loss && loss->no_event ? "SKIPPED" : "LOST",
				colour__off(style, COLOUR_CAUSE),
				name__lost(what, sizeof(what), kind, report->lost[kind]));
	}
}

static void print_missing(FILE *out, const struct report *report, const struct render_style *style)
{
	char text[1024] = "Not visible this way: ";
	size_t used = strlen(text);
	bool any = false;

	for (uint32_t fact = 0; fact < NS_FACT_COUNT && used < sizeof(text); fact++) {
		if (!(report->session.missing & 1u << fact))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", any ? "; " : "",
					 fact__words(fact));
		any = true;
	}
	if (!any)
		return;
	fprintf(out, "%*s%s", INDENT, "", colour__on(style, COLOUR_DIM));
	wrap__print(out, text, INDENT, 2 * INDENT, colour__width(style));
	fprintf(out, "%s\n", colour__off(style, COLOUR_DIM));
}

static void print_window(FILE *out, const struct report *report, const struct render_style *style)
{
	char window[TEXT_DURATION], events[TEXT_COUNT], way[TEXT_SAFE(16)];

	text__safe(way, sizeof(way), report->session.way, sizeof(report->session.way));
	fprintf(out, "%s%s watched%s, %s events%s%s\n", colour__on(style, COLOUR_STRONG),
		text__duration(window, sizeof(window), report->end_ts - report->start_ts),
		colour__off(style, COLOUR_STRONG),
		text__count(events, sizeof(events), report->events), way[0] ? " by " : "", way);
}

void render__summary(FILE *out, const struct report *report, const struct render_style *style)
{
	fputc('\n', out);
	print_window(out, report, style);
	print_threads(out, report, style);
	connections__print(out, report, style);
	operations__print(out, report, style);
	print_causes(out, report, style);
	print_waits(out, report, style);
	requests__print(out, report, style);
	print_habits(out, report, style);
	print_losses(out, report, style);
	print_missing(out, report, style);
}

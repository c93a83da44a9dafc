// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/render/terminal/threads.h"

#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/render/terminal/grid.h"
#include "user/render/words/names.h"

#define ROWS_MOST  20
#define ROWS_SHORT 4 /* of a short report */
#define INDENT     2
/* Columns of figures, those of a short report, and those that always stand there. */
#define FIGURES        8
#define FIGURES_SHORT  3
#define FIGURES_ALWAYS 5

static char *share_of(char *dst, size_t size, uint64_t part, uint64_t whole)
{
	return text__percent(dst, size, whole > 0 ? (double)part / (double)whole : 0);
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
	return thread->role & NS_ROLE_CHAIN ? " (waker)" : "";
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

static void add_cells(struct grid *grid, int count, const char *text)
{
	for (int i = 0; i < count; i++)
		grid__cell(grid, "%s", text);
}

/* Columns that nothing stands in take no room. */
static void add_switches(struct grid *grid, const struct report_thread *thread, uint64_t window)
{
	char voluntary[TEXT_COUNT], involuntary[TEXT_COUNT], rate[TEXT_COUNT], moved[TEXT_COUNT];
	char empty[TEXT_COUNT];
	uint64_t wakes =
		window ? (uint64_t)((double)thread->wakes * 1e9 / (double)window + 0.5) : 0;

	grid__cell(grid, "%s", text__count(voluntary, sizeof(voluntary), thread->voluntary));
	grid__cell(grid, "%s", text__count(involuntary, sizeof(involuntary), thread->involuntary));
	text__count(moved, sizeof(moved), thread->migrations);
	text__count(rate, sizeof(rate), wakes);
	text__count(empty, sizeof(empty), thread->empty_wakes);
	grid__cell(grid, "%s", thread->migrations ? moved : "");
	grid__cell(grid, "%s", thread->wakes ? rate : "");
	grid__cell(grid, "%s", thread->empty_wakes ? empty : "");
}

static void add_figures(struct grid *grid, const struct report_thread *thread, uint64_t window,
			const struct render_style *style)
{
	char on[TEXT_PERCENT], blocked[TEXT_PERCENT], queue[TEXT_PERCENT];

	grid__cell(grid, "%s", share_of(on, sizeof(on), thread->on_cpu_ns, window));
	grid__cell(grid, "%s", share_of(blocked, sizeof(blocked), thread->blocked_ns, window));
	grid__cell(grid, "%s", share_of(queue, sizeof(queue), thread->runqueue_ns, window));
	if (style->verbose)
		add_switches(grid, thread, window);
	else
		add_cells(grid, FIGURES - FIGURES_SHORT, "");
}

static void add_thread(struct grid *grid, const struct report *report,
		       const struct report_thread *thread, const struct render_style *style)
{
	int dashes = style->verbose ? FIGURES_ALWAYS : FIGURES_SHORT;
	const struct report_process *process = report__process(report, thread->pid);
	char name[NAME_SIZE], remark[64] = "";

	if (process && process->ns_pid)
		snprintf(remark, sizeof(remark), "pid %u in its namespace", process->ns_pid);
	grid__row(grid, COLOUR_PLAIN);
	grid__cell(grid, "%s%s", name__thread(name, sizeof(name), report, thread->pid, thread->tid),
		   role_mark(thread));
	if (is_measured(thread)) {
		add_figures(grid, thread, report->end_ts - report->start_ts, style);
	} else {
		add_cells(grid, dashes, "-");
		add_cells(grid, FIGURES - dashes, "");
	}
	grid__cell(grid, "%s", remark);
}

void threads__print(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"THREAD", false},     {"ON CPU", true},    {"BLOCKED", true},  {"RUN QUEUE", true},
		{"SLEEPS", true},      {"PREEMPTED", true}, {"MIGRATED", true}, {"WAKES/S", true},
		{"EMPTY WAKES", true}, {"", false},
	};
	size_t most = style->verbose ? ROWS_MOST : ROWS_SHORT;
	size_t rows = report->thread_count < most ? report->thread_count : most;
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
		add_thread(grid, report, order[i], style);
	grid__rest(grid, report->thread_count - rows, "thread");
	grid__print(grid, out, style, INDENT);
	grid__free(grid);
	free(order);
}

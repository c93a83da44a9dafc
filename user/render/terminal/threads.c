// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/render/terminal/grid.h"
#include "user/render/terminal/tables.h"
#include "user/render/words/names.h"

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

/* In which container, and as what there. */
static void say_where(char *dst, size_t size, const struct report_process *process)
{
	char container[TEXT_SAFE(NS_CONTAINER_LEN)], pid[32] = "";

	text__safe(container, sizeof(container), process->container, NS_CONTAINER_LEN);
	if (process->ns_pid)
		print_to(pid, "pid %u in its namespace", process->ns_pid);
	snprintf(dst, size, "%s%s%s", container, *container && *pid ? ", " : "", pid);
}

/* Columns that nothing stands in take no room: a short report has the first ones. */
static void add_thread(struct grid *grid, const struct report *report,
		       const struct report_thread *thread, const struct render_style *style)
{
	const struct report_process *process = report__process(report, thread->pid);
	uint64_t window = report->end_ts - report->start_ts;
	uint64_t wakes =
		window ? (uint64_t)((double)thread->wakes * 1e9 / (double)window + 0.5) : 0;
	char name[NAME_SIZE + 16], remark[TEXT_SAFE(NS_CONTAINER_LEN) + 32] = "";
	bool more = style->verbose;

	print_to(name, "%s%s", thread_text(report, thread->pid, thread->tid), role_mark(thread));
	if (process)
		say_where(remark, sizeof(remark), process);
	if (!is_measured(thread))
		grid__row(grid, COLOUR_PLAIN, name, "-", "-", "-", more ? "-" : "", more ? "-" : "",
			  "", "", "", remark);
	else
		grid__row(grid, COLOUR_PLAIN, name, part_text(thread->on_cpu_ns, window),
			  part_text(thread->blocked_ns, window),
			  part_text(thread->runqueue_ns, window),
			  more ? count_text(thread->voluntary) : "",
			  more ? count_text(thread->involuntary) : "",
			  more && thread->migrations ? count_text(thread->migrations) : "",
			  more && thread->wakes ? count_text(wakes) : "",
			  more && thread->empty_wakes ? count_text(thread->empty_wakes) : "",
			  remark);
}

void threads__print(FILE *out, const struct report *report, const struct render_style *style)
{
	static const struct grid_column columns[] = {
		{"THREAD", false},     {"ON CPU", true},    {"BLOCKED", true},  {"RUN QUEUE", true},
		{"SLEEPS", true},      {"PREEMPTED", true}, {"MIGRATED", true}, {"WAKES/S", true},
		{"EMPTY WAKES", true}, {"", false},
	};
	size_t rows = table__rows(style, report->thread_count);
	const struct report_thread **order;
	struct grid *grid;

	if (report->thread_count == 0)
		return;
	order = xcalloc(report->thread_count, sizeof(const struct report_thread *));
	for (size_t i = 0; i < report->thread_count; i++)
		order[i] = &report->threads[i];
	sort_array(order, report->thread_count, sizeof(*order), compare_threads);
	grid = grid__new(columns, COUNT_OF(columns));
	for (size_t i = 0; i < rows; i++)
		add_thread(grid, report, order[i], style);
	grid__rest(grid, report->thread_count - rows, "thread");
	grid__finish(grid, out, style, TABLE_INDENT);
	free(order);
}

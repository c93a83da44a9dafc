// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/ended.h"

#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/trim.h"
#include "user/base/xalloc.h"

/* At least so many come before the lists are cut again. */
#define ENDED_MORE (REPORT_ENDED / 4)

/* Numbers of processes and threads that are named. */
struct names {
	uint32_t *ids;
	size_t count;
	size_t room;
};

static int compare_id(const void *a, const void *b)
{
	return compare_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

static void add(struct names *names, uint32_t id)
{
	if (names->count == names->room) {
		names->room = names->room ? 2 * names->room : 1024;
		names->ids = xreallocarray(names->ids, names->room, sizeof(*names->ids));
	}
	names->ids[names->count++] = id;
}

static void add_stall(struct names *names, const struct stall *stall)
{
	add(names, stall->pid);
	add(names, stall->tid);
	add(names, stall->reader.pid);
	add(names, stall->reader.tid);
	for (size_t i = 0; i < stall->link_count; i++) {
		const struct ns_wait *wait = &stall->links[i].wait;

		add(names, wait->head.tgid);
		add(names, wait->head.tid);
		add(names, wait->waker_tgid);
		add(names, wait->waker_tid);
	}
	for (size_t i = 0; i < stall->path.count; i++) {
		add(names, stall->path.parts[i].pid);
		add(names, stall->path.parts[i].tid);
	}
}

static struct names find_names(const struct report *report)
{
	struct names names = {0};

	for (size_t i = 0; i < report->stall_count; i++)
		add_stall(&names, &report->stalls[i]);
	for (size_t i = 0; i < report->conn_count; i++)
		add(&names, report->conns[i].id.head.tgid);
	sort_array(names.ids, names.count, sizeof(*names.ids), compare_id);
	return names;
}

static bool stays(const struct names *names, uint32_t id, uint64_t ended, uint64_t ends)
{
	return !ended || ended + REPORT_ENDED > ends ||
	       (names->count && bsearch(&id, names->ids, names->count, sizeof(id), compare_id));
}

static void cut(struct report *report)
{
	struct names names = find_names(report);
	size_t kept = 0;

	for (size_t i = 0; i < report->process_count; i++) {
		const struct report_process *process = &report->processes[i];

		if (stays(&names, process->pid, process->ended, report->processes_ended))
			report->processes[kept++] = *process;
	}
	report->processes_not_kept += report->process_count - kept;
	report->process_count = kept;
	kept = 0;
	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		if (stays(&names, thread->tid, thread->ended, report->threads_ended))
			report->threads[kept++] = *thread;
	}
	report->threads_not_kept += report->thread_count - kept;
	report->thread_count = kept;
	free(names.ids);
}

void ended__keep_within(struct report *report)
{
	uint64_t ended = report->processes_ended + report->threads_ended;

	if (ended < report->ended_cut_at)
		return;
	if (report->ended_cut_at)
		cut(report);
	/* Those that connections name stay, and a cut looks at all connections too. */
	report->ended_cut_at =
		trim__next(ended, report->process_count + report->thread_count + report->conn_count,
			   ENDED_MORE);
}

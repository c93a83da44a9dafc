// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The processes of an off-CPU profile: their numbers, and what they have mapped. */
#include <errno.h>
#include <string.h>

#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/source/offwake_parts.h"

/* Mappings of one process are looked at this often at most, the list of tasks likewise. */
#define NOTE_EVERY_NS  200000000ull
#define TASKS_EVERY_NS 100000000ull

int offwake__read_tasks(struct offwake *offwake)
{
	int fd = offwake__run(offwake->task_list);

	if (fd < 0)
		return fd;
	offwake->tasks_read_ns = clock__now();
	return tasks__read(offwake->tasks, fd);
}

pid_t offwake__view(struct offwake *offwake, uint32_t tid)
{
	const struct ns_task_entry *entry;

	if (offwake->same_numbers || !tid)
		return tid;
	entry = tasks__by_tid(offwake->tasks, tid);
	if (!entry && clock__now() - offwake->tasks_read_ns >= TASKS_EVERY_NS) {
		offwake__read_tasks(offwake);
		entry = tasks__by_tid(offwake->tasks, tid);
	}
	return entry ? entry->view_tid : 0;
}

static void note(struct offwake *offwake, struct offwake_process *process, uint64_t now)
{
	process->to_note = false;
	process->noted_ns = now;
	if (!process->pid)
		return;
	resolver__note(offwake->options.resolver, process->pid, offwake->unwound);
}

void offwake__process(struct offwake *offwake, uint32_t tgid, uint32_t parent)
{
	struct offwake_process *process = tgid ? table__get(offwake->processes, tgid) : NULL;
	struct offwake_process *from = parent ? table__get(offwake->processes, parent) : NULL;
	uint64_t now = clock__now();

	if (!tgid)
		return;
	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->tgid = tgid;
		process->pid = offwake__view(offwake, tgid);
		if (!table__put(offwake->processes, tgid, process)) {
			free(process);
			return;
		}
	}
	if (!process->pid)
		process->pid = offwake__view(offwake, tgid);
	if (from && from->pid && process->pid)
		resolver__fork(offwake->options.resolver, from->pid, process->pid);
	if (now - process->noted_ns >= NOTE_EVERY_NS) {
		note(offwake, process, now);
		return;
	}
	process->to_note = offwake->processes_to_note = true;
}

void offwake__note_processes(struct offwake *offwake, bool all)
{
	uint64_t now = clock__now();
	struct offwake_process *process;
	size_t cursor = 0;
	bool more = false;

	if (!offwake->processes_to_note)
		return;
	while ((process = table__next(offwake->processes, &cursor))) {
		if (!process->to_note)
			continue;
		if (all || now - process->noted_ns >= NOTE_EVERY_NS)
			note(offwake, process, now);
		else
			more = true;
	}
	offwake->processes_to_note = more;
}

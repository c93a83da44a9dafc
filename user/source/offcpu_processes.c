// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The processes of an off-CPU profile, and what they have mapped. */
#include <stdlib.h>

#include "user/base/array.h"
#include "user/base/clock.h"
#include "user/base/xalloc.h"
#include "user/source/offcpu_parts.h"

/* Mappings of one process are looked at this often at most. */
#define NOTE_EVERY_NS 200000000ull
/* All processes are gone through for those whose turn it is in no more than this part of the time:
 * mostly it is none's. */
#define NOTE_PART 50

static void note(struct offcpu *offcpu, struct offcpu_process *process, uint64_t now)
{
	process->to_note = false;
	process->noted_ns = now;
	if (!process->pid)
		return;
	resolver__note(offcpu->session->options.resolver, process->pid, offcpu->unwound);
	offcpu_python__noted(offcpu, process);
}

void offcpu__process(struct offcpu *offcpu, uint32_t tgid, uint32_t parent)
{
	struct offcpu_process *process = tgid ? table__get(offcpu->processes, tgid) : NULL;
	struct offcpu_process *from = parent ? table__get(offcpu->processes, parent) : NULL;
	uint64_t now = clock__now();

	if (!tgid)
		return;
	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->tgid = tgid;
		process->pid = enrich__view(offcpu->session->enrich, tgid);
		if (!table__put(offcpu->processes, tgid, process)) {
			free(process);
			return;
		}
		offcpu->pythons_due_ns = 0;
	}
	if (!process->pid)
		process->pid = enrich__view(offcpu->session->enrich, tgid);
	if (from && from->pid && process->pid)
		resolver__fork(offcpu->session->options.resolver, from->pid, process->pid);
	if (now - process->noted_ns >= NOTE_EVERY_NS) {
		note(offcpu, process, now);
		return;
	}
	process->to_note = offcpu->processes_to_note = true;
}

void offcpu__note_processes(struct offcpu *offcpu, bool all)
{
	uint64_t now = clock__now(), pause_ns;
	struct offcpu_process *process;
	size_t cursor = 0;
	bool more = false;

	if (!offcpu->processes_to_note || (!all && now < offcpu->notes_due_ns))
		return;
	while ((process = table__next(offcpu->processes, &cursor))) {
		if (!process->to_note)
			continue;
		if (all || now - process->noted_ns >= NOTE_EVERY_NS)
			note(offcpu, process, now);
		else
			more = true;
	}
	offcpu->processes_to_note = more;
	pause_ns = (clock__now() - now) * NOTE_PART;
	offcpu->notes_due_ns = now + min_u64(pause_ns, NOTE_EVERY_NS);
}

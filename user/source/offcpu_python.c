// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What CPython runs at places of the profile. It is named as soon as it is told, as its process,
 * and the functions in it, may be gone later.
 */
#include <stdlib.h>
#include <string.h>

#include "user/base/xalloc.h"
#include "user/source/offcpu_parts.h"

/* A program takes its time until it has begun: the time until the next look doubles. */
#define LOOKS        6
#define LOOK_STEP_NS 20000000ull

struct functions {
	uint64_t number;
	char *text; /* leaf first; NULL: they have no names, or none yet */
};

void offcpu_python__drop(void *value)
{
	struct functions *functions = value;

	free(functions->text);
	free(functions);
}

static uint32_t key_of(uint64_t number)
{
	return (uint32_t)(number ^ number >> 32);
}

static void look(struct offcpu *offcpu, struct offcpu_process *process, uint64_t now)
{
	const struct session *session = offcpu->session;
	struct ns_python known;

	if (!process->pid || !bpf_map_lookup_elem(bpf_map__fd(session->skel->maps.pythons),
						  &process->tgid, &known)) {
		process->python_looks = LOOKS;
		return;
	}
	process->python_due_ns = now + (LOOK_STEP_NS << process->python_looks++);
	enrich__look_for_python(session->enrich, process->tgid, process->pid);
}

void offcpu_python__noted(struct offcpu *offcpu, struct offcpu_process *process)
{
	if (process->python_looks < LOOKS)
		return;
	process->python_looks = LOOKS - 1;
	process->python_due_ns = offcpu->pythons_due_ns = 0;
}

void offcpu_python__poll(struct offcpu *offcpu, uint64_t now)
{
	struct offcpu_process *process;
	size_t cursor = 0;

	if (offcpu->options.no_user_stacks || now < offcpu->pythons_due_ns)
		return;
	offcpu->pythons_due_ns = UINT64_MAX;
	while ((process = table__next(offcpu->processes, &cursor))) {
		if (process->python_looks < LOOKS && process->python_due_ns <= now)
			look(offcpu, process, now);
		if (process->python_looks < LOOKS &&
		    process->python_due_ns < offcpu->pythons_due_ns)
			offcpu->pythons_due_ns = process->python_due_ns;
	}
}

static void take_names(void *context, uint64_t number, const struct resolver_answer *answer)
{
	struct offcpu *offcpu = context;
	struct functions *functions = table__get(offcpu->pythons, key_of(number));

	if (functions && functions->number == number && answer)
		functions->text = xstrdup(answer->text);
}

void offcpu_python__told(struct offcpu *offcpu, const struct ns_offcpu_python *told)
{
	pid_t pid = enrich__view(offcpu->session->enrich, told->tgid);
	struct functions *functions;

	if (!pid || !told->count || told->count > NS_PYTHON_FRAMES ||
	    table__get(offcpu->pythons, key_of(told->number)))
		return;
	functions = xcalloc(1, sizeof(*functions));
	functions->number = told->number;
	if (table__put(offcpu->pythons, key_of(told->number), functions))
		resolver__python_names(offcpu->session->options.resolver, pid, told->frames,
				       told->count, take_names, offcpu, told->number);
	else
		offcpu_python__drop(functions);
}

const char *offcpu_python__text(const struct offcpu *offcpu, uint64_t number)
{
	const struct functions *functions =
		number ? table__get(offcpu->pythons, key_of(number)) : NULL;

	return functions && functions->number == number ? functions->text : NULL;
}

/* ---- of a thread that sleeps since before the attach ---- */

static uint64_t word_at(pid_t pid, uint64_t address)
{
	uint64_t word = 0;

	return read_memory(pid, address, &word, sizeof(word)) ? word : 0;
}

/* As copy_python() of bpf/lib/python.bpf.h does it. */
static uint32_t copy_frames(const struct ns_offcpu_seed *told, pid_t pid,
			    const struct ns_python *python, struct ns_python_frame *out)
{
	uint64_t frame = told->thread ? word_at(pid, told->thread + python->tls) : 0;
	uint32_t lasti = 0, i;

	frame = frame ? word_at(pid, frame + python->frame) : 0;
	if (frame && python->inner != NS_PYTHON_NONE)
		frame = word_at(pid, frame + python->inner);
	for (i = 0; i < NS_PYTHON_FRAMES && frame; i++) {
		out[i].code = word_at(pid, frame + python->code);
		if (!python->lasti)
			out[i].instr = word_at(pid, frame + python->instr);
		else if (read_memory(pid, frame + python->instr, &lasti, sizeof(lasti)))
			out[i].instr = lasti;
		frame = word_at(pid, frame + python->previous);
	}
	return i;
}

uint64_t offcpu_python__seed(struct offcpu *offcpu, const struct ns_offcpu_seed *told, pid_t pid)
{
	struct ns_offcpu_python out = {.tgid = told->tgid};
	struct ns_python python;

	if (bpf_map_lookup_elem(bpf_map__fd(offcpu->session->skel->maps.pythons), &told->tgid,
				&python))
		return 0;
	out.count = copy_frames(told, pid, &python, out.frames);
	for (uint32_t i = 0; i < out.count; i++)
		out.number = (out.number ^ out.frames[i].code * 31 ^ out.frames[i].instr) *
			     0x100000001b3ull;
	offcpu_python__told(offcpu, &out);
	return out.number;
}

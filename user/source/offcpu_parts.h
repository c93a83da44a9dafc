/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the parts of the off-CPU profile's source share; for offcpu*.c alone. */
#ifndef NETSTALL_SOURCE_OFFCPU_PARTS_H
#define NETSTALL_SOURCE_OFFCPU_PARTS_H

#include <sys/uio.h>

#include "bpf/offcpu.h"
#include "bpf/offcpu_sample.h"
#include "user/base/table.h"
#include "user/source/offcpu.h"
#include "user/source/session_parts.h"

/* Of a process that we may look into, as before the window. False: not all of it is there. */
static inline bool read_memory(pid_t pid, uint64_t address, void *out, size_t size)
{
	struct iovec here = {out, size}, there = {(void *)(uintptr_t)address, size};

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* A process that has a place of the profile. */
struct offcpu_process {
	uint32_t tgid;     /* as the kernel counts */
	pid_t pid;         /* as netstall's own namespace does, 0 not in it */
	uint64_t noted_ns; /* when its mappings were looked at last */
	bool to_note;
	uint32_t python_looks;  /* for CPython in it */
	uint64_t python_due_ns; /* the next one */
};

/* A thread that slept before the attach: its user stack, as user space found it. */
struct offcpu_seed {
	uint32_t count;
	uint64_t frames[NS_OFFCPU_FRAMES];
	uint64_t python; /* as in a place */
};

struct offcpu {
	struct session *session;
	struct offcpu_options options;
	struct unwound *unwound; /* NULL: frame pointers alone */
	struct table *processes; /* struct offcpu_process by tgid */
	bool processes_to_note;
	uint64_t notes_due_ns; /* not before */
	struct table *seeds;   /* struct offcpu_seed by the number of its place */
	struct table *pythons; /* offcpu_python.c's, by number */
	uint64_t pythons_due_ns;
	uint64_t start_ts;
	uint64_t copied_ns; /* when the stacks of sleepers were copied last */
	uint64_t paced_ns;  /* when it was decided last how many short waits one stands for, */
	uint64_t paced;     /* and how many there had been; */
	bool samples;       /* it was more than one, ever */
};

/* offcpu_processes.c: what they have mapped. */
/* It is there: what it has mapped is to be looked at. parent: of a new one, else 0. */
void offcpu__process(struct offcpu *offcpu, uint32_t tgid, uint32_t parent);
/* Look at those whose turn it is; all of them: at the end. */
void offcpu__note_processes(struct offcpu *offcpu, bool all);

/* offcpu_seed.c: the iterator's word on a thread that sleeps since before the attach. */
void offcpu__seed(struct offcpu *offcpu, const struct ns_offcpu_seed *told);

/* offcpu_python.c: what CPython runs at places. */
/* It has mapped something else: it is looked for there again. */
void offcpu_python__noted(struct offcpu *offcpu, struct offcpu_process *process);
void offcpu_python__poll(struct offcpu *offcpu, uint64_t now);
void offcpu_python__told(struct offcpu *offcpu, const struct ns_offcpu_python *told);
/* The number of what a thread runs that sleeps since before the attach, 0: nothing. */
uint64_t offcpu_python__seed(struct offcpu *offcpu, const struct ns_offcpu_seed *told, pid_t pid);
/* Leaf first, "send (/srv/app.py:21)"; NULL: it has no names. */
const char *offcpu_python__text(const struct offcpu *offcpu, uint64_t number);
void offcpu_python__drop(void *value);

/* offcpu_texts.c: places by their numbers, their stacks as text. */
struct offcpu_texts;

struct offcpu_place {
	struct ns_offcpu_place_key key;
	uint32_t id;
	bool resolved;
	bool lost;      /* a stack of it had no room */
	pid_t pid, tid; /* as netstall's namespace counts */
	char *kernel;   /* NULL none */
	char *user;
	char comm[NS_COMM_LEN * 4 + 1];
};

struct offcpu_texts *offcpu_texts__read(struct offcpu *offcpu);
void offcpu_texts__free(struct offcpu_texts *texts);
/* How many places have a user stack that wanted to be unwound, and has not been. */
size_t offcpu_texts__not_unwound(const struct offcpu_texts *texts);
/* NULL: there is no place of this number, or it had no room. */
const struct offcpu_place *offcpu_texts__place(struct offcpu_texts *texts, uint32_t id);

#endif

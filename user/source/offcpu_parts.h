/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the parts of the off-CPU profile's source share; for offcpu*.c alone. */
#ifndef NETSTALL_SOURCE_OFFCPU_PARTS_H
#define NETSTALL_SOURCE_OFFCPU_PARTS_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/offcpu.h"
#include "bpf/offcpu_sample.h"
#include "bpf/state.h"
#include "offcpu.skel.h"
#include "user/base/table.h"
#include "user/kernel/kallsyms.h"
#include "user/kernel/tasks.h"
#include "user/source/offcpu.h"

#define OFFCPU_HOOKS     16
#define OFFCPU_PROCESSES 65536
#define OFFCPU_SEEDS     65536

/* A process that has a place of the profile. */
struct offcpu_process {
	uint32_t tgid;     /* as the kernel counts */
	pid_t pid;         /* as netstall's own namespace does, 0 not in it */
	uint64_t noted_ns; /* when its mappings were looked at last */
	bool to_note;
};

/* A thread that slept before the attach: its user stack, as user space found it. */
struct offcpu_seed {
	uint32_t count;
	uint64_t frames[NS_OFFCPU_FRAMES];
};

struct offcpu {
	struct offcpu_options options;
	const struct target *target;
	pid_t program_pid;
	const char *switch_program; /* the one that this kernel's sched_switch suits */
	struct target_set set;
	size_t targets_refused; /* there was no room for them */
	size_t targets_exited;
	struct offcpu_bpf *skel;
	struct ring_buffer *ring;
	struct bpf_link *hooks[OFFCPU_HOOKS];
	size_t hook_count;
	struct bpf_link *task_list, *seeder, *sleepers; /* iterators */
	struct tasks *tasks;
	uint64_t tasks_read_ns;
	bool same_numbers; /* ours are the kernel's */
	struct kallsyms *kallsyms;
	struct unwound *unwound; /* NULL: frame pointers alone */
	struct table *processes; /* struct offcpu_process by tgid */
	bool processes_to_note;
	struct table *seeds; /* struct offcpu_seed by the number of its place */
	uint64_t start_ts;
	uint64_t end_ts;
	uint64_t copied_ns; /* when the stacks of sleepers were copied last */
};

/* offcpu_load.c: by the options. -errno after it has said why. */
int offcpu__load(struct offcpu *offcpu);
int offcpu__make_iterators(struct offcpu *offcpu);
/* An iterator's output to read, or -errno. */
int offcpu__run(struct bpf_link *iterator);

/* offcpu_pids.c: processes and their numbers. */
int offcpu__read_tasks(struct offcpu *offcpu);
/* As netstall's own pid namespace counts, 0 not in it. */
pid_t offcpu__view(struct offcpu *offcpu, uint32_t tid);
/* It is there: what it has mapped is to be looked at. parent: of a new one, else 0. */
void offcpu__process(struct offcpu *offcpu, uint32_t tgid, uint32_t parent);
/* Look at those whose turn it is; all of them: at the end. */
void offcpu__note_processes(struct offcpu *offcpu, bool all);

/* offcpu_seed.c: threads that sleep since before the attach. */
void offcpu__seed(struct offcpu *offcpu);

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

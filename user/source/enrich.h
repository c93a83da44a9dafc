/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What only user space can add to the kernel's records on their way to the pipeline:
 * pids as netstall's own pid namespace counts them, the names of processes (NS_PROCESS
 * before the first record that names one), and the names behind stack addresses
 * (NS_STACK), which end here.
 */
#ifndef NETSTALL_SOURCE_ENRICH_H
#define NETSTALL_SOURCE_ENRICH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/kernel/kallsyms.h"
#include "user/kernel/tasks.h"
#include "user/symbols/resolver.h"

struct enrich;

typedef void enrich_sink(void *context, const void *record, size_t len);
/* An iterator over all tasks, opened; -errno when it cannot be. */
typedef int enrich_tasks(void *context);
/* NS_ROLE_* of a process by the kernel's number, 0 when it is not watched. */
typedef uint32_t enrich_role(void *context, uint32_t tgid);

/* A thread of a process that is not watched ended this wait; both by the kernel's numbers. */
typedef void enrich_waker(void *context, const struct ns_wait *wait,
			  const struct ns_task_entry *waker);
/* A process runs CPython; by the kernel's number. NULL: that is of no interest. */
typedef void enrich_python(void *context, uint32_t tgid, const struct ns_python *python);

struct enrich_ways {
	enrich_sink *sink;
	void *sink_context;
	enrich_tasks *open_tasks;
	enrich_role *role;
	enrich_waker *waker;
	enrich_python *python;
	void *context;             /* of the last four */
	struct kallsyms *kallsyms; /* the caller's */
	struct resolver *resolver; /* for user stacks; the caller's; NULL: they get no names */
};

struct enrich *enrich__new(const struct enrich_ways *ways);
void enrich__free(struct enrich *enrich);
/* Reads the tasks anew. -errno when the iterator fails. */
int enrich__refresh(struct enrich *enrich);
const struct tasks *enrich__tasks(const struct enrich *enrich);
/* A thread or process as netstall's own pid namespace counts, 0 not in it. */
pid_t enrich__view(struct enrich *enrich, uint32_t tid);
/* One record of the ring buffer, len bytes; damaged ones go on as they are. */
void enrich__record(struct enrich *enrich, const void *record, size_t len);
/* Records go on whose names have come; waits so long for those that have not. False: some still
 * wait. */
bool enrich__settle(struct enrich *enrich, uint64_t wait_ns);
/* When that is to be called again, though no record comes; UINT64_MAX: not for its own sake. */
uint64_t enrich__due_ns(const struct enrich *enrich);
/* All go on, those that still wait without names. */
void enrich__flush(struct enrich *enrich);
/* view: its number in netstall's own pid namespace. Else it is looked for when the process is told.
 */
void enrich__look_for_python(struct enrich *enrich, uint32_t tgid, uint32_t view);
/* A process is under watch: tell it now rather than at its first record. */
void enrich__process(struct enrich *enrich, uint32_t tgid);

#endif

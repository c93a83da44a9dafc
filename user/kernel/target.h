/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the user wants traced, and which processes that is. */
#ifndef NETSTALL_KERNEL_TARGET_H
#define NETSTALL_KERNEL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/kernel/tasks.h"

#define TARGET_PIDS    64
#define TARGET_TIDS    5 /* as many as bcc's offwaketime takes */
#define TARGET_CGROUPS 256

/* As the user said it; pids are those of netstall's own pid namespace. */
struct target {
	size_t pid_count;
	pid_t pids[TARGET_PIDS];
	pid_t tid;        /* 0 none; the first of tids */
	size_t tid_count; /* more than one: offwake alone */
	pid_t tids[TARGET_TIDS];
	const char *comm;
	const char *cgroup;
	uint16_t lport;
	uint16_t rport;
	bool children;
	bool everything; /* every process that uses the network; no other choice then */
	/* Of those that are chosen these are left out: */
	const char *not_comm;
	size_t not_pid_count;
	pid_t not_pids[TARGET_PIDS];
	char **program; /* argv, NULL none */
};

/* As the kernel counts them. */
struct target_set {
	size_t count;
	struct ns_task_entry *processes; /* owned */
	uint32_t only_tids[TARGET_TIDS]; /* the first 0: all threads */
	size_t cgroup_count;
	uint64_t cgroups[TARGET_CGROUPS];
	size_t left_out_count;
	size_t left_out_by_pid; /* so many, the first, whatever they are called by then */
	uint32_t *left_out;     /* owned; processes that are no targets, whatever else holds */
};

bool target__is_empty(const struct target *target);
/* Only ports were named, or nothing: any process with such a connection is meant. */
bool target__is_any_process(const struct target *target);
/*
 * Its processes' children are targets too: asked for, or because a cgroup is inherited without a
 * sound: only joining another one has a tracepoint.
 */
bool target__takes_children(const struct target *target);
/* "pid 4242", "comm nginx, local port 80": for people. */
void target__describe(const struct target *target, char *out, size_t size);

/*
 * Find the processes. Returns 0 or -errno after it has said what is wrong. A comm or
 * cgroup without a process yet is no error: they are waited for.
 */
int target__resolve(const struct target *target, const struct tasks *tasks, struct target_set *set);
void target_set__clear(struct target_set *set);

#endif

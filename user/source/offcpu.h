/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The live source of an off-CPU profile: bpf/offcpu.bpf.c, loaded and attached, and its sums
 * made into a struct profile at the end.
 *
 *   offcpu__open     load the programs, find the targets
 *   offcpu__attach   from here on time counts
 *   offcpu__poll     take what has come, again and again
 *   offcpu__finish   detach, make the profile
 *   offcpu__close
 *
 * Functions that fail return -errno after they have said why.
 */
#ifndef NETSTALL_SOURCE_OFFCPU_H
#define NETSTALL_SOURCE_OFFCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analyze/profile/by_cause.h"
#include "user/analyze/profile/profile.h"
#include "user/kernel/target.h"
#include "user/symbols/resolver.h"
#include "user/symbols/unwound.h"

#define OFFCPU_STACKS 16384 /* kept by default, user and kernel stacks together */

struct offcpu_options {
	unsigned depth;  /* 1 to PROFILE_DEPTH */
	bool everything; /* all threads of the machine; the target is empty then */
	bool per_thread;
	bool user_threads;   /* no kernel threads */
	bool kernel_threads; /* these alone */
	bool no_user_stacks;
	bool no_kernel_stacks;
	uint64_t least_ns, most_ns; /* 0 none */
	bool state_given;
	unsigned state;  /* as the kernel has it; 0: waits for a CPU alone */
	unsigned stacks; /* room for so many, 0: OFFCPU_STACKS */
	bool lines;      /* of source, where there is debug information */
	enum unwind_way unwind;
	unsigned stack_bytes;      /* of a user stack to copy for unwinding, 0: default */
	uint64_t threshold_ns;     /* waits from here on are unwound, and told to by_cause */
	struct by_cause *by_cause; /* the caller's; NULL: no causes */
	const char *btf_path;      /* NULL: the running kernel's */
	struct resolver *resolver; /* the caller's; NULL: user stacks get no names */
};

struct offcpu;

/* program_pid: the stopped child that becomes the target's program, 0 none. */
int offcpu__open(const struct offcpu_options *options, const struct target *target,
		 pid_t program_pid, struct offcpu **out);
int offcpu__attach(struct offcpu *offcpu);
/* Returns after so long, or earlier when something has come that does not wait. */
void offcpu__poll(struct offcpu *offcpu, int timeout_ms);
/* Every target named by pid has ended. */
bool offcpu__targets_gone(const struct offcpu *offcpu);
/* The end of the window: from here on time does not count. */
void offcpu__detach(struct offcpu *offcpu);
/* After that, and with by_cause after the pipeline has told all. The caller's, profile__free(). */
struct profile *offcpu__finish(struct offcpu *offcpu);
void offcpu__close(struct offcpu *offcpu);

size_t offcpu__target_count(const struct offcpu *offcpu);
/* "echo_bench (4242)" of the first target; "" when there is none yet. */
void offcpu__first_target(const struct offcpu *offcpu, char *out, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The live source of an off-CPU profile: bpf/offwake.bpf.c, loaded and attached, and its sums
 * made into a struct profile at the end.
 *
 *   offwake__open     load the programs, find the targets
 *   offwake__attach   from here on time counts
 *   offwake__poll     take what has come, again and again
 *   offwake__finish   detach, make the profile
 *   offwake__close
 *
 * Functions that fail return -errno after they have said why.
 */
#ifndef NETSTALL_SOURCE_OFFWAKE_H
#define NETSTALL_SOURCE_OFFWAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analyze/profile/by_cause.h"
#include "user/analyze/profile/profile.h"
#include "user/kernel/target.h"
#include "user/symbols/resolver.h"
#include "user/symbols/unwound.h"

#define OFFWAKE_STACKS 16384 /* kept by default, user and kernel stacks together */

struct offwake_options {
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
	unsigned stacks; /* room for so many, 0: OFFWAKE_STACKS */
	bool lines;      /* of source, where there is debug information */
	enum unwind_way unwind;
	unsigned stack_bytes;      /* of a user stack to copy for unwinding, 0: default */
	uint64_t threshold_ns;     /* waits from here on are unwound, and told to by_cause */
	struct by_cause *by_cause; /* the caller's; NULL: no causes */
	const char *btf_path;      /* NULL: the running kernel's */
	struct resolver *resolver; /* the caller's; NULL: user stacks get no names */
};

struct offwake;

/* program_pid: the stopped child that becomes the target's program, 0 none. */
int offwake__open(const struct offwake_options *options, const struct target *target,
		  pid_t program_pid, struct offwake **out);
int offwake__attach(struct offwake *offwake);
/* Returns after so long, or earlier when something has come that does not wait. */
void offwake__poll(struct offwake *offwake, int timeout_ms);
/* Every target named by pid has ended. */
bool offwake__targets_gone(const struct offwake *offwake);
/* The end of the window: from here on time does not count. */
void offwake__detach(struct offwake *offwake);
/* After that, and with by_cause after the pipeline has told all. The caller's, profile__free(). */
struct profile *offwake__finish(struct offwake *offwake);
void offwake__close(struct offwake *offwake);

size_t offwake__target_count(const struct offwake *offwake);
/* "echo_bench (4242)" of the first target; "" when there is none yet. */
void offwake__first_target(const struct offwake *offwake, char *out, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The off-CPU profile's part of a session: what it sets up in the kernel side, what it takes from
 * there while it runs, and the kernel's sums made into a struct profile at the end.
 *
 *   offcpu__new
 *   offcpu__configure  before the programs are loaded
 *   offcpu__prepare    they are; the targets are known
 *   offcpu__begin      the window is open
 *   offcpu__poll       again and again
 *   offcpu__closing    it is about to be closed
 *   offcpu__end        it is
 *   offcpu__profile
 *   offcpu__free
 */
#ifndef NETSTALL_SOURCE_OFFCPU_H
#define NETSTALL_SOURCE_OFFCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analyze/profile/by_cause.h"
#include "user/analyze/profile/profile.h"
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
	bool exact;                 /* every wait is looked at, the shortest too */
	uint64_t least_ns, most_ns; /* 0 none */
	bool state_given;
	unsigned state;  /* as the kernel has it; 0: waits for a CPU alone */
	unsigned stacks; /* room for so many, 0: OFFCPU_STACKS */
	bool lines;      /* of source, where there is debug information */
	enum unwind_way unwind;
	struct by_cause *by_cause; /* the caller's; NULL: no causes */
};

/* What `offwake` does without options. */
extern const struct offcpu_options offcpu_default;

struct offcpu;
struct session;

/* The session's options say what is profiled. */
struct offcpu *offcpu__new(struct session *session);
void offcpu__free(struct offcpu *offcpu);
void offcpu__configure(struct offcpu *offcpu);
void offcpu__prepare(struct offcpu *offcpu);
void offcpu__begin(struct offcpu *offcpu, uint64_t start_ts);
void offcpu__poll(struct offcpu *offcpu);
void offcpu__closing(struct offcpu *offcpu);
void offcpu__end(struct offcpu *offcpu);
/* A record of the ring buffer. False: it is none of the profile's. */
bool offcpu__record(struct offcpu *offcpu, const void *record, size_t size);
/* One of the ring buffer of samples; for libbpf, the context is the profile's part. */
int offcpu__sample(void *context, void *record, size_t size);
/* User stacks are to be unwound. */
bool offcpu__unwinds(const struct offcpu *offcpu);
/* After the end, and with by_cause after the pipeline has told all. The caller's. */
struct profile *offcpu__profile(struct offcpu *offcpu);

#endif

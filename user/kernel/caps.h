/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What this kernel and this process can do, found by trying, never by version. */
#ifndef NETSTALL_KERNEL_CAPS_H
#define NETSTALL_KERNEL_CAPS_H

#include "user/kernel/plan.h"

struct bpf_object;
struct btf;

/*
 * Fill caps. btf_path NULL: the running kernel's own. Returns the kernel's types, for
 * caps__free_btf, or NULL when there are none (caps->btf says so).
 */
struct btf *caps__probe(struct caps *caps, const char *btf_path);
void caps__free_btf(struct btf *btf);
/* What libbpf says is for -v alone from then on; caps__probe() sees to it as well. */
void caps__hear_libbpf(void);

/*
 * libbpf names what it could not load in its messages alone. Between the first two of these an
 * object is loaded; the others say whether the kernel did not take the types (BTF) of its
 * functions, none of which is loaded then, and which program or table it refused with err, -errno.
 * False: none.
 */
void caps__before_load(struct bpf_object *object);
void caps__after_load(void);
bool caps__lacks_types(void);
bool caps__refused_in_load(int err, struct ns_refused *out);

/* "none", "integrity", "confidentiality", "not built in": for people. */
const char *caps__lockdown(void);
/* Names of the capabilities that tracing needs and this process lacks, "" when none. */
void caps__lacking(char *out, size_t size);
/* The right to name the call sites of processes of other users: CAP_SYS_PTRACE. */
bool caps__may_look_inside(void);
/* Jiffies a second (CONFIG_HZ), 0 when it cannot be told. */
unsigned caps__hz(void);
/* A perf event that ticks on a CPU while that is not idle, once it is enabled. A descriptor, or -1
 * and errno. */
int caps__open_clock(int cpu);

#endif

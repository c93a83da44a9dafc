/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which programs to load: a pure function of what the kernel can do.
 *
 * A fact (a send ended, the delayed-ACK timer fired, ...) can be had in several
 * variants. plan__make() takes for each fact the first variant in the table that the
 * way allows and the kernel has. A fact without any is missing, which costs that fact
 * alone, unless it is one of those that no stall can be told without.
 */
#ifndef NETSTALL_KERNEL_PLAN_H
#define NETSTALL_KERNEL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

enum way {
	WAY_FENTRY,     /* BTF trampolines */
	WAY_KPROBE,     /* kprobes and kretprobes */
	WAY_TRACEPOINT, /* BTF tracepoints alone */
	WAY_COUNT
};

#define WAY_AUTO WAY_COUNT

enum hook_kind {
	HOOK_TRACEPOINT,
	HOOK_FUNCTION,
	HOOK_RUN,   /* by netstall itself: an iterator, or a program over the keys of a table */
	HOOK_CLOCK, /* a perf event on each CPU */
};

/* One place of the kernel that a program hangs on. */
struct hook {
	const char *program; /* its name in netstall.bpf.c; NULL: no such hook */
	enum hook_kind kind;
	const char *name; /* of the tracepoint or function; of the section of others */
	int arguments;    /* that it must have at least; 0: any number */
	int exactly;      /* likewise, and no more */
};

#define VARIANT_HOOKS 9

struct variant {
	enum ns_fact fact;
	unsigned ways; /* bits 1 << enum way */
	struct hook hooks[VARIANT_HOOKS];
};

extern const struct variant plan_variants[];
extern const size_t plan_variant_count;

#define MOST_REFUSALS 96 /* more than there are programs and tables */

struct caps {
	bool btf;         /* /sys/kernel/btf/vmlinux is there */
	bool may_load;    /* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN */
	bool userns;      /* these hold in a user namespace of its own only */
	bool lockdown;    /* confidentiality: kernel memory is not to be read */
	bool tracepoints; /* BTF tracepoint programs attach */
	int refused;      /* else why not, an errno */
	bool trampolines; /* fentry programs attach */
	bool kprobes;
	bool clocks;        /* perf events that tick on a CPU */
	bool perf_paranoid; /* kprobes are refused to us by kernel.perf_event_paranoid alone */
	bool kernel_names;  /* /proc/kallsyms shows addresses */
	bool preempted;     /* programs at tracepoints can be, so each needs a spare */
	bool copies;        /* iterators can read the memory of tasks */
	bool grows;         /* tables that take their memory as they fill serve for tracing */
	bool uring;         /* the kernel has io_uring, whatever its tracepoints are like */
	uint64_t variants;  /* bit i: all hooks of plan_variants[i] exist */
	struct ns_refused refusals[MOST_REFUSALS]; /* those met so far: caps__refuse() */
	size_t refusal_count;
	char bad_btf[384]; /* why the file named with -C btf is not to be used, "": it is */
};

#define PLAN_PROGRAMS 64

struct plan {
	bool possible;
	enum way way;
	const char *why_not; /* a sentence with its remedy, when not possible; lives as the caps */
	/* Or, when a single program is what it fails by: its refusal, and what netstall does not
	 * see without it. plan__why_not() makes a sentence of it. */
	const struct ns_refused *refusal; /* lives as the caps */
	const char *without;
	bool ask_less;     /* the remedy is to leave out -C attach, and not in that sentence */
	uint64_t variants; /* chosen ones */
	uint32_t missing;  /* bits 1 << enum ns_fact */
	size_t program_count;
	const char *programs[PLAN_PROGRAMS];
};

struct plan_request {
	enum way way;  /* WAY_AUTO: the best that is possible */
	bool untraced; /* the off-CPU profile alone */
	bool profile;  /* also that */
	bool unwind;   /* its stacks are unwound */
	bool by_comm;
	bool by_cgroup;
	bool by_children; /* a target's are targets */
};

/* Why no program of any sort can be loaded, a sentence with its remedy; NULL: they can. */
const char *caps__refusal(const struct caps *caps);
/* The same where even the simplest program ended with this errno. */
const char *caps__refused_with(int err);
void plan__make(const struct caps *caps, const struct plan_request *request, struct plan *plan);
/*
 * The kernel refuses that: plan without it, as far as that goes. False: it is known already, or
 * there is no room to note it, so that another plan would be the same.
 */
bool caps__refuse(struct caps *caps, const struct ns_refused *refusal);
bool caps__refuses_table(const struct caps *caps, const char *table);
/* Why a fact is missing: the last refusal of a program that gives it; NULL: there is none. */
const struct ns_refused *caps__refusal_of(const struct caps *caps, enum ns_fact fact);
/* One sentence with its remedy, without the full stop; of a plan that is not possible. The
 * caller's. */
char *plan__why_not(const struct plan *plan);

const char *way__name(enum way way);
/* WAY_COUNT when there is no such way. */
enum way way__find(const char *name);
/* The programs of every plan, whatever the way: threads, life cycle, iterators. */
bool plan__has_program(const struct plan *plan, const char *program);
/* Does it see the fact, in this volume? */
bool plan__gives(const struct plan *plan, enum ns_fact fact);

#endif

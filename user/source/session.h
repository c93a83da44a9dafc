/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The BPF programs, loaded by a plan and attached to this kernel: a live source of records, with
 * what only user space can add (processes, names of stacks, totals), and of an off-CPU profile.
 * Either may be left out; then what it needs is not loaded.
 *
 *   session__open     load the programs, find the targets
 *   session__attach   from here on events are seen
 *   session__poll     hand over what has come, again and again
 *   session__finish   detach, hand over the totals
 *   session__profile  what was profiled
 *   session__close
 *
 * Functions that fail return -errno after they have said why.
 */
#ifndef NETSTALL_SOURCE_SESSION_H
#define NETSTALL_SOURCE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/kernel/plan.h"
#include "user/kernel/target.h"
#include "user/source/offcpu.h"
#include "user/symbols/resolver.h"

struct session_options {
	enum way way;         /* WAY_AUTO: the best */
	bool verbose;         /* stream every record */
	bool each_connection; /* is told, however many there are */
	bool uring_events;    /* stream every step of io_uring's operations */
	uint64_t threshold_ns;
	const char *btf_path;   /* NULL: the running kernel's */
	const char *own_code;   /* below this path all is the program's own; own_code.h */
	unsigned ringbuf_bytes; /* a power of two, 0: default */
	unsigned max_conns;     /* 0: default */
	unsigned max_histories; /* likewise; rounded up to a power of two */
	unsigned max_threads;
	unsigned max_ops;          /* of io_uring under way at a time */
	unsigned stack_bytes;      /* of a user stack that is copied for the profile, 0: default */
	struct resolver *resolver; /* for user stacks; the caller's; NULL: they get no names */
	const struct offcpu_options *offcpu; /* of the profile; NULL: there is none */
	bool untraced; /* the profile alone: the sink gets nothing, its events cost nothing */
};

typedef void session_sink(void *context, const void *record, size_t len);

struct session;

/* program_pid: the stopped child that becomes the target's program, 0 none. */
int session__open(const struct session_options *options, const struct target *target,
		  pid_t program_pid, session_sink *sink, void *context, struct session **out);
int session__attach(struct session *session);
/*
 * Loads and attaches all that such a session would, what more asks for too, and takes it away
 * again; nothing is traced. What the kernel refuses is added to caps, which caps__probe() has
 * filled, and is left out of the plan. NULL: it works, by that plan; else the sentence that says
 * why not, the caller's.
 */
char *session__try(const struct session_options *options, const struct target *target,
		   const struct plan_request *more, struct caps *caps, struct plan *plan);
/* Becomes readable when something has come that does not wait for the next look; -1: none does. */
int session__news_fd(const struct session *session);
/* When it is to be polled at the latest; UINT64_MAX: whenever it suits. */
uint64_t session__due_ns(const struct session *session);
/* False: some of what has come is not read yet, or waits for its names with all that is behind it.
 */
bool session__poll(struct session *session);
/*
 * A process of the target listens on that TCP port; the port of a listener that several
 * processes share counts as the target's.
 */
bool session__listens(const struct session *session, uint16_t port);
/* The totals of all connections as of now, to the sink. */
void session__tell_totals(struct session *session);
/* Every target named by pid has ended. */
bool session__targets_gone(const struct session *session);
void session__finish(struct session *session);
/*
 * After session__finish(), and with causes once the pipeline has told all. The caller's,
 * profile__free(). NULL without options.offcpu.
 */
struct profile *session__profile(struct session *session);
void session__close(struct session *session);

enum way session__way(const struct session *session);
size_t session__target_count(const struct session *session);
/* Processes below the targets, no targets themselves, that have connections. */
unsigned session__children(const struct session *session);
/* The targets' connections that were open at the attach; the other end on this host is none of its
 * own. */
unsigned session__conns_found(const struct session *session);
/* "echo_bench (4242)" of the first target; "" when there is none yet. */
void session__first_target(const struct session *session, char *out, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the parts of a session share; for session*.c alone. */
#ifndef NETSTALL_SOURCE_SESSION_PARTS_H
#define NETSTALL_SOURCE_SESSION_PARTS_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/state.h"
#include "bpf/uring_state.h"
#include "netstall.skel.h"
#include "user/kernel/caps.h"
#include "user/kernel/kallsyms.h"
#include "user/source/enrich.h"
#include "user/source/session.h"

/* Watched beside targets and peers, at most; and how far from these. */
#define CHAIN_PROCESSES 1024
#define CHAIN_DEPTH     8

struct chain_process {
	uint32_t tgid; /* as the kernel counts */
	uint32_t depth;
	bool ended; /* its place is for another one, when there is no other room */
};

enum session_iterator {
	ITERATE_TASKS,    /* struct ns_task_entry of each */
	ITERATE_SEED,     /* threads that sleep since before the attach are taken in */
	ITERATE_FILES,    /* sockets that there are, by session__scan_sockets() */
	ITERATE_SLEEPERS, /* the user stacks of threads that sleep, for the profile */
	ITERATE_WAITS,    /* those that last at the end of the window, into the ring buffer */
	ITERATORS
};

/* What is run over the keys of a table. Without io_uring there is the first one alone. */
enum session_each {
	EACH_CONN,       /* its totals, into the ring buffer */
	EACH_RING,       /* what it has now, and whether it is still there */
	EACH_OP,         /* dropped, if no table needs it */
	EACH_RING_FILES, /* registered files, by session__scan_registered() */
	EACH_KINDS
};

/* Goes through a table's keys: of key only the one in hand, which the body may delete. */
#define FOR_EACH_KEY(fd, key, next)                                                                \
	for (bool more_ = !bpf_map_get_next_key(fd, NULL, next);                                   \
	     more_ && (*(key) = *(next), more_ = !bpf_map_get_next_key(fd, key, next), true);)

#define ENDED_PROCESSES 4096 /* within a second or two; the connections of further ones stay */

struct ended_process {
	uint32_t tgid;
	uint64_t ts;
};

/* Of a CPU. */
struct session_clock {
	int fd; /* the link's, which closes it */
	struct bpf_link *link;
};

struct session {
	struct session_options options;
	const struct target *target;
	pid_t program_pid;
	session_sink *sink;
	void *context;
	struct target_set set;
	size_t targets_exited;
	struct kallsyms *kallsyms;
	struct offcpu *offcpu; /* NULL: nothing is profiled */
	struct caps caps;
	struct plan_request request;
	struct plan plan;
	bool is_trial; /* no process is looked at: session__try() */
	char *why;     /* it could not do what it was asked for; NULL: it could */
	struct netstall_bpf *skel;
	struct ring_buffer *ring;
	struct bpf_link *hooks[PLAN_PROGRAMS];
	size_t hook_count;
	struct bpf_link *iterators[ITERATORS]; /* NULL: the plan has no such one */
	struct bpf_program *each[EACH_KINDS];  /* likewise; the skeleton's */
	struct session_clock *clocks;          /* session_busy.c */
	size_t clock_count;
	bool clocks_tick;
	uint64_t long_seen_ns; /* the last long wait */
	uint64_t swept_ns;     /* when io_uring's were run last */
	uint64_t ops_lost_seen;
	struct enrich *enrich;
	struct ended_process ended[ENDED_PROCESSES]; /* whose connections are to be told */
	size_t ended_count;
	struct chain_process chain[CHAIN_PROCESSES];
	size_t chain_count;
	uint32_t unsure_seen;
	uint64_t next_scan_ns; /* not before */
	uint64_t turn_end_ns;  /* records are read until then, at most; 0: until there are none */
	unsigned turn_records;
	uint64_t sampled_ns; /* when the sample of exchanges was looked after last */
	uint64_t waits_paced_ns;
	uint64_t turns_seen; /* counts of then */
	uint64_t slow_seen;
	uint32_t children; /* of targets, that have connections and are no targets: the most seen */
	uint64_t lost_told[NS_LOST_KINDS];
	uint64_t lost_looked_ns; /* when these were looked after */
	bool finished;
	uint64_t end_ts;
};

/*
 * session_load.c: by the session's plan and options. -EAGAIN: the kernel refuses something, which
 * is noted in the caps for another plan; any other -errno: session->why has it.
 */
int session__load(struct session *session);
/* With these it starts in 61 MB, measured as a cgroup counts: the kernel's part too. */
#define SMALL_TABLES                                                                               \
	"-C conns.max=256 -C histories.max=128 -C threads.max=256 -C uring.max=64 "                \
	"-C ringbuf.bytes=262144"

/* session_refused.c: the kernel refuses a program, or to load. As session__load(), never 0. */
int session__refused(struct session *session, const struct bpf_program *program,
		     enum ns_refused_step step, int err);
int session__refused_in_load(struct session *session, int err);
/* Returns err; takes why. */
int session__fail(struct session *session, int err, char *why);

/* session_chain.c: for enrich; the context is the session. */
uint32_t session__role_of(void *context, uint32_t tgid);
void session__join_chain(void *context, const struct ns_wait *wait,
			 const struct ns_task_entry *waker);
/* For every process that ended. */
void session__chain_ended(struct session *session, uint32_t tgid);

/* session_scan.c: the iterators, and the records that they and the hooks tell. Fails as
 * session__load() does. */
int session__make_iterators(struct session *session);
/* To be read and closed, or -errno; -ENOENT: there is none. */
int session__open_iterator(const struct session *session, enum session_iterator which);
/* Reads what has come, for so long at most. False: there is more. */
bool session__read_records(struct session *session, uint64_t most_ns);
/* To its end, for what it does on the way. */
void session__iterate(struct session *session, enum session_iterator which);
/* Over all keys that stay in the table meanwhile, and perhaps over those that come or go. */
void session__each(struct session *session, enum session_each which);
void session__seed_threads(struct session *session);
void session__scan_sockets(struct session *session, enum ns_scan mode);
/* Sockets that are registered with a watched ring, which may have no descriptor. */
void session__scan_registered(struct session *session, enum ns_scan mode);

/* session_sample.c: how many exchanges are told one by one, kept within bounds. */
void session__pace_samples(struct session *session, uint64_t now);

/* session_busy.c: the clocks of the CPUs, which stand still until something waits long. */
int session__open_clocks(struct session *session); /* fails as session__load() does */
void session__close_clocks(struct session *session);
/* Of a record that has come whole. */
void session__look_for_busy(struct session *session, const struct ns_head *head);
void session__pace_clocks(struct session *session, uint64_t now);

/* session_end.c: what is only known at the end, told to the sink. */
void session__tell_threads(struct session *session, uint64_t now);
/* At the end, the runs too that the kernel left out. */
void session__tell_lost(struct session *session, uint64_t now);
/* On the way: within what time, and who is not watched is taken for one on another host. */
void session__look_for_losses(struct session *session, uint64_t now);

/* session_uring.c: out of the tables with rings that are gone, and their operations. */
void session__sweep_uring(struct session *session, uint64_t now);
/* Rings and the counts of their operations as of now, told to the sink. */
void session__tell_uring(struct session *session, uint64_t now);
/* session_end.c: what the connections that were not told were in sum. */
void session__tell_services(struct session *session, uint64_t now);
/* Those of processes that have ended make room for others', which without any are added up as one.
 */
void session__sweep_services(struct session *session, uint64_t now);
void session__note_ended(struct session *session, uint32_t tgid, uint64_t ts);
void session__keep_room_for_others(struct session *session);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where threads were off the CPU, and the chains of who woke them: what `netstall offwake`
 * shows. Built from the kernel's sums by source/, const for the renderers (folded, top list,
 * SVG, pprof, JSON), which see nothing else.
 *
 * Times are ns, stacks are text: frames leaf first with ';' between, as in the report (a ';'
 * within a name has become ':' where the text was made). NULL: there is none.
 */
#ifndef NETSTALL_ANALYZE_PROFILE_PROFILE_H
#define NETSTALL_ANALYZE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/analyze/cause.h"

#define PROFILE_DEPTH 8                   /* --depth at most */
#define PROFILE_HOPS  (PROFILE_DEPTH + 1) /* and what a softirq's hop goes back to */

/* What made a thread runnable. */
enum waker_kind {
	WAKER_IS_UNKNOWN, /* no wake was seen: "[unknown waker]" */
	WAKER_IS_THREAD,  /* a thread by what it did itself; a softirq run inside its own system
			   * call counts as its doing (loopback), and the stack shows it */
	WAKER_IS_SOFTIRQ, /* in an interrupted, innocent thread, or ksoftirqd */
	WAKER_IS_IRQ,
};

/*
 * One wake: of the thread before it in the chain. A softirq that received what a timer had sent
 * on this machine is followed by one more hop, that timer: "softirq:net_rx" by "softirq:timer",
 * whose stack is that of the send.
 */
struct profile_hop {
	enum waker_kind kind;
	uint32_t pid; /* of WAKER_IS_THREAD; as netstall's pid namespace counts */
	uint32_t tid; /* 0: threads are not distinguished */
	/* Thread: its name. Else "softirq:net_rx", "softirq:timer", "irq:nvme0q1". */
	const char *name;
	const char *kernel; /* its stack at the wake */
	const char *user;   /* NULL for softirq and irq */
	/* Its own last wait before that, which the next hop ended and which lasted into the wait
	 * before; NULL in the last hop, and of a softirq. */
	const char *wait_kernel;
	const char *wait_user;
};

/* The off-CPU time of one thread (or process) in one place, ended in one way. */
struct profile_entry {
	uint32_t pid;
	uint32_t tid; /* 0: threads are not distinguished */
	const char *comm;
	uint32_t state;     /* task state as ns_wait.state: 1 S 2 D 4 stopped 0 runnable */
	bool has_cause;     /* --by-cause */
	enum cause cause;   /* CAUSE_COUNT: shorter than what is explained */
	const char *kernel; /* where it slept */
	const char *user;
	size_t hop_count; /* 0: none seen, or only off-CPU was asked for */
	struct profile_hop hops[PROFILE_HOPS];
	uint64_t count; /* waits */
	/* Blocked: from switch-out to wake, the report's blocked_ms. With --state 0, of waits for
	 * a CPU alone: from switch-out to switch-in. */
	uint64_t ns;
	uint64_t runqueue_ns; /* and from the wake to switch-in; 0 with --state 0 */
};

enum profile_loss_kind {
	PROFILE_LOST_STACKS, /* a stack had no room: its waits count, with "[lost stack]" */
	PROFILE_LOST_KEYS,   /* a chain had no room: its time is in lost_ns alone */
	PROFILE_LOST_THREADS,
	PROFILE_LOST_UNWINDS, /* stacks that were to be copied for unwinding, and had no room */
	PROFILE_LOST_RECORDS, /* news of the kernel side: of processes, of single waits */
	PROFILE_LOST_KINDS
};

struct profile_loss {
	uint64_t count;
	uint64_t ns; /* of waits concerned, 0 not known */
};

/*
 * Where there are thousands of short waits a second, they are looked at in some slots of time that
 * chance chose, and those stand for all: of the entries, how they share in the time of such waits
 * is an estimate, and what they have of it together is exact.
 */
struct profile_sample {
	uint64_t waits;     /* 0: every wait was looked at */
	uint64_t ns;        /* blocked in them */
	uint64_t looked_at; /* of the waits */
};

struct texts;

/*
 * Made by profile__new(), filled by profile__add() and by hand, readable after
 * profile__finish().
 */
struct profile {
	char target[128]; /* as the user named it */
	char kernel_release[64];
	char arch[16];
	uint64_t start_ts; /* CLOCK_MONOTONIC */
	uint64_t end_ts;
	int64_t wall_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
	unsigned depth;
	bool per_thread;
	bool delimited; /* -d: '-' between user and kernel stacks */
	bool by_cause;
	bool no_waker;              /* stacks of the sleepers alone */
	uint64_t least_ns, most_ns; /* -m, -M; 0 none */
	size_t entry_count;
	struct profile_entry *entries; /* most time first */
	uint64_t total_ns;             /* of all entries */
	uint64_t waits;
	uint64_t runqueue_ns; /* of all entries, and of waits for a CPU alone that are in none */
	/* Of the entries' own user stacks, weighted by nothing; see PROFILE_UNKNOWN_FRAME. */
	uint64_t frames, unknown_frames;
	struct profile_sample sample;
	struct profile_loss lost[PROFILE_LOST_KINDS];
	const char *hidden;  /* why kernel names are missing, a sentence with the remedy; NULL */
	struct texts *texts; /* what the entries point to; the profile's own */
	size_t entry_room;
};

/* How a frame without any name is written. */
#define PROFILE_UNKNOWN_FRAME "[unknown]"
/* In place of a stack that had no room. */
#define PROFILE_LOST_STACK "[lost stack]"
/* In place of a cause: shorter than what is explained. */
#define PROFILE_NOT_EXPLAINED "not-explained"

/* The cause as a frame or label: its id, PROFILE_NOT_EXPLAINED for CAUSE_COUNT. */
const char *profile__cause(enum cause cause);

struct profile *profile__new(void);
void profile__free(struct profile *profile);
/* The profile's own copy of text, equal ones being one pointer; NULL for NULL. */
const char *profile__text(struct profile *profile, const char *text);
/* Copies the entry and its texts; hops beyond hop_count are not looked at. */
void profile__add(struct profile *profile, const struct profile_entry *entry);
/*
 * Once all is added: joins entries that differ in count and ns alone, puts those with most time
 * first (equal ones in an order that their content alone decides), and fills in total_ns, waits
 * and the frames' counts.
 */
void profile__finish(struct profile *profile);
/* 0 for entries of the same chain (count and ns apart), else their order by content. */
int profile__compare(const struct profile_entry *a, const struct profile_entry *b);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the time of a request, or of a wait, was made of: a tree of parts, followed backwards from
 * its end. The parts are disjoint and sum to it.
 */
#ifndef NETSTALL_ANALYZE_PATH_H
#define NETSTALL_ANALYZE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "user/analyze/cause.h"

enum path_kind {
	PATH_UNKNOWN, /* nothing to stand on */
	PATH_RUNS,    /* the thread computes */
	PATH_READY,   /* it is ready and waits for a CPU */
	PATH_BLOCKED, /* it waits, for what its parts say; what they do not is its own time */
	PATH_SHORTS,  /* it waits again and again, for shorter than is recorded one by one */
	PATH_HELD,    /* TCP holds bytes back, or sends them again */
	PATH_TRANSIT, /* bytes are on their way */
	PATH_UNREAD,  /* bytes have arrived, and their reader does not come */
	PATH_KINDS
};

/* The first part is the whole; each other one is made of what its parent's time went to. */
struct path_part {
	enum path_kind kind;
	enum cause cause; /* what it is by itself */
	uint16_t parent;  /* number of the part above, less than its own; of the first 0 */
	uint32_t pid;     /* the thread; 0: of none */
	uint32_t tid;
	uint32_t conn;    /* that it is about, 0 none */
	uint32_t syscall; /* of a wait, NS_SYSCALL_NONE */
	uint32_t count;   /* waits, holds; of parts that are alike and were added up */
	uint64_t ns;      /* its own, without the parts below it */
	char comm[NS_COMM_LEN];
	uint32_t waker_tid; /* of a wait: who ended it, where nobody watches its process; 0 none */
	char waker_comm[NS_COMM_LEN];
};

#define PATH_PARTS 24 /* of one path; further ones are added to their parents */

struct path {
	size_t count;
	struct path_part parts[PATH_PARTS];
};

/* "computes", "ready", "blocked" ... */
const char *path_kind__name(enum path_kind kind);
/* All of a part's time, those below it included. */
uint64_t path__total(const struct path *path, size_t part);
/*
 * Add a part below another one, or its time to one that is alike there: of the same kind, cause,
 * system call and waker, of the same thread or one of its process and name, but for its number in a
 * pool; of another process of its name only where room runs short. Returns its number.
 */
size_t path__add(struct path *path, const struct path_part *part);
/*
 * Add all of another path to this one, likewise; processes of one name are one here, as workers are
 * that take turns, unless both have parts in the other path.
 */
void path__merge(struct path *path, const struct path *from);

/*
 * Of a stall of this cause: the part of the others' time that took most, or of `self` of the
 * delayed thread's own, also where it answers itself; NULL: what took most was not seen.
 */
const struct path_part *path__main(const struct path *path, enum cause cause);
/* Of those parts the one with most time that is not in the set yet; NULL: none. */
const struct path_part *path__next_largest(const struct path *path, enum cause cause,
					   uint64_t *taken);
/* A thread's deed is known; what its wait was for besides its parts is not. */
bool path__is_known(const struct path *path, enum cause cause, const struct path_part *part);
/* Of no more than half of the time it is unknown what somebody did. */
bool path__is_seen(const struct path *path);
/* Of what is not known at least in which wait it was is known: it becomes that wait's own time. */
void path__fold_unknown(struct path *path);
/* How much the part has of so much of their time. */
uint64_t path__share(const struct path *path, const struct path_part *part, uint64_t whole_ns);
/*
 * The same of all threads that wait as this part's does, wherever on the path: of its process, of
 * one name but for a number, in the same system call for the same cause. Of other parts, of which
 * nothing says that they do the same, it is path__share(). *threads: how many there are.
 */
uint64_t path__share_of_alike(const struct path *path, const struct path_part *part,
			      uint64_t whole_ns, uint32_t *threads);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The stalls of one cause on one connection, added up: what a verdict tells of. */
#ifndef NETSTALL_ANALYZE_TALLY_H
#define NETSTALL_ANALYZE_TALLY_H

#include "user/analyze/report.h"

struct range {
	uint64_t least;
	uint64_t most;
};

/* What the chains of stalls ended in: a thread in a system call, for a cause. */
struct tally_root {
	enum cause cause;
	uint32_t tid;
	uint32_t syscall;
	uint32_t count;
};

#define TALLY_ROOTS  4 /* further ones are not counted */
#define TALLY_PLACES 4 /* likewise */

/* Whom datagrams were sent to, and what came of it. */
struct tally_server {
	uint32_t family; /* 0: none */
	uint32_t addr[4];
	uint32_t port;
	uint32_t answered;
	uint32_t unanswered;
	uint64_t answered_ns;
	uint64_t unanswered_ns;
};

#define TALLY_SERVERS 4 /* likewise */

/* Questions that are asked on a socket as soon as the answer to the one before is there. */
struct tally_in_turn {
	uint32_t count;
	uint32_t lport;       /* of the socket whose answer came last, 0 none, */
	uint64_t answered_ts; /* and when */
};

/* The stalls of one cause on one connection. */
struct tally {
	enum cause cause;
	bool is_pace;
	uint32_t conn;
	uint32_t count;
	uint32_t whole;     /* every link seen, both ends of it exact */
	uint32_t inferred;  /* nothing but what the confidence says is missing */
	uint32_t told;      /* kept their steps */
	uint32_t by_data;   /* released by data */
	uint64_t others;    /* requests that were answered meanwhile, of all stalls, */
	uint64_t others_ns; /* and for how long */
	uint64_t total_ns;
	uint64_t
		covered_ns; /* of the window, at the end: what several have in common counts once */
	uint64_t held_ns;   /* without what the network and the run queue added */
	uint64_t held_most_ns;    /* of one stall */
	struct range first_bytes; /* most 0: not seen */
	struct range second_bytes;
	struct range joined;
	struct range gap_ns;                  /* from the first write to the held one */
	struct tally_root roots[TALLY_ROOTS]; /* count 0: none */
	struct tally_server servers[TALLY_SERVERS];
	struct tally_in_turn in_turn;
	struct path path;  /* of the whole ones together, if there are any; count 0: of holds */
	uint32_t followed; /* how many stalls that is */
	bool path_is_whole;
	struct stall_reader reader; /* its times of all stalls */
	struct call_sites sites;    /* of the first stall that has them, or most have */
	struct {
		uint32_t write, read, answer;
	} votes; /* for these, less those for others */
	/* Where they waited, at the deepest link of the chain whose place is known. */
	struct tally_place {
		const char *site; /* NULL: free */
		uint64_t ns;
		uint64_t of_ns; /* with its thread's other waits in that call, in the same stalls */
		uint32_t count; /* of stalls */
	} places[TALLY_PLACES];
	uint64_t lead_ns;     /* of no connection: by how much the example's thread is ahead */
	struct stall example; /* a whole one if there is one, of the longest chain; no steps */
};

/* Whom most of the time went to; NULL: to nobody by datagrams. */
const struct tally_server *tally__server(const struct tally *tally);
/* Of that one most of the time passed without an answer. */
bool tally__is_unanswered(const struct tally *tally);
/* Who would accept is at other requests for most of the time that they lie in the listen queue: no
 * sooner would they be answered. */
bool tally__serves_others(const struct tally *tally);
/* Of its chain the wait for an answer on a socket that is no TCP connection, else its own wait. */
const struct ns_wait *stall__socket_wait(const struct stall *stall);
/* Every link was seen, and both ends of it exactly. */
bool stall__is_whole(const struct stall *stall);
/* A program that makes requests slept by its own timer meanwhile: none of them waited for that. */
bool stall__is_pace(const struct stall *stall);
/* A set of enum stall_trait. */
unsigned stall__traits(const struct stall *stall);
struct stall_brief stall__brief(const struct stall *stall);
void tally__add(struct tally *tally, const struct stall *stall);
/* A stall that it has already went on for so long. */
void tally__extend(struct tally *tally, const struct stall *more);
/* Whose time the stalls of another connection were, and what their reader did, counts as well. */
void tally__join(struct tally *tally, const struct tally *other);
/* Its times come to those of the sum. */
void stall_reader__add(struct stall_reader *sum, const struct stall_reader *reader);
/* Those of one of its stalls, which may have come late, or of stalls like them. */
void tally__take_sites(struct tally *tally, const struct call_sites *sites);
/* Those of the stall at a thread that computes come to the tally's, once for each stall. */
void tally__take_looks(struct tally *tally, const struct stall *stall);

#endif

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/record/losses.h"

#include <stddef.h>

#define RUN_AGAIN   "run it again"
#define FEWER_PROCS "check fewer processes at once, with -p or --comm"
#define SHORTER     "check for a shorter time (-d), or fewer processes"

/* clang-format off */
/*
 * KIND, id, one, many, why, remedy, no_event; see struct loss_kind.
 *
 * Any cause may hide behind a loss, for a stall of one connection is explained by what another, a
 * thread or a process did. Where each is counted: by the kernel side unless its row says otherwise.
 */
#define LOSSES(ROW)                                                                                \
	/* Any record: a write, a timer, a wake. */                                                \
	ROW(RINGBUF, "ringbuf", "record", "records", "ring buffer full",                           \
	    "give it more room with -C ringbuf.bytes=33554432, or check fewer processes", 0)       \
	/* Its holds and retransmissions are not seen, nor what the chain behind it waits for. */  \
	ROW(CONNS, "conns", "connection", "connections", "table full",                             \
	    "make it larger with -C conns.max=N", 0)                                           \
	/* Its waits are not, and so not what a far peer's answer was late for. */                 \
	ROW(THREADS, "threads", "thread", "threads", "table full",                                 \
	    "make it larger with -C threads.max=65536", 0)                                         \
	/* All of the above. */                                                                    \
	ROW(PROCESSES, "processes", "process", "processes", "table full", FEWER_PROCS, 0)          \
	/* Its stall is found, with an end that is an upper bound. */                              \
	ROW(RELEASES, "releases", "release", "releases", "when held bytes left was not seen",      \
	    NULL, 0)                                                                               \
	/* By the decoder and the analysis. Nobody knows what it was. */                           \
	ROW(DAMAGED, "damaged", "record", "records", "damaged",                                    \
	    RUN_AGAIN "; if it stays, please report it as a fault of netstall", 0)                 \
	/* In user space: a connection, thread, process or hold that there is no room for. */      \
	ROW(KEPT, "kept", "record", "records", "no room to keep them", SHORTER, 0)                 \
	/* By both sides; the model counts those that it has no room for. */                       \
	ROW(SITES, "sites", "call site", "call sites", "a second's budget was used up", NULL, 1)   \
	/* What a thread waited for on a ring is not known then. */                                \
	ROW(RINGS, "rings", "io_uring ring", "io_uring rings", "table full", FEWER_PROCS, 0)       \
	ROW(OPS, "ops", "io_uring operation", "io_uring operations", "table full",                 \
	    "make it larger with -C uring.max=131072", 0)                                          \
	/* Of one and the same socket, at the same time: rare. */                                  \
	ROW(TORN, "torn", "record", "records", "written by two CPUs at a time", RUN_AGAIN, 0)      \
	/* Two were preempted within the programs that count them. */                              \
	ROW(DONE, "completions", "io_uring completion", "io_uring completions",                    \
	    "the kernel did not run netstall's program for them",                                  \
	    RUN_AGAIN " with fewer programs beside it", 0)                                         \
	/* By the kernel, and by user space at the end. */                                         \
	ROW(RUNS, "runs", "run of netstall's programs", "runs of netstall's programs",             \
	    "left out by the kernel, of any process; an event in them is not seen", NULL, 1)       \
	/* In user space: what a thread slept in or who woke it, when a wait is to be explained. */ \
	ROW(STACKS, "stacks", "stack of a wait", "stacks of waits", "no room to keep them",        \
	    SHORTER, 0)                                                                            \
	/* What a stall of its connection, or of the other end's, began with may be missing. */    \
	ROW(HISTORIES, "histories", "record", "records",                                           \
	    "no room for those of all connections that were busy at a time",                       \
	    "make more with -C histories.max=N", 0)                                                \
	/* Of a second's waits the first are told, and the long ones of the rest. */               \
	ROW(WAITS, "waits", "wait", "waits", "too many to look at each",                           \
	    "raise the threshold (--threshold) above what is usual for this program", 1)                    \
	/* By the reader of a recording: they were written, or were to be. */                      \
	ROW(RECORDING, "recording", "record", "records",                                           \
	    "the recording is damaged, or of a newer version", "record it again", 0)
/* clang-format on */

#define KIND(kind, id, one, many, why, remedy, no_event)                                           \
	[NS_LOST_##kind] = {id, one, many, why, remedy, no_event},
#define ID(kind, id, one, many, why, remedy, no_event) [NS_LOST_##kind] = (id),

static const struct loss_kind kinds[NS_LOST_KINDS] = {LOSSES(KIND)};

const char *const loss_ids[NS_LOST_KINDS + 1] = {"none", LOSSES(ID)};

const struct loss_kind *loss_kind(uint32_t kind)
{
	return kind < NS_LOST_KINDS && kinds[kind].id ? &kinds[kind] : NULL;
}

uint64_t losses__events(const uint64_t *lost)
{
	uint64_t count = 0;

	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++)
		count += kinds[kind].no_event ? 0 : lost[kind];
	return count;
}

uint64_t losses__hiding(const uint64_t *lost)
{
	uint64_t count = 0;

	for (uint32_t kind = 0; kind < NS_LOST_KINDS; kind++)
		count += kinds[kind].remedy ? lost[kind] : 0;
	return count;
}

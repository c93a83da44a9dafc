/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small process of ours between netstall and the program that it started. Because netstall
 * gives its privileges up after the attach, this is what can still signal a program of another
 * user; because it is the reaper of whatever the program's family leaves behind
 * (PR_SET_CHILD_SUBREAPER), nothing that the program started gets out of sight; and when
 * netstall is killed it ends the program, which would otherwise run on unwatched. It keeps
 * CAP_KILL and no other privilege, and parses nothing but the parents' numbers in /proc.
 *
 * Only program.c talks to it, in messages of one struct over a SOCK_SEQPACKET pair.
 */
#ifndef NETSTALL_PROCESS_SUPERVISOR_H
#define NETSTALL_PROCESS_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How long whoever is asked to end by SIGTERM gets for it, before SIGKILL. */
#define SUPERVISOR_GRACE_MS 5000
/* How long processes of a program that has ended may take to end too, before they are counted. */
#define SUPERVISOR_ORPHANS_MS 200

enum supervisor_ask {
	SUPERVISOR_SIGNAL, /* value: to the program's process group */
	SUPERVISOR_END, /* value: SIGTERM (SIGKILL follows after the grace) or SIGKILL, to all of it
			 */
};

enum supervisor_news {
	SUPERVISOR_READY,   /* pid: the program's, which waits at its gate */
	SUPERVISOR_UNABLE,  /* value: an errno; it ends */
	SUPERVISOR_STOPPED, /* value: by which signal */
	SUPERVISOR_ENDED,   /* value: its wait status; ts */
	SUPERVISOR_LEFT, /* after SUPERVISOR_ENDED. value: processes of it that still run; pid: of
			    one */
};

struct supervisor_message {
	uint32_t what;
	int32_t value;
	int32_t pid;
	uint32_t pad;
	uint64_t ts; /* CLOCK_MONOTONIC, ns */
};

struct supervisor_options {
	int socket;
	int gate; /* the program's end of the pipe that lets it go */
	int failure;
	char **argv;
	bool own_group; /* a process group of its own, and all of it is looked after, see above */
};

/* The whole life of the process; the caller has just forked it. */
void supervisor__run(const struct supervisor_options *options) __attribute__((noreturn));

#endif

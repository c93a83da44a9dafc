/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The process that runs the command of --on-stall, one at a time, in messages over a
 * SOCK_SEQPACKET pair: a list of NAME=VALUE, each with its NUL, begins one; struct hook_news
 * comes back when it has ended. Only on_stall.c talks to it.
 */
#ifndef NETSTALL_PROCESS_HOOK_H
#define NETSTALL_PROCESS_HOOK_H

#include <stdint.h>

#define HOOK_MESSAGE   4096
#define HOOK_VARIABLES 32
#define HOOK_GRACE_MS  5000 /* for the last one, once the socket is closed */
#define HOOK_TERM_MS   1000 /* from SIGTERM to SIGKILL */

enum hook_what {
	HOOK_READY,   /* value: 0, or -errno: no such command */
	HOOK_ENDED,   /* value: wait status */
	HOOK_NOT_RUN, /* value: -errno of the exec */
	HOOK_KILLED,  /* value: wait status; it had not ended in its time */
};

struct hook_news {
	uint32_t what;
	int32_t value;
};

/* The whole life of the process; see helper.h. */
void hook__run(char **argv) __attribute__((noreturn));

#endif

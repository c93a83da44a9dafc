/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small process of ours beside us, at the other end of a socket: what it does is done with the
 * rights that netstall has before the attach, and holds nothing up. It lives until its socket is
 * closed.
 */
#ifndef NETSTALL_BASE_HELPER_H
#define NETSTALL_BASE_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

/* In a process that has settled. */
#define HELPER_SOCKET 3
#define HELPER_ALSO   4

/*
 * Fork. Each side's end of a socket pair of this type is in *socket, close-on-exec. Returns 0 in
 * the process itself, else its pid or -errno. It has what we have until it settles.
 */
pid_t helper__fork(int type, int *socket);
/*
 * In the process itself: signals are as by default, none is blocked, and SIGINT, SIGTERM, SIGHUP,
 * SIGQUIT, SIGPIPE and SIGUSR1 are ignored (a Ctrl-C is ours to deal with). socket becomes
 * HELPER_SOCKET, also HELPER_ALSO (-1: there is none); all other descriptors are closed, and stdin,
 * stdout and, unless keeps_stderr, stderr are descriptor__open_null().
 */
void helper__settle(const char *name, int socket, int also, bool keeps_stderr);
/*
 * After its socket was closed, or what it does needs no end: it has so long to end by itself; one
 * that was stopped goes on for as long again, then it is killed. One that hangs in the kernel, on a
 * file system that does not answer, is left to it. True: it is gone, and was waited for.
 */
bool helper__end(pid_t pid, int grace_ms);
/*
 * It has ended already, and is waited for by this: what it was there for is missing from then on.
 * killed: by a signal, not by itself.
 */
bool helper__has_ended(pid_t pid, bool *killed);
/* In a child of it that is to become a program: no signal is ignored any more. */
void helper__restore_signals(void);

#endif

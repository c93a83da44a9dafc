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

#define HELPER_SOCKET                                                                              \
	3 /* in the process itself; it has no other descriptor but the first three                 \
	   */

/*
 * Fork. In the process itself: 0, with signals as by default but SIGINT, SIGTERM, SIGHUP, SIGQUIT
 * and SIGPIPE, which are ignored (a Ctrl-C is ours to deal with); stdin, stdout and, unless
 * keeps_stderr, stderr are /dev/null. Else its pid, and *socket (close-on-exec) of this type; or
 * -errno.
 */
pid_t helper__fork(const char *name, int type, bool keeps_stderr, int *socket);
/* In a child of it that is to become a program: no signal is ignored any more. */
void helper__restore_signals(void);

#endif

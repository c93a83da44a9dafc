/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that the user of the command line names, opened with that user's rights: a process that
 * has become the user who called sudo opens them and hands the descriptor over. Whoever may call
 * netstall by sudo alone writes and reads no more by it than without.
 */
#ifndef NETSTALL_PROCESS_AS_CALLER_H
#define NETSTALL_PROCESS_AS_CALLER_H

#include <stdbool.h>

/*
 * flags as of open(); what O_CREAT makes is 0600, and the caller's. Before privileges__drop().
 * A close-on-exec descriptor or -errno; a symbolic link of another user than the caller or root
 * is not followed (-ELOOP). /dev/stdout, /dev/stderr and /dev/fd/N are the descriptors that
 * netstall was started with.
 */
int as_caller__open(const char *path, int flags);
/*
 * The part of it for who opens by other means, as the caller already: -ELOOP, or 0 and whether
 * path is a symbolic link.
 */
int as_caller__look(const char *path, bool *link);
/* Of a -errno of these, for people. */
const char *as_caller__why(int err);

#endif

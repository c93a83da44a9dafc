/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What we keep of root once the programs are attached, and what a started program gets of it. */
#ifndef NETSTALL_KERNEL_PRIVILEGES_H
#define NETSTALL_KERNEL_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Keep CAP_BPF alone (tables are still read and iterators run, which Linux before 6.x
 * wants it for). The right to look into other processes stays with a small process of ours,
 * file_broker.h; that to signal a program of another user, with another: process/supervisor.h.
 */
void privileges__drop(void);
/* For these processes: of these capabilities those that we have, for good. Returns 0 or -errno. */
int privileges__keep_only(const int *kept, size_t count);

/*
 * As root, do SUDO_UID and SUDO_GID name a user, or are both unset or empty? Says so if not:
 * whoever goes on would do as root what another user asked for.
 */
bool privileges__caller_is_clear(void);

/* The user who called sudo; false: we were not called by sudo, or by root. */
bool privileges__caller(uid_t *uid, gid_t *gid);

/*
 * In a child before its exec: become the user who called sudo, if it was sudo. Returns
 * 0 or -errno; a process that could not change must not exec.
 */
int privileges__become_caller(void);

#endif

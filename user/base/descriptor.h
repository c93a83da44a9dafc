/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Open files: handed from one process of ours to another, over a SOCK_SEQPACKET pair; written. */
#ifndef NETSTALL_BASE_DESCRIPTOR_H
#define NETSTALL_BASE_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

/* fd, or the -errno of opening it; number: of the question that it answers. */
void descriptor__send(int socket, uint64_t number, int fd);
/* What was sent: a close-on-exec descriptor, the caller's, or -errno; -EPIPE: nobody sends. */
int descriptor__receive(int socket, uint64_t *number);
/*
 * /dev/null, close-on-exec, the caller's; where there is none, in a root of /proc and /sys alone, a
 * folder, which neither gives nor takes bytes. -1: not even that.
 */
int descriptor__open_null(int flags);
/* All of it. 0 or -errno. */
int descriptor__write(int fd, const char *bytes, size_t count);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An open file handed from one process of ours to another, over a SOCK_SEQPACKET pair. */
#ifndef NETSTALL_BASE_DESCRIPTOR_H
#define NETSTALL_BASE_DESCRIPTOR_H

#include <stdint.h>

/* fd, or the -errno of opening it; number: of the question that it answers. */
void descriptor__send(int socket, uint64_t number, int fd);
/* What was sent: a close-on-exec descriptor, the caller's, or -errno; -EPIPE: nobody sends. */
int descriptor__receive(int socket, uint64_t *number);

#endif

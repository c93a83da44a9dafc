/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which of the drops that a listener counts (sk_drops) were for want of room in its queues. The
 * kernel counts others there too: a handshake that its client resets (HAProxy's checks, a port
 * scan), a SYN that comes twice (tcp_check_req(), commit 079096f103fa). The counters of the network
 * namespace, TcpExtListenOverflows and TcpExtTCPReqQFullDrop, have the full queues alone, of all
 * its listeners together: at most so many are told.
 */
#ifndef NETSTALL_SOURCE_FULL_QUEUES_H
#define NETSTALL_SOURCE_FULL_QUEUES_H

#include <stdint.h>
#include <sys/types.h>

struct full_queues;

struct full_queues *full_queues__new(void);
void full_queues__free(struct full_queues *queues);

/*
 * Of so many drops of a listener of this process, since the call before for it. The first call for
 * a process begins to count, and returns 0; so does each where its counters cannot be read.
 */
uint32_t full_queues__drops(struct full_queues *queues, pid_t pid, uint32_t drops);
/* The process has ended. */
void full_queues__forget(struct full_queues *queues, pid_t pid);

#endif

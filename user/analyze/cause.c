// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/cause.h"

#include <stddef.h>

#include "bpf/event.h"

#define UNEXPLAINED CAUSE_RANK_UNEXPLAINED
#define OWN_WISH    CAUSE_RANK_OWN_WISH
#define MACHINE     CAUSE_RANK_MACHINE
#define NETWORK     CAUSE_RANK_NETWORK

/* clang-format off */
static const struct cause_info causes[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = {"unknown", "A wait that was not explained", UNEXPLAINED},
	[CAUSE_NAGLE_DELACK] = {"nagle-delack", "Nagle's algorithm against a delayed ACK", NETWORK},
	[CAUSE_NAGLE] = {"nagle", "Nagle's algorithm", NETWORK},
	[CAUSE_CORK] = {"cork", "Corked output: TCP_CORK or MSG_MORE", NETWORK},
	[CAUSE_NETWORK] = {"network", "The way over the network", NETWORK},
	[CAUSE_RUNQUEUE] = {"runqueue", "Waiting for a CPU", MACHINE},
	[CAUSE_CWND] = {"cwnd", "The congestion window", NETWORK},
	[CAUSE_RWND] = {"rwnd", "The receiver's window", NETWORK},
	[CAUSE_ZERO_WINDOW] = {"zero-window", "A receiver that does not read: its window is closed", NETWORK},
	[CAUSE_PACING] = {"pacing", "Pacing: a limit on the socket's rate", NETWORK},
	[CAUSE_TSQ] = {"tsq", "TCP small queues: the device is behind", NETWORK},
	[CAUSE_TSO_DEFER] = {"tso-defer", "TSO deferral: TCP waits to fill a burst", NETWORK},
	[CAUSE_AUTOCORK] = {"autocork", "Automatic corking", NETWORK},
	[CAUSE_SNDBUF] = {"sndbuf", "A full send buffer", NETWORK},
	[CAUSE_RTO] = {"rto", "Lost segments, sent again when the retransmission timer ran out", NETWORK},
	[CAUSE_TLP] = {"tlp", "Lost segments, sent again by a tail loss probe", NETWORK},
	[CAUSE_FAST_RETRANSMIT] = {"fast-retransmit", "Lost segments, sent again when acknowledgements told of the loss", NETWORK},
	[CAUSE_SYN_RETRANSMIT] = {"syn-retransmit", "A connection request that was not answered", NETWORK},
	[CAUSE_PEER_APP] = {"peer-app", "The program at the other end took its time", NETWORK},
	[CAUSE_IDLE] = {"idle", "Nobody owed it anything", OWN_WISH},
	[CAUSE_LOCK] = {"lock", "A lock, or a signal between threads", MACHINE},
	[CAUSE_IPC] = {"ipc", "Another process or thread on this host, through a pipe or the like", MACHINE},
	[CAUSE_DISK] = {"disk", "Block I/O", MACHINE},
	[CAUSE_TIMER] = {"timer", "A sleep, or a time-out that ran out", OWN_WISH},
	[CAUSE_URING] = {"uring", "An io_uring operation", MACHINE},
	[CAUSE_SELF] = {"self", "The program itself", OWN_WISH},
};
/* clang-format on */

const struct cause_info *cause__info(enum cause cause)
{
	return &causes[(unsigned)cause < CAUSE_COUNT ? cause : CAUSE_UNKNOWN];
}

enum cause cause__of_hold(uint32_t reason)
{
	static const enum cause by_reason[] = {
		[NS_HOLD_UNKNOWN] = CAUSE_UNKNOWN,   [NS_HOLD_NAGLE] = CAUSE_NAGLE,
		[NS_HOLD_CORK] = CAUSE_CORK,         [NS_HOLD_MSG_MORE] = CAUSE_CORK,
		[NS_HOLD_RWND] = CAUSE_RWND,         [NS_HOLD_ZERO_WINDOW] = CAUSE_ZERO_WINDOW,
		[NS_HOLD_CWND] = CAUSE_CWND,         [NS_HOLD_PACING] = CAUSE_PACING,
		[NS_HOLD_TSQ] = CAUSE_TSQ,           [NS_HOLD_TSO_DEFER] = CAUSE_TSO_DEFER,
		[NS_HOLD_AUTOCORK] = CAUSE_AUTOCORK, [NS_HOLD_SNDBUF] = CAUSE_SNDBUF,
	};

	return reason < sizeof(by_reason) / sizeof(by_reason[0]) ? by_reason[reason]
								 : CAUSE_UNKNOWN;
}

const char *confidence__name(enum confidence confidence)
{
	return confidence == CONFIDENCE_INFERRED ? "inferred" : "observed";
}

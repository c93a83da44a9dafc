// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/explain/clauses.h"

#include <stddef.h>

/* clang-format off */
static const char *const missing_texts[MISSING_KINDS] = {
	[MISSING_THE_WAKERS_WAIT] = "what the process that woke it did meanwhile: it is watched only from this first wait on",
	[MISSING_WAKER] = "who woke it",
	[MISSING_WHAT_RING_WAITED_FOR] = "what the io_uring operation waited for: neither its file nor who woke the thread tells",
	[MISSING_OPERATION_HIDDEN] = "the io_uring operation that it waited for, which this way of attaching does not show",
	[MISSING_OPERATION] = "the io_uring operation that it waited for",
	[MISSING_TCP_REASON] = "why TCP held the bytes, or sent them again",
	[MISSING_STOPPER] = "who stopped it (a signal, a tracer, or the freezer of its cgroup)",
	[MISSING_WHAT_IT_WAITED_FOR] = "what it waited for: neither its system call nor its kernel stack tells",
	[MISSING_RETURN_TO_CPU] = "the thread's return to its CPU: its end is an upper bound",
	[MISSING_SQPOLL_WAIT] = "what kept the ring's submission thread (SQPOLL)",
	[MISSING_RING_WORKER_WAIT] = "what kept the ring's worker (it may have been new)",
	[MISSING_ROUND_TRIP] = "the connection's round-trip time, and so how much of this the way took",
	[MISSING_ANSWERING_THREAD] = "which thread of the other end answered, and what it did meanwhile",
	[MISSING_PEER_THREAD] = "what the other end's thread did meanwhile: no wait of it came yet, so it was busy, or is watched only from now on",
	[MISSING_PEER_NO_ROOM] = "the other end: if it is on this host, the table of connections had no room for it (-C conns.max=N)",
	[MISSING_PEER_HERE] = "the other end, which is on this host and could not be watched",
	[MISSING_PEER_FAR] = "the other end, which is not on this host",
	[MISSING_ROUND_TRIP_OF_ACK] = "the connection's round-trip time, and so whether the other end delayed its acknowledgement",
	[MISSING_ACK_DEPARTURE] = "the acknowledgement as it left the other end",
	[MISSING_ACK_ARRIVAL] = "the arrival of that acknowledgement",
	[MISSING_ACK_REASON] = "what made the other end acknowledge: its timer ran out, but sent another acknowledgement than the one that released the bytes",
	[MISSING_DELACK_HIDDEN] = "the other end's delayed-ACK timer: this kernel does not show it to netstall",
	[MISSING_DELACK_LOST] = "whether the other end's delayed-ACK timer ran out: events were lost",
	[MISSING_PEER_MEANWHILE] = "what the other end did while the bytes were held",
	[MISSING_ACK_AND_TRANSMIT] = "the acknowledgement and the transmit that ended it: its end is an upper bound",
	[MISSING_ACK_BEFORE_CLOSE] = "an acknowledgement: the connection was closed before one came",
	[MISSING_RELEASER_HIDDEN] = "the segment that released the bytes: this kernel does not show arrivals to netstall",
	[MISSING_RELEASER] = "the segment that released the bytes",
	[MISSING_END_WINDOW] = "its end: the window closed first",
	[MISSING_END_PROCESS] = "its end: its process was ended first",
	[MISSING_END_CLOSE] = "its end: the connection was closed first",
	[MISSING_HOLD_REASON] = "why TCP held the bytes",
	[MISSING_HELD_WRITE] = "the write that was held",
	[MISSING_TRANSMIT] = "the transmit that ended it",
	[MISSING_TRANSMIT_LATE] = "the transmit that ended it: its end is an upper bound",
	[MISSING_RWND_ACK] = "the acknowledgement that moved the window on (without one, only TCP's probe of the window sends)",
	[MISSING_WINDOW_OPENING] = "the acknowledgement that opened the window (without one, only TCP's probe of the window sends)",
	[MISSING_CWND_ACK] = "the acknowledgement that made room in the congestion window (without one, only a loss probe sends)",
	[MISSING_DEFERRAL_END] = "what ended the deferral: neither an acknowledgement nor a write",
	[MISSING_SNDBUF_ACK] = "the acknowledgement that made room in the send buffer",
	[MISSING_FIRST_TRANSMIT] = "when the lost bytes were sent first",
	[MISSING_LAST_ACK] = "the acknowledgement that ended it",
	[MISSING_RETRANSMIT_REASON] = "what made TCP send the bytes again",
	[MISSING_SHORT_WAITS] = "what its short waits were for: of those only the sum is kept",
	[MISSING_THREADS_TIME] = "what the thread did: no record says, and its counts leave that time out",
};

static const char *const inferred_texts[INFERRED_KINDS] = {
	[INFERRED_FROM_LATE_ACK] = "the acknowledgement carried no data and took more than four times the least round trip of this connection",
	[INFERRED_FROM_TIMER_THEN_ACK] = "the other end's delayed-ACK timer ran out, then an acknowledgement without data arrived",
	[INFERRED_FROM_TIMER_DUE] = "the other end's delayed-ACK timer was to run out when the bytes left",
	[INFERRED_FROM_TIMER_ACKED_BEFORE] = "the other end's delayed-ACK timer sent an acknowledgement of the bytes before them",
	[INFERRED_FROM_OWN_TIMER] = "this end's delayed-ACK timer ran out, and the bytes that came next arrived one round trip after the acknowledgement that it sent",
	[INFERRED_FROM_OWN_END] = "the answer came from another host, where the way and the program look the same from here",
	[INFERRED_FROM_BEYOND_ROUND_TRIP] = "the other end is not watched: what goes beyond the least round trip of this connection is put down to its program",
	[INFERRED_FROM_NO_ACK] = "no acknowledgement had come in more than four times the least round trip of this connection when it was closed",
	[INFERRED_FROM_HOLDS_IN_SUM] = "of holds so short only the sum is known, and it does not fit into the rest of the time",
	[INFERRED_FROM_WAITS_LIKE_THEM] = "of its short waits only the sum is known, and those that were long enough for a record were all for that",
	[INFERRED_FROM_SOCKET] = "accept() itself is not seen, only that it was over when a thread of the program left its CPU or used the connection",
};

static const char *const release_texts[RELEASE_KINDS] = {
	[RELEASED_BY_DELAYED_ACK] = "an acknowledgement without data that the other end's delayed-ACK timer sent",
	[RELEASED_BY_LATE_ACK] = "an acknowledgement without data, long after a round trip",
	[RELEASED_BY_OWN_DELAYED_ACK] = "the acknowledgement that this end's delayed-ACK timer sent",
	[RELEASED_BY_DATA] = "an acknowledgement that data from the other end carried",
	[RELEASED_BY_PROMPT_ACK] = "an acknowledgement that no timer had delayed",
	[RELEASED_BY_BARE_ACK] = "an acknowledgement without data",
	[RELEASED_BY_FULL_SEGMENT] = "a later write that filled the segment",
	[RELEASED_BY_LATER_WRITE] = "a later write, without MSG_MORE or filling the segment",
	[RELEASED_BY_PUSH] = "a push, or the kernel's limit of 200 ms",
	[RELEASED_BY_CORK_LIMIT] = "the kernel's limit of 200 ms",
	[RELEASED_BY_UNCORK_OR_LIMIT] = "clearing TCP_CORK, or the kernel's limit of 200 ms",
	[RELEASED_BY_UNCORK] = "clearing TCP_CORK",
	[RELEASED_BY_NODELAY] = "setting TCP_NODELAY",
	[RELEASED_BY_RWND_ACK] = "an acknowledgement that moved the receiver's window on",
	[RELEASED_BY_WINDOW_OPENING] = "an acknowledgement that opened the receiver's window",
	[RELEASED_BY_CWND_ACK] = "an acknowledgement, which made room in the congestion window",
	[RELEASED_BY_PACING_TIMER] = "the pacing timer",
	[RELEASED_BY_DEVICE] = "the device, done with earlier segments",
	[RELEASED_BY_ACK] = "an acknowledgement",
	[RELEASED_BY_SNDBUF_ACK] = "an acknowledgement, which made room in the send buffer",
	[RELEASED_BY_GIVING_UP] = "giving up",
	[RELEASED_BY_SYN_ANSWER] = "the answer to the connection request",
	[RELEASED_BY_RETRANSMIT_ACK] = "the acknowledgement of what was sent again",
	[RELEASED_BY_CLOSE] = "closing the connection",
};
/* clang-format on */

const char *missing__text(enum stall_missing missing)
{
	return (unsigned)missing < MISSING_KINDS ? missing_texts[missing] : NULL;
}

const char *inferred__text(enum stall_inferred inferred)
{
	return (unsigned)inferred < INFERRED_KINDS ? inferred_texts[inferred] : NULL;
}

const char *release__text(enum stall_release release)
{
	return (unsigned)release < RELEASE_KINDS ? release_texts[release] : NULL;
}

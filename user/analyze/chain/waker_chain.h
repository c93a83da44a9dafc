/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A wait, explained by following its chain backwards: what was it for, who ended it, what had
 * that one waited for itself, ... across connections, threads and processes of this host.
 *
 * Each part of the wait has its cause as it is for the thread that waits: a lock whose holder
 * slept is lock, but one whose holder waited for bytes under Nagle's algorithm is nagle-delack,
 * because there the program can be changed.
 */
#ifndef NETSTALL_ANALYZE_CHAIN_WAKER_CHAIN_H
#define NETSTALL_ANALYZE_CHAIN_WAKER_CHAIN_H

#include "user/analyze/chain/attribution.h"
#include "user/analyze/waits/request.h"

#define WALK_KNOWS_NS                                                                              \
	SETTLE_NS /* so long behind a request's end its records are known as it is walked */

struct waker_chain;

struct waker_chain *waker_chain__new(const struct model *model, const struct intervals *intervals);
void waker_chain__free(struct waker_chain *chain);
/* How many explanations so far had too many waits to follow: the rest of their time is unknown. */
uint64_t waker_chain__cut(const struct waker_chain *chain);
/*
 * Explain the wait of a thread, which lies there in its requests, between two times that lie in
 * it. Valid until the next one.
 */
const struct attribution *waker_chain__explain(struct waker_chain *chain,
					       const struct ns_wait *wait,
					       const struct request_place *place, uint64_t from,
					       uint64_t to);
/* Likewise the wait for a whole answer, from the last byte of the request on. */
const struct attribution *waker_chain__explain_reply(struct waker_chain *chain,
						     const struct reply *reply, uint64_t from,
						     uint64_t to);
/* Likewise the time that a request that is served lay in the listen queue with its connection. */
const struct attribution *waker_chain__explain_queued(struct waker_chain *chain,
						      const struct ns_exchange *served,
						      uint64_t from, uint64_t to);
/*
 * What the thread of a request did between two times at which it was at that, without its waits of
 * at least the threshold: the sum of what it says is shorter by these.
 */
const struct attribution *waker_chain__explain_times(struct waker_chain *chain,
						     const struct ns_exchange *of, uint64_t from,
						     uint64_t to);
/* All of a request that was made, from the first write of it, or the connect() for it, to the last
 * read of the answer. */
const struct attribution *waker_chain__explain_made(struct waker_chain *chain,
						    const struct reply *reply);
/* All of a request that is served, from its arrival to the last write of the answer, or until TCP
 * had let go of all of that. */
const struct attribution *waker_chain__explain_served(struct waker_chain *chain,
						      const struct ns_exchange *served);

#endif

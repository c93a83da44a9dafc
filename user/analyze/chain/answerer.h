/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The thread at the other end of a connection that answered a waiting one. */
#ifndef NETSTALL_ANALYZE_CHAIN_ANSWERER_H
#define NETSTALL_ANALYZE_CHAIN_ANSWERER_H

#include "user/model/model.h"

struct answerer {
	uint32_t tid; /* 0: not known */
	uint64_t ts;  /* when its answer left: on loopback the wake comes within the send itself */
};

/* Who ended this wait for data, between two times, from the other end. */
struct answerer answerer__find(const struct model *model, const struct ns_wait *wait,
			       const struct model_conn *peer, uint64_t from, uint64_t until);
/* Its wait in which the request, sent at requested_ts by this thread, reached it; NULL: it was
 * busy, or that was not seen. */
const struct ns_wait *answerer__reading(const struct model *model, const struct answerer *answerer,
					uint32_t conn, uint32_t asker_tid, uint64_t requested_ts,
					uint64_t from);
/*
 * Was it watched by then? The threads of the other end are from the first hold or long wait on,
 * so what one did during that first one is not known: no wait of it came at all.
 */
bool answerer__was_watched(const struct model *model, const struct answerer *answerer);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a thread did while it had no long wait: by its sums before and after that time. */
#ifndef NETSTALL_ANALYZE_CHAIN_SPENT_H
#define NETSTALL_ANALYZE_CHAIN_SPENT_H

#include "user/model/model.h"

/* Its waits next to a time: the last that ended by its end, the first behind that; NULL unknown. */
struct between {
	const struct ns_wait *before;
	const struct ns_wait *after;
	uint64_t known_until; /* what comes later is not looked at: it may not be there yet */
};

struct spent {
	struct ns_spent sums;
	uint64_t whole_ns;  /* of so long a time, which has the one that was asked for in it */
	uint64_t runs_from; /* all the rest of it the thread ran: that is not in the sums */
	bool is_request;    /* it is one's: what it waited for there, that was for the request */
};

/* Of the time from one to the other; request: one that is walked, and may be too short to be kept,
 * or NULL. False: nobody counted. */
bool spent__find(const struct model *model, uint32_t tid, const struct ns_exchange *request,
		 const struct between *between, uint64_t from, uint64_t to, struct spent *out);

/* It waits for the answer to a request of its own for at least half of that time. */
bool spent__asks(const struct model *model, uint32_t tid, uint64_t from, uint64_t to);

#endif

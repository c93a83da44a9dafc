/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A recovery as a stall: until each retransmission its time is that of what sent it (a
 * timer, a probe, acknowledgements), then the network's, until the thread that the bytes
 * were for runs.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_RECOVERY_H
#define NETSTALL_ANALYZE_HOLDS_RECOVERY_H

#include "user/analyze/stall.h"

/* When the bytes that were sent again went out before; *known: that was seen, and not deduced. */
uint64_t recovery__first_sent(const struct model *model, const struct ns_retrans *retrans,
			      bool *known);
/* Returns false when it is no stall after all. */
bool recovery__explain(const struct model *model, const struct incident *incident,
		       struct finding *finding);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From a wait that was explained by its chain to a stall. */
#ifndef NETSTALL_ANALYZE_CHAIN_CHAIN_STALL_H
#define NETSTALL_ANALYZE_CHAIN_CHAIN_STALL_H

#include "user/analyze/chain/attribution.h"

struct stall_wait stall_wait__of(const struct ns_wait *wait);
/* The stall of this wait, attributed from start_ts on, with what is known of the unreported
 * incident behind it, if any. */
void chain_stall__fill(const struct model *model, const struct ns_wait *wait, uint64_t start_ts,
		       const struct attribution *attribution, struct finding *finding);
/* Its evidence: what is known around the wait, and around the links of its chain. Takes
 * that of the interval, which may be NULL; the caller frees it. */
struct incident *chain_stall__evidence(const struct model *model, struct interval *interval,
				       const struct stall *stall);

#endif

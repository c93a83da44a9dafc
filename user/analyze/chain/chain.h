/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From a wait that was explained by its chain to a stall. */
#ifndef NETSTALL_ANALYZE_CHAIN_CHAIN_H
#define NETSTALL_ANALYZE_CHAIN_CHAIN_H

#include "user/analyze/chain/blame.h"

struct stall_wait chain__shown(const struct ns_wait *wait);
/* The stall of this wait, with what the untold incident that it hung on knows, if any. */
void chain__fill(const struct model *model, const struct ns_wait *wait, const struct blame *blame,
		 struct finding *finding);
/* Its evidence: what is known around the wait, and around the waits that it hung on. Takes
 * that of the root, which may be NULL; the caller frees it. */
struct incident *chain__evidence(const struct model *model, struct root *root,
				 const struct stall *stall);

#endif

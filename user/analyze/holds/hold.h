/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* From a hold and the events around it to a stall: who held what, why, and whom it delayed. */
#ifndef NETSTALL_ANALYZE_HOLDS_HOLD_H
#define NETSTALL_ANALYZE_HOLDS_HOLD_H

#include "user/analyze/stall.h"

/* Returns false when it is no stall after all. */
bool hold__explain(const struct model *model, const struct incident *incident,
		   struct finding *finding);

#endif

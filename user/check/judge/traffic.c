// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What went over the target's connections. */
#include "user/analyze/conns.h"
#include "user/check/judge/gate.h"

struct traffic traffic__of(const struct report *report)
{
	return conn_sums__of(report).traffic;
}

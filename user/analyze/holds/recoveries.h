/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loss recoveries: from the first time that lost bytes are sent again to their acknowledgement.
 * One recovery is one incident, whatever was sent again meanwhile and whatever was held back
 * behind it: a hold during a recovery is no stall of its own.
 */
#ifndef NETSTALL_ANALYZE_HOLDS_RECOVERIES_H
#define NETSTALL_ANALYZE_HOLDS_RECOVERIES_H

#include "user/analyze/holds/incident_queue.h"

#define RECOVERIES      1024 /* that go on; the oldest is forgotten when there are more */
#define RECOVERIES_DONE 1024 /* remembered, for holds that end later */

struct recoveries;

struct recoveries *recoveries__new(const struct model *model, struct incident_queue *incidents);
void recoveries__free(struct recoveries *recoveries);
/* The model has seen the record already. A recovery that it ends becomes an incident. */
void recoveries__feed(struct recoveries *recoveries, const union record *record, uint64_t now);
/* The window closed at ts: so do those that go on. */
void recoveries__close(struct recoveries *recoveries, uint64_t ts, uint64_t now);
/* Is this hold part of a recovery that is reported for itself? */
bool recoveries__overlap(const struct recoveries *recoveries, const struct incident *hold);

#endif

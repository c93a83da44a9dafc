/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A run for ui.perfetto.dev: TrackEvents (protos/perfetto/trace/track_event/track_event.proto) on a
 * track for each thread (waits, and the time until it had a CPU), for its stalls, for each end of a
 * connection (held bytes, timers, segments, bytes in flight), and for io_uring's operations; flows
 * from a segment to its arrival, and from a waker to whom it woke.
 *
 *   perfetto__record, perfetto__stall    from the pipeline
 *   perfetto__write                      at the end
 */
#ifndef NETSTALL_RENDER_PERFETTO_PERFETTO_H
#define NETSTALL_RENDER_PERFETTO_PERFETTO_H

#include <stdio.h>

#include "user/analyze/report.h"

#define PERFETTO_BYTES (256u << 20) /* of events; further ones are left out, and counted */

struct perfetto;

struct perfetto *perfetto__new(void);
/* Takes NULL. */
void perfetto__free(struct perfetto *perfetto);
void perfetto__record(struct perfetto *perfetto, const struct report *so_far,
		      const union record *record);
void perfetto__stall(struct perfetto *perfetto, const struct stall *stall);
/* Returns how many events were left out. Errors are those of out. */
uint64_t perfetto__write(struct perfetto *perfetto, FILE *out, const struct report *report);

#endif

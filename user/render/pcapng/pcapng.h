/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The segments that were seen as a capture for Wireshark: pcapng (draft-ietf-opsawg-pcapng), raw
 * IP. Of each only the header is there, made of what the records have (addresses, numbers, flags,
 * size): no payload, no options, no window. What netstall saw between them (holds, timers,
 * retransmissions, stalls) stands as a comment at the packet that it ends in, or the next one.
 *
 *   pcapng__record    each record, from the pipeline's on_record
 *   pcapng__write     at the end
 */
#ifndef NETSTALL_RENDER_PCAPNG_PCAPNG_H
#define NETSTALL_RENDER_PCAPNG_PCAPNG_H

#include <stdio.h>

#include "user/analyze/report.h"

#define PCAPNG_PACKETS 500000 /* further ones are left out, and counted in the file's comment */

struct pcapng;

struct pcapng *pcapng__new(void);
/* Takes NULL. */
void pcapng__free(struct pcapng *pcapng);
void pcapng__record(struct pcapng *pcapng, const struct report *so_far, const union record *record);
/* Errors are those of out. */
void pcapng__write(struct pcapng *pcapng, FILE *out, const struct report *report);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names that a compiler at run time (Node, Java, .NET, Python) wrote down for the code that it
 * generated: /tmp/perf-PID.map, lines of "START SIZE NAME", appended to while the program runs.
 * It is read from where the last look ended; of two entries for an address the later one holds.
 */
#ifndef NETSTALL_SYMBOLS_PERFMAP_H
#define NETSTALL_SYMBOLS_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

struct perfmap;

#define PERFMAP_BYTES   (64u << 20) /* what comes behind is not read */
#define PERFMAP_ENTRIES (1u << 20)

/* fd becomes the perfmap's. */
struct perfmap *perfmap__new(int fd);
void perfmap__free(struct perfmap *perfmap);
/* Reads what was added. */
void perfmap__refresh(struct perfmap *perfmap);
/* The name of the code at pc, until the next refresh, and how far in it is; NULL: none. */
const char *perfmap__find(const struct perfmap *perfmap, uint64_t pc, uint64_t *offset);

#endif

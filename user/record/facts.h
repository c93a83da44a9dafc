/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Facts that an attach way may not give: one row for each of enum ns_fact. */
#ifndef NETSTALL_RECORD_FACTS_H
#define NETSTALL_RECORD_FACTS_H

#include <stdint.h>

#include "bpf/event.h"

/* "delack-arm": one word in every output, a contract; "unknown" for a fact of a newer version. */
const char *fact__id(uint32_t fact);
/* What is not seen without it: "when a delayed ACK is armed" */
const char *fact__words(uint32_t fact);
/* The same at more length, for doctor. */
const char *fact__loss(uint32_t fact);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Facts that an attach way may not give: one row for each of enum ns_fact. */
#ifndef NETSTALL_RECORD_FACTS_H
#define NETSTALL_RECORD_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"

struct fact {
	const char *id;    /* "delack-arm": one word in every output, a contract */
	const char *words; /* what is not seen without it: "when a delayed ACK is armed" */
	const char *loss;  /* the same at more length, for doctor */
	bool is_essential; /* a way to attach that does not give it is not used */
	bool finds_stalls; /* without it a stall may not be found at all */
};

/* Which variants give it: plan_variants. Which causes need it: their rows. Of a fact of a newer
 * version: a row that says so. */
const struct fact *fact__row(uint32_t fact);
/* "tp_exit does not attach: Device or resource busy". The caller's. */
char *fact__refusal_text(const struct ns_refused *refusal);

#endif

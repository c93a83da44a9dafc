/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What a check cannot be sure of: entered into the outcome, and into the gates that it touches. */
#ifndef NETSTALL_CHECK_JUDGE_DOUBTS_H
#define NETSTALL_CHECK_JUDGE_DOUBTS_H

#include "user/check/judge/counts.h"
#include "user/check/judge/gate.h"

/* Is the gate one that the doubt touches? Those over their budget are proven and stay so. */
typedef bool doubt_gates(const struct gate *gate, const void *context);

/* text is taken. gates NULL: the run as a whole is in doubt, and so every gate. */
void doubt__add(struct outcome *outcome, enum doubt_kind kind, char *text, doubt_gates *gates,
		const void *context);
bool doubt__no_gate(const struct gate *gate, const void *context);

/* What was lost, what this way to attach does not show, what stalls may really have been. */
void doubts__find(struct outcome *outcome, const struct counts *counts);
/* Traffic, NULL when nothing was traced, and what only the caller knows. */
void doubts__of_run(struct outcome *outcome, const struct gate_options *options,
		    const struct gate_facts *facts, const struct traffic *traffic);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Why a check proves nothing: reasons, entered into the outcome and into the gates they touch. */
#ifndef NETSTALL_CHECK_JUDGE_INCONCLUSIVE_H
#define NETSTALL_CHECK_JUDGE_INCONCLUSIVE_H

#include "user/check/judge/counts.h"
#include "user/check/judge/gate.h"

/* Is the gate one that the reason touches? Those over their budget are proven and stay so. */
typedef bool reason_gates(const struct gate *gate, const void *context);

/* text is taken. gates NULL: it touches the run as a whole, and so every gate; one that has to do
 * with the baseline touches none. */
void reason__add(struct outcome *outcome, enum reason_kind kind, char *text, reason_gates *gates,
		 const void *context);

/* What was lost, what this way to attach does not show, what stalls may really have been. */
void reasons__find(struct outcome *outcome, const struct counts *counts);
/* Traffic, NULL when nothing was traced, and what only the caller knows. */
void reasons__of_run(struct outcome *outcome, const struct gate_options *options,
		     const struct gate_facts *facts, const struct traffic *traffic);

#endif

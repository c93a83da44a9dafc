/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The report while it is being written: what the model knows, and every stall so far. */
#ifndef NETSTALL_ANALYZE_LEDGER_H
#define NETSTALL_ANALYZE_LEDGER_H

#include "user/analyze/stall.h"
#include "user/analyze/tally.h"

/* Connections that the stalls of a cause are told by; of more the one that took least goes. */
#define TALLIES 256

struct ledger;

struct ledger *ledger__new(const struct model *model);
void ledger__free(struct ledger *ledger);
struct report *ledger__report(struct ledger *ledger);

/* The model has learnt this record: bring the report up to date with it. */
void ledger__learn(struct ledger *ledger, const union record *record);
/* Enter a stall; its steps come from the incident. Returns it numbered. */
const struct stall *ledger__enter(struct ledger *ledger, const struct incident *incident,
				  const struct finding *finding);
/* The stall of this number went on: the slices of more follow its own. One that was not kept
 * stays as it is. */
void ledger__extend(struct ledger *ledger, uint32_t number, const struct stall *more);
/* A further wait showed the stall of this number; one that was not kept ignores it. */
void ledger__join(struct ledger *ledger, uint32_t number, const struct stall_wait *wait);
/* It held up a request on this connection as well, unless that is the one that it is of. */
void ledger__delay(struct ledger *ledger, uint32_t number, uint32_t conn);
/* Of this cause, the pace not among it, on a connection of this process, or at its other end, where
 * it took most; of none, on no connection. NULL: there is none. */
const struct tally *ledger__of_process(const struct ledger *ledger, enum cause cause, uint32_t pid);
/* No further stall comes: fill in what causes have at the end only. */
void ledger__close(struct ledger *ledger);

#endif

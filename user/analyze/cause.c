// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/analyze/cause.h"

#include <stddef.h>

static const struct cause_info causes[CAUSE_COUNT] = {
	[CAUSE_UNKNOWN] = {"unknown", "A wait on the network that was not explained"},
	[CAUSE_NAGLE_DELACK] = {"nagle-delack", "Nagle's algorithm against a delayed ACK"},
	[CAUSE_NAGLE] = {"nagle", "Nagle's algorithm"},
	[CAUSE_CORK] = {"cork", "Corked output: TCP_CORK or MSG_MORE"},
	[CAUSE_NETWORK] = {"network", "The way over the network"},
	[CAUSE_RUNQUEUE] = {"runqueue", "Waiting for a CPU"},
};

const struct cause_info *cause__info(enum cause cause)
{
	return &causes[(unsigned)cause < CAUSE_COUNT ? cause : CAUSE_UNKNOWN];
}

const char *confidence__name(enum confidence confidence)
{
	return confidence == CONFIDENCE_INFERRED ? "inferred" : "observed";
}

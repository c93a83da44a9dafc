/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The options of trace, record and report: what is watched, and how a traced run is shown. */
#ifndef NETSTALL_CMD_TRACE_OPTIONS_H
#define NETSTALL_CMD_TRACE_OPTIONS_H

#include "user/cmd/options.h"

extern const struct option_row trace_options[];

void trace_options__check(void *options, const struct argp_state *state);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the workload `exchange` is asked for on its command line. */
#ifndef TESTS_WORKLOAD_EXCHANGE_OPTIONS_H
#define TESTS_WORKLOAD_EXCHANGE_OPTIONS_H

#include "user/demo/workload.h"

#define GATE_STDIN -1

struct arguments {
	struct workload_options workload;
	int gate_ms; /* from ready to the first exchange, or GATE_STDIN */
	const char *samples_path;
};

/* Ends the program where they are wrong (64), or where they ask for no more than words. */
void arguments__parse(struct arguments *a, int argc, char **argv);

/* "exchange: ...", a line on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

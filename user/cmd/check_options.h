/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The options of `netstall check`. */
#ifndef NETSTALL_CMD_CHECK_OPTIONS_H
#define NETSTALL_CMD_CHECK_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "user/check/judge/gate.h"
#include "user/cmd/options.h"
#include "user/process/on_stall.h"

enum check_report {
	CHECK_REPORT_JSON,
	CHECK_REPORT_JUNIT,
	CHECK_REPORT_TAP,
	CHECK_REPORT_HTML,
	CHECK_REPORTS
};

struct check_options {
	struct options common; /* seconds: of the judged window; 0: until the end of the target */
	struct budgets budgets;
	bool until_exit; /* a program's end is awaited after -d, and normal after a signal */
	double timeout;  /* of the program, in seconds; 0 none */
	double warmup;   /* seconds that are not judged */
	uint16_t wait_port;
	uint64_t min_exchanges;
	bool allow_no_traffic;
	enum inconclusive inconclusive;
	const char *save_baseline;
	const char *baseline;
	double confidence;
	const char *reports[CHECK_REPORTS]; /* file names, "-" stdout, NULL not asked for */
	bool github;
	struct on_stall_options on_stall; /* command NULL: none */
};

/* Wrong usage ends the process with status 64 and one sentence. */
void check_options__parse(struct check_options *options, int argc, char **argv);
/* A report goes to stdout, so that the text for people does not. */
bool check_options__stdout_taken(const struct check_options *options);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The options that the commands share: targets, time, output, rare knobs. */
#ifndef NETSTALL_CMD_OPTIONS_H
#define NETSTALL_CMD_OPTIONS_H

#include <argp.h>
#include <limits.h>
#include <stdbool.h>

#include "user/kernel/target.h"
#include "user/source/session.h"

/* Exit statuses: part of the command line's contract. */
enum {
	EXIT_OK = 0,
	EXIT_UNABLE = 2, /* netstall could not do its work; check has more: check/judge/gate.h */
	EXIT_USAGE = 64,
};

struct options {
	struct target target;
	struct session_options session;
	double seconds; /* 0: until Ctrl-C or the target's end */
	const char *output;
	bool json;
	bool all;
	bool events_uring; /* --events=uring: the list of io_uring's operations */
	bool no_color;
	bool verbose;
	unsigned show; /* time lines for each cause and connection; UINT_MAX: all */
};

#define SHOW_IN_REPORT (UINT_MAX - 1) /* none on the way */

void options__init(struct options *options);

/* One sentence, and the end with EXIT_USAGE. */
void usage_error(const struct argp_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* A whole number from low to high, or the end with a sentence. */
long options__number(const char *text, const char *what, long low, long high,
		     const struct argp_state *state);
/* More than 0 and at most high; likewise. */
double options__positive(const char *text, const char *what, double high,
			 const struct argp_state *state);

/* The threshold in milliseconds as ns, at least 1; likewise. */
uint64_t options__threshold(const char *text, const struct argp_state *state);
/* A name that was given (not NULL) is one, or the end: an empty variable, most often. */
void options__named(const char *name, const char *option, const struct argp_state *state);

/* Who is meant, -p and the like and -- PROGRAM; input: struct target. */
extern const struct argp targets_argp;
/* The same for a command that takes the whole machine when nobody is named. */
extern const struct argp any_targets_argp;
/*
 * A child parser for argp: its input is a struct options. What it refuses ends the
 * process with status 64 and one sentence.
 */
extern const struct argp options_argp;
/* -C alone, for commands without a target; input: struct session_options. */
extern const struct argp knobs_argp;
/* With stack.bytes, which the others refuse. */
extern const struct argp offwake_knobs_argp;
/* A knob of the analysis that was set, which a profile alone has no use for; NULL: none. */
const char *options__analysis_knob(const struct session_options *session);

#endif

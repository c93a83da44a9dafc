/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Options: one row for each, of which help and parsing are made. Those that commands share
 * (targets, output, rare knobs) are rows of options.c; a command has its own beside them.
 */
#ifndef NETSTALL_CMD_OPTIONS_H
#define NETSTALL_CMD_OPTIONS_H

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "user/kernel/target.h"
#include "user/render/render.h"
#include "user/source/session.h"

/* Exit statuses: part of the command line's contract. */
enum {
	EXIT_OK = 0,
	EXIT_UNABLE = 2, /* netstall could not do its work; check has more: check/judge/gate.h */
	EXIT_USAGE = 64,
};

/* Of report: only these stalls, whole; nothing else then. */
struct stall_choice {
	bool made;
	uint32_t number; /* 0 any, as below */
	const char *cause;
	uint32_t thread; /* tid or pid */
	uint32_t connection;
	double from, to; /* in seconds since the begin: those that lie in part of it */
};

/* What is printed on the way, where something is: all, or one kind. */
enum on_the_way { EVENTS_ALL, EVENTS_URING, EVENTS_STALLS };

/* What is written beside the command's output. */
enum extra { EXTRA_HTML, EXTRA_PCAPNG, EXTRA_PERFETTO, EXTRA_SVG, EXTRA_PPROF, EXTRAS };

/* What commands share. The options of each begin with it. */
struct options {
	struct target target;
	struct session_options session;
	double seconds; /* 0: until Ctrl-C or the target's end */
	const char *output;
	bool json;
	bool no_color;
	bool verbose;
	/* Of trace, record and report. */
	const char *recording;   /* NULL: none */
	double last_seconds;     /* of record: a flight recorder; 0: it is none */
	uint64_t last_bytes;     /* of its memory */
	const char *keep_stalls; /* the folder for stalls, of check as well; NULL: none */
	enum cause keep_cause;   /* of these alone; CAUSE_COUNT: of any, */
	uint64_t keep_ns;        /* that take so long at least, */
	bool keep_some;          /* if that was asked for */
	unsigned keep_most;
	bool keep_worst;
	bool marks;
	const char *extras[EXTRAS];
	const char *anonymized; /* of report: the new recording */
	struct stall_choice stalls;
	bool text; /* of report: as a text trace */
	/* Of offwake, and of a profile that is recorded beside a trace: */
	bool offwake; /* record, report: it is */
	bool by_cause;
	bool folded;
	bool delimited;
	bool all;
	enum on_the_way events; /* --events */
	enum render_connections connections;
	bool full_stacks; /* --stacks=full */
	unsigned show;    /* time lines for each cause and connection; UINT_MAX: all */
};

#define SHOW_IN_REPORT (UINT_MAX - 1) /* none on the way */

enum {
	COMMAND_TRACE = 1,
	COMMAND_CHECK = 2,
	COMMAND_OFFWAKE = 4,
	COMMAND_DOCTOR = 8,
	COMMAND_DEMO = 16,
	COMMAND_RECORD = 32,
	COMMAND_REPORT = 64,
	COMMAND_PROVE = 128,
};

struct option_row;

/* Stores arg (NULL: the option takes none) at to, or ends with a sentence. */
typedef void option_parser(const struct option_row *row, char *arg, void *to,
			   const struct argp_state *state);

struct option_row {
	int letter;           /* 0 none */
	const char *name;     /* NULL none */
	const char *argument; /* as help has it; NULL: it takes none */
	const char *help;     /* NULL: it is not listed */
	option_parser *parse; /* NULL: a heading, help its words */
	size_t at, size;      /* INTO(), where it is stored */
	double low, high;     /* of a number */
	const char *what;     /* a number's name in a complaint; NULL: "--name" */
	const char *about;    /* the option that it needs beside it, where there is that one */
	unsigned commands;    /* that have it; 0: all who have the table */
};

#define INTO(type, field) .at = offsetof(type, field), .size = sizeof(((type *)0)->field)

option_parser option__flag;      /* bool */
option_parser option__name;      /* const char *, not empty */
option_parser option__number;    /* any unsigned: a whole number from low to high */
option_parser option__positive;  /* double: more than 0, at most high */
option_parser option__threshold; /* uint64_t: milliseconds as ns, at least 1 */

struct option_example {
	const char *line; /* NULL: there are no more */
	const char *what;
};

#define OPTION_EXAMPLES 4
#define OPTION_ROWS     64 /* of one command, headings too */

struct command_options {
	unsigned command;
	struct option_example examples[OPTION_EXAMPLES]; /* the two that help most come first */
	const char *usage;                               /* behind the options */
	const char *help;
	const struct option_row *rows; /* its own, up to an empty one */
	bool takes_target;
	/* A word that is no option; NULL: what follows the options is the target's program. */
	void (*word)(char *word, void *options, const struct argp_state *state);
	/* What only the whole command line shows; NULL: nothing. */
	void (*check)(void *options, const struct argp_state *state);
};

/* options: a struct that begins with a struct options, with its defaults. Wrong usage ends the
 * process with EXIT_USAGE and one sentence. */
void options__parse(const struct command_options *command, int argc, char **argv, void *options);

/* The rows of a command, in the order of its help, at most `most` of them; its knobs (-C) apart. */
size_t options__rows(const struct command_options *command, const struct option_row **rows,
		     size_t most);
const struct option_row *options__knobs(size_t *count);

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

#endif

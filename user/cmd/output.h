/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where a command's findings go: stdout, or a file (process/report_file.h). */
#ifndef NETSTALL_CMD_OUTPUT_H
#define NETSTALL_CMD_OUTPUT_H

#include <stdio.h>

#include "user/analyze/pipeline.h"
#include "user/analyze/profile/profile.h"
#include "user/cmd/options.h"
#include "user/render/pcapng/pcapng.h"
#include "user/render/perfetto/perfetto.h"
#include "user/render/render.h"
#include "user/render/terminal/uring_list.h"

/* Beside the command's output, readable for its owner alone. */
struct extra_file {
	const char *path; /* NULL: not asked for, and file is NULL too */
	FILE *file;
	int err; /* -errno of what was written to it so far */
};

struct output {
	FILE *file;
	const char *path; /* NULL: stdout */
	struct extra_file extras[EXTRAS];
	struct render_style style;
};

/* Of what goes to that stream: colours and width if it is a terminal. */
void output__style(struct render_style *style, FILE *file, bool no_color);
/* Is there a line on stderr that is written over again and again? */
bool output__has_progress(void);
/* Opens before anything is traced. Returns 0 or -errno after it has said why. */
int output__open(struct output *output, const struct options *options);
/* Returns 0, or -errno after it has said what could not be written. stdout: see below. */
int output__close(struct output *output);
/*
 * From the begin of main() on: at the exit, however it comes, stdout is written out. Where that
 * fails (a full disk; it is closed) netstall says so and ends with EXIT_UNABLE; where nobody
 * reads it any more, quietly by SIGPIPE.
 */
void output__watch_stdout(void);

/* A profile, as offwake shows it: delimited, and without causes, if that was asked for. */
void output__profile(struct output *output, const struct options *options, struct profile *profile);

/*
 * How a traced run is shown as it goes: time lines of stalls, or JSON Lines, or with
 * --all every record, or with --events=uring the list of io_uring's operations (time lines
 * of stalls stand behind it then). context of the sink: this.
 */
struct printer {
	struct output *output;
	const struct options *options;
	size_t stalls_shown;
	struct seen {
		enum cause cause;
		uint32_t conn;
		unsigned shown;
		bool whole; /* one of them had nothing missing */
	} seen[64];         /* causes on connections; what does not fit is not shown in full */
	size_t seen_count;
	struct uring_list *uring;  /* --events=uring; NULL else */
	struct pcapng *pcapng;     /* --pcapng; NULL else */
	struct perfetto *perfetto; /* --perfetto; NULL else */
};

void printer__init(struct printer *printer, struct output *output, const struct options *options);
struct pipeline_sink printer__sink(struct printer *printer);
/* From time to time, for what is shown only when nothing more comes to it. */
void printer__idle(struct printer *printer, const struct report *so_far, uint64_t now_ns);
void printer__free(struct printer *printer);
/* What there is so far, as at the end; of the files beside it none. */
void printer__interim(struct printer *printer, const struct report *report);
/* The end: summary and verdict, or the report as JSON. */
void printer__finish(struct printer *printer, const struct report *report);

#endif

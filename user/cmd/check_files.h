/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Where a check's reports go. All files are opened before anything is started: whoever cannot
 * write a report shall hear of it at once, and netstall may write nowhere any more after the
 * attach (process/report_file.h).
 */
#ifndef NETSTALL_CMD_CHECK_FILES_H
#define NETSTALL_CMD_CHECK_FILES_H

#include <stdio.h>

#include "user/check/judge/outcome.h"
#include "user/cmd/check_options.h"
#include "user/process/baseline_file.h"
#include "user/render/render.h"

struct check_files {
	FILE *text; /* for people: stdout, or stderr when a report has that */
	struct render_style style;
	FILE *reports[CHECK_REPORTS]; /* NULL not asked for */
	FILE *summary;                /* $GITHUB_STEP_SUMMARY, NULL none */
	const char *summary_name;
	struct baseline_file *baseline; /* to be saved, NULL none */
	struct baseline old_baseline;   /* what that file has been so far */
	bool has_old_baseline;
};

/* Returns 0 or -errno after it has said why. */
int check_files__open(struct check_files *files, const struct check_options *options);
/*
 * Write all of them, the text last. What cannot be written is said, and becomes the outcome's
 * (outcome__set_unable).
 */
void check_files__write(struct check_files *files, const struct check_options *options,
			struct outcome *outcome);
void check_files__close(struct check_files *files);

#endif

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/check_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/log.h"
#include "user/base/xalloc.h"
#include "user/check/reports/reports.h"
#include "user/cmd/output.h"
#include "user/process/report_file.h"

/* ---- opening ---- */

static bool open_reports(struct check_files *files, const struct check_options *options)
{
	int i;

	for (i = 0; i < CHECK_REPORTS; i++) {
		const char *name = options->reports[i];

		if (!name)
			continue;
		files->reports[i] = strcmp(name, "-") ? report_file__open(name) : stdout;
		if (!files->reports[i])
			return false;
	}
	return true;
}

/* Other steps of the job may have written there already. */
static bool open_summary(struct check_files *files, const struct check_options *options)
{
	files->summary_name = options->github ? getenv("GITHUB_STEP_SUMMARY") : NULL;
	if (!files->summary_name || !*files->summary_name)
		return true;
	files->summary = report_file__append(files->summary_name);
	return files->summary;
}

/* What is there so far is read as the caller too, who alone may be allowed to. */
static int open_baseline(struct check_files *files, const char *name)
{
	int err = baseline_file__open(name, &files->baseline);
	char *problem = err ? NULL : baseline_file__load(name, &files->old_baseline);

	files->has_old_baseline = !err && !problem;
	free(problem);
	return err;
}

int check_files__open(struct check_files *files, const struct check_options *options)
{
	memset(files, 0, sizeof(*files));
	files->text = check_options__stdout_taken(options) ? stderr : stdout;
	output__style(&files->style, files->text, options->common.no_color);
	if (!open_reports(files, options) || !open_summary(files, options))
		goto failed;
	if (options->save_baseline && open_baseline(files, options->save_baseline))
		goto failed;
	return 0;
failed:
	check_files__close(files);
	return -EIO;
}

/* ---- writing ---- */

/* Whoever reads our output by a pipe may go: the status is the gate's all the same. */
static void flush(FILE *file, const char *name, struct outcome *outcome)
{
	int err = report_file__flush(file, name);

	if (err && (err != -EPIPE || (file != stdout && file != stderr)))
		outcome__set_unable(outcome, log__last_error());
}

static const char *shown_name(const char *name)
{
	return strcmp(name, "-") ? name : "stdout";
}

static void write_report(FILE *file, enum check_report kind, const struct outcome *outcome)
{
	switch (kind) {
	case CHECK_REPORT_JSON:
		check_json__write(file, outcome);
		break;
	case CHECK_REPORT_JUNIT:
		check_junit__write(file, outcome);
		break;
	case CHECK_REPORT_TAP:
		check_tap__write(file, outcome);
		break;
	case CHECK_REPORT_HTML:
		check_html__write(file, outcome);
		break;
	case CHECK_REPORTS:
		break;
	}
}

/* ---- the baseline ---- */

static void save_baseline(struct check_files *files, const struct check_options *options,
			  struct outcome *outcome)
{
	const char *name = options->save_baseline;
	struct baseline now;
	char why[512];
	int err;

	if (!baseline__take(&now, outcome, why, sizeof(why))) {
		log__note("no baseline is saved: %s", why);
		return;
	}
	/* So that a committed file changes only when the program did. */
	if (files->has_old_baseline &&
	    baseline__stays(&files->old_baseline, &now, baseline__judged(outcome),
			    options->confidence)) {
		log__note("the baseline %s stays as it is: nothing differs significantly", name);
		return;
	}
	err = baseline_file__save(files->baseline, &now);
	if (err) {
		log__error(
			"not everything could be written to %s: %s; free some space or name another "
			"file",
			name, strerror(-err));
		outcome__set_unable(outcome, log__last_error());
		return;
	}
	log__note("this run is saved as the baseline %s", name);
}

/* For the text, which says where the others are. */
static void name_reports(const struct check_options *options, struct outcome *outcome)
{
	static const char *const names[CHECK_REPORTS] = {[CHECK_REPORT_JSON] = "JSON",
							 [CHECK_REPORT_JUNIT] = "JUnit",
							 [CHECK_REPORT_TAP] = "TAP",
							 [CHECK_REPORT_HTML] = "HTML"};
	int i;

	for (i = 0; i < CHECK_REPORTS; i++)
		if (options->reports[i] && strcmp(options->reports[i], "-"))
			outcome->files[outcome->file_count++] =
				(struct outcome_file){names[i], options->reports[i]};
}

void check_files__write(struct check_files *files, const struct check_options *options,
			struct outcome *outcome)
{
	int i;

	name_reports(options, outcome);
	if (files->baseline)
		save_baseline(files, options, outcome);
	for (i = 0; i < CHECK_REPORTS; i++) {
		if (!files->reports[i])
			continue;
		write_report(files->reports[i], i, outcome);
		flush(files->reports[i], shown_name(options->reports[i]), outcome);
	}
	if (files->summary) {
		check_github__summary(files->summary, outcome);
		flush(files->summary, files->summary_name, outcome);
	}
	check_text__write(files->text, outcome, &files->style);
	if (options->github)
		check_github__annotate(files->text, outcome);
	flush(files->text, files->text == stdout ? "stdout" : "stderr", outcome);
}

static void close_file(FILE **file)
{
	if (*file && *file != stdout)
		fclose(*file);
	*file = NULL;
}

void check_files__close(struct check_files *files)
{
	int i;

	for (i = 0; i < CHECK_REPORTS; i++)
		close_file(&files->reports[i]);
	close_file(&files->summary);
	baseline_file__free(files->baseline);
	files->baseline = NULL;
}

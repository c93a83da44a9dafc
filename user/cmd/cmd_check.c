// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* netstall check: a gate for a pipeline. */
#include <stdlib.h>

#include "user/cmd/check_files.h"
#include "user/cmd/check_options.h"
#include "user/cmd/check_run.h"
#include "user/cmd/commands.h"
#include "user/cmd/options.h"

static int check(const struct check_options *options, struct check_files *files)
{
	struct check_run *run = check_run__new(options);
	char *baseline_problem = NULL;
	struct baseline baseline;
	struct outcome *outcome;
	bool compares;
	int status;

	if (options->baseline)
		baseline_problem = baseline_file__load(options->baseline, &baseline);
	compares = options->baseline && !baseline_problem;
	check_run__go(run);
	outcome = check_run__judge(run, compares ? &baseline : NULL, baseline_problem);
	check_files__write(files, options, outcome);
	status = outcome->exit_status;
	outcome__free(outcome);
	check_run__free(run);
	free(baseline_problem);
	return status;
}

int cmd_check(int argc, char **argv)
{
	struct check_options options;
	struct check_files files;
	int status;

	check_options__parse(&options, argc, argv);
	if (check_files__open(&files, &options))
		return EXIT_UNABLE;
	status = check(&options, &files);
	check_files__close(&files);
	return status;
}

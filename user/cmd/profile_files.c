// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/cmd/profile_files.h"

#include <errno.h>

#include "user/process/report_file.h"
#include "user/render/profile/profile.h"

static bool open_file(struct profile_file *out, const char *path)
{
	*out = (struct profile_file){.path = path};
	if (path)
		out->file = report_file__open(path);
	return !path || out->file;
}

int profile_files__open(struct profile_files *files, const char *svg, const char *pprof)
{
	return open_file(&files->svg, svg) && open_file(&files->pprof, pprof) ? 0 : -EIO;
}

int profile_files__write(struct profile_files *files, const struct profile *profile)
{
	int err = 0, pprof_err = 0;

	if (files->svg.file) {
		render__profile_svg(files->svg.file, profile);
		err = report_file__close(files->svg.file, files->svg.path, 0);
	}
	if (files->pprof.file) {
		pprof_err = render__profile_pprof(files->pprof.file, profile);
		pprof_err = report_file__close(files->pprof.file, files->pprof.path, pprof_err);
	}
	return err ? err : pprof_err;
}

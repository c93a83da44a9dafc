// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/profile_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "user/base/log.h"
#include "user/render/profile.h"

static int open_file(struct profile_file *out, const char *path)
{
	int fd, err;

	*out = (struct profile_file){.path = path};
	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	out->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (out->file)
		return 0;
	err = -errno;
	log__error("cannot write to %s: %s", path, strerror(-err));
	return err;
}

int profile_files__open(struct profile_files *files, const char *svg, const char *pprof)
{
	int err = open_file(&files->svg, svg);

	return err ? err : open_file(&files->pprof, pprof);
}

/* err: of writing to it so far. */
static int close_file(struct profile_file *out, int err)
{
	if (!err && (fflush(out->file) || ferror(out->file)))
		err = errno ? -errno : -EIO;
	if (fclose(out->file) && !err)
		err = errno ? -errno : -EIO;
	if (err)
		log__error(
			"not all could be written to %s: %s; free some space or name another "
			"file",
			out->path, strerror(-err));
	return err;
}

int profile_files__write(struct profile_files *files, const struct profile *profile)
{
	int err = 0, pprof_err = 0;

	if (files->svg.file) {
		render__profile_svg(files->svg.file, profile);
		err = close_file(&files->svg, 0);
	}
	if (files->pprof.file) {
		pprof_err = render__profile_pprof(files->pprof.file, profile);
		pprof_err = close_file(&files->pprof, pprof_err);
	}
	return err ? err : pprof_err;
}

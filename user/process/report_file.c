// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/text.h"
#include "user/kernel/privileges.h"
#include "user/process/as_caller.h"

#define NAME_SHOWN 200

static FILE *open_file(const char *path, int flags, const char *mode)
{
	int fd = as_caller__open(path, O_WRONLY | O_CREAT | flags);
	FILE *file = fd < 0 ? NULL : fdopen(fd, mode);
	char name[TEXT_SAFE(NAME_SHOWN)];
	uid_t uid;
	gid_t gid;

	if (file)
		return file;
	log__error("cannot write to %s%s: %s; name another file",
		   text__safe(name, sizeof(name), path, NAME_SHOWN),
		   privileges__caller(&uid, &gid) ? " as the user who called sudo" : "",
		   as_caller__why(fd < 0 ? fd : -errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

FILE *report_file__open(const char *path)
{
	return open_file(path, O_TRUNC, "w");
}

FILE *report_file__append(const char *path)
{
	return open_file(path, O_APPEND, "a");
}

static bool reader_has_gone(FILE *file)
{
	struct pollfd ends = {.fd = fileno(file)};

	return poll(&ends, 1, 0) > 0 && ends.revents & (POLLERR | POLLHUP);
}

/* 0: a write has failed before, stdio does not say why. */
static const char *words(int err)
{
	return err ? strerror(-err) : "a write failed";
}

static void say(const char *path, int err)
{
	char name[TEXT_SAFE(NAME_SHOWN)];

	text__safe(name, sizeof(name), path, NAME_SHOWN);
	if (err == -EBADF)
		log__error(
			"cannot write to %s, it is closed: leave it open, or "
			"send it to /dev/null",
			name);
	else
		log__error("not everything could be written to %s: %s; %sname another file", name,
			   words(err),
			   err == -ENOSPC || err == -EDQUOT || !err ? "free some space or " : "");
}

static int finish(FILE *file, const char *name, int err)
{
	if (!err) {
		errno = 0;
		if (!fflush(file) && !ferror(file))
			return 0;
		/* Why an earlier write failed stdio does not keep: it is tried again. */
		if (!errno && write(fileno(file), "", 0) >= 0)
			errno = 0;
		err = reader_has_gone(file) ? -EPIPE : -errno;
	}
	if (err != -EPIPE || (file != stdout && file != stderr))
		say(name, err);
	__fpurge(file);
	clearerr(file);
	return err ? err : -EIO;
}

int report_file__flush(FILE *file, const char *name)
{
	return finish(file, name, 0);
}

int report_file__close(FILE *file, const char *name, int err)
{
	err = finish(file, name, err);
	/* Some file systems say only now that a disk is full. */
	if (fclose(file) && !err) {
		err = -errno;
		say(name, err);
	}
	return err;
}

bool report_file__is_lost(FILE *file)
{
	return ferror(file) || reader_has_gone(file);
}

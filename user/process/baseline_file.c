// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/baseline_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/descriptor.h"
#include "user/base/helper.h"
#include "user/base/log.h"
#include "user/base/text.h"
#include "user/base/xalloc.h"
#include "user/kernel/privileges.h"
#include "user/process/as_caller.h"

#define NAME_SHOWN     200
#define SECONDS_TO_ACT 30 /* a disk that takes longer is as good as full */

/* ---- reading ---- */

/* Bytes read, at most one more than a baseline may have; or -errno. */
static ssize_t read_whole(const char *path, char *text)
{
	/* A FIFO without a writer must not keep us in the open. */
	int fd = as_caller__open(path, O_RDONLY | O_NONBLOCK);
	ssize_t used = 0, got = 0;
	struct stat status;
	int err = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status))
		err = -errno;
	else if (!S_ISREG(status.st_mode))
		err = S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	while (!err && used <= BASELINE_BYTES) {
		got = read(fd, text + used, BASELINE_BYTES + 1 - used);
		if (got <= 0)
			break;
		used += got;
	}
	if (!err && got < 0)
		err = -errno;
	close(fd);
	return err ? err : used;
}

char *baseline_file__load(const char *path, struct baseline *baseline)
{
	char *text = xcalloc(1, BASELINE_BYTES + 2), *problem = NULL;
	char name[TEXT_SAFE(NAME_SHOWN)], why[512];
	ssize_t bytes = read_whole(path, text);

	text__safe(name, sizeof(name), path, NAME_SHOWN);
	if (bytes == -ENOENT)
		problem = xasprintf("there is no baseline %s: make one with --save-baseline=%s",
				    name, name);
	else if (bytes == -EINVAL)
		problem = xasprintf("%s is no regular file, as a baseline is: name another", name);
	else if (bytes < 0)
		problem = xasprintf(
			"the baseline %s cannot be read (%s): name another, or make "
			"one with --save-baseline=%s",
			name, as_caller__why((int)bytes), name);
	else if (!baseline__parse(baseline, text, (size_t)bytes, why, sizeof(why)))
		problem = xasprintf("%s cannot serve as a baseline: %s", name, why);
	free(text);
	return problem;
}

/* ---- the process that writes ---- */

/* May a file there be replaced? In a sticky folder by its owner alone, or the folder's. */
static int check_folder(const char *folder, const char *path)
{
	struct stat above, old;

	if (access(folder, W_OK | X_OK) || stat(folder, &above))
		return -errno;
	if (above.st_mode & S_ISVTX && above.st_uid != geteuid() && !stat(path, &old) &&
	    old.st_uid != geteuid() && geteuid())
		return -EACCES;
	return 0;
}

/* A symbolic link stays one: what it leads to is replaced. */
static int resolve(const char *path, char *out)
{
	struct stat status;
	char *folder;
	bool link;
	int err;

	if (!*path || path[strlen(path) - 1] == '/')
		return *path ? -EISDIR : -ENOENT;
	err = as_caller__look(path, &link);
	if (err)
		return err;
	if (realpath(path, out)) {
		if (stat(out, &status))
			return -errno;
		if (!S_ISREG(status.st_mode))
			return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	} else if (errno != ENOENT || strlen(path) >= PATH_MAX) {
		return errno == ENOENT ? -ENAMETOOLONG : -errno;
	} else {
		strcpy(out, path);
	}
	folder = xstrdup(out);
	err = check_folder(dirname(folder), out);
	free(folder);
	return err;
}

static int replace(const char *path, const char *text, size_t bytes)
{
	char *fresh = xasprintf("%s.new-%d", path, (int)getpid());
	int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct stat old;
	int err;

	if (fd < 0) {
		err = -errno;
		free(fresh);
		return err;
	}
	err = descriptor__write(fd, text, bytes);
	if (!err && fsync(fd))
		err = -errno;
	if (!err && !stat(path, &old) && fchmod(fd, old.st_mode & 0777))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(fresh, path))
		err = -errno;
	if (err)
		unlink(fresh);
	free(fresh);
	return err;
}

static void run_writer(const char *path)
{
	char *text = xcalloc(1, BASELINE_BYTES), target[PATH_MAX];
	int err = privileges__become_caller();
	ssize_t bytes;

	if (!err)
		err = resolve(path, target);
	if (write(HELPER_SOCKET, &err, sizeof(err)) != sizeof(err) || err)
		_exit(0);
	bytes = read(HELPER_SOCKET, text, BASELINE_BYTES);
	if (bytes <= 0) /* not to be saved */
		_exit(0);
	err = replace(target, text, (size_t)bytes);
	_exit(write(HELPER_SOCKET, &err, sizeof(err)) != sizeof(err));
}

/* ---- our side of it ---- */

struct baseline_file {
	pid_t writer;
	int socket;
};

static int answer(struct baseline_file *file)
{
	ssize_t got;
	int err;

	do
		got = read(file->socket, &err, sizeof(err));
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN) {
		/* It hangs in the disk: nobody is to wait for its end. */
		file->writer = 0;
		return -ETIMEDOUT;
	}
	if (got < 0)
		return -errno;
	return got == sizeof(err) ? err : -EPIPE;
}

static int start_writer(const char *path, struct baseline_file *file)
{
	const struct timeval patience = {.tv_sec = SECONDS_TO_ACT};
	pid_t pid = helper__fork(SOCK_SEQPACKET, &file->socket);

	if (!pid) {
		helper__settle("netstall-save", file->socket, -1, false);
		run_writer(path);
	}
	if (pid < 0)
		return pid;
	file->writer = pid;
	setsockopt(file->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return answer(file);
}

int baseline_file__open(const char *path, struct baseline_file **out)
{
	struct baseline_file *file = xcalloc(1, sizeof(*file));
	char name[TEXT_SAFE(NAME_SHOWN)];
	int err;

	*out = NULL;
	file->socket = -1;
	err = start_writer(path, file);
	if (!err) {
		*out = file;
		return 0;
	}
	text__safe(name, sizeof(name), path, NAME_SHOWN);
	log__error("cannot save a baseline to %s: %s; name another file with --save-baseline", name,
		   err == -EINVAL ? "it is no regular file" : as_caller__why(err));
	baseline_file__free(file);
	return err;
}

int baseline_file__save(struct baseline_file *file, const struct baseline *baseline)
{
	char *text = baseline__text(baseline);
	size_t bytes = strlen(text);
	ssize_t sent = send(file->socket, text, bytes, MSG_NOSIGNAL);

	free(text);
	if (sent != (ssize_t)bytes)
		return sent < 0 ? -errno : -EIO;
	return answer(file);
}

void baseline_file__free(struct baseline_file *file)
{
	if (!file)
		return;
	/* Processes that were forked after it hold this end too: closing it alone tells nobody. */
	if (file->socket >= 0) {
		shutdown(file->socket, SHUT_RDWR);
		close(file->socket);
	}
	if (file->writer > 0)
		helper__end(file->writer, SECONDS_TO_ACT * 1000);
	free(file);
}

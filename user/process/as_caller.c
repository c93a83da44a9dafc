// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/as_caller.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/descriptor.h"
#include "user/base/helper.h"
#include "user/kernel/privileges.h"

static bool is_number(const char *text, int *number)
{
	unsigned long long value;

	if (!*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	value = strtoull(text, NULL, 10);
	*number = (int)value;
	return !errno && value <= INT_MAX;
}

static bool names_descriptor(const char *path, int *fd)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	*fd = STDOUT_FILENO;
	if (!strcmp(path, "/dev/stdout"))
		return true;
	*fd = STDERR_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return true;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		size_t length = strlen(folders[i]);

		if (!strncmp(path, folders[i], length))
			return is_number(path + length, fd);
	}
	return false;
}

/*
 * Opened by name it would be another one, with an offset of its own, and may be refused: sudo's
 * terminal is root's. One that closes on exec is none that we were started with.
 */
static int share_descriptor(int fd, int flags)
{
	int has = fcntl(fd, F_GETFL), closes = fcntl(fd, F_GETFD);

	if (has < 0 || closes < 0 || closes & FD_CLOEXEC)
		return -EBADF;
	if ((has & O_ACCMODE) != O_RDWR && (has & O_ACCMODE) != (flags & O_ACCMODE))
		return -EBADF;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd < 0 ? -errno : fd;
}

/* In a folder that all may write to, only its owner can put something else in a link's place. */
int as_caller__look(const char *path, bool *link)
{
	struct stat status;

	*link = !lstat(path, &status) && S_ISLNK(status.st_mode);
	return *link && status.st_uid != 0 && status.st_uid != geteuid() ? -ELOOP : 0;
}

static int open_here(const char *path, int flags)
{
	bool link;
	int fd = as_caller__look(path, &link);

	if (fd)
		return fd;
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY | (link ? 0 : O_NOFOLLOW), 0600);
	return fd < 0 ? -errno : fd;
}

static void run(int socket, const char *path, int flags)
{
	int result = privileges__become_caller();

	/* One that waits for the reader of a FIFO waits for nobody then. Lost by a change of user.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	descriptor__send(socket, 0, result ? result : open_here(path, flags));
	_exit(0);
}

static int open_by_process(const char *path, int flags)
{
	uint64_t number;
	int socket, fd;
	pid_t pid = helper__fork(SOCK_SEQPACKET, &socket);

	if (pid < 0)
		return pid;
	/* Its signals stay as ours are: a Ctrl-C ends the wait for a FIFO. */
	if (!pid)
		run(socket, path, flags);
	fd = descriptor__receive(socket, &number);
	waitpid(pid, NULL, 0);
	close(socket);
	return fd;
}

int as_caller__open(const char *path, int flags)
{
	uid_t uid;
	gid_t gid;
	int fd;

	if (names_descriptor(path, &fd))
		return share_descriptor(fd, flags);
	return privileges__caller(&uid, &gid) ? open_by_process(path, flags)
					      : open_here(path, flags);
}

const char *as_caller__why(int err)
{
	return err == -ELOOP ? "it is a symbolic link of another user, or one that leads to itself"
			     : strerror(-err);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

#define IGNORED (sizeof(ignored) / sizeof(ignored[0]))

void helper__restore_signals(void)
{
	for (size_t i = 0; i < IGNORED; i++)
		signal(ignored[i], SIG_DFL);
}

static void settle_down(const char *name, int end, bool keeps_stderr)
{
	sigset_t none;
	int null;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	for (size_t i = 0; i < IGNORED; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, name);
	if (end != HELPER_SOCKET && dup2(end, HELPER_SOCKET) < 0)
		_exit(1);
	fcntl(HELPER_SOCKET, F_SETFD, FD_CLOEXEC);
	/* Whoever waits for the end of a pipe of ours is not to wait for this process. */
	close_range(HELPER_SOCKET + 1, ~0U, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		_exit(1);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!keeps_stderr)
		dup2(null, STDERR_FILENO);
	close(null);
}

pid_t helper__fork(const char *name, int type, bool keeps_stderr, int *socket)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (pid < 0) {
		pid = -errno;
		close(ends[0]);
		close(ends[1]);
		return pid;
	}
	if (!pid) {
		settle_down(name, ends[1], keeps_stderr);
		return 0;
	}
	close(ends[1]);
	*socket = ends[0];
	return pid;
}

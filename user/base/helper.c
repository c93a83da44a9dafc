// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/descriptor.h"

#define KILL_MS 1000 /* for the kernel to end it */

/* SIGUSR1: who asks for a report may name all processes of that program. */
static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1};

#define IGNORED (sizeof(ignored) / sizeof(ignored[0]))

pid_t helper__fork(int type, int *socket)
{
	int ends[2];
	pid_t pid;

	*socket = -1;
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (pid < 0) {
		pid = -errno;
		close(ends[0]);
		close(ends[1]);
		return pid;
	}
	close(ends[pid ? 1 : 0]);
	*socket = ends[pid ? 0 : 1];
	return pid;
}

void helper__restore_signals(void)
{
	for (size_t i = 0; i < IGNORED; i++)
		signal(ignored[i], SIG_DFL);
}

static void settle_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	for (size_t i = 0; i < IGNORED; i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Returns the last descriptor that is kept. */
static int settle_descriptors(int socket, int also)
{
	int last = HELPER_SOCKET;

	/* Neither is to be in the other's place. */
	if (also >= 0) {
		socket = fcntl(socket, F_DUPFD, HELPER_ALSO + 1);
		also = fcntl(also, F_DUPFD, HELPER_ALSO + 1);
		if (dup3(also, HELPER_ALSO, O_CLOEXEC) < 0)
			_exit(1);
		last = HELPER_ALSO;
	}
	if (socket != HELPER_SOCKET && dup3(socket, HELPER_SOCKET, O_CLOEXEC) < 0)
		_exit(1);
	return last;
}

void helper__settle(const char *name, int socket, int also, bool keeps_stderr)
{
	int null;

	settle_signals();
	prctl(PR_SET_NAME, name);
	/* Whoever waits for the end of a pipe of ours is not to wait for this process. */
	close_range(settle_descriptors(socket, also) + 1, ~0U, 0);
	null = descriptor__open_null(O_RDWR);
	if (null < 0)
		_exit(1);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!keeps_stderr)
		dup2(null, STDERR_FILENO);
	close(null);
}

/* Whether it ends within that time. */
static bool ends(int pid_fd, int within_ms)
{
	uint64_t end_ns = clock__now() + (uint64_t)within_ms * 1000000;

	for (;;) {
		struct pollfd death = {.fd = pid_fd, .events = POLLIN};
		uint64_t now = clock__now();

		if (poll(&death, 1, now < end_ns ? (int)((end_ns - now + 999999) / 1000000) : 0) >
		    0)
			return true;
		if (now >= end_ns)
			return false;
	}
}

bool helper__has_ended(pid_t pid, bool *killed)
{
	int status = 0;
	bool ended = waitpid(pid, &status, WNOHANG) == pid;

	*killed = ended && WIFSIGNALED(status);
	return ended;
}

bool helper__end(pid_t pid, int grace_ms)
{
	int pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool gone, killed;

	if (pid_fd < 0)
		return helper__has_ended(pid, &killed);
	gone = ends(pid_fd, grace_ms);
	if (!gone && !kill(pid, SIGCONT))
		gone = ends(pid_fd, grace_ms);
	if (!gone && !kill(pid, SIGKILL))
		gone = ends(pid_fd, KILL_MS);
	close(pid_fd);
	return gone && helper__has_ended(pid, &killed);
}

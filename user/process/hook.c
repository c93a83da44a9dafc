// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/helper.h"
#include "user/kernel/privileges.h"
#include "user/process/exec.h"

struct hook {
	char **argv;
	pid_t pid; /* 0: none runs */
	int pidfd;
	int failure; /* the child's -errno comes here when its exec fails */
};

static void report(enum hook_what what, int value)
{
	struct hook_news news = {.what = what, .value = value};

	send(HELPER_SOCKET, &news, sizeof(news), MSG_NOSIGNAL);
}

/* ---- is there such a command ---- */

static int look(const char *path, char **argv)
{
	(void)argv;
	return access(path, X_OK) ? -errno : 0;
}

/* As the user that it will run as: in a process that becomes that user. */
static int find(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		int err = privileges__become_caller();

		if (!err)
			err = strchr(argv[0], '/') ? look(argv[0], argv)
						   : exec__from_path(argv, look);
		_exit(-err);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -ECHILD;
	return -WEXITSTATUS(status);
}

/* ---- one command ---- */

static void become_command(char **argv, char *variables, size_t size, int failure)
{
	int err;

	/* A group of its own, so that it and its children can be ended, and no Ctrl-C reaches it.
	 */
	setpgid(0, 0);
	helper__restore_signals();
	dup2(STDERR_FILENO, STDOUT_FILENO);
	/* Nothing else, whoever sent it: it may run with more rights than netstall has left. */
	for (char *at = variables; at < variables + size; at += strlen(at) + 1)
		if (!strncmp(at, "NETSTALL_", strlen("NETSTALL_")))
			putenv(at);
	err = exec__program(argv);
	if (write(failure, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

static void begin(struct hook *hook, char *variables, size_t size)
{
	int failure[2];

	if (pipe2(failure, O_CLOEXEC | O_NONBLOCK)) {
		report(HOOK_NOT_RUN, -errno);
		return;
	}
	hook->pid = fork();
	if (!hook->pid)
		become_command(hook->argv, variables, size, failure[1]);
	close(failure[1]);
	hook->pidfd = hook->pid > 0 ? pidfd_open(hook->pid, 0) : -1;
	hook->failure = failure[0];
	if (hook->pid > 0)
		return;
	report(HOOK_NOT_RUN, -errno);
	close(hook->failure);
	hook->pid = 0;
}

static void reap(struct hook *hook, bool killed)
{
	int status = 0, err = 0;

	waitpid(hook->pid, &status, 0);
	if (read(hook->failure, &err, sizeof(err)) == sizeof(err))
		report(HOOK_NOT_RUN, err);
	else
		report(killed ? HOOK_KILLED : HOOK_ENDED, status);
	close(hook->failure);
	if (hook->pidfd >= 0)
		close(hook->pidfd);
	hook->pid = 0;
}

static bool has_ended(const struct hook *hook, int timeout_ms)
{
	struct pollfd wait = {.fd = hook->pidfd, .events = POLLIN};

	/* Without a pidfd (it takes Linux 5.3) there is nothing to wait for. */
	return hook->pidfd < 0 || poll(&wait, 1, timeout_ms) > 0;
}

/* Nobody asks any more. */
static void finish(struct hook *hook)
{
	bool killed = false;

	if (!hook->pid)
		_exit(0);
	if (!has_ended(hook, HOOK_GRACE_MS)) {
		killed = true;
		kill(-hook->pid, SIGTERM);
		if (!has_ended(hook, HOOK_TERM_MS))
			kill(-hook->pid, SIGKILL);
	}
	reap(hook, killed);
	_exit(0);
}

void hook__run(char **argv)
{
	struct hook hook = {.argv = argv, .pidfd = -1};
	char message[HOOK_MESSAGE + 1];
	int err = find(argv);

	report(HOOK_READY, err);
	if (err)
		_exit(1);
	for (;;) {
		struct pollfd wait[] = {{.fd = HELPER_SOCKET, .events = POLLIN},
					{.fd = hook.pid ? hook.pidfd : -1, .events = POLLIN}};
		ssize_t got;

		if (poll(wait, 2, -1) < 0)
			continue;
		if (wait[1].revents)
			reap(&hook, false);
		if (!wait[0].revents)
			continue;
		got = recv(HELPER_SOCKET, message, sizeof(message) - 1, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			finish(&hook);
		message[got] = '\0';
		if (!hook.pid)
			begin(&hook, message, (size_t)got);
	}
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "user/process/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

void terminal__open(struct terminal *terminal)
{
	terminal->fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	terminal->given = false;
}

void terminal__close(struct terminal *terminal)
{
	if (terminal->fd >= 0)
		close(terminal->fd);
	terminal->fd = -1;
}

/* From the background this stops whoever does not shut its ears to SIGTTOU. */
static bool set_foreground(const struct terminal *terminal, pid_t group)
{
	sigset_t ttou, before;
	bool done;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	done = !tcsetpgrp(terminal->fd, group);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return done;
}

void terminal__give(struct terminal *terminal, pid_t group)
{
	if (terminal->fd >= 0 && tcgetpgrp(terminal->fd) == getpgrp())
		terminal->given = set_foreground(terminal, group);
}

void terminal__take_back(struct terminal *terminal)
{
	if (!terminal->given)
		return;
	set_foreground(terminal, getpgrp());
	terminal->given = false;
	/* A pager behind our output may have asked for the keyboard meanwhile, and been stopped. */
	kill(0, SIGCONT);
}

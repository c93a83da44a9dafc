/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Whose keyboard it is: a program in a process group of its own may read from the terminal only
 * while that group is the terminal's foreground one, and Ctrl-C goes there too.
 */
#ifndef NETSTALL_PROCESS_TERMINAL_H
#define NETSTALL_PROCESS_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

struct terminal {
	int fd;     /* of the controlling terminal, -1 none */
	bool given; /* to a program's group */
};

void terminal__open(struct terminal *terminal);
void terminal__close(struct terminal *terminal);
/* If our own group is in the foreground now; else nothing happens. */
void terminal__give(struct terminal *terminal, pid_t group);
/* If it was given. */
void terminal__take_back(struct terminal *terminal);

#endif

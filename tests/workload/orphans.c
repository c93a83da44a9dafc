// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Keeps PID 1 busy: children that nobody waits for, which it has to reap. Where a kernel runs no
 * BPF program while PID 1 is current (docs/limits.md), this hides moments from every tracer.
 *
 *	orphans SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE  20
#define PAUSE_US 2000

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);

	while (time(NULL) < end) {
		pid_t parent = fork();

		if (parent < 0)
			return 1;
		if (!parent) {
			for (int i = 0; i < AT_ONCE; i++) {
				if (!fork())
					_exit(0);
			}
			_exit(0);
		}
		waitpid(parent, NULL, 0);
		usleep(PAUSE_US);
	}
	return 0;
}

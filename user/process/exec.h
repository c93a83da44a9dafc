/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The last steps of a process that becomes somebody's program. */
#ifndef NETSTALL_PROCESS_EXEC_H
#define NETSTALL_PROCESS_EXEC_H

/*
 * netstall itself may open as many files as the hard limit allows, and a file that may not grow is
 * a write that fails (SIGXFSZ would end it without a word). A program has both as they were.
 */
void exec__ease_limits(void);
/*
 * As a shell runs a command: argv[0] is looked for in PATH unless it has a slash, and a text
 * file without #! is a script of /bin/sh. As the user who called sudo, and without the ambient
 * capabilities that netstall was given for its own use. Returns only when it fails: -errno.
 */
int exec__program(char **argv);

/*
 * run() of argv[0] in each folder of PATH, until it returns something else than that it is not
 * there. A file that is there and may not be run is reported rather than that others are missing.
 */
int exec__from_path(char **argv, int (*run)(const char *path, char **argv));

#endif

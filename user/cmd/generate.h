/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* netstall generate: manual pages and completions, from the same rows as help. */
#ifndef NETSTALL_CMD_GENERATE_H
#define NETSTALL_CMD_GENERATE_H

/* As a command of commands.h; it is not listed there, for packagers alone call it. */
int generate__run(int argc, char **argv);

#endif
